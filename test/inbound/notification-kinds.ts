import { meaningOf } from '../../src/infrastructure/whatsapp/graph-error.js';
import type { ConnectionRow } from '../support/factories.js';
import { changeOf, secondsNow } from './fixture.js';

/** What a notification is about: a number, one of its contacts, and a message that was delivered to the contact. */
export interface Scene {
  connection: ConnectionRow;
  phone: string;
  message: { id: string; metaId: string };
  /** An id at WhatsApp that nothing else has. */
  newMetaId: string;
}

/** Everything is partial: what is named must be so. */
export interface Expected {
  /** New messages of the journal, the oldest first; in the list and alone. */
  rows?: object[];
  /** Events by type, in their order. */
  events?: [type: string, data: object][];
  /** The message that was delivered. Left out: it stays as it is. */
  message?: object;
  /** An entry of the timeline of that message, once. */
  timeline?: object;
  /** The number, as GET /connections shows it. */
  number?: object;
  /** The version of the template order_update. */
  template?: object;
  /** Names that are kept with the notification, and counted: those that Herald does not know, and those that it does not use. */
  unknown?: string[];
  unused?: string[];
}

/** A row of the table: a label, the changes of one notification, and what must come of them. It comes twice. */
export interface Kind {
  label: string;
  changes: (scene: Scene) => object[];
  expected: (scene: Scene) => Expected;
  /** A repeat is another one: it comes once only. */
  isOnce?: boolean;
}

/** WhatsApp's times, which are seconds; of now, as it does not report what is older than a number's facts. */
const AT = secondsNow() - 60;
const ISO = new Date(AT * 1_000).toISOString();
const AT_TEXT = String(AT);

const field = (name: string, value: (scene: Scene) => object) => (scene: Scene) => [
  { ...changeOf(scene.connection, value(scene)), field: name },
];
const account = (name: string, value: (scene: Scene) => object) => (scene: Scene) => [
  { field: name, value: value(scene) },
];

/** A message of the contact. */
function written(type: string, parts: object, more: object = {}) {
  return field('messages', ({ phone, newMetaId }) => ({
    contacts: [{ profile: { name: 'Ana' }, wa_id: phone }],
    messages: [{ from: phone, id: newMetaId, timestamp: AT_TEXT, type, ...parts, ...more }],
  }));
}

interface Shown {
  body?: string | null;
  content: object;
  /** Beside the content, in the journal and in the event. */
  more?: object;
  /** In the journal only. */
  row?: object;
  /** In the event's `message`, and in the journal. */
  message?: (scene: Scene) => object;
}

/** It is in the journal, and is an event. */
function received(type: string, { body = null, content, more = {}, row = {}, message = () => ({}) }: Shown) {
  return (scene: Scene): Expected => {
    const contact = { phone: scene.phone };
    const shown = { direction: 'inbound', type, body, status: 'received', source: 'customer', from: scene.phone };
    const given = message(scene);
    return {
      rows: [{ ...shown, contact, content, ...more, ...row, ...given }],
      events: [['message.received', { message: { type, body, ...given }, content, contact, ...more }]],
    };
  };
}

/** The content stands under the name of the type, and is stored as it came. */
function plain(type: string, content: object, body: string | null = null, more: Partial<Shown> = {}): Kind {
  return {
    label: `${type}: ${JSON.stringify(content)}`,
    changes: written(type, { [type]: content }),
    expected: received(type, { body, content, ...more }),
  };
}

const hasFile = { row: { media_object_id: expect.any(String) as string } };
const MEDIA = '1234567890';

const REFERRAL = { source_url: 'https://fb.me/2n', source_id: '120210', source_type: 'ad', ctwa_clid: 'ARAkLkA8rmlF' };
const PRODUCT = { catalog_id: '194836987003835', product_retailer_id: 'di9ozbzfi4' };
const IDENTITY = { acknowledged: true, created_timestamp: 1_767_000_000, hash: 'DF2lS5v2W6x=' };
const UNSUPPORTED = [{ code: 131_051, title: 'Message type unknown' }];

