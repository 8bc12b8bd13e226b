import type { Request } from 'express';
import { invalidParam, PlainError } from '../graph-error.js';
import type { AccessTokens } from '../http/access.js';
import type { BrokenAnswers } from '../http/broken-answers.js';
import { pathId, queryParam, type Route, SUCCESS } from '../http/route.js';
import type { MediaFile, MediaStore } from '../media/media-store.js';
import { type MessageLog, messageJson } from '../messages/message-log.js';
import { missing, Param } from '../messages/param.js';
import { noticesOf } from '../numbers/number-notices.js';
import {
  CODE_VERIFICATIONS,
  MESSAGING_LIMITS,
  NUMBER_STATUSES,
  type NumberFacts,
  type Numbers,
  QUALITY_RATINGS,
  THROUGHPUT_LEVELS,
} from '../numbers/numbers.js';
import { type Faults, NO_FAULTS, type SimulatorNumber } from '../simulator.types.js';
import type { NotifyAccount } from '../templates/template-reviewer.js';
export interface ControlParts {
  numbers: Numbers;
  messages: MessageLog;
  media: MediaStore;
  tokens: AccessTokens;
  faults: Readonly<Faults>;
  brokenAnswers: BrokenAnswers;
  /** Adds a number, with sample templates for an account that is new. */
  registerNumber(number: SimulatorNumber): void;
  pendingNotifications(): object;
  /** Posts any notification as it is. */
  postRaw(body: object): void;
  notifyAccount: NotifyAccount;
  reset(): void;
  /** Refuses connections for some time, from a moment later; control calls too. */
  closePortFor(ms: number): void;
  applyFaults(changes: Partial<Faults>): void;
}

/** The control calls, but for those about templates and inbound messages. */
export function controlRoutes(parts: ControlParts): Route[] {
  const { numbers, messages, media, tokens, brokenAnswers } = parts;
  const count = () => ({
    count: messages.count,
    notifications: parts.pendingNotifications(),
    broken: brokenAnswers.counts,
  });
  const notify = (request: Request) => {
    parts.postRaw(readNotification(numbers, Param.ofRequest(request)));
    return SUCCESS;
  };
  const reset = () => {
    parts.reset();
    return SUCCESS;
  };
  const setToken = (request: Request) => {
    const body = Param.ofRequest(request);
    const token = body.text('token', LONGEST_TEXT);
    if (!body.get('valid').isGiven) throw missing('valid');
    const valid = body.flag('valid');
    tokens.setValid(token, valid);
    return { valid };
  };
  return [
    ['GET', '/_simulator/health', () => ({ status: 'ok' })],
    ['GET', '/_simulator/count', count],
    ['GET', '/_simulator/messages', (request) => listMessages(messages, request)],
    ['GET', '/_simulator/faults', () => faultsJson(parts.faults)],
    ['POST', '/_simulator/faults', (request) => setFaults(parts, request)],
    ['POST', '/_simulator/reset', reset],
    ['POST', '/_simulator/notify', notify],
    ['GET', '/_simulator/numbers', () => ({ data: numbers.all().map(numberJson) })],
    ['POST', '/_simulator/numbers', (request) => addNumber(parts, request)],
    ['GET', '/_simulator/numbers/:id', (request) => showNumber(numbers, numberOf(numbers, request))],
    ['POST', '/_simulator/numbers/:id', (request) => changeNumber(parts, request)],
    ['POST', '/_simulator/tokens', setToken],
    ['GET', '/_simulator/media', () => ({ data: media.all().map(mediaJson) })],
    ['POST', '/_simulator/media/:id/expire', (request) => expireMedia(media, request)],
  ];
}

function listMessages(messages: MessageLog, request: Request): string {
  const limit = Number(queryParam(request, 'limit') ?? 1000);
  if (!Number.isInteger(limit) || limit < 1) throw invalidParam('Param limit must be a whole number from 1.');
  const [to, callback, after] = ['to', 'callback', 'after'].map((name) => queryParam(request, name) ?? undefined);
  const page = messages.page({ to, callback, after, limit });
  const paging = JSON.stringify({ after: page.cursor, has_more: page.hasMore });
  return `{"data":[${page.messages.map(messageJson).join(',')}],"paging":${paging}}`;
}

