import { createPublicKey } from 'node:crypto';
import { GraphError, invalidParam } from '../graph-error.js';
import { type Route, SUCCESS } from '../http/call.js';
import { type JsonObject, type Param } from '../http/param.js';
import type { Platform } from '../platform.js';
import type { Numbers } from './numbers.js';

const ATTEMPTS = 10;
const ATTEMPTS_WITHIN_MS = 72 * 60 * 60 * 1000;
/** States from which a number can be registered; a banned or restricted one stays so. */
const UNREGISTERED = ['PENDING', 'DISCONNECTED', 'UNVERIFIED', 'DELETED', 'MIGRATED'];

/** A call about one number; it answers `success` unless it returns something else. */
type NumberCall = (platform: Platform, id: string, param: Param) => object | void;

/** Registration and verification of a number, and its settings. State is stored per number until a reset. */
export function registrationRoutes(platform: Platform): Route[] {
  const { number } = platform.nodes;
  const about = (method: 'get' | 'post', path: string, answer: NumberCall) =>
    number.on(method, path, ({ phoneNumberId }, call) => answer(platform, phoneNumberId, call.param) ?? SUCCESS);
  return [
    about('post', '/register', register),
    about('post', '/deregister', deregister),
    about('post', '/request_code', requestCode),
    about('post', '/verify_code', verifyCode),
    about('post', '', changeNumber),
    about('get', '/settings', ({ numbers }, id) => settingsOf(numbers, id)),
    about('post', '/settings', changeSettings),
    about('get', '/whatsapp_business_encryption', publicKeyOf),
    about('post', '/whatsapp_business_encryption', setPublicKey),
    about('get', '/conversational_automation', ({ numbers }, id) => automationOf(numbers, id)),
    about('post', '/conversational_automation', automate),
  ];
}

/** A code as text, or as a number. */
function codeOf(param: Param, name: string): string {
  const { value } = param.get(name);
  return typeof value === 'number' ? String(value) : param.required(name);
}

function sixDigits(param: Param, name: string): string {
  const digits = codeOf(param, name);
  if (!/^\d{6}$/.test(digits)) throw invalidParam(`Param ${name} must be 6 digits.`);
  return digits;
}

function register({ numbers }: Platform, id: string, param: Param): void {
  param.product();
  const pin = sixDigits(param, 'pin');
  const region = param.optionalText('data_localization_region', 2);
  if (region !== undefined && !/^[A-Z]{2}$/.test(region)) {
    throw invalidParam('Param data_localization_region must be a country code of two capital letters.');
  }
  const { status, codeVerification } = numbers.factsOf(id);
  const known = numbers.stateOf(id).pin;
  countAttempt(numbers, id);
  if (status === 'BANNED') throw new GraphError(131031, 'The number is banned');
  if (codeVerification !== 'VERIFIED') throw new GraphError(133006, 'Verify the number with a code first');
  if ((known ?? pin) !== pin) throw new GraphError(133005, 'The PIN is not that of the number');
  numbers.setState(id, { pin });
  if (UNREGISTERED.includes(status)) numbers.change(id, { status: 'CONNECTED' });
}

function deregister({ numbers }: Platform, id: string): void {
  countAttempt(numbers, id);
  numbers.change(id, { status: 'DISCONNECTED' });
}

function countAttempt(numbers: Numbers, id: string): void {
  const now = Date.now();
  const attempts = (numbers.stateOf(id).attempts ?? []).filter((at) => now - at < ATTEMPTS_WITHIN_MS);
  if (attempts.length >= ATTEMPTS) {
    throw new GraphError(133016, `At most ${ATTEMPTS} attempts in 72 hours; a reset forgets them`);
  }
  numbers.setState(id, { attempts: [...attempts, now] });
}

/** The code reaches no telephone: `GET /_simulator/numbers/{id}` shows it. */
function requestCode({ numbers, ids }: Platform, id: string, param: Param): void {
  param.required('code_method');
  param.optionalOneOf('code_method', ['SMS', 'VOICE']);
  param.required('language');
  if (numbers.factsOf(id).codeVerification === 'VERIFIED') {
    throw new GraphError(136024, {
      userTitle: 'Request code error',
      userMessage: 'The number is verified already; only one that is not can ask for a code.',
    });
  }
  numbers.setState(id, { code: String(Math.floor(ids.draw() * 1_000_000)).padStart(6, '0') });
}