/** Beside a text: `given` in the message, or in its contact. */
function beside(label: string, given: object, shown: object, contact: object = {}): Kind {
  return {
    label: `text with ${label}`,
    changes: field('messages', ({ phone, newMetaId }) => ({
      contacts: [{ profile: { name: 'Ana' }, wa_id: phone, ...contact }],
      messages: [{ from: phone, id: newMetaId, timestamp: AT_TEXT, type: 'text', text: { body: 'oi' }, ...given }],
    })),
    expected: received('text', { body: 'oi', content: { body: 'oi' }, more: shown }),
  };
}

const MESSAGES: readonly Kind[] = [
  plain('text', { body: 'Olá' }, 'Olá'),
  plain('image', { id: MEDIA, mime_type: 'image/jpeg', sha256: 'x', caption: 'see' }, 'see', hasFile),
  plain('reaction', { message_id: 'wamid.X', emoji: '👍' }, '👍'),
  {
    label: 'a type that is not known is stored as it came, and named',
    changes: written('hologram', { hologram: { beam: 7 } }),
    expected: (scene) => ({
      ...received('hologram', { content: { beam: 7 } })(scene),
      unknown: ['messages.messages[hologram]'],
    }),
  },
  {
    label: 'what the platform does not support keeps why, and what it was',
    changes: written('unsupported', { errors: UNSUPPORTED, unsupported: { type: 'poll' } }),
    expected: received('unsupported', { content: { type: 'poll', errors: UNSUPPORTED } }),
  },
  {
    label: 'a known type that the platform could not read keeps why',
    changes: written('interactive', { errors: UNSUPPORTED }),
    expected: received('interactive', { content: { errors: UNSUPPORTED } }),
  },
  {
    label: 'an answer names the message that it stands on',
    changes: field('messages', ({ phone, newMetaId, connection, message }) => {
      const context = { from: connection.phoneNumber, id: message.metaId };
      const text = { body: 'yes' };
      return { messages: [{ from: phone, id: newMetaId, timestamp: AT_TEXT, type: 'text', text, context }] };
    }),
    expected: received('text', {
      body: 'yes',
      content: { body: 'yes' },
      message: ({ message: { id } }) => ({ reply_to_message_id: id }),
    }),
  },
  {
    label: 'a reaction names the message that it stands on',
    changes: field('messages', ({ phone, newMetaId, message }) => {
      const reaction = { message_id: message.metaId, emoji: '👍' };
      return { messages: [{ from: phone, id: newMetaId, timestamp: AT_TEXT, type: 'reaction', reaction }] };
    }),
    expected: received('reaction', {
      body: '👍',
      content: { emoji: '👍' },
      message: ({ message: { id } }) => ({ reply_to_message_id: id }),
    }),
  },
  plain('edit', { original_message_id: 'wamid.O', message: { type: 'text', text: { body: 'eight' } } }, 'eight', {
    message: () => ({ edits_message_id: null }),
  }),
  plain('revoke', { original_message_id: 'wamid.O' }, null, { message: () => ({ revokes_message_id: null }) }),
  plain('system', { type: 'user_changed_number', body: 'A changed', wa_id: '34600' }, 'A changed', {
    more: { contact: { phone: '34600' } },
  }),
  beside('the mark of a forwarded one', { context: { forwarded: true } }, { context: { forwarded: true } }),
  beside('an advertisement', { referral: REFERRAL }, { referral: REFERRAL }),
  beside('the hash of an identity', {}, { identity: { hash: 'h=' } }, { identity_key_hash: 'h=' }),
  beside('a user name', {}, { username: 'ana.l' }, { profile: { name: 'Ana', username: 'ana.l' } }),
  beside('a group', { group_id: 'Y2Fw' }, { group_id: 'Y2Fw' }),
];

