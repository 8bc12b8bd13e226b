import { GraphError, invalidParam } from '../graph-error.js';
import { type Call, type Route, SUCCESS } from '../http/call.js';
import { type JsonObject, Param, requireOneOf } from '../http/param.js';
import { checkCanSend } from '../numbers/numbers.js';
import { type Inbound, type Recipient, resolveRecipient } from '../people.js';
import type { Platform } from '../platform.js';
import type { BareNumbers, SimulatorNumber } from '../simulator.types.js';
import type { TemplateStore } from '../templates/template-store.js';
import { CONTENT_CHECKS, mediaIsUsable } from './content-checks.js';
import { type Endpoint, type PricingCategory, type Scenario, stepsOf, type TakenMessage } from './message-log.js';
import { checkTemplateMessage } from './template-checks.js';

/** Maximum time for which recipient 0008's answer waits for its notifications. */
const MAX_HOLD_MS = 5_000;

export function messageRoutes(platform: Platform): Route[] {
  const { number } = platform.nodes;
  return [
    number.on('post', '/messages', (sender, call) =>
      call.parameters.values.status === undefined
        ? sendOrdinary(platform, sender, call)
        : markAsRead(platform, sender, call),
    ),
    number.on('post', '/marketing_messages', (sender, call) => sendMarketing(platform, sender, call)),
  ];
}

/**
 * @throws GraphError 131063 for a marketing template where the account must not send any through this endpoint, and the
 * same as `take`
 */
function sendOrdinary(platform: Platform, sender: SimulatorNumber, call: Call): object {
  const checked = checkSend(platform, sender, call);
  const { marketingOnMessages } = platform.numbers.factsOf(sender.phoneNumberId);
  if (checked.pricing === 'marketing' && marketingOnMessages === 'DISABLED') {
    throw new GraphError(131063, 'The account sends marketing templates with marketing_messages only');
  }
  return take(platform, sender, call, checked);
}

/** The Marketing Messages API: like any send, for marketing templates only. */
function sendMarketing(platform: Platform, sender: SimulatorNumber, call: Call): object {
  const { param } = call;
  param.optionalOneOf('product_policy', ['CLOUD_API_FALLBACK', 'STRICT']);
  param.flag('message_activity_sharing');
  const checked = checkSend(platform, sender, call);
  if (checked.pricing !== 'marketing') {
    throw new GraphError(131055, 'Only marketing templates can be sent with marketing_messages');
  }
  if (platform.numbers.factsOf(sender.phoneNumberId).marketingStatus !== 'ONBOARDED') {
    throw new GraphError(134102, 'The account is not onboarded to marketing messages');
  }
  return take(platform, sender, call, checked, 'marketing_messages');
}

interface CheckedMessage {
  type: string;
  recipient: Recipient;
  callback: string | null;
  pricing: PricingCategory;
}

const TYPES = [...Object.keys(CONTENT_CHECKS), 'template'].sort();

