import { invalidParam } from '../graph-error.js';
import { control, type Route } from '../http/call.js';
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

/** A person chooses in WhatsApp whether they want marketing messages of a number. */
export function preferenceRoutes(platform: Platform): Route[] {
  return [
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