/** More types, which are read in the same way: by webhook-payload.spec.ts too. */
export const MORE_MESSAGES: readonly Kind[] = [
  plain('video', { id: MEDIA, mime_type: 'video/mp4', sha256: 'x' }, null, hasFile),
  plain('audio', { id: MEDIA, mime_type: 'audio/ogg; codecs=opus', voice: true }, null, hasFile),
  plain('document', { id: MEDIA, filename: 'a.pdf', caption: 'read' }, 'read', hasFile),
  plain('sticker', { id: MEDIA, mime_type: 'image/webp', animated: false }, null, hasFile),
  plain('location', { latitude: -23.5, longitude: -46.6, name: 'Office' }),
  plain('button', { payload: 'STOP', text: 'Parar' }, 'Parar'),
  plain('interactive', { type: 'button_reply', button_reply: { id: 'yes', title: 'Sim' } }, 'Sim'),
  plain('interactive', { type: 'list_reply', list_reply: { id: '1', title: 'Row' } }, 'Row'),
  plain('interactive', { type: 'nfm_reply', nfm_reply: { body: 'Sent', response_json: '{}' } }, 'Sent'),
  plain('reaction', { message_id: 'wamid.X', emoji: '' }, ''),
  plain('reaction', { message_id: 'wamid.X' }),
  plain('order', { catalog_id: '1', text: 'Please', product_items: [{ quantity: 1 }] }, 'Please'),
  beside('a product', { context: { referred_product: PRODUCT } }, { context: { referred_product: PRODUCT } }),
  beside('an identity', { identity: IDENTITY }, { identity: IDENTITY }),
  {
    label: 'contacts keep their list',
    changes: written('contacts', { contacts: [{ name: { formatted_name: 'Bea' }, phones: [{ phone: '+1' }] }] }),
    expected: received('contacts', {
      content: { contacts: [{ name: { formatted_name: 'Bea' }, phones: [{ phone: '+1' }] }] },
    }),
  },
  beside(
    'the mark of one that is forwarded often',
    { context: { frequently_forwarded: true } },
    {
      context: { frequently_forwarded: true },
    },
  ),
];

/** A report about the message that was delivered. */
const status = (given: object) =>
  field('messages', ({ phone, message }) => ({
    statuses: [{ id: message.metaId, timestamp: AT_TEXT, recipient_id: phone, ...given }],
  }));
const moved = (to: string, more: object = {}): ((scene: Scene) => Expected) => {
  return ({ message: { id } }) => ({
    message: { status: to, ...more },
    events: [['message.status.updated', { message_id: id, previous_status: 'delivered', status: to, ...more }]],
  });
};
const PAYMENT = { reference_id: 'order-1', amount: { value: 21_000, offset: 100 }, currency: 'INR' };
const paid = (given: object, message_id: (scene: Scene) => string | null): Pick<Kind, 'changes' | 'expected'> => ({
  changes: status({ type: 'payment', payment: PAYMENT, ...given }),
  expected: (scene) => {
    const { status: state } = given as { status: string };
    const data = { message_id: message_id(scene), contact: { phone: scene.phone, user_id: null }, status: state };
    return { events: [['payment.updated', { ...data, payment: PAYMENT, occurred_at: ISO }]] };
  },
});

