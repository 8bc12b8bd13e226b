import { newId } from '../../../src/common/ids.js';
import { conversationId, userId } from './seed-journal.js';
import { recipientNumber } from './recipients.js';
import { TAG, type Filled } from './fill-tables.js';

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** Values of what each route filters by, pairs of which are asked for too. */
export type Filters = Record<string, readonly (string | undefined)[]>;

/**
 * What each route that lists or counts filters by, by its operation.
 *
 * @param smallest messages of the smallest journal that is compared: times lie within it
 */
export function filtersOf({ own, file, event }: Filled, smallest: number): Record<string, Filters> {
  // The journal has a message each second.
  const ago = (part: number): string => new Date(Date.now() - part * smallest * 1_000).toISOString();
  const places = { before: [ago(0.25)] };
  const period = { since: [ago(0.7)], until: [ago(0.12)] };
  return {
    messages_list: {
      ...places,
      connection_id: [own.id],
      conversation_id: [conversationId(1)],
      direction: ['outbound', 'inbound'],
      source: ['api', 'app', 'history', 'customer'],
      status: ['queued', 'processing', 'sent', 'read', 'failed', 'outcome_unknown', 'received'],
      statuses: ['failed,outcome_unknown'],
      failure_category: ['expired'],
      since: [ago(0.7)],
      until: [ago(0.12)],
      client_message_id: ['order-1'],
      tag: [TAG],
      media_object_id: [file],
      meta_message_id: ['wamid.none'],
      to: [recipientNumber(1), own.phoneNumber],
      from: [recipientNumber(2), own.phoneNumber],
      recipient: [userId(1)],
    },
    // Behind a place, as `until` is one, it looks at 5,200 messages and at each of their conversations: as many as these tables have or more.
    conversations_list: {
      connection_id: [own.id],
      to: [recipientNumber(1)],
      recipient: [userId(1)],
      unread: ['true', 'false'],
      since: [ago(0.7)],
      until: [new Date(Date.now() + 86_400_000).toISOString()],
      waiting: ['true'],
      closed: ['false'],
      assignee: ['nora'],
      assignee_id: [newId()],
      search: ['nothing that begins so', recipientNumber(1)],
    },
    events_list: { types: ['message.received', 'template.category.updated'] },
    media_list: {
      ...places,
      ...period,
      connection_id: [own.id],
      type: ['image', 'video'],
      direction: ['inbound', 'outbound'],
    },
    members_list: { ...places },
    optOuts_list: {
      ...places,
      ...period,
      to: [recipientNumber(1)],
      recipient: [userId(1)],
      source: ['own', 'platform'],
      category: ['marketing', 'all'],
    },
    tags_list: { ...places },
    templates_list: {
      language: ['de', 'fr'],
      status: ['approved', 'paused'],
      category: ['marketing', 'authentication'],
      name: ['template_77'],
    },
    webhook_deliveries: {
      ...places,
      ...period,
      status: ['failed', 'succeeded'],
      event_type: ['message.received', 'template.category.updated'],
      event_id: [event],
    },
    usage_messages: {
      since: [daysAgo(20)],
      until: [daysAgo(1)],
      interval: ['hour', 'month'],
      timezone: ['Asia/Kathmandu'],
      group_by: ['connection', 'country'],
      connection: [own.id],
      connection_id: [own.id],
      type: ['text'],
      template: ['news'],
      category: ['utility'],
      country: ['DE'],
      source: ['api'],
    },
    usage_codes: {
      since: [daysAgo(20)],
      until: [daysAgo(1)],
      interval: ['hour', 'month'],
      timezone: ['UTC'],
    },
    connections_list: {},
    // At most twenty of a workspace; the events that wait for each are counted up to a thousand.
    destinations_list: {},
    keys_get: {},
    webhook_get: {},
  };
}

/**
 * Pairs that no index has: 2,000 messages are looked at, each by its key, which `journal-page.slow.spec.ts` counts. Of fewer
 * messages the planner may read all at once, which is less.
 */
const isLookedAtOneByOne = (a: string, b: string): boolean =>
  // Up to 5,200 messages of customers, of which the small database has fewer.
  ([a, b].includes('waiting') &&
    ['connection_id', 'unread', 'since', 'closed'].some((name) => [a, b].includes(name))) ||
  ([a, b].includes('failure_category') && ['source', 'tag', 'media_object_id'].some((name) => [a, b].includes(name)));

/** Only one of them may be given. */
const isRefused = (a: string, b: string): boolean => [a, b].every((name) => ['status', 'statuses'].includes(name));

/** No filter, each value of each, and each two together where pairs are asked for. */
export function queriesOf(filters: Filters, withPairs: boolean): string[] {
  const values = Object.entries(filters).flatMap(([name, each]) => each.map((value) => [name, value ?? ''] as const));
  const chosen: (readonly (readonly [string, string])[])[] = [[], ...values.map((value) => [value])];
  for (const [index, a] of withPairs ? values.entries() : []) {
    for (const b of values.slice(index + 1))
      if (a[0] !== b[0] && !isLookedAtOneByOne(a[0], b[0]) && !isRefused(a[0], b[0])) chosen.push([a, b]);
  }
  return chosen.map((pairs) => new URLSearchParams(Object.fromEntries(pairs)).toString());
}
