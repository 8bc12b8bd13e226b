import type { Request } from 'express';
import { GraphError, invalidParam, unknownObject } from '../graph-error.js';
import { type Parameters, readParameters } from '../http/parameters.js';
import { pathId, type Reply, type Route, SUCCESS } from '../http/route.js';
import type { IdSource } from '../ids.js';
import type { MediaStore } from '../media/media-store.js';
import type { Inbound, Outgoing } from '../notifications/notification.js';
import type { Blocklist } from '../numbers/blocklist.routes.js';
import { checkCanSend, type Numbers } from '../numbers/numbers.js';
import { type People, type Recipient, resolveRecipient } from '../people.js';
import type { BareNumbers, Faults, SimulatorNumber } from '../simulator.types.js';
import type { TemplateStore } from '../templates/template-store.js';
import { CONTENT_CHECKS, mediaIsUsable } from './content-checks.js';
import type { InboundLog } from './inbound-log.js';
import { type PricingCategory, stepsOf, type TakenMessage } from './message-log.js';
import { checkProduct, type JsonObject, Param, requireOneOf } from './param.js';
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
  blocklist: Blocklist;
  bareNumbers: BareNumbers;
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
  return [
    ['POST', '/:phone_number/messages', (request, reply) => sendOrMarkAsRead(parts, request, reply)],
    ['POST', '/:phone_number/marketing_messages', (request, reply) => sendMarketing(parts, request, reply)],
  ];
}

function senderOf({ numbers }: MessageParts, request: Request): SimulatorNumber {
  const sender = numbers.get(pathId(request, 'phone_number'));
  if (sender === undefined) throw unknownObject('POST', pathId(request, 'phone_number'));
  return sender;
}

/** The Marketing Messages API: a send as any other, of marketing templates alone. */
function sendMarketing(parts: MessageParts, request: Request, reply: Reply): unknown {
  const sender = senderOf(parts, request);
  const parameters = readParameters(request);
  const param = Param.body(parameters.values);
  param.optionalOneOf('product_policy', ['CLOUD_API_FALLBACK', 'STRICT']);
  param.flag('message_activity_sharing');
  if (checkMessage(parameters.values, sender, parts.templates, parts.bareNumbers).pricing !== 'marketing') {
    throw new GraphError(131055, { details: 'Only marketing templates can be sent with marketing_messages' });
  }
  return send(parts, sender, parameters, reply);
}

function sendOrMarkAsRead(parts: MessageParts, request: Request, reply: Reply): unknown {
  const sender = senderOf(parts, request);
  const parameters = readParameters(request);
  if (parameters.values.status !== undefined) return markAsRead(parts, sender, parameters.values);
  return send(parts, sender, parameters, reply);
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
export function checkMessage(
  body: JsonObject,
  sender: SimulatorNumber,
  templates: TemplateStore,
  bareNumbers?: BareNumbers,
): CheckedMessage {
  const param = Param.body(body);
  checkProduct(body);
  if (body.recipient_type !== undefined) param.oneOf('recipient_type', ['individual', 'group']);
  const recipient = resolveRecipient(body, sender, bareNumbers);
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

function send(parts: MessageParts, sender: SimulatorNumber, { values: body, sent }: Parameters, reply: Reply): unknown {
  const { phoneNumberId } = sender;
  checkCanSend(parts.numbers.factsOf(phoneNumberId));
  const checked = checkMessage(body, sender, parts.templates, parts.bareNumbers);
  const { recipient, type, callback, pricing } = checked;
  parts.blocklist.check(phoneNumberId, recipient);
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
    rawBody: sent === null || /[\r\n]|^\s|\s$/.test(sent) ? JSON.stringify(body) : sent,
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
