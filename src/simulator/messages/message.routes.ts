import type { Request } from 'express';
import { invalidParam, unknownObject } from '../graph-error.js';
import { bodyObject, bodyText, pathId, type Reply, type Route, SUCCESS } from '../http/route.js';
import type { IdSource } from '../ids.js';
import type { MediaStore } from '../media/media-store.js';
import type { Inbound, Outgoing } from '../notifications/notification.js';
import { checkCanSend, type Numbers } from '../numbers/numbers.js';
import { type People, type Recipient, resolveRecipient } from '../people.js';
import type { Faults, SimulatorNumber } from '../simulator.types.js';
import type { TemplateStore } from '../templates/template-store.js';
import { CONTENT_CHECKS, mediaIsUsable } from './content-checks.js';
import type { InboundLog } from './inbound-log.js';
import { type PricingCategory, stepsOf, type TakenMessage } from './message-log.js';
import { type JsonObject, Param, requireOneOf } from './param.js';
import type { Scenario, Scenarios } from './scenarios.js';
import { checkTemplateMessage } from './template-checks.js';

/** How long recipient 0008's answer waits for its notifications at the most. */
const LONGEST_HOLD_MS = 5_000;

/** What sending works with. */
export interface MessageParts {
  numbers: Numbers;
  templates: TemplateStore;
  media: MediaStore;
  people: People;
  ids: IdSource;
  scenarios: Scenarios;
  inboundLog: InboundLog;
  faults: Readonly<Faults>;
  enforceWindow: boolean;
  slowAnswerMs: number;
  /** Remembers a taken message and schedules its statuses. */
  take(message: TakenMessage): void;
  /** Posts one notification now, besides any schedule. */
  post(item: Outgoing): void;
  /** Announces a customer's message. */
  announce(inbound: Inbound): void;
}

export function messageRoutes(parts: MessageParts): Route[] {
  return [['POST', '/:phone_number/messages', (request, reply) => sendOrMarkAsRead(parts, request, reply)]];
}

function sendOrMarkAsRead(parts: MessageParts, request: Request, reply: Reply): unknown {
  const sender = parts.numbers.get(pathId(request, 'phone_number'));
  if (sender === undefined) throw unknownObject('POST', pathId(request, 'phone_number'));
  const body = bodyObject(request);
  if (body.status !== undefined) return markAsRead(parts, sender, body);
  return send(parts, sender, body, bodyText(request), reply);
}

/** A request that may be taken. */
interface CheckedMessage {
  type: string;
  recipient: Recipient;
  callback: string | null;
  pricing: PricingCategory;
}

const TYPES = [...Object.keys(CONTENT_CHECKS), 'template'].sort();

/** Checks a whole send request, in the platform's order: envelope, recipient, content. @throws GraphError */
export function checkMessage(body: JsonObject, sender: SimulatorNumber, templates: TemplateStore): CheckedMessage {
  const param = Param.body(body);
  checkProduct(body);
  if (body.recipient_type !== undefined) param.oneOf('recipient_type', ['individual', 'group']);
  const recipient = resolveRecipient(body, sender);
  const given = body.type ?? 'text';
  const type = requireOneOf(typeof given === 'string' ? given.toLowerCase() : given, TYPES, 'type');
  const callback = param.optionalText('biz_opaque_callback_data', 512) ?? null;
  if (param.get('context').isGiven) param.object('context').text('message_id', 512);
  if (type === 'template') {
    const { category } = checkTemplateMessage(param, sender.wabaId, templates, recipient.waId === null);
    return { type, recipient, callback, pricing: category.toLowerCase() as PricingCategory };
  }
  CONTENT_CHECKS[type]?.(param);
  return { type, recipient, callback, pricing: 'service' };
}

/** @throws GraphError 100 unless `messaging_product` is `whatsapp` */
export function checkProduct(body: JsonObject): void {
  if (body.messaging_product === undefined) throw invalidParam('The parameter messaging_product is required.');
  requireOneOf(body.messaging_product, ['whatsapp'], 'messaging_product');
}

