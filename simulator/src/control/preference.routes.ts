import { invalidParam } from '../graph-error.js';
import { type Call, control, type Route } from '../http/call.js';
import { digitsOf, partyOf } from '../people.js';
import type { Platform } from '../platform.js';
import { numberOf } from './control.routes.js';

const VALUES = ['stop', 'resume', 'signup'] as const;
const DETAILS = {
  stop: 'User requested to stop marketing messages',
  resume: 'User requested to resume marketing messages',
  signup: 'User signed up for marketing messages',
} as const;
const LATEST_TIME = 10_000_000_000;

/** Gives the person a new user id, and with `new_from` a new number. From then on the old user id is refused. */
function changeIdentity(platform: Platform, { param }: Call): object {
  const { numbers, people, ids } = platform;
  const { phoneNumberId, wabaId, displayPhoneNumber } = numberOf(numbers, param.text('phone_number_id', 20));
  const from = param.optionalText('from', 1000);
  const newFrom = param.optionalText('new_from', 1000);
  const given = from ?? param.optionalText('user_id', 1000);
  if (given === undefined) throw invalidParam('"from" is missing: the number of the person, or "user_id".');
  const party = partyOf(given);
  const oldNumber = from === undefined ? undefined : party;
  const oldUserId = oldNumber === undefined ? party : people.userIdOf(oldNumber);
  const newNumber = newFrom === undefined ? undefined : partyOf(newFrom);
  const country = oldUserId.slice(0, 2);
  const newUserId =
    param.optionalText('new_user_id', 1000) ??
    (newNumber === undefined ? `${country}.${ids.newObjectId()}` : people.userIdOf(newNumber));
  people.replaceUserId(oldUserId, newNumber ?? oldNumber ?? null, newUserId);
  const [was, is] = newNumber === undefined ? [oldUserId, newUserId] : [oldNumber ?? oldUserId, newNumber];
  const timestamp = param.optionalNumber('time', 0, LATEST_TIME) ?? Math.floor(Date.now() / 1000);
  if (param.flag('notify', true)) {
    platform.notifyAccount(wabaId, 'messages', {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: digitsOf(displayPhoneNumber), phone_number_id: phoneNumberId },
      messages: [
        {
          // A change of the user id is reported without the number.
          from: newNumber === undefined ? undefined : oldNumber,
          from_user_id: oldUserId,
          id: ids.outboundWamid(ids.nextSequence(), oldUserId),
          timestamp: String(timestamp),
          type: 'system',
          system: {
            body: `User ${people.profileNameOf(party)} changed from ${was} to ${is}`,
            wa_id: newNumber,
            user_id: newUserId,
            previous_user_id: oldUserId,
            type: newNumber === undefined ? 'user_changed_user_id' : 'user_changed_number',
          },
        },
      ],
    });
  }
  return { success: true, wa_id: newNumber ?? oldNumber, user_id: newUserId, previous_user_id: oldUserId, timestamp };
}

/** Choices of people in WhatsApp: whether they want marketing messages from a number, and their own number. */
export function preferenceRoutes(platform: Platform): Route[] {
  return [
    control('post', '/identity', (call) => changeIdentity(platform, call)),
    control('post', '/preferences', ({ param }) => {
      const { numbers, people } = platform;
      const { phoneNumberId, wabaId, displayPhoneNumber } = numberOf(numbers, param.text('phone_number_id', 20));
      const from = param.optionalText('from', 1000);
      const given = from ?? param.optionalText('user_id', 1000);
      if (given === undefined) throw invalidParam('"from" is missing: the number of the person, or "user_id".');
      const party = partyOf(given);
      const waId = from === undefined ? undefined : party;
      const userId = waId === undefined ? party : people.userIdOf(waId);
      const value = param.oneOf('value', VALUES);
      const refusal = param.optionalOneOf('refusal', ['answer', 'status']) ?? 'answer';
      const timestamp = param.optionalNumber('time', 0, LATEST_TIME) ?? Math.floor(Date.now() / 1000);
      people.setOptedOut(phoneNumberId, party, value === 'stop' ? refusal : null);
      const preference = {
        wa_id: waId,
        user_id: userId,
        detail: DETAILS[value],
        category: 'marketing_messages',
        value,
      };
      if (param.flag('notify', true)) {
        platform.notifyAccount(wabaId, 'user_preferences', {
          messaging_product: 'whatsapp',
          metadata: { display_phone_number: digitsOf(displayPhoneNumber), phone_number_id: phoneNumberId },
          contacts: [{ profile: { name: people.profileNameOf(party) }, wa_id: waId, user_id: userId }],
          user_preferences: [{ ...preference, timestamp }],
        });
      }
      return { success: true, wa_id: waId, user_id: userId, value, timestamp };
    }),
  ];
}
