import pg from 'pg';
import { newId } from '../../src/common/ids.js';
import { otpApp } from '../otp/fixture.js';
import { conversationId, userId } from '../support/rig/seed-journal.js';
import { recipientNumber } from '../support/rig/recipients.js';
import { asAdmin, createTestDatabase } from '../support/test-database.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { fillTables, TAG, type Filled } from './filled-tables.js';
import { publishedDescription } from './fuzz/description.js';
import { ReadMeter } from './fuzz/read-meter.js';

/** COST_ROWS=3000000 for the long form. */
const LARGE = Number(process.env.COST_ROWS ?? 300_000);
const SIZES = [LARGE / 10, LARGE] as const;
const MAX_TIMES = 2;
/** What a page of rows reads that are strewn over a table. A request that reads less is cheap, whatever it reads beside fewer rows. */
const FEW_PAGES = 1_000;
/** Twice what PostgreSQL assumes: with it the planner decides as it does for a table some ten times as large. */
const RANDOM_PAGE_COST = 8;
const LONG_MS = 1_200_000;

/** Values of what each route filters by, pairs of which are asked for too. */
type Filters = Record<string, readonly (string | undefined)[]>;

/** Of the time of the small journal, which has a message each second. */
const ago = (part: number): string => new Date(Date.now() - part * SIZES[0] * 1_000).toISOString();
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const PLACES = { before: [ago(0.25)] };
const PERIOD = { since: [ago(0.7)], until: [ago(0.12)] };

