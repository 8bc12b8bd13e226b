import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { hostileJson } from '../../test/support/rig/hostile-json.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import { conversationId, seedJournal, userId } from '../../test/support/rig/seed-journal.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';

export const JOURNAL = 30_000;
const ROWS = 20_000;
const TEMPLATES = 6_000;
const TAG = 'campaign';
const LIMIT_BYTES = 256 * 1_024;
const OPEN_RECIPIENT = 9_000_000;

/** All routes read JSON in the same way: only what a route makes of it differs. */
const DEAREST = ['deep lists', 'many keys', 'many numbers', 'many objects', 'a tree of buttons', 'a text of {{1}}'];

const HOSTILE = hostileJson(LIMIT_BYTES - 2_000);

/** One request of a route. */
export interface Input {
  method: string;
  /** Below /api/v1. */
  path: string;
  body?: string | FormData;
}

/** What the largest requests of a workspace name. */
export interface World {
  workspace: SeededWorkspace;
  messages: { queued: string; failed: string; received: string; long: string };
  ids: Record<'media' | 'optOut' | 'delivery' | 'event' | 'code', string>;
}

/** Fills the tables of a workspace: some ten thousand rows each, and details of a month and a year for the usage. */
export async function seedWorld(pool: Pool, workspace: SeededWorkspace, projectId: string): Promise<World> {
  const { organizationId, connections } = workspace;
  const [{ id: connectionId, wabaId, phoneNumber }] = connections;
  await seedJournal(pool, workspace.connections.slice(0, 10) as never, JOURNAL);
  await seedConversations(pool, connections[0], 1, OPEN_RECIPIENT);
  for (const sql of FILL) await pool.query(sql, [organizationId, connectionId]);
  await pool.query(TEMPLATES_SQL, [organizationId, wabaId]);
  await pool.query(USAGE, [organizationId, connections.slice(0, 10).map(({ id }) => id)]);
  await pool.query(CODES, [organizationId, projectId]);
  await pool.query('vacuum analyze');
  const one = async (sql: string): Promise<string> => {
    const { rows } = await pool.query<{ id: string }>(sql, [organizationId]);
    if (rows[0] === undefined) throw new Error(`nothing was seeded for: ${sql}`);
    return rows[0].id;
  };
  const inState = (status: string): Promise<string> =>
    one(
      `select message_id as id from message_state where organization_id = $1 and status = '${status}' order by 1 desc limit 1`,
    );
  const long = await inState('read');
  await pool.query(ATTEMPTS, [organizationId, long]);
  await pool.query(EVENTS, [organizationId, long, phoneNumber]);
  return {
    workspace,
    messages: {
      queued: await one(
        'select message_id as id from message_queue where organization_id = $1 and due_at is not null limit 1',
      ),
      failed: await inState('failed'),
      received: await one(
        `select id from message where organization_id = $1 and direction = 'inbound' order by 1 desc limit 1`,
      ),
      long,
    },
    ids: {
      media: await one('select id from media_object where organization_id = $1 limit 1'),
      optOut: await one('select id from opt_out where organization_id = $1 limit 1'),
      delivery: await one('select id from webhook_delivery where organization_id = $1 limit 1'),
      event: await one('select id from webhook_event where organization_id = $1 order by transaction_id, id limit 1'),
      code: randomUUID(),
    },
  };
}