function verifyCode({ numbers }: Platform, id: string, param: Param): void {
  const given = codeOf(param, 'code').replace('-', '');
  const { code } = numbers.stateOf(id);
  if (code === undefined || given !== code) {
    throw new GraphError(136025, {
      userTitle: 'Verify code error',
      userMessage: 'The code is not the one that was sent.',
    });
  }
  numbers.setState(id, { code: undefined });
  numbers.change(id, { codeVerification: 'VERIFIED' });
}

/** Sets the PIN of two-step verification, a display name, or a webhook address. */
function changeNumber({ numbers }: Platform, id: string, param: Param): void {
  const given = (name: string) => param.get(name).value !== undefined;
  if (!['pin', 'new_display_name', 'webhook_configuration'].some(given)) {
    throw invalidParam('Unsupported request: give pin, new_display_name or webhook_configuration.');
  }
  if (given('pin')) numbers.setState(id, { pin: sixDigits(param, 'pin') });
  if (given('new_display_name')) numbers.setState(id, { newName: param.text('new_display_name', 512) });
  if (!given('webhook_configuration')) return;
  const address = param.object('webhook_configuration').optionalUrl('override_callback_uri', 2048);
  // An empty value removes the number's own address.
  numbers.setState(id, { webhookUrl: address === '' ? undefined : address });
}

/** The default of each part of the settings. */
const FIRST_SETTINGS: Readonly<Record<string, object>> = {
  calling: { status: 'DISABLED', call_icon_visibility: 'DEFAULT', callback_permission_status: 'DISABLED' },
  payload_encryption: { status: 'DISABLED' },
  storage_configuration: { status: 'DEFAULT' },
};
const SETTINGS = [...Object.keys(FIRST_SETTINGS), 'user_identity_change'];

export function settingsOf(numbers: Numbers, id: string): Record<string, object> {
  return { ...FIRST_SETTINGS, ...numbers.stateOf(id).settings };
}

function changeSettings({ numbers }: Platform, id: string, param: Param): void {
  const given = SETTINGS.filter((name) => param.get(name).isGiven);
  if (given.length === 0) throw invalidParam(`One of the parameters ${SETTINGS.join(', ')} is required.`);
  const settings = settingsOf(numbers, id);
  for (const name of given) {
    const part = param.object(name);
    part.optionalOneOf('status', name === 'storage_configuration' ? ['DEFAULT', 'IN_COUNTRY_STORAGE_ENABLED'] : SWITCH);
    part.optionalOneOf('call_icon_visibility', ['DEFAULT', 'DISABLE_ALL']);
    part.optionalOneOf('callback_permission_status', SWITCH);
    settings[name] = { ...settings[name], ...capitals(part.value as JsonObject) };
  }
  numbers.setState(id, { settings });
}

const SWITCH = ['ENABLED', 'DISABLED'];

function capitals(part: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      /status$|visibility$/.test(name) && typeof value === 'string' ? value.toUpperCase() : value,
    ]),
  );
}

function publicKeyOf({ numbers }: Platform, id: string): object {
  const { publicKey } = numbers.stateOf(id);
  if (publicKey === undefined) return { data: [] };
  return { data: [{ business_public_key: publicKey, business_public_key_signature_status: 'VALID' }] };
}

function setPublicKey({ numbers }: Platform, id: string, param: Param): void {
  const publicKey = param.required('business_public_key');
  if (bitsOf(publicKey) !== 2048)
    throw invalidParam('Param business_public_key must be a 2048-bit RSA public key in PEM.');
  numbers.setState(id, { publicKey });
}

function bitsOf(pem: string): number | undefined {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key.asymmetricKeyDetails?.modulusLength : undefined;
  } catch {
    return undefined;
  }
}

export function automationOf(numbers: Numbers, id: string): object {
  return { prompts: [], commands: [], enable_welcome_message: false, ...numbers.stateOf(id).automation, id };
}

/** WhatsApp's limits: 4 prompts of 80 characters, 30 commands of 32 with hints of 256. */
function automate({ numbers }: Platform, id: string, param: Param): void {
  const automation: JsonObject = {};
  if (param.get('enable_welcome_message').isGiven) {
    automation.enable_welcome_message = param.flag('enable_welcome_message');
  }
  const isPrompt = (text: string) => text !== '' && text.length <= 80;
  const prompts = param.optionalTexts('prompts', 4, isPrompt, 'at most 4 texts of 1 to 80 characters');
  if (prompts !== undefined) automation.prompts = prompts;
  if (param.get('commands').isGiven) {
    const commands = param.objects('commands', 0, 30);
    automation.commands = commands.map((command) => ({
      command_name: command.text('command_name', 32),
      command_description: command.text('command_description', 256),
    }));
  }
  numbers.setState(id, { automation: { ...numbers.stateOf(id).automation, ...automation } });
}
