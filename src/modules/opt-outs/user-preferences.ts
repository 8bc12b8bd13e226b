import { isObject } from '../../common/json.js';
import { MARKETING_PREFERENCE } from '../../infrastructure/whatsapp/webhook-payload.js';
import { ownId, ownList, ownText, ownTime } from '../../infrastructure/whatsapp/json-access.js';

/** A person's choice in WhatsApp about marketing messages of one number. */
export interface UserPreference {
  phone: string | null;
  userId: string | null;
  optedOut: boolean;
  /** WhatsApp's time, in whole seconds. */
  at: Date | null;
  /** The platform's words. */
  detail: string | null;
}

/** `signup`: they opted in for the first time. */
const VALUES: Readonly<Record<string, boolean>> = { stop: true, resume: false, signup: false };

/** Reads the value of a `user_preferences` notification; leaves out entries without a known meaning. */
export function readUserPreferences(value: unknown): UserPreference[] {
  const contacts = ownList(value, 'contacts').filter(isObject);
  const preferences = ownList(value, 'user_preferences').filter(isObject);
  // Either id may be missing: with one contact and one preference they belong together.
  const only = contacts.length === 1 && preferences.length === 1 ? contacts[0] : null;
  return preferences.flatMap((preference) => {
    const optedOut = VALUES[ownText(preference, 'value') ?? ''];
    if (optedOut === undefined || (ownText(preference, 'category') ?? MARKETING_PREFERENCE) !== MARKETING_PREFERENCE) {
      return [];
    }
    const phone = digitsOf(ownId(preference, 'wa_id') ?? ownId(only, 'wa_id'));
    const userId = ownId(preference, 'user_id') ?? ownId(only, 'user_id');
    if (phone === null && userId === null) return [];
    return [{ phone, userId, optedOut, at: ownTime(preference, 'timestamp'), detail: ownText(preference, 'detail') }];
  });
}

function digitsOf(text: string | null): string | null {
  return text === null ? null : (/^\+?(\d{1,20})$/.exec(text)?.[1] ?? null);
}
