import { fillWorld } from '../support/rig/filled-world.js';
import type { Filled } from '../support/rig/fill-tables.js';
import { filtersOf, queriesOf } from '../support/rig/list-queries.js';
import { ReadMeter } from '../support/rig/read-meter.js';
import { asAdmin, createTestDatabase } from '../support/test-database.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { publishedDescription } from './fuzz/description.js';

/** COST_ROWS=3000000 for the long form. */
const LARGE = Number(process.env.COST_ROWS ?? 300_000);
const SIZES = [LARGE / 10, LARGE] as const;
const MAX_TIMES = 2;
/** What a page of rows reads that are strewn over a table. A request that reads less is cheap, whatever it reads beside fewer rows. */
const FEW_PAGES = 1_000;
/** Twice what PostgreSQL assumes: with it the planner decides as it does for a table some ten times as large. */
const RANDOM_PAGE_COST = 8;
const LONG_MS = 1_200_000;

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
/** Reads the kept counts of one tag, as tag-counts.repository.slow.spec.ts holds it. */
const COUNTS = new Set(['tags_get']);

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
  const { filled, key, foreignKey, otpKey } = await fillWorld(test, { messages: count, usage: count, others: count });
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
      const filters = filtersOf(filled, SIZES[0])[id];
      if (filters === undefined) continue;
      const path = address.replace('{id}', filled.own.id);
      // What the first request reads fills caches of the process.
      await test.api.as(id === 'usage_codes' ? otpKey : key).get(path);
      for (const [index, query] of queriesOf(filters, true).entries()) {
        await measure(`${id} ${index}: ${query}`, `${path}?${query}`, id === 'usage_codes' ? otpKey : key);
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
    const known = filtersOf({ own: {}, second: {}, foreign: {} } as Filled, SIZES[0]);
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
