import type { JsonObject } from '../../common/json.js';
import { storableText } from '../../common/json.js';
import { ownText } from './json-access.js';

/**
 * The names in WhatsApp's notifications that Herald knows. Unknown names are shown in the notification's row and by
 * `herald doctor`, so that additions by WhatsApp are noticed while their notifications are still stored.
 */

/** Webhook fields that Herald applies, apart from `messages`. */
const APPLIED_FIELDS: ReadonlySet<string> = new Set([
  'account_alerts',
  'account_review_update',
  'account_update',
  'business_capability_update',
  'calls',
  'message_template_components_update',
  'message_template_quality_update',
  'message_template_status_update',
  'messaging_handovers',
  'phone_number_name_update',
  'phone_number_quality_update',
  'security',
  'smb_message_echoes',
  'standby',
  'template_category_update',
  'user_preferences',
]);

/** Known names that Herald does not use yet: their notifications are stored like all others. */
const UNUSED: ReadonlySet<string> = new Set([
  'account_settings_update',
  'automatic_events',
  'business_username_update',
  'business_username_updates',
  'flows',
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'group_status_update',
  'history',
  'messages.statuses.template_id',
  'messages.user_actions',
  'partner_solutions',
  'payment_configuration_update',
  'smb_app_state_sync',
  'standby.message_echoes',
  'standby.statuses',
  'template_correct_category_detection',
  'tracking_events',
  'user_id_update',
]);

/** Whether it is a known webhook field other than `messages`. */
export function isManagementField(field: string): boolean {
  return APPLIED_FIELDS.has(field) || (UNUSED.has(field) && !field.includes('.'));
}

/** Whether Herald knows the name, but does not use it. */
export function isUnused(name: string): boolean {
  return UNUSED.has(name);
}

/** Fields that each customer message may have besides its content, which is under a key named after its type. */
export const MESSAGE_ENVELOPE: ReadonlySet<string> = new Set([
  'from',
  'from_user_id',
  'from_parent_user_id',
  'id',
  'timestamp',
  'type',
  'context',
  'referral',
  'identity',
  'group_id',
  'origin',
]);

/** Further fields of the echo of a message. */
export const ECHO_ENVELOPE: ReadonlySet<string> = new Set([
  'to',
  'to_user_id',
  'to_parent_user_id',
  'history_context',
  'recipient_type',
]);

/** The allowed keys of objects in `messages`; `messages.messages` also has a key named after its type. */
const KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  messages: new Set(['messaging_product', 'metadata', 'contacts', 'messages', 'statuses', 'errors']),
  standby: new Set(['contacts', 'messages', 'statuses', 'message_echoes', 'errors']),
  'messages.contacts': new Set(['profile', 'wa_id', 'user_id', 'parent_user_id', 'identity_key_hash', 'country_code']),
  'messages.messages': new Set([...MESSAGE_ENVELOPE, 'errors']),
  smb_message_echoes: new Set(['messaging_product', 'metadata', 'contacts', 'message_echoes']),
  'smb_message_echoes.message_echoes': new Set([...MESSAGE_ENVELOPE, ...ECHO_ENVELOPE, 'errors']),
  'messages.statuses': new Set([
    'id',
    'status',
    'timestamp',
    'type',
    'recipient_id',
    'recipient_user_id',
    'recipient_parent_user_id',
    'parent_recipient_user_id',
    'recipient_type',
    'recipient_participant_id',
    'recipient_participant_user_id',
    'recipient_participant_parent_user_id',
    'recipient_identity_key_hash',
    'biz_opaque_callback_data',
    'conversation',
    'pricing',
    'errors',
  ]),
};

/** Types of customers' messages, and of messages sent in the app. */
const MESSAGE_TYPES: ReadonlySet<string> = new Set([
  'text',
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'location',
  'contacts',
  'button',
  'interactive',
  'reaction',
  'order',
  'system',
  'unsupported',
  'edit',
  'revoke',
  'request_welcome',
]);

/** Which key of an object has its kind, and the known kinds. */
const KINDS: Readonly<Record<string, { key: string; known: ReadonlySet<string> }>> = {
  interactive: {
    key: 'type',
    known: new Set(['button_reply', 'list_reply', 'nfm_reply', 'call_permission_reply']),
  },
  system: {
    key: 'type',
    known: new Set([
      'customer_changed_number',
      'customer_identity_changed',
      'user_changed_number',
      'user_changed_user_id',
      'user_identity_changed',
    ]),
  },
  account_update: {
    key: 'event',
    known: new Set([
      'ACCOUNT_DELETED',
      'ACCOUNT_OFFBOARDED',
      'ACCOUNT_RECONNECTED',
      'ACCOUNT_RESTRICTION',
      'ACCOUNT_VIOLATION',
      'AD_ACCOUNT_LINKED',
      'AUTH_INTL_PRICE_ELIGIBILITY_UPDATE',
      'BUSINESS_PRIMARY_LOCATION_COUNTRY_UPDATE',
      'DISABLED_UPDATE',
      'MM_LITE_TERMS_SIGNED',
      'PARTNER_ADDED',
      'PARTNER_APP_INSTALLED',
      'PARTNER_APP_UNINSTALLED',
      'PARTNER_CLIENT_CERTIFICATION_STATUS_UPDATE',
      'PARTNER_REMOVED',
      'VOLUME_BASED_PRICING_TIER_UPDATE',
    ]),
  },
  user_preferences: {
    key: 'value',
    known: new Set(['resume', 'signup', 'stop']),
  },
  messaging_handovers: { key: 'type', known: new Set(['control_passed', 'control_taken']) },
  phone_number_quality_update: {
    key: 'event',
    known: new Set(['DOWNGRADE', 'FLAGGED', 'ONBOARDING', 'THROUGHPUT_UPGRADE', 'UNFLAGGED', 'UPGRADE']),
  },
  message_template_status_update: {
    key: 'event',
    known: new Set([
      'APPROVED',
      'ARCHIVED',
      'DELETED',
      'DISABLED',
      'FLAGGED',
      'IN_APPEAL',
      'LIMIT_EXCEEDED',
      'LOCKED',
      'PAUSED',
      'PENDING',
      'PENDING_DELETION',
      'REINSTATED',
      'REJECTED',
      'UNARCHIVED',
    ]),
  },
};

/** Unknown keys of an object, except `exception`: `messages.statuses.new_key`. */
export function unknownKeys(within: string, object: JsonObject, exception?: string): string[] {
  const known = KEYS[within];
  const names: string[] = [];
  for (const key in object) {
    if (key !== exception && known?.has(key) !== true) names.push(`${within}.${nameOf(key)}`);
  }
  return names;
}

/** `account_update[NEW_EVENT]` for an object of an unknown kind; null where the kind is known or absent. */
export function unknownKind(within: string, object: JsonObject): string | null {
  const kinds = KINDS[within];
  const kind = kinds === undefined ? null : ownText(object, kinds.key);
  return kind === null || kinds?.known.has(kind) === true ? null : `${within}[${nameOf(kind)}]`;
}

/** `messages.messages[hologram]` for an unknown type. */
export function unknownType(type: string, within = 'messages.messages'): string | null {
  return MESSAGE_TYPES.has(type) ? null : `${within}[${nameOf(type)}]`;
}

/** A foreign name in a form that may be stored and shown. */
export function nameOf(text: string): string {
  return storableText(text.slice(0, 64)).replaceAll(/[^\w.-]/g, '?');
}