function filtersOf({ own, file, event }: Filled): Record<string, Filters> {
  return {
    messages_list: {
      ...PLACES,
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
      ...PLACES,
      ...PERIOD,
      connection_id: [own.id],
      type: ['image', 'video'],
      direction: ['inbound', 'outbound'],
    },
    members_list: { ...PLACES },
    optOuts_list: {
      ...PLACES,
      ...PERIOD,
      to: [recipientNumber(1)],
      recipient: [userId(1)],
      source: ['own', 'platform'],
      category: ['marketing', 'all'],
    },
    tags_list: { ...PLACES },
    templates_list: {
      language: ['de', 'fr'],
      status: ['approved', 'paused'],
      category: ['marketing', 'authentication'],
      name: ['template_77'],
    },
    webhook_deliveries: {
      ...PLACES,
      ...PERIOD,
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

/** Neither filters nor counts. */
const OF_ONE = new Set(['limit', 'before', 'before_id', 'after', 'wait']);
/** Read one row by its id, or what the platform says of one. */
const SINGLE = new Set([
  'profile_get',
  'templates_get',
  'conversations_get',
  'media_get',
  'media_link',
  'messages_get',
  'messages_timeline',
  'otp_get',
  'webhook_delivery',
  'replays_get',
  'destinations_get',
]);
/** Reads the kept counts of one tag, as tag-counts.repository.spec.ts holds it. */
const COUNTS = new Set(['tags_get']);

/**
 * Pairs that no index has: 2,000 messages are looked at, each by its key, which `journal-page.spec.ts` counts. Of fewer
 * messages the planner may read all at once, which is less.
 */
const isLookedAtOneByOne = (a: string, b: string): boolean =>
  // Up to 5,200 messages of customers; with `since` the small database has fewer.
  ([a, b].includes('waiting') && ['connection_id', 'unread', 'since'].some((name) => [a, b].includes(name))) ||
  ([a, b].includes('failure_category') && ['source', 'tag', 'media_object_id'].some((name) => [a, b].includes(name)));

/** Only one of them may be given. */
const isRefused = (a: string, b: string): boolean => [a, b].every((name) => ['status', 'statuses'].includes(name));

/** No filter, each value of each, and each two together. */
function queriesOf(filters: Filters): string[] {
  const values = Object.entries(filters).flatMap(([name, each]) => each.map((value) => [name, value ?? ''] as const));
  const chosen: (readonly (readonly [string, string])[])[] = [[], ...values.map((value) => [value])];
  for (const [index, a] of values.entries()) {
    for (const b of values.slice(index + 1))
      if (a[0] !== b[0] && !isLookedAtOneByOne(a[0], b[0]) && !isRefused(a[0], b[0])) chosen.push([a, b]);
  }
  return chosen.map((pairs) => new URLSearchParams(Object.fromEntries(pairs)).toString());
}

const numberOf = (name: string): string => name.split(':', 1)[0] ?? '';
const mostBeside = (few: number): number => Math.max(MAX_TIMES * few, FEW_PAGES);

const operations = publishedDescription().operations.filter(({ method }) => method === 'GET');

/** Pages that each request reads beside so many rows, by its number: ids differ from one database to the other. */
async function pagesBeside(count: number, before?: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const database = await createTestDatabase();
  await asAdmin(`alter database ${new URL(database.url).pathname.slice(1)} set random_page_cost = ${RANDOM_PAGE_COST}`);
  const test = await startTestApp({ database, roles: ['api'], env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
  try {
    return await measured(test, count, before);
  } finally {
    await test.stop();
  }
}

async function measured(
  test: TestApp,
  count: number,
  before?: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const { id: organizationId } = await test.factories.workspace();
  const [own, second] = [
    await test.factories.connection({ organizationId }),
    await test.factories.connection({ organizationId }),
  ];
  const foreign = await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
  const key = (await test.factories.apiKey({ organizationId })).text;
  const foreignKey = (await test.factories.apiKey({ organizationId: foreign.organizationId })).text;
  const otp = await otpApp(test, 'sandbox', { organizationId });
  await test.factories.message({ connection: foreign, status: 'read' });
  const put = await test.api.as(key).request({ method: 'PUT', path: '/webhook', body: { url: 'http://127.0.0.1:9/' } });
  expect(put.status).toBe(200);
  const [endpoint] = await test.database.query<{ id: string }>('select id from webhook_endpoint');
  const filled = {
    own,
    second,
    foreign,
    otpProject: otp.project.id,
    file: newId(),
    endpoint: endpoint?.id ?? '',
    event: newId(),
  };
  const pool = new pg.Pool({ connectionString: test.databaseUrl, max: 1 });
  await fillTables(pool, filled, count);
  await pool.end();

  const meter = new ReadMeter(test, 'pages');
  const pages = new Map<string, number>();
  const refused: string[] = [];
  const measure = async (name: string, path: string, reader: string): Promise<void> => {
    let status = 0;
    const request = async (): Promise<void> => {
      ({ status } = await test.api.as(reader).get(path));
    };
    // Looked at again only where it seems to have grown.
    pages.set(name, await meter.measure(mostBeside(before?.get(numberOf(name)) ?? Infinity), request));
    if (status !== 200 && reader !== foreignKey) refused.push(`${path}: ${status}`);
  };
  try {
    for (const { id, path: address } of operations) {
      const filters = filtersOf(filled)[id];
      if (filters === undefined) continue;
      const path = address.replace('{id}', own.id);
      // What the first request reads fills caches of the process.
      await test.api.as(id === 'usage_codes' ? otp.key : key).get(path);
      for (const [index, query] of queriesOf(filters).entries()) {
        await measure(`${id} ${index}: ${query}`, `${path}?${query}`, id === 'usage_codes' ? otp.key : key);
      }
      if (path === address && id !== 'usage_codes') await measure(`${id}, of a small workspace`, path, foreignKey);
    }
  } finally {
    await meter.close();
  }
  expect(refused).toEqual([]);
  return pages;
}

describe('what one read costs beside ten times as much', () => {
  it('asks each route that lists or counts, by each of its filters', () => {
    const known = filtersOf({ own: {}, second: {}, foreign: {} } as Filled);
    const missing = operations
      .filter(({ id }) => !SINGLE.has(id) && !COUNTS.has(id))
      .flatMap(({ id, parameters }) => {
        const names = parameters.filter((one) => one.in === 'query' && !OF_ONE.has(one.name)).map(({ name }) => name);
        return (known[id] === undefined ? [id] : []).concat(
          names.filter((name) => !(name in (known[id] ?? {}))).map((name) => `${id} ${name}`),
        );
      });
    expect(missing).toEqual([]);
  });

  it(
    'is the same',
    async () => {
      const small = new Map([...(await pagesBeside(SIZES[0]))].map(([name, pages]) => [numberOf(name), pages]));
      const large = await pagesBeside(SIZES[1], small);
      const grown = [...large].flatMap(([name, pages]) => {
        const few = small.get(numberOf(name)) ?? 0;
        return pages > mostBeside(few) ? [`${name}: ${few} -> ${pages} pages`] : [];
      });
      expect(large.size).toBeGreaterThan(500);
      expect(grown).toEqual([]);
    },
    LONG_MS,
  );
});
