import { invalidParam, PlainError } from '../graph-error.js';
import { type Call, control, type Route, SUCCESS } from '../http/call.js';
import { readFaults, shownFaults } from '../http/faults.js';
import { missing, type Param } from '../http/param.js';
import type { MediaFile } from '../media/media-store.js';
import { type AskedFailure, messageJson } from '../messages/message-log.js';
import { envelopeOf } from '../notifications/notification.js';
import { NUMBER_FACTS, type NumberFacts, type Numbers } from '../numbers/numbers.js';
import type { Platform } from '../platform.js';
import type { SimulatorNumber } from '../simulator.types.js';
import {
  CATEGORIES,
  QUALITY_SCORES,
  REVIEW_EVENTS,
  type Template,
  type TemplateComponent,
  TEMPLATES,
} from '../templates/template-store.js';

const MAX_TEXT_LENGTH = 10_000;

/**
 * The control calls, except those about inbound messages.
 * @param closePortFor refuses connections for some time, starting a moment later; also those of control calls
 */
export function controlRoutes(platform: Platform, closePortFor: (ms: number) => void): Route[] {
  const { numbers, messages, media, tokens, brokenAnswers, faults, courier } = platform;
  return [
    control('get', '/health', () => ({ status: 'ok' })),
    control('get', '/count', () => ({
      count: messages.count,
      notifications: { pending: courier.pending, acknowledged: courier.acknowledged, dropped: courier.dropped },
      broken: brokenAnswers.counts,
    })),
    control('get', '/messages', (call) => {
      const [to, callback, after] = ['to', 'callback', 'after'].map((name) => call.query(name) ?? undefined);
      const page = messages.page({ to, callback, after, limit: limitOf(call) });
      const paging = JSON.stringify({ after: page.cursor, has_more: page.hasMore });
      return `{"data":[${page.messages.map(messageJson).join(',')}],"paging":${paging}}`;
    }),
    control('get', '/faults', () => shownFaults(faults)),
    control('post', '/faults', ({ param }) => {
      const { changes, downForMs } = readFaults(param);
      platform.applyFaults(changes);
      if (downForMs !== undefined) closePortFor(downForMs);
      return shownFaults(faults);
    }),
    control('get', '/failures', () => ({ data: platform.scenarios.failures.map(failureJson) })),
    control('post', '/failures', ({ param }) => {
      const failure = readFailure(param);
      platform.scenarios.ask(failure);
      return failureJson(failure);
    }),
    control('post', '/reset', () => {
      platform.reset();
      return SUCCESS;
    }),
    control('post', '/notify', ({ param }) => {
      platform.postRaw(readNotification(numbers, param));
      return SUCCESS;
    }),
    control('get', '/numbers', () => ({ data: numbers.all().map(numberJson) })),
    control('post', '/numbers', ({ param }) => {
      platform.registerNumber(readNumber(param));
      return SUCCESS;
    }),
    control('get', '/numbers/:id', (call) => showNumber(numbers, numberOf(numbers, call.pathParam('id')))),
    control('post', '/numbers/:id', (call) => changeNumber(platform, call)),
    control('post', '/tokens', ({ param }) => {
      const token = param.text('token', MAX_TEXT_LENGTH);
      if (param.get('other_app').isGiven) tokens.setForeign(token, param.flag('other_app'));
      else if (!param.get('valid').isGiven) throw missing('valid');
      const valid = param.flag('valid', true);
      tokens.setValid(token, valid);
      return { valid };
    }),
    control('get', '/media', () => ({ data: media.all().map(mediaJson) })),
    control('post', '/media/:id/expire', (call) => {
      const id = call.pathParam('id');
      const file = media.get(id);
      if (file === undefined) throw new PlainError(404, `No file has the id ${id}.`);
      const now = Date.now();
      const what = call.param.oneOf('what', ['addresses', 'file']);
      // Addresses created within this very millisecond count as old too.
      const changed = { ...file, ...(what === 'file' ? { expiresAt: now } : { addressesFrom: now + 1 }) };
      media.replace(changed);
      return mediaJson(changed);
    }),
    ...templateControlRoutes(platform),
  ];
}

