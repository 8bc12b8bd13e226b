import type { Request } from 'express';
import { PlainError } from '../graph-error.js';
import type { AccessTokens } from '../http/access.js';
import type { BrokenAnswers } from '../http/broken-answers.js';
import { pathId, queryParam, type Route, SUCCESS } from '../http/route.js';
import type { MediaFile, MediaStore } from '../media/media-store.js';
import { type MessageLog, messageJson } from '../messages/message-log.js';
import { isObject, type JsonObject } from '../messages/param.js';
import { noticesOf } from '../numbers/number-notices.js';
import {
  MESSAGING_LIMITS,
  NUMBER_STATUSES,
  type NumberFacts,
  type Numbers,
  QUALITY_RATINGS,
  THROUGHPUT_LEVELS,
} from '../numbers/numbers.js';
import { type Faults, NO_FAULTS, type SimulatorNumber } from '../simulator.types.js';
import type { NotifyAccount } from '../templates/template-reviewer.js';
import {
  controlBody,
  flag,
  optionalChoice,
  optionalNumber,
  optionalText,
  refused,
  requireKnown,
  textField,
} from './control-input.js';

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
    parts.postRaw(readNotification(numbers, controlBody(request)));
    return SUCCESS;
  };
  const reset = () => {
    parts.reset();
    return SUCCESS;
  };
  const setToken = (request: Request) => {
    const body = controlBody(request);
    const token = textField(body, 'token');
    if (typeof body.valid !== 'boolean') throw refused('"valid" must be true or false.');
    tokens.setValid(token, body.valid);
    return { valid: body.valid };
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
  if (!Number.isInteger(limit) || limit < 1) throw refused('"limit" must be a whole number from 1.');
  const [to, callback, after] = ['to', 'callback', 'after'].map((name) => queryParam(request, name) ?? undefined);
  const page = messages.page({ to, callback, after, limit });
  const paging = JSON.stringify({ after: page.cursor, has_more: page.hasMore });
  return `{"data":[${page.messages.map(messageJson).join(',')}],"paging":${paging}}`;
}

/** `{body}` is posted as it is; `{value, field, waba_id}` is put into an envelope first. */
function readNotification(numbers: Numbers, given: JsonObject): object {
  if (isObject(given.body)) return given.body;
  if (!isObject(given.value)) throw refused('Send "body" (a whole notification) or "value" (of one change).');
  const metadata = isObject(given.value.metadata) ? given.value.metadata : {};
  const number = numbers.get(String(metadata.phone_number_id)) ?? numbers.all()[0];
  const field = optionalText(given, 'field') ?? 'messages';
  const id = optionalText(given, 'waba_id') ?? number?.wabaId ?? '0';
  // Only the management fields carry the entry's time.
  const time = field === 'messages' ? undefined : Math.floor(Date.now() / 1000);
  return { object: 'whatsapp_business_account', entry: [{ id, time, changes: [{ value: given.value, field }] }] };
}

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

/** Changes what is given. @throws PlainError 400 for what is no fault, or out of its limits */
function setFaults(parts: ControlParts, request: Request): object {
  const body = controlBody(request);
  requireKnown(body, KNOWN_FAULTS, 'is no fault');
  const closedMs = optionalNumber(body, 'down_for_ms', 1, LONGEST_MS);
  const changes: Partial<Faults> = {};
  const given = typeof body.drop_answers === 'boolean' ? { ...body, drop_answers: Number(body.drop_answers) } : body;
  for (const [name, key, max] of NUMBER_FAULTS) {
    const value = optionalNumber(given, name, 0, max);
    if (value !== undefined) changes[key] = value;
  }
  changes.statuses = optionalChoice(body, 'statuses', ['on', 'off', 'hold']) ?? parts.faults.statuses;
  const failure = optionalChoice(body, 'download_failure', ['not_found', 'server_error', 'cut']);
  changes.downloadFailure = failure ?? parts.faults.downloadFailure;
  changes.down = flag(body, 'down', parts.faults.down);
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
  const body = controlBody(request);
  const idField = (name: string) => {
    const id = textField(body, name);
    if (!/^\d{1,20}$/.test(id)) throw refused(`"${name}" must be digits.`);
    return id;
  };
  parts.registerNumber({
    phoneNumberId: idField('phone_number_id'),
    wabaId: idField('waba_id'),
    displayPhoneNumber: textField(body, 'display_phone_number'),
    verifiedName: optionalText(body, 'verified_name') ?? 'Simulated business',
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

function changeNumber({ numbers, notifyAccount }: ControlParts, request: Request): object {
  const number = numberOf(numbers, request);
  const body = controlBody(request);
  const known = ['quality_rating', 'throughput', 'status', 'messaging_limit', 'verified_name', 'notify'];
  requireKnown(body, known, "can't be set");
  const changes: Partial<NumberFacts> = {
    qualityRating: optionalChoice(body, 'quality_rating', QUALITY_RATINGS),
    throughput: optionalChoice(body, 'throughput', THROUGHPUT_LEVELS),
    status: optionalChoice(body, 'status', NUMBER_STATUSES),
    messagingLimit: optionalChoice(body, 'messaging_limit', MESSAGING_LIMITS),
    verifiedName: optionalText(body, 'verified_name'),
  };
  const notify = flag(body, 'notify', true);
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
  };
}

/** Brings the end of a file, or of its addresses, forward. */
function expireMedia(media: MediaStore, request: Request): object {
  const id = pathId(request, 'id');
  const file = media.get(id);
  if (file === undefined) throw new PlainError(404, `No file has the id ${id}.`);
  const now = Date.now();
  const what = textField(controlBody(request), 'what');
  if (what !== 'addresses' && what !== 'file') throw refused('"what" must be "addresses" or "file".');
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