function send(parts: MessageParts, sender: SimulatorNumber, body: JsonObject, text: string, reply: Reply): unknown {
  const { phoneNumberId } = sender;
  checkCanSend(parts.numbers.factsOf(phoneNumberId));
  const checked = checkMessage(body, sender, parts.templates);
  const { recipient, type, callback, pricing } = checked;
  const usable = mediaIsUsable(body, type, parts.media, phoneNumberId);
  const takenAt = Date.now();
  const party = recipient.waId ?? recipient.to;
  const scenario = parts.scenarios.decide(phoneNumberId, party, takenAt);
  const sequence = parts.ids.nextSequence();
  const message: TakenMessage = {
    sequence,
    id: parts.ids.outboundWamid(sequence, party),
    phoneNumberId,
    to: recipient.to,
    waId: recipient.waId,
    callback,
    type,
    pricing,
    takenAt,
    plan: usable ? planOf(parts, checked, scenario, phoneNumberId, takenAt) : 'media_failed',
    rawBody: /[\r\n]|^\s|\s$/.test(text) ? JSON.stringify(body) : text,
    doneSteps: 0,
    postedSteps: 0,
  };
  if (scenario.answer === 'after_notifications') reply.locals.after = postFirst(parts, message);
  if (scenario.answer === 'cut') reply.locals.cut = true;
  if (scenario.answer === 'slow') reply.locals.delayMs = parts.slowAnswerMs;
  parts.take(message);
  if (scenario.reply) parts.announce(replyOf(parts, message));
  const { input, to, waId } = recipient;
  return {
    messaging_product: 'whatsapp',
    contacts: [waId === null ? { input, user_id: to } : { input, wa_id: waId }],
    messages: [type === 'template' ? { id: message.id, message_status: 'accepted' } : { id: message.id }],
  };
}

function planOf(
  { faults, enforceWindow, people, inboundLog }: MessageParts,
  { recipient, type }: CheckedMessage,
  scenario: Scenario,
  phoneNumberId: string,
  now: number,
): TakenMessage['plan'] {
  if (!recipient.reachable || faults.statuses === 'off') return 'none';
  if (enforceWindow && type !== 'template') {
    const { waId, to } = recipient;
    const parties = waId === null ? [to] : [waId, to, people.userIdOf(waId)];
    if (!inboundLog.windowIsOpen(phoneNumberId, parties, now)) return 'window_closed';
  }
  return scenario.plan;
}

/** Posts every status now, each by itself; resolves when all have arrived, or after {@link LONGEST_HOLD_MS}. */
function postFirst(parts: MessageParts, message: TakenMessage): Promise<void> | undefined {
  const steps = stepsOf(message.plan);
  let open = steps.length;
  if (parts.faults.statuses !== 'on' || open === 0) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LONGEST_HOLD_MS);
    const settled = () => {
      if (--open > 0) return;
      clearTimeout(timer);
      resolve();
    };
    steps.forEach((_, step) => {
      message.postedSteps |= 1 << step;
      parts.post({ kind: 'status', message, step, alone: true, settled });
    });
  });
}

function replyOf({ people, ids }: MessageParts, { waId, to, phoneNumberId }: TakenMessage): Inbound {
  const party = waId ?? to;
  const userId = waId === null ? to : people.userIdOf(waId);
  const writtenAt = Date.now();
  return {
    phoneNumberId,
    party,
    writtenAt,
    contact: { profile: { name: people.profileNameOf(party) }, wa_id: waId ?? undefined, user_id: userId },
    message: {
      from: waId ?? undefined,
      from_user_id: userId,
      id: ids.inboundWamid(ids.nextSequence(), party),
      timestamp: String(Math.floor(writtenAt / 1000)),
      type: 'text',
      text: { body: 'Thanks, got it! \u{1F44D}' },
    },
  };
}

function markAsRead({ inboundLog }: MessageParts, sender: SimulatorNumber, body: JsonObject): object {
  const param = Param.body(body);
  checkProduct(body);
  param.oneOf('status', ['read']);
  const messageId = param.text('message_id', 512);
  const typing = body.typing_indicator !== undefined;
  if (typing) param.object('typing_indicator').oneOf('type', ['text']);
  if (!inboundLog.markRead(sender.phoneNumberId, messageId, typing)) {
    throw invalidParam(`Invalid parameter: message ${messageId} was not received by this number`);
  }
  return SUCCESS;
}