/** `{body}` is posted as it is; `{value, field, waba_id}` is put into an envelope first. */
function readNotification(numbers: Numbers, given: Param): object {
  if (given.get('body').isGiven) return given.object('body').value as object;
  const value = given.object('value');
  const number = numbers.get(String(value.get('metadata').get('phone_number_id').value)) ?? numbers.all()[0];
  const field = given.optionalText('field', LONGEST_TEXT) ?? 'messages';
  const id = given.optionalText('waba_id', LONGEST_TEXT) ?? number?.wabaId ?? '0';
  // Only the management fields carry the entry's time.
  const time = field === 'messages' ? undefined : Math.floor(Date.now() / 1000);
  return { object: 'whatsapp_business_account', entry: [{ id, time, changes: [{ value: value.value, field }] }] };
}

const LONGEST_TEXT = 10_000;
const LONGEST_MS = 600_000;

/** Numbers among the faults, by their names on the wire, with their limits. */
const NUMBER_FAULTS: readonly (readonly [name: string, key: NumberFault, max: number])[] = [
  ['drop_answers', 'dropAnswers', 1],
  ['broken_answers', 'brokenAnswers', 1],
  ['latency_ms', 'latencyMs', LONGEST_MS],
  ['error_rate', 'errorRate', 1],
  ['refusals', 'refusals', 1_000_000],
  ['refusal_code', 'refusalCode', 9_999_999],
  ['download_failures', 'downloadFailures', 1_000_000],
  ['download_wrong_bytes', 'downloadWrongBytes', 1_000_000],
  ['download_latency_ms', 'downloadLatencyMs', LONGEST_MS],
  ['download_bytes_per_second', 'downloadBytesPerSecond', 1_000_000_000],
  ['upload_failures', 'uploadFailures', 1_000_000],
];
type NumberFault = { [Key in keyof Faults]: Faults[Key] extends number ? Key : never }[keyof Faults];
const KNOWN_FAULTS = [...NUMBER_FAULTS.map(([name]) => name), 'statuses', 'download_failure', 'down', 'down_for_ms'];

/** The four common ones always, the others while they are on. */
const ALWAYS_SHOWN = ['drop_answers', 'latency_ms', 'error_rate', 'statuses'];

function faultsJson(faults: Readonly<Faults>): object {
  const named = (from: Readonly<Faults>): Record<string, unknown> => ({
    ...Object.fromEntries(NUMBER_FAULTS.map(([name, key]) => [name, from[key]])),
    statuses: from.statuses,
    download_failure: from.downloadFailure,
    down: from.down,
  });
  const none = named(NO_FAULTS);
  const shown = Object.entries(named(faults)).filter(
    ([name, value]) => ALWAYS_SHOWN.includes(name) || value !== none[name],
  );
  return Object.fromEntries(shown);
}

/** Changes what is given. @throws GraphError 100 for what is no fault, or out of its limits */
function setFaults(parts: ControlParts, request: Request): object {
  const body = Param.ofRequest(request);
  body.only(...KNOWN_FAULTS);
  const closedMs = body.optionalNumber('down_for_ms', 1, LONGEST_MS);
  const { statuses, downloadFailure, down } = parts.faults;
  const changes: Partial<Faults> = {
    statuses: body.optionalOneOf('statuses', ['on', 'off', 'hold']) ?? statuses,
    downloadFailure: body.optionalOneOf('download_failure', ['not_found', 'server_error', 'cut']) ?? downloadFailure,
    down: body.flag('down', down),
  };
  for (const [name, key, max] of NUMBER_FAULTS) {
    const isSwitch = name === 'drop_answers' && typeof body.get(name).value === 'boolean';
    const value = isSwitch ? Number(body.flag(name)) : body.optionalNumber(name, 0, max);
    if (value !== undefined) changes[key] = value;
  }
  parts.applyFaults(changes);
  if (closedMs !== undefined) parts.closePortFor(closedMs);
  return faultsJson(parts.faults);
}

