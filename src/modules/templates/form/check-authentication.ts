import type { FaultList } from './fault-list.js';
import { isObject } from '../../../common/json.js';
import { own, ownWord, type JsonObject } from './json-reading.js';

const OTP_TYPES = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'];
const MOST_APPS = 5;
const PACKAGE_MAX = 224;
const HASH_LENGTH = 11;
const MOST_MINUTES = 90;

/** The body of a template for codes: WhatsApp writes the sentence, the template only asks for the advice after it. */
export function checkAuthenticationBody(body: JsonObject, field: string, faults: FaultList): void {
  refuseText(body, field, 'add_security_recommendation', faults);
  const advice = own(body, 'add_security_recommendation');
  if (advice !== undefined && advice !== null && typeof advice !== 'boolean') {
    const at = `${field}.add_security_recommendation`;
    faults.add(at, 'type', `${at} must be true or false.`);
  }
}

/** The footer of a template for codes: only how long the code lives. */
export function checkAuthenticationFooter(footer: JsonObject, field: string, faults: FaultList): void {
  refuseText(footer, field, 'code_expiration_minutes', faults);
  const minutes = own(footer, 'code_expiration_minutes');
  if (minutes === undefined || minutes === null) return;
  if (!Number.isInteger(minutes) || (minutes as number) < 1 || (minutes as number) > MOST_MINUTES) {
    const at = `${field}.code_expiration_minutes`;
    faults.add(at, 'range', `${at} must be a whole number from 1 to ${MOST_MINUTES}.`);
  }
}

export function checkOtpButton(button: JsonObject, field: string, faults: FaultList): void {
  if (!OTP_TYPES.includes(ownWord(button, 'otp_type'))) {
    faults.add(`${field}.otp_type`, 'one_of', `${field}.otp_type must be ${OTP_TYPES.join(', ')}.`);
  }
  const apps = own(button, 'supported_apps');
  if (apps === undefined || apps === null) return;
  const at = `${field}.supported_apps`;
  if (!Array.isArray(apps)) {
    faults.add(at, 'type', `${at} must be an array.`);
    return;
  }
  if (apps.length > MOST_APPS) faults.add(at, 'count', `${at} takes at most ${MOST_APPS} apps, not ${apps.length}.`);
  for (const [index, app] of apps.entries()) checkApp(app, `${at}[${index}]`, faults);
}

function checkApp(app: unknown, field: string, faults: FaultList): void {
  if (!isObject(app)) {
    faults.add(field, 'type', `${field} must be a JSON object.`);
    return;
  }
  faults.text(own(app, 'package_name'), `${field}.package_name`, PACKAGE_MAX);
  const hash = own(app, 'signature_hash');
  if (typeof hash !== 'string' || hash.length !== HASH_LENGTH) {
    faults.add(`${field}.signature_hash`, 'length', `${field}.signature_hash must be ${HASH_LENGTH} characters.`);
  }
}

function refuseText(component: JsonObject, field: string, instead: string, faults: FaultList): void {
  const text = own(component, 'text');
  if (text === undefined || text === null) return;
  faults.add(
    `${field}.text`,
    'not_allowed',
    `${field}.text is not for AUTHENTICATION templates, whose words are fixed: use ${instead}.`,
  );
}