const MAX_CODE = 9_999_999;
const MAX_TIMES = 1_000_000;

/** Which sends must fail, and how many of them; default: all, until a reset. */
function readFailure(param: Param): AskedFailure {
  param.only('code', 'as', 'to', 'phone_number_id', 'times');
  if (!param.get('code').isGiven) throw missing('code');
  const to = param.optionalText('to', 200) ?? null;
  const times = param.optionalNumber('times', 0, MAX_TIMES) ?? null;
  return {
    code: Math.round(param.optionalNumber('code', 1, MAX_CODE) ?? 0),
    as: param.optionalOneOf('as', ['answer', 'status']) ?? 'status',
    recipient: to === null ? null : to.replace(/^\+/, ''),
    phoneNumberId: param.optionalText('phone_number_id', 20) ?? null,
    times: times === null ? null : Math.ceil(times),
  };
}

function failureJson({ code, as, recipient, phoneNumberId, times }: AskedFailure): object {
  return { code, as, to: recipient, phone_number_id: phoneNumberId, times };
}

/** How many items of a list are requested. */
export function limitOf(call: Call): number {
  const limit = Number(call.query('limit') ?? 1000);
  if (!Number.isInteger(limit) || limit < 1) throw invalidParam('Param limit must be a whole number from 1.');
  return limit;
}

/** Posts `{body}` unchanged; puts `{value, field, waba_id}` into an envelope first. */
function readNotification(numbers: Numbers, given: Param): object {
  if (given.get('body').isGiven) return given.object('body').value as object;
  const value = given.object('value');
  const number = numbers.get(String(value.get('metadata').get('phone_number_id').value)) ?? numbers.all()[0];
  const field = given.optionalText('field', MAX_TEXT_LENGTH) ?? 'messages';
  const id = given.optionalText('waba_id', MAX_TEXT_LENGTH) ?? number?.wabaId ?? '0';
  return envelopeOf(id, field, value.value);
}

function numberJson({ phoneNumberId, wabaId, displayPhoneNumber, verifiedName }: SimulatorNumber): object {
  return {
    phone_number_id: phoneNumberId,
    waba_id: wabaId,
    display_phone_number: displayPhoneNumber,
    verified_name: verifiedName,
  };
}

function readNumber(param: Param): SimulatorNumber {
  const idOf = (key: string) => {
    const id = param.text(key, 20);
    if (!/^\d+$/.test(id)) throw invalidParam(`Param ${key} must be digits.`);
    return id;
  };
  return {
    phoneNumberId: idOf('phone_number_id'),
    wabaId: idOf('waba_id'),
    displayPhoneNumber: param.text('display_phone_number', MAX_TEXT_LENGTH),
    verifiedName: param.optionalText('verified_name', MAX_TEXT_LENGTH) ?? 'Simulated business',
  };
}

/** @throws PlainError 404 */
export function numberOf(numbers: Numbers, id: string): SimulatorNumber {
  const number = numbers.get(id);
  if (number !== undefined) return number;
  throw new PlainError(404, `No number has the id ${id}. GET /_simulator/numbers lists them.`);
}

function changeNumber({ numbers, notifyAccount }: Platform, call: Call): object {
  const number = numberOf(numbers, call.pathParam('id'));
  const { param } = call;
  param.only(
    ...NUMBER_FACTS.map(([name]) => name),
    'verified_name',
    'notify',
    'former_events',
    'free_service_messages',
  );
  const changes = NUMBER_FACTS.map(([name, key, values]) => [key, param.optionalOneOf(name, values)]);
  changes.push(['verifiedName', param.optionalText('verified_name', MAX_TEXT_LENGTH)]);
  const notify = param.flag('notify', true);
  const freeServiceMessages = param.optionalNumber('free_service_messages', 0, 1_000_000);
  if (freeServiceMessages !== undefined) numbers.setState(number.phoneNumberId, { freeServiceMessages });
  const given = Object.fromEntries(changes.filter(([, value]) => value !== undefined)) as Partial<NumberFacts>;
  const notices = numbers.change(number.phoneNumberId, given, param.flag('former_events'));
  for (const notice of notify ? notices : []) notifyAccount(number.wabaId, ...notice);
  return showNumber(numbers, number);
}