/** The dearest requests that are known of each operation; made anew each time, for some can be made only once. */
export function inputsOf({ workspace, messages, ids }: World): Record<string, Record<string, () => Input>> {
  const [connection, second] = workspace.connections;
  const number = `/connections/${connection.id}`;
  const get = (path: string) => (): Input => ({ method: 'GET', path });
  const send = (method: string, path: string, body?: object) => (): Input => ({
    method,
    path,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const day = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
  const text = {
    connection_id: connection.id,
    to: `+${recipientNumber(OPEN_RECIPIENT)}`,
    type: 'text',
    text: { body: '€'.repeat(4_096) },
  };
  const flow = {
    ...text,
    type: 'interactive',
    text: undefined,
    interactive: {
      type: 'flow',
      body: { text: 'Book' },
      action: {
        name: 'flow',
        parameters: {
          flow_message_version: '3',
          flow_cta: 'Open',
          flow_id: '1',
          flow_action: 'navigate',
          flow_action_payload: {
            screen: 'DAY',
            data: Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`key_${n}`, 'é'.repeat(120)])),
          },
        },
      },
    },
  };
  const hostile = (
    method: string,
    path: string,
    holder: string,
    names: readonly string[] = DEAREST,
  ): Record<string, () => Input> =>
    Object.fromEntries(
      HOSTILE.filter(([name]) => names.includes(name)).map(([name, json]) => [
        name,
        () => ({ method, path, body: holder.replace('"@"', () => json) }),
      ]),
    );
  const keyed = (message: object): object => ({ idempotency_key: randomUUID(), ...message });
  const batch =
    (messagesOf: () => string, validation = 'strict') =>
    (): Input => ({
      method: 'POST',
      path: '/messages/batch',
      body: `{"validation":"${validation}","messages":[${messagesOf()}]}`,
    });
  const times = (count: number, item: () => string): string => Array.from({ length: count }, item).join(',');
  const template = {
    name: `new_${randomUUID().replaceAll('-', '_')}`,
    language: 'en_US',
    category: 'utility',
    components: [{ type: 'BODY', text: 'Hello' }],
  };
  const usage = (query: Record<string, string>): (() => Input) =>
    get(`/usage?${new URLSearchParams(query).toString()}`);
  const groups = 'connection,type,template,category,country,source';
  const page = 'limit=100';
  const journal = (query: string): (() => Input) => get(`/messages?${page}&${query}`);
  return {
    connections_list: { all: get('/connections') },
    profile_get: { one: get(`${number}/profile`) },
    profile_update: { one: send('PUT', `${number}/profile`, { about: 'x'.repeat(139) }) },
    templates_list: { all: get(`${number}/templates`), 'by name': get(`${number}/templates?name=zzz`) },
    templates_create: {
      one: send('POST', `${number}/templates`, template),
      ...hostile('POST', `${number}/templates`, JSON.stringify({ ...template, components: '@' })),
    },
    templates_preview: hostile('POST', `${number}/templates/preview`, JSON.stringify({ ...template, components: '@' })),
    templates_get: { one: get(`${number}/templates/template_1`) },
    templates_edit: hostile(
      'PATCH',
      `${number}/templates/template_1`,
      JSON.stringify({ language: 'en_US', components: '@' }),
    ),
    templates_remove: { one: send('DELETE', `${number}/templates/template_2`) },
    conversations_list: {
      page: get(`/conversations?${page}`),
      unread: get(`/conversations?${page}&unread=true`),
      'of a number': get(`/conversations?${page}&connection_id=${connection.id}`),
    },
    conversations_get: { one: get(`/conversations/${conversationId(1)}`) },
    conversations_control: { one: send('POST', `/conversations/${conversationId(1)}/control`, { action: 'take' }) },
    events_list: {
      page: get(`/events?after=${ids.event}&limit=100`),
      start: get('/events?limit=100'),
      'of a rare type': get('/events?limit=100&types=template.status'),
    },
    keys_get: { one: get('/key') },
    media_upload: { 'a picture': () => ({ method: 'POST', path: '/media', body: upload(connection.id) }) },
    media_list: {
      page: get(`/media?${page}`),
      'of a kind': get(`/media?${page}&type=video&direction=inbound&connection_id=${second?.id}`),
    },
    media_get: { one: get(`/media/${ids.media}`) },
    media_delete: { one: send('DELETE', `/media/${randomUUID()}`) },
    media_link: { one: get(`/media/${ids.media}/url`) },
    messages_send: {
      text: send('POST', '/messages', text),
      flow: send('POST', '/messages', flow),
      ...hostile(
        'POST',
        '/messages',
        JSON.stringify({ ...flow, interactive: '@' }),
        HOSTILE.map(([name]) => name),
      ),
    },
    messages_check: {
      text: send('POST', '/messages/check', text),
      flow: send('POST', '/messages/check', flow),
      ...hostile('POST', '/messages/check', JSON.stringify({ ...flow, interactive: '@' })),
    },
    messages_sendBatch: {
      texts: batch(() => times(100, () => JSON.stringify(keyed(text)))),
      flows: batch(() => times(16, () => JSON.stringify(keyed(flow)))),
      'unknown numbers': batch(() => times(100, () => JSON.stringify(keyed({ ...text, connection_id: randomUUID() })))),
      'empty objects': batch(() => times(1_390_000, () => '{}')),
      'one that is too large': batch(() => `[${times(1_300_000, () => '[]')}]`, 'permissive'),
      'white space': batch(() => `${' '.repeat(4_000_000)}{}`),
      'no JSON': batch(() => `${times(16, () => `[${times(80_000, () => '{}')}]`)}x`),
      'deep lists': batch(() => times(16, () => '['.repeat(120_000) + ']'.repeat(120_000))),
      'many keys': batch(() => times(16, () => `[${times(20_000, () => `{"${randomKey()}":1}`)}]`)),
    },
    messages_list: {
      page: journal(''),
      read: journal('status=read'),
      'a rare state': journal(`status=outcome_unknown&client_message_id=order-1`),
      tag: journal(`tag=${TAG}`),
      'to and from': journal(`to=${recipientNumber(1)}&from=${connection.phoneNumber}`),
      recipient: journal(`recipient=${userId(1)}`),
      failed: journal('failure_category=unknown'),
      'a day': journal(`since=${day(1)}&until=${day(0)}`),
    },
    messages_get: { one: get(`/messages/${messages.long}`) },
    messages_timeline: { 'a hundred attempts': get(`/messages/${messages.long}/timeline`) },
    messages_retry: { one: send('POST', `/messages/${messages.failed}/retry`, {}) },
    messages_cancel: { one: send('POST', `/messages/${messages.queued}/cancel`) },
    messages_read: { one: send('POST', `/messages/${messages.received}/read`, {}) },
    optOuts_list: { page: get(`/opt-outs?${page}`), 'of one': get(`/opt-outs?${page}&to=${recipientNumber(1)}`) },
    optOuts_put: { one: send('PUT', '/opt-outs', { to: `+${recipientNumber(3)}`, category: 'all' }) },
    optOuts_remove: { one: send('DELETE', `/opt-outs/${ids.optOut}`) },
    otp_send: { one: send('POST', '/otp/send', { to: `+${recipientNumber(1)}`, ttl: 600 }) },
    otp_verify: { one: send('POST', '/otp/verify', { id: ids.code, code: '123456' }) },
    otp_get: { one: get(`/otp/${ids.code}`) },
    tags_get: { one: get(`/tags/${TAG}`) },
    tags_pause: { one: send('POST', `/tags/${TAG}/pause`) },
    tags_resume: { one: send('POST', `/tags/${TAG}/resume`) },
    tags_retry: { one: send('POST', `/tags/${TAG}/retry`, {}) },
    tags_cancel: { one: send('POST', `/tags/${TAG}/cancel`) },
    usage_messages: {
      'all groups by hour': usage({ interval: 'hour', group_by: groups, since: day(30) }),
      'all groups by day': usage({ interval: 'day', group_by: groups, since: day(399) }),
      'by day and number': usage({ interval: 'day', group_by: 'connection', since: day(399) }),
      'by day': usage({ interval: 'day', since: day(399) }),
      'by hour': usage({ interval: 'hour', since: day(30) }),
      'one country by month': usage({ interval: 'month', since: day(399), country: 'DE', timezone: 'Asia/Kolkata' }),
    },
    usage_codes: {
      'by hour': get(`/usage/codes?interval=hour&since=${day(30)}`),
      'by day': get(`/usage/codes?interval=day&since=${day(399)}`),
    },
    webhook_put: { one: send('PUT', '/webhook', { url: 'https://192.0.2.1/hook', events: ['message.sent'] }) },
    webhook_get: { one: get('/webhook') },
    webhook_deliveries: {
      page: get(`/webhook/deliveries?${page}`),
      'of an event': get(`/webhook/deliveries?${page}&event_id=${ids.event}`),
      failed: get(`/webhook/deliveries?${page}&status=failed&event_type=message.sent`),
    },
    webhook_delivery: { one: get(`/webhook/deliveries/${ids.delivery}`) },
    webhook_replay: { one: send('POST', `/webhook/deliveries/${ids.delivery}/replay`) },
    replays_start: { all: send('POST', '/webhook/replay', { since: day(1), until: day(0) }) },
    replays_get: { one: get(`/webhook/replay/${randomUUID()}`) },
    webhook_rotateSecret: { one: send('POST', '/webhook/rotate-secret') },
    webhook_test: { one: send('POST', '/webhook/test') },
    webhook_remove: { one: send('DELETE', '/webhook') },
  };
}