const STATUSES: readonly Kind[] = [
  ...['sent', 'delivered', 'warmed_up'].map((word) => ({
    label: `the status ${word} changes nothing of a delivered message`,
    changes: status({ status: word }),
    expected: () => (word === 'warmed_up' ? { unknown: ['messages.statuses[warmed_up]'] } : {}),
  })),
  ...['read', 'played'].map((word) => ({
    label: `the status ${word} is read`,
    changes: status({ status: word }),
    expected: moved('read'),
  })),
  {
    label: 'the status failed after a delivery changes nothing',
    changes: status({ status: 'failed', errors: [{ code: 131_026, title: 'Message undeliverable' }] }),
    expected: () => ({}),
  },
  {
    label: 'the status deleted is an entry of the timeline',
    changes: status({ status: 'deleted' }),
    expected: () => ({ timeline: { event: 'deleted', at: ISO, source: 'whatsapp' } }),
  },
  {
    label: 'the status warning is an entry of the timeline, with its code',
    changes: status({ status: 'warning', errors: [{ code: 131_049, title: 'Not delivered' }] }),
    expected: () => ({ timeline: { event: 'warned', at: ISO, source: 'whatsapp', platform_code: 131_049 } }),
  },
  { label: 'a payment that was captured', ...paid({ status: 'captured' }, ({ message }) => message.id) },
  { label: 'a payment that failed', ...paid({ status: 'failed' }, ({ message }) => message.id) },
  {
    label: 'a payment of a message that is not known',
    ...paid({ id: 'wamid.other', status: 'pending' }, () => null),
  },
  {
    label: 'trouble without a message',
    isOnce: true,
    changes: field('messages', () => ({
      errors: [{ code: 130_429, title: 'Rate limit hit', error_data: { details: 'Too many messages' } }],
    })),
    expected: ({ connection }) => {
      const { summary } = meaningOf('rate_limited', 130_429);
      return { events: [['platform.error', { connection_id: connection.id, code: 130_429, summary }]] };
    },
  },
];

/** @param ways how the contact is named: the one who calls, or who is called */
const call = (given: object, ways: 'from' | 'to' = 'from') =>
  field('calls', ({ phone }) => ({ calls: [{ id: 'wacid.1', timestamp: AT_TEXT, [ways]: phone, ...given }] }));
const called =
  (type: string, given: object) =>
  (scene: Scene): Expected => ({
    events: [
      [type, { contact: { phone: scene.phone, user_id: null }, occurred_at: ISO, call: { id: 'wacid.1', ...given } }],
    ],
  });
const ENDED = { start_time: String(AT - 5), end_time: AT_TEXT, duration: 5 };

const CALLS: readonly Kind[] = [
  {
    label: 'a call that rings is no event: it opens the window',
    changes: call({ event: 'connect', direction: 'USER_INITIATED', session: { sdp_type: 'offer', sdp: 'v=0' } }),
    expected: () => ({}),
  },
  {
    label: "a customer's call that nobody took",
    changes: call({ event: 'terminate', direction: 'USER_INITIATED', status: 'FAILED' }),
    expected: called('call.missed', {
      direction: 'inbound',
      status: 'failed',
      started_at: null,
      duration_seconds: null,
    }),
  },
  {
    label: "a customer's call",
    changes: call({ event: 'terminate', direction: 'USER_INITIATED', status: 'COMPLETED', ...ENDED }),
    expected: called('call.ended', { direction: 'inbound', duration_seconds: 5 }),
  },
  {
    label: 'a call of the business that nobody took',
    changes: call({ event: 'terminate', direction: 'BUSINESS_INITIATED', status: 'FAILED' }, 'to'),
    expected: called('call.ended', { direction: 'outbound' }),
  },
];

/** Later than what the contact wrote. */
const LATER = String(AT + 600);

const handover = (type: string, given: object) => (scene: Scene) => [
  {
    field: 'messaging_handovers',
    value: {
      messaging_product: 'whatsapp',
      recipient: {
        display_phone_number: scene.connection.phoneNumber,
        phone_number_id: scene.connection.phoneNumberId,
      },
      sender: { phone_number: scene.phone },
      type,
      timestamp: LATER,
      [type]: given,
    },
  },
];
const controlled = (role: string) => (): Expected => ({
  events: [['conversation.control.updated', { previous_owner: 'you', owner: 'other', owner_role: role }]],
});