function showNumber(numbers: Numbers, number: SimulatorNumber): object {
  const facts = numbers.factsOf(number.phoneNumberId);
  return {
    ...numberJson({ ...number, verifiedName: facts.verifiedName ?? number.verifiedName }),
    ...Object.fromEntries(NUMBER_FACTS.map(([name, key]) => [name, facts[key]])),
    // The code that a telephone would have received; absent where none was requested.
    verification_code: numbers.stateOf(number.phoneNumberId).code,
  };
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

// prettier-ignore
const SHOWN = [
  'id', 'name', 'language', 'status', 'category', 'previous_category', 'correct_category', 'rejected_reason',
  'quality_score', 'components', 'parameter_format', 'message_send_ttl_seconds', 'last_updated_time',
];
const LATEST_TIME = 10_000_000_000;

/** The change made by one control call. @returns the notification about it, which `notify: false` suppresses */
type Change = (template: Template, body: Param) => (time?: number) => void;

/** The control calls about one template: WhatsApp's decisions, with their notifications. */
function templateControlRoutes({ templates, templateReviewer }: Platform): Route[] {
  const changing = (name: string, change: Change) =>
    control('post', `/templates/:id/${name}`, (call) => {
      const id = call.pathParam('id');
      const template = templates.get(id);
      if (template === undefined) throw new PlainError(404, `No template has the id ${id}.`);
      const [notify, time] = [call.param.flag('notify', true), call.param.optionalNumber('time', 0, LATEST_TIME)];
      const announce = change(template, call.param);
      if (notify) announce(time);
      return TEMPLATES.only(templates.get(id) ?? { ...template, status: 'DELETED' }, SHOWN);
    });
  const put = (template: Template) => {
    const changed = { ...template, updatedAt: Date.now() };
    templates.put(changed);
    return changed;
  };
  return [
    control('get', '/templates', () => ({
      data: templates.all().map((one) => ({ ...TEMPLATES.only(one, SHOWN), waba_id: one.wabaId })),
    })),
    changing('review', (template, body) => {
      const event = given(body, 'event', REVIEW_EVENTS);
      return templateReviewer.decide(template, event, {
        reason: body.optionalText('reason', 1000) ?? (event === 'PENDING_DELETION' ? null : 'NONE'),
        rejection_info: objectOf(body, 'rejection_info'),
        disable_info: objectOf(body, 'disable_info'),
        other_info: objectOf(body, 'other_info'),
      });
    }),
    changing('quality', (template, body) => {
      const changed = put({ ...template, qualityScore: given(body, 'score', QUALITY_SCORES) });
      return (time) => templateReviewer.announceQuality(changed, template.qualityScore, time);
    }),
    // `announced: true` only announces the future category.
    changing('category', (template, body) => {
      const category = given(body, 'category', CATEGORIES);
      const { category: previousCategory } = template;
      if (body.flag('announced')) {
        const changed = put({ ...template, correctCategory: category });
        return (time) => templateReviewer.announceCategory(changed, previousCategory, category, time);
      }
      const changed = put({ ...template, category, previousCategory, correctCategory: undefined });
      return (time) => templateReviewer.announceCategory(changed, previousCategory, undefined, time);
    }),
    changing('components', (template, body) => {
      const components = body.objects('components', 0, 20).map((component) => {
        component.text('type', 100);
        return component.value as TemplateComponent;
      });
      const changed = put({ ...template, components });
      return (time) => templateReviewer.announceComponents(changed, time);
    }),
  ];
}

function given<T extends string>(body: Param, key: string, allowed: readonly T[]): T {
  return body.optionalOneOf(key, allowed) ?? body.oneOf(key, allowed);
}

function objectOf(body: Param, key: string): object | undefined {
  return body.get(key).isGiven ? (body.object(key).value as object) : undefined;
}
