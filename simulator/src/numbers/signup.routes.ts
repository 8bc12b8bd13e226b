import { randomBytes } from 'node:crypto';
import { PlainError } from '../graph-error.js';
import { type Call, on, type Route } from '../http/call.js';
import type { Platform } from '../platform.js';
import { dialogPage } from './signup-dialog.js';
import { SIMULATED_APP } from './numbers.js';

/** Outcomes of the sign-up dialog, besides closing it: success, or something that fails later. */
export const SIGNUP_OUTCOMES = [
  'done',
  'wrong_pin',
  'elsewhere',
  'app_not_allowed',
  'code_refused',
  'no_number',
] as const;
type Outcome = (typeof SIGNUP_OUTCOMES)[number];

/** A number that stays in the WhatsApp Business app. */
export const APP_FEATURE = 'whatsapp_business_app_onboarding';
/** The PIN of a number with two-step verification. */
export const OTHER_PIN = '246810';
const APP_HISTORY = { contacts: 2, messages: 3 };

/** The dialog of embedded signup: the page of a window, and what its button does. */
export function signupRoutes(platform: Platform): Route[] {
  return [
    on('get', '/dialog/signup', (call) => showDialog(platform, call), 'plain'),
    on('post', '/dialog/signup', (call) => finishDialog(platform, call), 'plain'),
  ];
}

function showDialog({ numbers }: Platform, call: Call): void {
  const origin = call.query('origin') ?? '';
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new PlainError(400, 'The parameter origin must be the origin of the page that opens the dialog.');
  }
  const nonce = randomBytes(16).toString('base64');
  const isKnown = call.query('app_id') === SIMULATED_APP.id;
  const page = dialogPage({ nonce, numbers: numbers.all(), isKnown, isApp: call.query('feature') === APP_FEATURE });
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
  call.reply.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
  });
  call.reply.end(page);
}

/** Issues a code, and the ids that the dialog passes to the opening page. */
function finishDialog(platform: Platform, { param }: Call): object {
  param.only('feature', 'phone_number_id', 'display_phone_number', 'verified_name', 'outcome');
  const isApp = param.optionalText('feature', 100) === APP_FEATURE;
  const outcome = param.optionalOneOf('outcome', SIGNUP_OUTCOMES) ?? 'done';
  const chosen = param.optionalText('phone_number_id', 20) ?? '';
  const number =
    platform.numbers.get(chosen) ??
    newNumber(platform, param.text('display_phone_number', 30), param.text('verified_name', 100));
  const { phoneNumberId, wabaId } = number;
  if (isApp) {
    platform.numbers.change(phoneNumberId, { onBizApp: 'YES', status: 'CONNECTED' });
    platform.numbers.setState(phoneNumberId, { appHistory: APP_HISTORY, shared: [] });
  } else prepare(platform, phoneNumberId, outcome);
  const code = platform.signupCodes.issue(outcome === 'app_not_allowed', outcome === 'code_refused');
  const found = outcome === 'no_number' ? {} : { phone_number_id: phoneNumberId };
  const event =
    outcome === 'no_number' ? 'FINISH_ONLY_WABA' : isApp ? 'FINISH_WHATSAPP_BUSINESS_APP_ONBOARDING' : 'FINISH';
  return { code, event, data: { ...found, waba_id: wabaId } };
}

function newNumber(platform: Platform, displayPhoneNumber: string, verifiedName: string) {
  const id = () => String(Math.floor(platform.ids.draw() * 9e14) + 1e14);
  const number = { phoneNumberId: id(), wabaId: id(), displayPhoneNumber, verifiedName };
  platform.registerNumber(number);
  platform.numbers.subscribe(number.wabaId, false);
  return number;
}

/** Sets the state of a number that the API does not have yet; a number in use stays unchanged unless it must fail. */
function prepare({ numbers }: Platform, id: string, outcome: Outcome): void {
  const isNew = numbers.stateOf(id).attempts === undefined && !numbers.isSubscribed(numbers.get(id)?.wabaId ?? '');
  if (outcome === 'elsewhere') {
    numbers.change(id, { status: 'PENDING', codeVerification: 'NOT_VERIFIED' });
    return;
  }
  if (outcome === 'wrong_pin') numbers.setState(id, { pin: OTHER_PIN });
  if (numbers.factsOf(id).codeVerification !== 'VERIFIED') numbers.change(id, { codeVerification: 'VERIFIED' });
  if (isNew || outcome === 'wrong_pin') numbers.change(id, { status: 'PENDING' });
}
