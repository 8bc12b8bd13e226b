import { makePartitionsAhead } from '../../src/infrastructure/database/partitions.js';
import type { BenchContext, Claim } from '../bench-context.js';
import { atMostTimes, type Finding } from '../finding.js';
import { readCosts, type Pages } from '../growth/read-costs.js';
import { WriteMeter, type WriteCosts } from '../growth/write-costs.js';
import { createDatabase, type BenchDatabase } from '../../test/support/rig/database.js';
import { fillNotifications } from '../../test/support/rig/fill-tables.js';
import { fillWorld } from '../../test/support/rig/filled-world.js';
import { BenchPostgres } from '../../test/support/rig/postgres.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { startTestApp } from '../../test/support/test-app.js';

const MAX_TIMES = 1.2;
const MILLION = 1_000_000;
const MONTH_DAYS = 30;
/** Bytes. What only reads may write marks into pages, once. */
const NOTHING_WRITTEN = 50;
/** A table of other things has a twentieth as many rows as the journal has messages. */
const BESIDE = 20;
const YEAR_OF_USAGE = 200_000;
/** Three a message, kept for fourteen days. */
const NOTIFICATIONS = 14 * 86_400 * 3;
/** Pages and bytes are counted, and no crash is to be survived. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '2GB',
  shared_buffers: '2GB',
  maintenance_work_mem: '512MB',
};

interface Costs {
  messages: number;
  reads: Pages;
  writes: WriteCosts;
}

/** What each step of a message's life, each list and each removal reads and writes beside a journal, against the same beside the shortest one. */
export const growthClaim: Claim = {
  name: 'growth',
  isSeparate: true,
  async measure(context): Promise<Finding[]> {
    const millions = context.millions ?? (context.quick ? [0.2, 2] : [1, 10]);
    const sizes = millions.map((each) => each * MILLION).sort((a, b) => a - b);
    const [smallest = MILLION] = sizes;
    const url = context.databaseUrl ?? (await BenchPostgres.start(context.scope, undefined, SETTINGS)).url;
    const all: Costs[] = [];
    for (const messages of sizes) all.push(await costsBeside(context, url, messages, smallest));
    const [base, ...others] = all;
    return base === undefined ? [] : others.flatMap((other) => compared(base, other));
  },
};

/** One size at a time, so that the disk holds no more than the largest. */
function costsBeside(context: BenchContext, url: string, messages: number, smallest: number): Promise<Costs> {
  return context.scope.within(async (scope) => {
    const database = await createDatabase(scope, url, 'growth');
    await makeMonths(database, messages);
    const test = await startTestApp({
      database: { url: database.url, drop: () => Promise.resolve() },
      roles: ['api'],
      env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
    });
    scope.defer(() => test.stop());
    const startedAt = performance.now();
    const others = messages / BESIDE;
    const world = await fillWorld(test, { messages, usage: Math.max(others, YEAR_OF_USAGE), others });
    await fillNotifications(database.pool, Math.min(3 * messages, NOTIFICATIONS));
    const { rows } = await database.pool.query<{ size: string }>(
      'select pg_size_pretty(pg_database_size(current_database())) as size',
    );
    const filledIn = Math.round((performance.now() - startedAt) / 1_000);
    context.say(`growth: ${messages.toLocaleString('en')} messages, ${rows[0]?.size}, filled in ${filledIn} s`);
    const reads = await readCosts(test, world, smallest / BESIDE);
    const writes = await written(scope, new WriteMeter(test, world, messages));
    for (const [name, cost] of writes) {
      const [pages, wal] = [cost.pages.toFixed(1), Math.round(cost.wal)];
      context.say(`${name}: ${pages} pages, ${wal} bytes of WAL, ${cost.ms.toFixed(2)} ms`);
    }
    return { messages, reads, writes };
  });
}

function written(scope: Scope, meter: WriteMeter): Promise<WriteCosts> {
  return scope.within((within) => {
    within.defer(() => meter.close());
    return meter.measure();
  });
}

/** As an installation has them that has run for so long: a message a second. */
async function makeMonths({ pool }: BenchDatabase, messages: number): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'message_content'::regclass`,
  );
  for (const { name } of rows) await pool.query(`drop table ${name}`);
  const now = new Date();
  const months = Math.ceil(messages / 86_400 / MONTH_DAYS);
  for (let ago = months; ago >= 0; ago--) {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
    const run = async (sql: string, params?: unknown[]): Promise<unknown> => (await pool.query(sql, params)).rows;
    await makePartitionsAhead(run, 'message_content', 'month', month);
  }
}

function compared(base: Costs, other: Costs): Finding[] {
  const [size, small] = [other, base].map(({ messages }) => messages.toLocaleString('en'));
  const finding = (name: string, unit: string, value: number, yardstick = NaN): Finding =>
    atMostTimes(
      MAX_TIMES,
      { claim: `${name}, ${size} messages`, value, unit },
      // A page more or less of one is no growth.
      { name: `in ${small}`, value: Math.max(yardstick, 1) },
    );
  const writes = [...other.writes].flatMap(([name, { pages, wal, ms }]) => {
    const before = base.writes.get(name);
    const read = { ...finding(name, 'pages', pages, before?.pages), notes: { ms } };
    return Math.min(wal, before?.wal ?? 0) < NOTHING_WRITTEN
      ? [read]
      : [read, finding(`${name}: WAL`, 'B', wal, before?.wal)];
  });
  const reads = [...other.reads].map(([name, pages]) => finding(name, 'pages', pages, base.reads.get(name)));
  return [...writes, ...reads];
}
