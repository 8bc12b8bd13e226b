import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Argentina and Mexico, and Brazil: a mobile number with the digit that does not distinguish WhatsApp accounts. */
const WITH_EXTRA_DIGIT = /^(?:(54)9(\d{10})|(52)1(\d{10})|(55\d\d)9(\d{8}))$/;
const EXTRA_DIGITS: readonly (readonly [digit: string, at: number])[] = [
  ['9', 2],
  ['1', 2],
  ['9', 4],
];

/** One number for each WhatsApp account: without the extra digit where a country has two ways to write a number. */
export function accountOf(digits: string): string {
  const short = digits.replace(WITH_EXTRA_DIGIT, '$1$2$3$4$5$6');
  // In Brazil the rest may be a landline of another person. Argentina's and Mexico's plans give each number once.
  const isLandline = short.startsWith('55') && parsePhoneNumberFromString(`+${short}`)?.getType() === 'FIXED_LINE';
  return isLandline ? digits : short;
}

/** Whether a country has numbers with this code and so many digits. */
export function isPossibleNumber(digits: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.isPossible() === true;
}

/** ISO 3166 alpha-2; null where several countries share the code and the number does not distinguish them. */
export function countryOf(digits: string): string | null {
  return parsePhoneNumberFromString(`+${digits}`)?.country ?? null;
}

/** Every way to write the number of the same account, that number first. */
export function spellingsOf(digits: string): string[] {
  const account = accountOf(digits);
  const longer = EXTRA_DIGITS.map(([digit, at]) => account.slice(0, at) + digit + account.slice(at));
  return [account, ...longer.filter((each) => accountOf(each) === account)];
}