const OTHER_APPS: readonly Kind[] = [
  {
    label: 'control that is passed to us, who have it',
    changes: handover('control_passed', { previous_owner_role: 'ai_agent', new_owner_role: 'customer_service' }),
    expected: () => ({}),
  },
  {
    label: 'control that is passed on to the Business Agent',
    changes: handover('control_passed', { previous_owner_role: 'customer_service', new_owner_role: 'ai_agent' }),
    expected: controlled('ai_agent'),
  },
  {
    label: 'control that is taken from us',
    changes: handover('control_taken', { previous_owner_role: 'customer_service', new_owner_role: 'escalation' }),
    expected: controlled('escalation'),
  },
  {
    label: 'a message to another app',
    changes: field('standby', ({ phone, newMetaId }) => ({
      standby: {
        contacts: [],
        messages: [{ from: phone, id: newMetaId, timestamp: LATER, type: 'text', text: { body: 'hi' } }],
      },
    })),
    expected: () => ({
      rows: [{ direction: 'inbound', body: 'hi', standby: true }],
      events: [
        ['conversation.control.updated', { owner: 'other' }],
        ['message.standby.received', { message: { body: 'hi', standby: true }, owner: 'other' }],
      ],
    }),
  },
  {
    label: 'an echo of another app',
    changes: field('standby', ({ newMetaId }) => ({
      standby: {
        message_echoes: [
          { id: newMetaId, timestamp: '1', message: { to: '34600', type: 'text', text: { body: 'x' } } },
        ],
      },
    })),
    expected: () => ({ unused: ['standby.message_echoes'] }),
  },
  {
    label: 'a status of another app',
    changes: field('standby', ({ newMetaId }) => ({
      standby: { statuses: [{ id: newMetaId, status: 'sent', timestamp: '1' }] },
    })),
    expected: () => ({ unused: ['standby.statuses'] }),
  },
  {
    label: 'a message that was sent in the WhatsApp Business app',
    changes: field('smb_message_echoes', ({ connection, phone, newMetaId }) => ({
      message_echoes: [
        {
          from: connection.phoneNumber,
          to: phone,
          id: newMetaId,
          timestamp: AT_TEXT,
          type: 'text',
          text: { body: 'x' },
        },
      ],
    })),
    expected: ({ phone }) => ({
      rows: [{ direction: 'outbound', source: 'app', status: 'sent', to: phone, body: 'x' }],
      events: [['message.sent_elsewhere', { message: { source: 'app', body: 'x' }, contact: { phone } }]],
    }),
  },
  {
    label: 'the history of the app is kept until it is imported',
    changes: field('history', ({ connection, newMetaId }) => {
      const said = { from: '34600', to: connection.phoneNumber, id: newMetaId, timestamp: '1700000000', type: 'text' };
      const messages = [{ ...said, text: { body: 'x' }, history_context: { status: 'READ' } }];
      const metadata = { phase: 0, chunk_order: 1, progress: 55 };
      return { history: [{ metadata, threads: [{ id: '34600', messages }] }] };
    }),
    expected: () => ({ unused: ['history'] }),
  },
  {
    label: 'the contacts of the app',
    changes: field('smb_app_state_sync', () => ({
      state_sync: [
        {
          type: 'contact',
          contact: { full_name: 'Ana', phone_number: '34600' },
          action: 'add',
          metadata: { timestamp: '1' },
        },
      ],
    })),
    expected: () => ({ unused: ['smb_app_state_sync'] }),
  },
];

const preference = (value: string) =>
  field('user_preferences', ({ phone }) => ({
    contacts: [{ profile: { name: 'Ana' }, wa_id: phone }],
    user_preferences: [
      { wa_id: phone, detail: 'User requested', category: 'marketing_messages', value, timestamp: AT },
    ],
  }));

const PEOPLE: readonly Kind[] = [
  {
    label: 'a person who wants no marketing any more',
    changes: preference('stop'),
    expected: ({ phone }) => ({
      events: [['contact.opt_out.updated', { opted_out: true, source: 'platform', contact: { phone } }]],
    }),
  },
  {
    label: 'a person who has always wanted marketing',
    changes: preference('resume'),
    expected: () => ({}),
  },
  {
    label: 'a new kind of preference',
    changes: preference('snooze'),
    expected: () => ({ unknown: ['user_preferences[snooze]'] }),
  },
  {
    label: 'what a person did with a marketing message',
    changes: field('messages', () => ({
      user_actions: [
        {
          action_type: 'marketing_messages_link_click',
          timestamp: '1',
          marketing_messages_link_click_data: { click_component: 'cta', click_id: '1' },
        },
      ],
    })),
    expected: () => ({ unused: ['messages.user_actions'] }),
  },
];

