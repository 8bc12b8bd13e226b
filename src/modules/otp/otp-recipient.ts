import { parsePhoneNumberFromString, type NumberType } from 'libphonenumber-js/max';
import { accountOf } from '../../infrastructure/whatsapp/account-number.js';
import { otpErrors } from './otp.errors.js';
import type { OtpMode } from './otp.types.js';

export interface OtpRecipient {
  /** Digits without `+`, as given. */
  digits: string;
  /** The number for counting: the same for every spelling of one WhatsApp account's number. */
  account: string;
  /** ISO 3166 alpha-2; where several countries share a code and the number does not tell which, the main one. */
  country: string;
}

/** Kinds of number that can't be registered with WhatsApp. An unknown kind is accepted. */
const WITHOUT_WHATSAPP: ReadonlySet<NumberType> = new Set<NumberType>([
  'PREMIUM_RATE',
  'TOLL_FREE',
  'SHARED_COST',
  'PAGER',
  'UAN',
  'VOICEMAIL',
]);

/** Numbers that reach no phone: the North American plan has no area code 555. */
const TEST_NUMBER = /^1555010000\d$/;

/** Whether it is a number to which a sandbox makes codes as often as it is asked. */
export function isTestNumber({ mode, number }: { mode: OtpMode; number: string }): boolean {
  return mode === 'sandbox' && TEST_NUMBER.test(number);
}

const WRITTEN = /^\+?[0-9][0-9 ().-]{5,38}$/;

/**
 * Reads a number however it is written, with its country code.
 *
 * @param allowedCountries null: any.
 * @throws OTP_RECIPIENT_INVALID (400).
 */
export function readRecipient(text: string, allowedCountries: readonly string[] | null): OtpRecipient {
  const written = text.trim();
  const digits = WRITTEN.test(written) ? written.replaceAll(/\D/g, '') : '';
  // The platform itself still writes Mexican numbers with the 1 that the numbering plan gave up in 2019.
  const given = /^521\d{10}$/.test(digits) ? digits : null;
  const plain = given === null ? digits : accountOf(given);
  const number = plain === '' ? undefined : parsePhoneNumberFromString(`+${plain}`);
  if (number === undefined || !number.isPossible()) {
    throw otpErrors.OTP_RECIPIENT_INVALID({ reason: 'it is not a possible phone number with its country code' });
  }
  if (WITHOUT_WHATSAPP.has(number.getType())) {
    throw otpErrors.OTP_RECIPIENT_INVALID({ reason: 'numbers of this kind have no WhatsApp' });
  }
  const country = number.country ?? number.getPossibleCountries()[0];
  if (country === undefined) {
    throw otpErrors.OTP_RECIPIENT_INVALID({ reason: 'it belongs to no country' });
  }
  if (allowedCountries !== null && !allowedCountries.includes(country)) {
    throw otpErrors.OTP_RECIPIENT_INVALID({ reason: `this project sends no codes to ${country}` });
  }
  // The number's own digits: a trunk zero after the country code is gone.
  const own = given ?? number.number.slice(1);
  return { digits: own, account: accountOf(own), country };
}
