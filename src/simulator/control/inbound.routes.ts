import { jsonAnswer } from '../http/answer.js';
import { isObject, type JsonObject } from '../messages/checks.js';
import { digitsOf } from '../recipient.js';
import type { SimulatorContext } from '../simulator-context.js';
import { messageWithFile } from './inbound-file.js';
import { controlBody, ControlError, controlHandler, optionalFlag, optionalText, textField } from './control-input.js';

/** Registers `POST /_simulator/inbound`: a customer writes to one of the numbers, or calls it. */
export function registerInboundRoutes(context: SimulatorContext): void {
  context.router.plain(
    'POST',
    '/_simulator/inbound',
    controlHandler((call) => {
      const body = controlBody(call);
      const making = messageWithFile(context, call, body);
      if (making === null) return jsonAnswer(receive(context, body));
      return making.then((message) => jsonAnswer(receive(context, { ...body, message })));
    }),
  );
}

function receive(context: SimulatorContext, body: JsonObject): object {
  const phoneNumberId = textField(body, 'phone_number_id');
  if (context.numbers.get(phoneNumberId) === undefined) {
    throw new ControlError(`No number has the id ${phoneNumberId}. GET /_simulator/numbers lists them.`, 404);
  }
  const userId = optionalText(body, 'user_id');
  const username = optionalText(body, 'username');
  const withoutFrom = optionalFlag(body, 'without_from');
  const from = optionalText(body, 'from');
  const waId = from === undefined ? null : digitsOf(from);
  if (waId === '') throw new ControlError('"from" must hold the customer\'s number.');
  if (waId === null && userId === undefined) throw new ControlError('"from" is missing: the number of the customer.');

  const profileName = optionalText(body, 'profile_name');
  const facts = { userId, username, profileName };
  if (waId !== null) context.users.learn(waId, facts);
  const customerId = userId ?? context.users.userIdOf(waId as string);
  if (waId === null || withoutFrom) context.users.learn(customerId, { username, profileName });
  const shown = withoutFrom ? null : waId;

  const party = shown ?? customerId;
  if (optionalFlag(body, 'call')) return ring(context, { phoneNumberId, party, shown, customerId, body });
  const message = completeMessage(context, body.message, shown, customerId, waId ?? customerId);
  const writtenAt = Number(message.timestamp) * 1000;
  context.announce({
    phoneNumberId,
    party,
    writtenAt,
    contact: message.type === 'system' ? null : contactOf(context, body, shown, customerId),
    message,
  });
  return { success: true, id: message.id, timestamp: message.timestamp, user_id: customerId, message };
}

interface Ringing {
  phoneNumberId: string;
  party: string;
  shown: string | null;
  customerId: string;
  body: JsonObject;
}

/** The customer calls instead of writing: the window opens as it does for a message. */
function ring(context: SimulatorContext, { phoneNumberId, party, shown, customerId, body }: Ringing): object {
  const number = context.numbers.get(phoneNumberId);
  const own = digitsOf(number?.displayPhoneNumber ?? '');
  const writtenAt = Date.now();
  const id = context.ids.inboundWamid(context.ids.nextSequence(), party).replace('wamid', 'wacid');
  context.inboundRegister.add({ id, phoneNumberId, party, writtenAt });
  context.notifyAccount(number?.wabaId ?? '0', 'calls', {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: own, phone_number_id: phoneNumberId },
    contacts: [contactOf(context, body, shown, customerId)],
    calls: [
      {
        id,
        ...(shown === null ? {} : { from: shown }),
        from_user_id: customerId,
        to: own,
        event: 'connect',
        direction: 'USER_INITIATED',
        timestamp: String(Math.floor(writtenAt / 1000)),
        session: { sdp_type: 'offer', sdp: 'v=0' },
      },
    ],
  });
  return { success: true, id, user_id: customerId };
}

/** Fills in what a message object always has; whatever the caller gave stays, so that repeats can be sent too. */
function completeMessage(
  context: SimulatorContext,
  given: unknown,
  waId: string | null,
  userId: string,
  partyOfId: string,
): JsonObject & { id: string; timestamp: string; type: string } {
  const content = typeof given === 'string' ? { text: { body: given } } : (given ?? { text: { body: 'Hello' } });
  if (!isObject(content)) throw new ControlError('"message" must be a message object, or a text.');
  const type = content.type ?? 'text';
  if (typeof type !== 'string') throw new ControlError('"message.type" must be a text.');
  if (content[type] === undefined && type !== 'unsupported') {
    throw new ControlError(`"message.${type}" is missing: a message of type ${type} has its content there.`);
  }
  const timestamp = content.timestamp === undefined ? Math.floor(Date.now() / 1000) : Number(content.timestamp);
  if (!Number.isInteger(timestamp)) throw new ControlError('"message.timestamp" must be whole seconds since 1970.');
  const id = content.id ?? context.ids.inboundWamid(context.ids.nextSequence(), partyOfId);
  if (typeof id !== 'string' || id === '' || /\s/.test(id)) throw new ControlError('"message.id" must be an id.');
  return {
    ...(waId === null ? {} : { from: waId }),
    from_user_id: userId,
    ...content,
    id,
    timestamp: String(timestamp),
    type,
  };
}

function contactOf(context: SimulatorContext, body: JsonObject, waId: string | null, userId: string): object {
  const party = waId ?? userId;
  const username = context.users.usernameOf(party);
  const profile = { name: context.users.profileNameOf(party), ...(username === undefined ? {} : { username }) };
  return {
    ...(optionalFlag(body, 'without_profile') ? {} : { profile }),
    ...(waId === null ? {} : { wa_id: waId }),
    user_id: userId,
  };
}
