import { GraphError } from '../graph-error.js';
import { type Answer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { checkCanSend } from '../numbers/number-state-checks.js';
import type { Inbound, SimulatorContext } from '../simulator-context.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { invalidParam, type JsonObject, requireObject, requireOneOf, requireString } from './checks.js';
import { checkMediaReferences } from './media-references.js';
import { type CheckedMessage, checkMessage, checkProduct } from './message-checks.js';
import type { Scenario } from './scenarios.js';
import { stepsOf } from './status-plan.js';
import type { TakenMessage } from './taken-message.js';

/** How long recipient 0008's answer waits for its notifications at the most. */
const LONGEST_HOLD_MS = 5_000;

/** Registers `POST /{phone_number_id}/messages`: sending, and marking as read. */
export function registerMessageRoutes(context: SimulatorContext): void {
  context.router.graph('POST', 'phone_number', 'messages', (call) => {
    const sender = context.numbers.get(call.nodeId);
    if (sender === undefined) throw new GraphError(100, { subcode: 33 });
    const body = call.jsonObject();
    return body.status === undefined ? send(context, call, sender, body) : markAsRead(context, sender, body);
  });
}

function send(context: SimulatorContext, call: Call, sender: SimulatorNumber, body: JsonObject): Answer {
  checkCanSend(context.numberFacts.of(sender.phoneNumberId));
  const checked = checkMessage(body, sender, context.templates);
  const { recipient } = checked;
  const mediaIsUsable = checkMediaReferences(body, checked.type, context.media, sender.phoneNumberId);
  const now = Date.now();
  const scenario = context.scenarios.decide(sender.phoneNumberId, recipient.waId ?? recipient.to, now);
  const sequence = context.ids.nextSequence();
  const message: TakenMessage = {
    sequence,
    id: context.ids.outboundWamid(sequence, recipient.waId ?? recipient.to),
    phoneNumberId: sender.phoneNumberId,
    to: recipient.to,
    waId: recipient.waId,
    callback: checked.callback,
    type: checked.type,
    pricing: checked.pricing,
    takenAt: now,
    plan: mediaIsUsable ? planOf(context, checked, scenario, sender, now) : 'media_failed',
    rawBody: /[\r\n]|^\s|\s$/.test(call.text) ? JSON.stringify(body) : call.text,
    doneSteps: 0,
    toldSteps: 0,
  };
  const after = scenario.answer === 'after_notifications' ? tellFirst(context, message) : undefined;
  context.take(message);
  if (scenario.reply) context.announce(replyOf(context, message));
  return {
    status: 200,
    body: successBody(message, checked),
    ...(scenario.answer === 'cut' ? { cut: true } : {}),
    ...(scenario.answer === 'slow' ? { delayMs: context.slowAnswerMs } : {}),
    ...(after === undefined ? {} : { after }),
  };
}

function planOf(
  context: SimulatorContext,
  { recipient, type }: CheckedMessage,
  scenario: Scenario,
  sender: SimulatorNumber,
  now: number,
): TakenMessage['plan'] {
  if (!recipient.reachable || context.faults.statuses === 'off') return 'none';
  if (context.enforceWindow && type !== 'template') {
    const { waId, to } = recipient;
    const parties = waId === null ? [to] : [waId, to, context.users.userIdOf(waId)];
    if (!context.inboundRegister.windowIsOpen(sender.phoneNumberId, parties, now)) return 'window_closed';
  }
  return scenario.plan;
}

function successBody(message: TakenMessage, { recipient, type }: CheckedMessage): string {
  const contact =
    recipient.waId === null
      ? { input: recipient.input, user_id: recipient.to }
      : { input: recipient.input, wa_id: recipient.waId };
  const accepted = type === 'template' ? { id: message.id, message_status: 'accepted' } : { id: message.id };
  return JSON.stringify({ messaging_product: 'whatsapp', contacts: [contact], messages: [accepted] });
}

/** Posts every status now, each by itself; resolves when all have arrived, or after {@link LONGEST_HOLD_MS}. */
function tellFirst(context: SimulatorContext, message: TakenMessage): Promise<void> | undefined {
  if (context.faults.statuses !== 'on') return undefined;
  const steps = stepsOf(message.plan);
  let open = steps.length;
  if (open === 0) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LONGEST_HOLD_MS);
    const settled = () => {
      if (--open > 0) return;
      clearTimeout(timer);
      resolve();
    };
    steps.forEach((_, step) => {
      message.toldSteps |= 1 << step;
      context.post({ kind: 'status', message, step, alone: true, settled });
    });
  });
}

function replyOf(context: SimulatorContext, message: TakenMessage): Inbound {
  const party = message.waId ?? message.to;
  const userId = message.waId === null ? message.to : context.users.userIdOf(message.waId);
  const writtenAt = Date.now();
  const number = message.waId === null ? {} : { from: message.waId };
  return {
    phoneNumberId: message.phoneNumberId,
    party,
    writtenAt,
    contact: {
      profile: { name: context.users.profileNameOf(party) },
      ...(message.waId === null ? {} : { wa_id: message.waId }),
      user_id: userId,
    },
    message: {
      ...number,
      from_user_id: userId,
      id: context.ids.inboundWamid(context.ids.nextSequence(), party),
      timestamp: String(Math.floor(writtenAt / 1000)),
      type: 'text',
      text: { body: 'Thanks, got it! \u{1F44D}' },
    },
  };
}

function markAsRead(context: SimulatorContext, sender: SimulatorNumber, body: JsonObject): Answer {
  checkProduct(body);
  requireOneOf(body.status, ['read'], 'status');
  const messageId = requireString(body, 'message_id', 'message_id', 512);
  if (body.typing_indicator !== undefined) {
    requireOneOf(requireObject(body, 'typing_indicator').type, ['text'], "typing_indicator['type']");
  }
  if (!context.inboundRegister.knows(sender.phoneNumberId, messageId)) {
    throw invalidParam(`Invalid parameter: message ${messageId} was not received by this number`);
  }
  return SUCCESS;
}