const TEMPLATE = { message_template_name: 'order_update', message_template_language: 'en_US' };
const template = (given: object) => account('message_template_status_update', () => ({ ...TEMPLATE, ...given }));
const updated = (number: object) => ({
  number,
  events: [['connection.updated', { connection: number }]] as [string, object][],
});

const ACCOUNTS: readonly Kind[] = [
  {
    label: 'a template that is paused',
    changes: template({ event: 'PAUSED', reason: 'NONE' }),
    expected: () => ({
      template: { status: 'paused' },
      events: [['template.status.updated', { name: 'order_update', previous_status: 'approved', status: 'paused' }]],
    }),
  },
  {
    label: 'a template that is rejected, with its reason',
    changes: template({ event: 'REJECTED', reason: 'SCAM' }),
    expected: () => ({
      template: { status: 'rejected', rejected_reason: 'SCAM' },
      events: [['template.status.updated', { status: 'rejected', rejected_reason: 'SCAM' }]],
    }),
  },
  {
    label: 'the quality of a template',
    changes: account('message_template_quality_update', () => ({
      ...TEMPLATE,
      previous_quality_score: 'GREEN',
      new_quality_score: 'YELLOW',
    })),
    expected: () => ({ template: { quality: 'YELLOW' } }),
  },
  {
    label: 'the category of a template',
    changes: account('template_category_update', () => ({
      ...TEMPLATE,
      previous_category: 'UTILITY',
      new_category: 'MARKETING',
    })),
    expected: () => ({
      template: { category: 'MARKETING' },
      events: [['template.category.updated', { name: 'order_update', category: 'MARKETING' }]],
    }),
  },
  {
    label: 'the limit of a number',
    changes: account('phone_number_quality_update', ({ connection }) => ({
      display_phone_number: connection.phoneNumber,
      event: 'UPGRADE',
      current_limit: 'TIER_10K',
    })),
    expected: () => updated({ messaging_limit: 'TIER_10K' }),
  },
  {
    label: 'the limit of a portfolio',
    changes: account('business_capability_update', () => ({ max_daily_conversations_per_business: 10_000 })),
    expected: () => updated({ messaging_limit: 'TIER_10K' }),
  },
  {
    label: 'an account that was removed',
    changes: account('account_update', () => ({ event: 'PARTNER_REMOVED' })),
    expected: () => updated({ status: 'disconnected', status_reason: 'account_removed' }),
  },
  {
    label: 'an account that may not write',
    changes: account('account_update', () => ({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type: 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING', expiration: AT + 660 }],
    })),
    expected: () => updated({ status: 'restricted', status_reason: 'platform' }),
  },
  {
    label: 'an account that may not add numbers',
    changes: account('account_update', () => ({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', expiration: AT + 660 }],
    })),
    expected: () => ({ number: { status: 'connected' } }),
  },
  {
    label: 'a new event of an account',
    changes: account('account_update', () => ({ event: 'MOVED' })),
    expected: () => ({ number: { status: 'connected' }, unknown: ['account_update[MOVED]'] }),
  },
  ...['account_alerts', 'account_review_update', 'security'].map((name) => ({
    label: `${name} changes nothing by itself`,
    changes: account(name, () => ({})),
    expected: () => ({ number: { status: 'connected' } }),
  })),
  ...['flows', 'group_status_update'].map((name) => ({
    label: `${name}, which Herald does not use`,
    changes: account(name, () => ({})),
    expected: () => ({ unused: [name] }),
  })),
  {
    label: 'a field that is not known',
    changes: account('holograms', () => ({ beam: 7 })),
    expected: () => ({ unknown: ['holograms'] }),
  },
];

export const KINDS: readonly Kind[] = [...MESSAGES, ...STATUSES, ...CALLS, ...OTHER_APPS, ...PEOPLE, ...ACCOUNTS];