function numberJson({ phoneNumberId, wabaId, displayPhoneNumber, verifiedName }: SimulatorNumber): object {
  return {
    phone_number_id: phoneNumberId,
    waba_id: wabaId,
    display_phone_number: displayPhoneNumber,
    verified_name: verifiedName,
  };
}

function addNumber(parts: ControlParts, request: Request): object {
  const body = Param.ofRequest(request);
  const idOf = (key: string) => {
    const id = body.text(key, 20);
    if (!/^\d+$/.test(id)) throw invalidParam(`Param ${key} must be digits.`);
    return id;
  };
  parts.registerNumber({
    phoneNumberId: idOf('phone_number_id'),
    wabaId: idOf('waba_id'),
    displayPhoneNumber: body.text('display_phone_number', LONGEST_TEXT),
    verifiedName: body.optionalText('verified_name', LONGEST_TEXT) ?? 'Simulated business',
  });
  return SUCCESS;
}

function numberOf(numbers: Numbers, request: Request): SimulatorNumber {
  const id = pathId(request, 'id');
  const number = numbers.get(id);
  if (number === undefined) throw unknownNumber(id);
  return number;
}

export function unknownNumber(id: string): PlainError {
  return new PlainError(404, `No number has the id ${id}. GET /_simulator/numbers lists them.`);
}

// prettier-ignore
const NUMBER_CHANGES = [
  'quality_rating', 'throughput', 'status', 'messaging_limit', 'verified_name', 'code_verification_status', 'notify',
];

function changeNumber({ numbers, notifyAccount }: ControlParts, request: Request): object {
  const number = numberOf(numbers, request);
  const body = Param.ofRequest(request);
  body.only(...NUMBER_CHANGES);
  const changes: Partial<NumberFacts> = {
    qualityRating: body.optionalOneOf('quality_rating', QUALITY_RATINGS),
    throughput: body.optionalOneOf('throughput', THROUGHPUT_LEVELS),
    status: body.optionalOneOf('status', NUMBER_STATUSES),
    messagingLimit: body.optionalOneOf('messaging_limit', MESSAGING_LIMITS),
    verifiedName: body.optionalText('verified_name', LONGEST_TEXT),
    codeVerification: body.optionalOneOf('code_verification_status', CODE_VERIFICATIONS),
  };
  const notify = body.flag('notify', true);
  const before = numbers.factsOf(number.phoneNumberId);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const after = numbers.change(number.phoneNumberId, given);
  for (const notice of notify ? noticesOf(number, before, after) : []) notifyAccount(number.wabaId, ...notice);
  return showNumber(numbers, number);
}

function showNumber(numbers: Numbers, number: SimulatorNumber): object {
  const facts = numbers.factsOf(number.phoneNumberId);
  return {
    ...numberJson({ ...number, verifiedName: facts.verifiedName ?? number.verifiedName }),
    quality_rating: facts.qualityRating,
    throughput: facts.throughput,
    status: facts.status,
    messaging_limit: facts.messagingLimit,
    code_verification_status: facts.codeVerification,
    // What a telephone would have received; missing where no code was asked for.
    verification_code: numbers.stateOf(number.phoneNumberId).code,
  };
}

/** Brings the end of a file, or of its addresses, forward. */
function expireMedia(media: MediaStore, request: Request): object {
  const id = pathId(request, 'id');
  const file = media.get(id);
  if (file === undefined) throw new PlainError(404, `No file has the id ${id}.`);
  const now = Date.now();
  const what = Param.ofRequest(request).oneOf('what', ['addresses', 'file']);
  // Addresses made within this very millisecond are old ones too.
  const changed = { ...file, ...(what === 'file' ? { expiresAt: now } : { addressesFrom: now + 1 }) };
  media.replace(changed);
  return mediaJson(changed);
}

function mediaJson(file: MediaFile): object {
  return {
    id: file.id,
    phone_number_id: file.phoneNumberId,
    mime_type: file.mimeType,
    sha256: file.sha256,
    file_size: file.sizeBytes,
    source: file.source,
    created_at: new Date(file.createdAt).toISOString(),
    expires_at: new Date(file.expiresAt).toISOString(),
  };
}