let made = 0;
const randomKey = (): string => `k${(++made).toString(36)}`;

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function upload(connectionId: string): FormData {
  const form = new FormData();
  form.set('connection_id', connectionId);
  form.set('file', new Blob([PNG], { type: 'image/png' }), 'dot.png');
  return form;
}

/** $1 the workspace, $2 its first number. */
const FILL = [
  `update message set tag = '${TAG}' where organization_id = $1 and direction = 'outbound' and $2::uuid is not null`,
  `insert into message_tag (organization_id, tag, acted_at) select $1, '${TAG}', now() where $2::uuid is not null on conflict do nothing`,
  `update message_content set body = repeat('€', 4096), content = jsonb_build_object('body', repeat('€', 4096))
   where message_id in (select id from message where organization_id = $1 and $2::uuid is not null order by created_at desc limit 1000)`,
  `insert into opt_out (id, organization_id, source, category, active, since, said_at, phone, reason)
   select uuid_v7(), $1, 'own', 'all', true, now() - make_interval(secs => n), now(), '4915' || lpad(n::text, 8, '0'), repeat('x', 200)
   from generate_series(1, ${ROWS}) as n where $2::uuid is not null`,
  `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, size_bytes, sha256, filename, status, storage_key, created_at)
   select uuid_v7(), $1, $2, 'outbound', 'document', 'application/pdf', 1000, repeat('a', 64), repeat('f', 200) || n, 'stored', gen_random_uuid(),
     now() - make_interval(secs => n) from generate_series(1, ${ROWS}) as n`,
  `insert into webhook_endpoint (id, organization_id, url, events, active)
   select uuid_v7(), $1, 'https://192.0.2.1/hook', array['message.sent'], true where $2::uuid is not null`,
  `insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at)
   select $1, e.id, 'message.received', jsonb_build_object('id', gen_random_uuid(), 'body', repeat('€', 4096), 'connection_id', $2::uuid), now()
   from webhook_endpoint e, generate_series(1, ${ROWS / 3}) where e.organization_id = $1`,
  `insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, http_status, error, created_at)
   select uuid_v7(), $1, e.endpoint_id, e.id, e.type, n, 'failed', 500, repeat('x', 200), now()
   from webhook_event e, generate_series(1, 3) as n where e.organization_id = $1 and $2::uuid is not null`,
];