/** Checks a whole send request, in WhatsApp's order: envelope, recipient, content. @throws GraphError */
export function checkMessage(
  body: JsonObject,
  sender: SimulatorNumber,
  templates: TemplateStore,
  bareNumbers?: BareNumbers,
): CheckedMessage {
  const param = new Param(body, '');
  param.product();
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

function checkSend({ numbers, templates, options }: Platform, sender: SimulatorNumber, call: Call): CheckedMessage {
  checkCanSend(numbers.factsOf(sender.phoneNumberId));
  if (!numbers.takeTurn(sender.phoneNumberId, performance.now())) {
    throw new GraphError(130429, 'A number that is in the WhatsApp Business app sends 20 messages a second');
  }
  return checkMessage(call.parameters.values, sender, templates, options.bareNumbers);
}

function take(
  platform: Platform,
  { phoneNumberId }: SimulatorNumber,
  call: Call,
  checked: CheckedMessage,
  endpoint: Endpoint = 'messages',
): object {
  const { values: body, sent } = call.parameters;
  const { ids, options, people, scenarios } = platform;
  const { recipient, type, callback, pricing } = checked;
  const party = recipient.waId ?? recipient.to;
  if (people.isGone(recipient.to)) {
    throw new GraphError(131009, 'Parameter recipient is not a business-scoped user id of this business');
  }
  if (people.hasBlocked(phoneNumberId, party)) {
    throw new GraphError(130403, 'This business has blocked the recipient');
  }
  if (type !== 'template' && platform.threads.ownerOf(phoneNumberId, party).owner !== 'app') {
    throw new GraphError(131070, 'Only the app that owns the thread can send this message');
  }
  const refusal = pricing === 'marketing' ? people.marketingRefusalOf(phoneNumberId, party) : null;
  if (refusal === 'answer') throw new GraphError(131050, 'The recipient has opted out of marketing messages');
  const usable = mediaIsUsable(body, type, platform.media, phoneNumberId);
  const takenAt = Date.now();
  const scenario = scenarios.decide(phoneNumberId, party, takenAt, endpoint);
  const sequence = ids.nextSequence();
  const plan = usable ? planOf(platform, checked, scenario, phoneNumberId, takenAt) : 'media_failed';
  const isDelivered = stepsOf(plan).some(({ status }) => status === 'delivered' || status === 'read');
  // Reactions are neither charged nor counted.
  const isFree =
    pricing === 'service' && (type === 'reaction' || platform.numbers.takeFree(phoneNumberId, takenAt, isDelivered));
  const isUnpaid = isDelivered && !isFree && platform.numbers.factsOf(phoneNumberId).payment === 'MISSING';
  const message: TakenMessage = {
    sequence,
    id: ids.outboundWamid(sequence, party),
    phoneNumberId,
    to: recipient.to,
    waId: recipient.waId,
    callback,
    type,
    ...(endpoint === 'marketing_messages' && { endpoint }),
    pricing: endpoint === 'marketing_messages' ? 'marketing_lite' : pricing,
    ...(isFree && { isFree }),
    takenAt,
    plan: refusal === 'status' ? 'opted_out' : isUnpaid ? 'payment_missing' : plan,
    rawBody: sent === null || /[\r\n]|^\s|\s$/.test(sent) ? JSON.stringify(body) : sent,
    doneSteps: 0,
    postedSteps: 0,
  };
  if (scenario.answer === 'after_notifications') call.after = postFirst(platform, message);
  if (scenario.answer === 'cut') call.cut = true;
  if (scenario.answer === 'slow') call.delayMs = options.slowAnswerMs;
  platform.take(message);
  if (scenario.reply) platform.announce(replyOf(platform, message));
  const { input, to, waId } = recipient;
  return {
    messaging_product: 'whatsapp',
    contacts: [waId === null ? { input, user_id: to } : { input, wa_id: waId }],
    messages: [type === 'template' ? { id: message.id, message_status: 'accepted' } : { id: message.id }],
  };
}

function planOf(
  { faults, options, people, inboundLog }: Platform,
  { recipient, type }: CheckedMessage,
  scenario: Scenario,
  phoneNumberId: string,
  now: number,
): TakenMessage['plan'] {
  if (!recipient.reachable || faults.statuses === 'off') return 'none';
  if (options.enforceWindow && type !== 'template') {
    const { waId, to } = recipient;
    const parties = waId === null ? [to] : [waId, to, people.userIdOf(waId)];
    if (!inboundLog.windowIsOpen(phoneNumberId, parties, now)) return 'window_closed';
  }
  return scenario.plan;
}

/** Posts every status now, each in its own request; resolves when all have arrived, or after {@link MAX_HOLD_MS}. */
function postFirst(platform: Platform, message: TakenMessage): Promise<void> | undefined {
  const steps = stepsOf(message.plan);
  let open = steps.length;
  if (platform.faults.statuses !== 'on' || open === 0) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_HOLD_MS);
    const settled = () => {
      if (--open > 0) return;
      clearTimeout(timer);
      resolve();
    };
    steps.forEach((_, step) => {
      message.postedSteps |= 1 << step;
      platform.post({ kind: 'status', message, step, alone: true, settled });
    });
  });
}

function replyOf({ people, ids }: Platform, { waId, to, phoneNumberId }: TakenMessage): Inbound {
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

function markAsRead({ inboundLog }: Platform, sender: SimulatorNumber, { param }: Call): object {
  param.product();
  param.oneOf('status', ['read']);
  const messageId = param.text('message_id', 512);
  const typing = param.get('typing_indicator').value !== undefined;
  if (typing) param.object('typing_indicator').oneOf('type', ['text']);
  if (!inboundLog.markRead(sender.phoneNumberId, messageId, typing)) {
    throw invalidParam(`Invalid parameter: message ${messageId} was not received by this number`);
  }
  return SUCCESS;
}
