import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TAG } from '../../test/support/rig/fill-tables.js';
import type { FilledWorld } from '../../test/support/rig/filled-world.js';
import { filtersOf, queriesOf } from '../../test/support/rig/list-queries.js';
import { ROOT } from '../../test/support/rig/paths.js';
import { ReadMeter } from '../../test/support/rig/read-meter.js';
import type { TestApp } from '../../test/support/test-app.js';

/** Pages, by a name that is the same in each size. */
export type Pages = Map<string, number>;

const DAY_MS = 86_400_000;

/** What one request of each list reads, by each of its filters, and what one of the rest does. */
export async function readCosts(test: TestApp, world: FilledWorld, smallest: number): Promise<Pages> {
  const meter = new ReadMeter(test, 'pages');
  const pages: Pages = new Map();
  const measure = async (name: string, path: string, key: string): Promise<void> => {
    const request = async (): Promise<void> => {
      const { status } = await test.api.as(key).get(path);
      if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    };
    // What the first one reads fills caches of the process.
    await request();
    pages.set(name, await meter.measure(0, request));
  };
  try {
    for (const [name, path] of await single(test, world)) await measure(`GET ${name}`, path, world.key);
    const paths = pathsOfLists();
    for (const [id, filters] of Object.entries(filtersOf(world.filled, smallest))) {
      const path = (paths.get(id) ?? '').replace('{id}', world.filled.own.id);
      for (const [index, query] of queriesOf(filters, false).entries()) {
        const name = `GET ${paths.get(id)}${nameOf(query, index)}`;
        await measure(name, `${path}?${query}`, id === 'usage_codes' ? world.otpKey : world.key);
      }
    }
  } finally {
    await meter.close();
  }
  return pages;
}

/** One row by its id, the counts of a tag, and a year of figures. */
async function single(test: TestApp, { filled }: FilledWorld): Promise<[string, string][]> {
  const { organizationId } = filled.own;
  const [message] = await test.database.query<{ id: string }>(
    `select id from message where organization_id = $1 and direction = 'outbound' and source is null
     order by created_at limit 1`,
    [organizationId],
  );
  await test.database.execute(
    `insert into message_tag_count (organization_id, tag, connection_id, status, messages, last_at, is_sum)
     values ($1, $2, $3, 'sent', 100, now(), true)`,
    [organizationId, TAG, filled.own.id],
  );
  await test.database.execute(`insert into message_tag (organization_id, tag) values ($1, $2)`, [organizationId, TAG]);
  const year = new Date(Date.now() - 365 * DAY_MS).toISOString();
  const usage = (interval: string): string => `/usage?${new URLSearchParams({ interval, since: year }).toString()}`;
  return [
    ['/messages/{id}', `/messages/${message?.id}`],
    ['/messages/{id}/timeline', `/messages/${message?.id}/timeline`],
    ['/tags/{tag}', `/tags/${TAG}`],
    ['/usage of a year by day', usage('day')],
    ['/usage of a year by month', usage('month')],
  ];
}

function pathsOfLists(): Map<string, string> {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, { get?: { operationId: string } }>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, { get }]) => {
      return get === undefined ? [] : [[get.operationId, path.replace(/^\/api\/v1/, '')] as const];
    }),
  );
}

/** Words are shown as they are given; ids, numbers and times differ from one database to the other. */
function nameOf(query: string, index: number): string {
  const shown = [...new URLSearchParams(query)].map(([name, value]) =>
    /^[a-z_,.]+$/i.test(value) ? `${name}=${value}` : name,
  );
  return shown.length === 0 ? '' : `?${shown.join('&')} (${index})`;
}