/** $2 the account. */
const TEMPLATES_SQL = `
with account as (
  insert into template_account (organization_id, waba_id, synced_at) values ($1, $2, now() + interval '1 hour')
)
insert into template (id, organization_id, waba_id, platform_id, name, language, status, platform_status, category, parameter_format, components)
select uuid_v7(), $1, $2, n::text, 'template_' || n, 'en_US', 'approved', 'APPROVED', 'utility', 'POSITIONAL',
  jsonb_build_array(jsonb_build_object('type', 'BODY', 'text', 'Hello {{1}}, ' || repeat('€', 1000), 'example', jsonb_build_object('body_text', jsonb_build_array(jsonb_build_array('Ann')))),
    jsonb_build_object('type', 'BUTTONS', 'buttons', (select jsonb_agg(jsonb_build_object('type', 'QUICK_REPLY', 'text', 'Button ' || b)) from generate_series(1, 10) as b)))
from generate_series(1, ${TEMPLATES}) as n`;

/** $2 a message with as many attempts as are kept. */
const ATTEMPTS = `
insert into message_attempt (id, organization_id, message_id, number, answer, started_at, answered_at, http_status, text)
select uuid_v7(), $1, $2, n, 'rejected', now(), now(), 400, repeat('x', 500) from generate_series(2, 100) as n`;

const EVENTS = `
insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at)
select $1, e.id, 'message.sent', jsonb_build_object('id', $2::uuid, 'to', $3::text), now()
from webhook_endpoint e, generate_series(1, 100) where e.organization_id = $1`;

const MEASURES = ['submitted', 'accepted', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown', 'received'];
const CLASSES = Array.from({ length: 16 }, (_, n) => `d${n}`);
const FIGURES = [...MEASURES, ...CLASSES].join(', ');

/** $2 its numbers. 400 days by the quarter of an hour, ten kinds of messages each. */
const USAGE = `
insert into usage (organization_id, start, connection_id, ${FIGURES}, billable, type, source, country, category, template, pricing_type, failure_category)
select $1, start, ($2::uuid[])[1 + n % cardinality($2::uuid[])], ${MEASURES.map(() => '10').join(', ')}, ${CLASSES.map(() => '1').join(', ')},
  true, 'template', 'api', (array['DE', 'FR', 'ES'])[1 + n % 3], 'marketing', 'template_' || n, 'regular', 'unknown'
from generate_series(date_trunc('day', now(), 'UTC') - interval '400 days', now(), interval '15 minutes') as start
cross join generate_series(1, 10) as n`;

/** $2 the project. */
const CODES = `
insert into usage (organization_id, project_id, start, country, submitted, sent, delivered, verified, expired, failed)
select $1, $2, start, country, 1, 1, 1, 1, 0, 0
from generate_series(date_trunc('day', now(), 'UTC') - interval '400 days', now(), interval '1 hour') as start,
  unnest(array['DE', 'FR', 'ES', 'IT']) as country`;
