import type { PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';
import { isTokenRefused } from '../../infrastructure/whatsapp/platform-result.js';
import { findPlatformError } from '../../infrastructure/whatsapp/graph-error.js';
import type { Mender, SetupProblem, SignupKind } from './setup.types.js';

/** The call to WhatsApp. */
export type PlatformCall = 'exchange' | 'account' | 'number' | 'subscribe' | 'register';

interface Meaning {
  message: string;
  mendedBy: Mender;
  field?: 'waba_id' | 'phone_number_id' | 'access_token' | 'pin' | null;
}

/** Every kind of problem: the fault, the remedy, and who can apply it. */
export const PROBLEMS = {
  code_refused: {
    message: 'WhatsApp does not take the answer of its dialog: it was used, or is too old. Open the dialog again.',
    mendedBy: 'business',
  },
  app_misconfigured: {
    message:
      'WhatsApp does not know the app of this service, or refuses its secret. The operator of the service corrects META_APP_ID, META_CONFIG_ID and META_APP_SECRET.',
    mendedBy: 'operator',
  },
  token_refused: {
    message:
      'WhatsApp refuses the access token. Make a new one for a system user of your Meta business, and paste it whole.',
    mendedBy: 'business',
    field: 'access_token',
  },
  access_ended: {
    message: 'WhatsApp takes the access to the account no more. Open the dialog again.',
    mendedBy: 'business',
  },
  token_permission: {
    message:
      'The access token lacks a permission. Give its system user the account, and whatsapp_business_management and whatsapp_business_messaging, then make a new token.',
    mendedBy: 'business',
    field: 'access_token',
  },
  app_not_allowed: {
    message:
      'The app of this service may not use the account: another app owns it, or the dialog did not give the right. Open the dialog again and allow all that it asks for; where that changes nothing, ask the operator of the service.',
    mendedBy: 'business',
  },
  other_app: {
    message:
      'The access token was made for another app than that of this service, which so would get no messages. Make it for the app whose id the operator of the service tells you.',
    mendedBy: 'business',
    field: 'access_token',
  },
  account_unknown: {
    message:
      'There is no such WhatsApp Business account, or the access does not include it. Compare the id with the API setup page of the Meta app.',
    mendedBy: 'business',
    field: 'waba_id',
  },
  number_unknown: {
    message:
      'There is no number with this id, or the access does not include it. Compare the id with the API setup page of the Meta app.',
    mendedBy: 'business',
    field: 'phone_number_id',
  },
  number_not_in_account: {
    message: 'The account does not have this number. Compare both ids with the API setup page of the Meta app.',
    mendedBy: 'business',
    field: 'phone_number_id',
  },
  number_missing: {
    message: 'The dialog was finished without a number. Open it again and choose or add one.',
    mendedBy: 'business',
  },
  number_taken: {
    message:
      'The number is connected to this service already, for another workspace. Choose another number, or ask the operator of the service.',
    mendedBy: 'operator',
  },
  pin_wrong: {
    message:
      'The number has another PIN. Type the PIN of its two-step verification, or turn that off in WhatsApp Manager and leave the field empty.',
    mendedBy: 'business',
    field: 'pin',
  },
  pin_blocked: {
    message: 'The PIN was wrong too often. WhatsApp takes no other for some time: wait, then try again.',
    mendedBy: 'time',
  },
  registration_limit: {
    message: 'The number was registered too often in the last 72 hours. Try again when they are over.',
    mendedBy: 'time',
  },
  number_elsewhere: {
    message:
      'The number is registered elsewhere, or its owner is not verified. Open the dialog again and verify the number by the code that WhatsApp sends to it.',
    mendedBy: 'business',
  },
  number_deleted_lately: {
    message: 'The number was deleted from another account a moment ago. Wait five minutes, then try again.',
    mendedBy: 'time',
  },
  account_locked: {
    message: 'WhatsApp has locked the account. Ask the support of WhatsApp in the Business Manager, then try again.',
    mendedBy: 'business',
  },
  platform_busy: {
    message: 'WhatsApp takes no more calls for this account now. Wait a minute, then try again.',
    mendedBy: 'time',
  },
  platform_away: {
    message: 'WhatsApp did not answer, or has trouble of its own. Try again in a minute.',
    mendedBy: 'time',
  },
  refused: {
    message:
      'WhatsApp refuses this step. Its own words stand below; where they do not help, ask the operator of the service.',
    mendedBy: 'operator',
  },
  history_refused: {
    message:
      'WhatsApp does not hand the history over: it can be asked for once, within 24 hours, and where it is shared in the app. The number is still connected.',
    mendedBy: 'business',
  },
  test_refused: {
    message: 'The test message was not taken. The number is still connected.',
    mendedBy: 'operator',
  },
} as const satisfies Record<string, Meaning>;

export type ProblemCode = keyof typeof PROBLEMS;

export function problem(code: ProblemCode, platform: string | null = null): SetupProblem {
  const { message, mendedBy, field = null }: Meaning = PROBLEMS[code];
  return { code, message, mendedBy, field, platform };
}

/** Codes that mean that the token's user lacks the right or the asset. */
const NO_PERMISSION: ReadonlySet<number> = new Set([3, 10, 131005, ...range(200, 299)]);
/** Codes of two-step verification after too many wrong PINs. */
const PIN_BLOCKED: ReadonlySet<number> = new Set([133008, 133009]);
/** An unknown app, and a wrong secret. */
const WRONG_APP: ReadonlySet<number> = new Set([101, 1]);

const OF_REGISTRATION: ReadonlyMap<number, ProblemCode> = new Map([
  [133005, 'pin_wrong'],
  [133006, 'number_elsewhere'],
  [133015, 'number_deleted_lately'],
  [133016, 'registration_limit'],
]);

const UNKNOWN_OBJECT: Readonly<Record<PlatformCall, ProblemCode>> = {
  exchange: 'code_refused',
  account: 'account_unknown',
  number: 'number_unknown',
  subscribe: 'account_unknown',
  register: 'refused',
};

/** The meaning of a failed call for the business. */
export function problemOf(call: PlatformCall, signup: SignupKind, failure: PlatformFailure): SetupProblem {
  return problem(codeOf(call, signup === 'manual', failure), failure.message);
}

function codeOf(call: PlatformCall, isManual: boolean, failure: PlatformFailure): ProblemCode {
  const { code, subcode, kind } = failure;
  if (call === 'exchange' && code !== null && WRONG_APP.has(code)) return 'app_misconfigured';
  if (kind !== 'rejected') return 'platform_away';
  if (call === 'exchange') return isLimit(failure) ? 'platform_busy' : 'code_refused';
  if (isTokenRefused(failure)) return isManual ? 'token_refused' : 'access_ended';
  if (code === null) return 'refused';
  if (NO_PERMISSION.has(code)) return isManual ? 'token_permission' : 'app_not_allowed';
  if (code === 131031 || code === 368) return 'account_locked';
  if (isLimit(failure)) return 'platform_busy';
  if (PIN_BLOCKED.has(code)) return 'pin_blocked';
  const ofRegistration = OF_REGISTRATION.get(code);
  if (ofRegistration !== undefined) return ofRegistration;
  const isUnknown = (code === 100 && subcode === 33) || code === 33 || code === 803;
  return isUnknown ? UNKNOWN_OBJECT[call] : 'refused';
}

function isLimit({ code, subcode }: PlatformFailure): boolean {
  return code !== null && findPlatformError(code, subcode)?.category === 'rate_limited';
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
