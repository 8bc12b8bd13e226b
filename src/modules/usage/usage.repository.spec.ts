import fc from 'fast-check';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { beginTransaction } from '../../../test/support/open-transaction.js';
import { insertMessage, type MessageSpec } from '../../../test/support/message-factory.js';
import { FUZZ_SEED, runs } from '../../../test/support/runs.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { CountingRepository } from './counting.repository.js';
import { divide, TimeZone } from './periods.js';
import { type SummedRow, UsageRepository } from './usage.repository.js';
import { type Group, highestPrice, type Interval, MEASURES } from './usage.types.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FOREVER = { contents: 0, codes: 0 };

let opened: OpenTestDatabase;
let repository: UsageRepository;
let counting: CountingRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
});
afterAll(() => opened.close());

beforeEach(async () => {
  for (const table of [
    'usage_count',
    'usage_total',
    'usage_codes',
    'usage_hour',
    'usage_late',
    'message',
    'message_state',
    'message_content',
  ]) {
    await opened.database.execute(`delete from ${table}`);
  }
  const factories = new Factories(opened.database);
  const workspace = await factories.workspace();
  connection = await factories.connection({ organizationId: workspace.id });
  repository = new UsageRepository(opened.database);
  counting = new CountingRepository(opened.database);
});

const insert = (spec: Partial<MessageSpec>): Promise<{ id: string }> =>
  insertMessage(opened.database, { connection, status: 'delivered', ...spec });

async function countAll(kept = FOREVER, of = counting): Promise<void> {
  await of.addHours();
  while (await of.countDue(kept));
}

/** Until nothing is due at any time; young hours are due again and again. */
async function countAllDue(): Promise<void> {
  const isOld = "next_at is not null and hour < now() - interval '7 days 1 hour'";
  do {
    while (await counting.countDue(FOREVER));
  } while ((await opened.database.execute(`update usage_hour set next_at = clock_timestamp() where ${isOld}`)) > 0);
}

const again = (): Promise<number> =>
  opened.database.execute('update usage_hour set next_at = clock_timestamp() where true');

function rowsOf(
  since: Date,
  until: Date,
  {
    groupBy = [],
    interval = 'day',
    timezone = 'UTC',
  }: { groupBy?: Group[]; interval?: Interval; timezone?: string } = {},
): Promise<SummedRow[]> {
  const { pieces } = divide({ since, until, interval }, new TimeZone(timezone));
  return repository.summed({ organizationId: connection.organizationId, pieces, groupBy, filter: {} });
}

async function submitted(): Promise<number> {
  const rows = await rowsOf(new Date(Date.now() - 90 * DAY), new Date(Date.now() + HOUR));
  return rows.reduce((sum, row) => sum + row.submitted, 0);
}

describe('UsageRepository', () => {
  it('counts what happened to messages, in the slot of their submission and in its day', async () => {
    const at = new Date(Math.floor(Date.now() / DAY) * DAY - 3 * DAY + 5 * HOUR + 20 * 60_000);
    await insert({ createdAt: at, status: 'read', recipient: '491701234567' });
    await insert({ createdAt: at, status: 'failed', failureCategory: 'expired', recipient: '12042345678' });
    await insert({ createdAt: at, status: 'queued', recipient: '77012345678' });
    await insert({ createdAt: at, status: 'received', recipient: '491701234567' });
    const content = { name: 'summer_sale', language: { code: 'en' } };
    await insert({ createdAt: at, type: 'template', content, recipient: '77012345678' });
    await countAll();

    const day = Math.floor(at.getTime() / DAY) * DAY;
    const whole = await rowsOf(new Date(day), new Date(day + DAY), { groupBy: ['country', 'template', 'source'] });
    expect(whole.map(({ country, template, source }) => [country, template, source])).toEqual(
      expect.arrayContaining([
        ['DE', null, 'api'],
        ['DE', null, 'customer'],
        ['CA', null, 'api'],
        ['KZ', null, 'api'],
        ['KZ', 'summer_sale', 'api'],
      ]),
    );
    for (const [since, until, found] of [
      [day, day + DAY, true],
      [day + 5 * HOUR + 15 * 60_000, day + 5 * HOUR + 30 * 60_000, true],
      [day + 5 * HOUR, day + 5 * HOUR + 15 * 60_000, false],
    ] as const) {
      const rows = await rowsOf(new Date(since), new Date(until));
      const sum = (key: 'submitted' | 'accepted' | 'delivered' | 'read' | 'failed' | 'received'): number =>
        rows.reduce((all, row) => all + row[key], 0);
      expect([
        sum('submitted'),
        sum('accepted'),
        sum('delivered'),
        sum('read'),
        sum('failed'),
        sum('received'),
      ]).toEqual(found ? [4, 2, 2, 1, 1, 1] : [0, 0, 0, 0, 0, 0]);
    }
  });

  it('counts nothing twice, however many count at once and however often', async () => {
    for (let day = 0; day < 3; day++) await insert({ createdAt: new Date(Date.now() - day * DAY) });
    const other = new CountingRepository(opened.database);
    await Promise.all([countAll(), countAll(FOREVER, other)]);
    await again();
    await Promise.all([countAll(), countAll(FOREVER, other)]);
    expect(await submitted()).toBe(3);
  });

  it('a count that is broken off leaves what was counted before', async () => {
    await insert({});
    await countAll();
    await insert({});
    await again();
    await expect(
      opened.database.transaction(async () => {
        await counting.countDue(FOREVER);
        throw new Error('the worker ends here');
      }),
    ).rejects.toThrow('the worker ends here');
    expect(await submitted()).toBe(1);
    await countAll();
    expect(await submitted()).toBe(2);
  });

  it('counts of the present hour its last quarter only, and all of it when the quarter is over', async () => {
    // An hour whose third quarter is the present one.
    const { quarter } = await opened.database.row<{ quarter: Date }>(
      `select date_bin('15 minutes', clock_timestamp() - interval '1 minute', '2000-01-01 00:00:00+00') as quarter`,
    );
    const hour = new Date(quarter.getTime() - HOUR / 2);
    await opened.database.execute('insert into usage_hour (hour, next_at) values ($1, now())', [hour]);
    await insert({ createdAt: new Date(quarter.getTime() - 1), status: 'sent' });
    await insert({ createdAt: quarter, status: 'sent' });
    const counted = async (): Promise<number[]> => {
      await again();
      expect(await counting.countDue(FOREVER)).toBe(true);
      const rows = await rowsOf(hour, new Date(hour.getTime() + HOUR), { groupBy: ['type'] });
      const sum = (key: 'submitted' | 'delivered'): number => rows.reduce((all, row) => all + row[key], 0);
      return [sum('submitted'), sum('delivered')];
    };
    expect(await counted()).toEqual([2, 0]);
    await opened.database.execute(`update message_state set status = 'delivered'`);
    expect(await counted()).toEqual([2, 1]);
    await opened.database.execute(`update usage_hour set counted_at = counted_at - interval '15 minutes'`);
    expect(await counted()).toEqual([2, 2]);
    expect(await counted()).toEqual([2, 2]);
  });

  it('times are of delivered messages only', async () => {
    await insert({ status: 'sent' });
    const { id } = await insert({ status: 'read' });
    await opened.database.execute(
      `update message_state set delivered_at = accepted_at + interval '1 second' where message_id = $1`,
      [id],
    );
    await countAll();
    const [row] = await rowsOf(new Date(Date.now() - DAY), new Date(Date.now() + HOUR), { groupBy: ['type'] });
    expect(row?.delivery).toEqual(Array.from({ length: 16 }, (_, index) => (index === 3 ? 1 : 0)));
  });

  it('an hour is counted at its times, and once more before retention, which waits for it', async () => {
    const at = new Date(Date.now() - 29.95 * DAY);
    const { id } = await insert({ createdAt: at, type: 'template', content: { name: 'news' } });
    const kept = { contents: 30, codes: 0 };
    await counting.addHours();
    // The end of its hour: the next one is not due before retention yet.
    const before = new Date(Math.floor(at.getTime() / HOUR) * HOUR + HOUR);
    expect((await counting.countedBefore(before)).getTime()).toBeLessThanOrEqual(at.getTime());
    await countAll(kept);
    expect(await counting.countedBefore(before)).toEqual(before);

    // Contents are gone now: the hour keeps what it says.
    await opened.database.execute('delete from message_content where message_id = $1', [id]);
    await opened.database.execute(`update message set created_at = created_at - interval '2 days' where id = $1`, [id]);
    await again();
    await opened.database.execute(`update usage_hour set next_at = null where hour > now() - interval '29 days'`);
    await opened.database.execute(
      `update usage_hour set hour = hour - interval '1 day' where hour < now() - interval '29 days'`,
    );
    for (const table of ['usage_count', 'usage_total']) {
      await opened.database.execute(`update ${table} set start = start - interval '1 day'`);
    }
    while (await counting.countDue(kept));
    const rows = await rowsOf(new Date(Date.now() - 40 * DAY), new Date(), { groupBy: ['template'] });
    expect(rows.map(({ template, submitted: count }) => [template, count])).toEqual([['news', 1]]);
  });

  it('says the same of all messages, of numbers and in detail, in every zone', async () => {
    const statuses = ['read', 'delivered', 'failed', 'queued', 'received'] as const;
    const now = Date.now();
    for (let n = 0; n < 60; n++) {
      const status = statuses[n % statuses.length] ?? 'read';
      await insert({
        createdAt: new Date(now - n * 97 * 60_000),
        status,
        recipient: n % 2 ? '491701234567' : '12042345678',
      });
    }
    await opened.database.execute(
      `update message_state set billable = status = 'read', pricing_category = 'utility', pricing_type = 'regular'`,
    );
    await countAll();
    const [since, until] = [
      new Date(Math.floor((now - 4 * DAY) / HOUR) * HOUR),
      new Date(Math.ceil(now / HOUR) * HOUR),
    ];
    const sumsOf = (rows: SummedRow[]) => {
      const sums = new Map<string, number>();
      const add = (key: unknown[], count: number) => sums.set(key.join(' '), (sums.get(key.join(' ')) ?? 0) + count);
      for (const { bucket, connection: number, category, kinds, delivery, ...row } of rows) {
        for (const measure of MEASURES) add([bucket, number, category, measure], row[measure]);
        for (const [index, count] of delivery.entries()) add([bucket, number, category, 'delivery', index], count);
        for (const [submittedOf, failed, ...kind] of kinds.map(
          (each) => [each[4], each[5], ...each.slice(0, 4)] as const,
        )) {
          add([bucket, number, category, 'submitted', ...kind], submittedOf);
          add([bucket, number, category, 'failed', ...kind], failed);
        }
      }
      return sums;
    };
    for (const timezone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Los_Angeles', 'Asia/Kathmandu']) {
      for (const interval of ['hour', 'day', 'month'] as const) {
        for (const groupBy of [[], ['connection'], ['category'], ['category', 'connection']] satisfies Group[][]) {
          const options = { interval, timezone };
          const coarse = await rowsOf(since, until, { ...options, groupBy });
          const detailed = await rowsOf(since, until, { ...options, groupBy: [...groupBy, 'type'] });
          expect(sumsOf(coarse)).toEqual(sumsOf(detailed));
          expect(coarse.reduce((sum, row) => sum + row.submitted + row.received, 0)).toBe(60);
        }
      }
    }
  });

  it('counts an hour again where a message of it changes after its last regular count', async () => {
    const at = new Date(Date.now() - 9 * DAY);
    const { id } = await insert({ createdAt: at, status: 'sent' });
    await countAll();
    const left = () => counting.countedBefore(new Date(Date.now() - 8.5 * DAY));
    const before = await left();
    expect(before.getTime()).toBeGreaterThan(at.getTime());
    await opened.database.execute(`update message_state set status = 'delivered' where message_id = $1`, [id]);
    expect((await left()).getTime()).toBeLessThanOrEqual(at.getTime());
    // It is due minutes later, so that many changes are one count.
    expect(await counting.countDue(FOREVER)).toBe(false);
    await again();
    await countAll();
    expect((await rowsOf(new Date(Date.now() - 30 * DAY), new Date())).map(({ delivered }) => delivered)).toEqual([1]);
  });

  it('counts what a transaction commits that was open while its hour was counted', async () => {
    const { id } = await insert({ createdAt: new Date(Date.now() - 9 * DAY), status: 'sent' });
    await countAll();
    // The hour is due again already, so nothing else says that it changes.
    await again();
    const late = await beginTransaction(opened.url);
    await late.query(`update message_state set status = 'read' where message_id = $1`, [id]);
    await countAll();
    await late.query('commit');
    await late.end();
    await countAllDue();
    expect((await rowsOf(new Date(Date.now() - 30 * DAY), new Date())).map(({ read }) => read)).toEqual([1]);
  });

  it('counts what was committed in the end, whichever transactions were open during its counts', async () => {
    const statuses = ['sent', 'delivered', 'read', 'failed'] as const;
    const step = fc.record({
      act: fc.constantFrom('change', 'change', 'commit', 'undo', 'due', 'count', 'count'),
      message: fc.nat(3),
      status: fc.constantFrom(...statuses),
    });
    const clients = await Promise.all([0, 1, 2, 3].map(() => beginTransaction(opened.url)));
    for (const client of clients) await client.query('rollback');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        for (const table of ['usage_count', 'usage_total', 'usage_hour', 'usage_late', 'message', 'message_state']) {
          await opened.database.execute(`delete from ${table}`);
        }
        // Two of each hour, one of them right behind its last regular count.
        const ids: string[] = [];
        for (const age of [9 * DAY, 9 * DAY, 7 * DAY + 2 * HOUR, 7 * DAY + 2 * HOUR]) {
          ids.push((await insert({ createdAt: new Date(Date.now() - age), status: 'sent' })).id);
        }
        await opened.database.execute(
          `insert into usage_hour (hour, next_at)
           select distinct date_trunc('hour', created_at, 'UTC'), now() from message`,
        );
        const isOpen = new Set<number>();
        for (const { act, message, status } of steps) {
          const client = clients[message];
          if (act === 'change') {
            if (!isOpen.has(message)) await client?.query('begin');
            isOpen.add(message);
            await client?.query('update message_state set status = $2 where message_id = $1', [ids[message], status]);
          } else if (act === 'due') await again();
          else if (act === 'count') while (await counting.countDue(FOREVER));
          else if (isOpen.delete(message)) await client?.query(act === 'commit' ? 'commit' : 'rollback');
        }
        for (const message of isOpen) await clients[message]?.query('commit');
        await countAllDue();
        const { wanted } = await opened.database.row<{ wanted: Record<string, number> }>(
          `select json_build_object('submitted', count(*), 'read', count(*) filter (where status = 'read'),
             'delivered', count(*) filter (where status in ('delivered', 'read') or delivered_at is not null),
             'failed', count(*) filter (where status = 'failed')) as wanted from message_state`,
        );
        const rows = await rowsOf(new Date(Date.now() - 30 * DAY), new Date());
        const sum = (key: 'submitted' | 'read' | 'delivered' | 'failed'): number =>
          rows.reduce((all, row) => all + row[key], 0);
        const counted = [sum('submitted'), sum('read'), sum('delivered'), sum('failed')];
        expect(counted).toEqual([wanted.submitted, wanted.read, wanted.delivered, wanted.failed]);
      }),
      { numRuns: runs(25), seed: FUZZ_SEED },
    );
    for (const client of clients) await client.end();
  });

  it('leaves an hour alone where a message of the last week changes', async () => {
    const { id } = await insert({ createdAt: new Date(Date.now() - 2 * DAY), status: 'sent' });
    await countAll();
    const times = () => opened.database.query('select hour, next_at from usage_hour order by hour');
    const before = await times();
    await opened.database.execute(`update message_state set status = 'delivered' where message_id = $1`, [id]);
    expect(await times()).toEqual(before);
  });

  it('asks for the present hour again after half a minute, and says up to when all is counted', async () => {
    await countAll();
    const [row] = await opened.database.query<{ seconds: number }>(
      'select extract(epoch from next_at - counted_at)::float8 as seconds from usage_hour order by hour desc limit 1',
    );
    expect(row?.seconds).toBeGreaterThanOrEqual(30);
    const asOf = await counting.asOf();
    expect(asOf).not.toBeNull();
    await opened.database.execute(
      `insert into usage_hour (hour, next_at) select hour - interval '3 hours', now() from usage_hour order by hour limit 1`,
    );
    expect((await counting.asOf())?.getTime()).toBeLessThan(asOf?.getTime() ?? 0);
  });

  it('removes what is older than 25 months, and no workspace sees another', async () => {
    await insert({ createdAt: new Date(Date.now() - 2 * DAY) });
    await countAll();
    expect(await counting.remove(new Date(Date.now() - 3 * DAY), 1_000)).toBe(0);
    const own = connection;
    connection = { ...connection, organizationId: (await new Factories(opened.database).workspace()).id };
    expect(await submitted()).toBe(0);
    connection = own;
    expect(await counting.remove(new Date(), 1_000)).toBeGreaterThan(0);
    expect(await submitted()).toBe(0);
  });
});

describe('highestPrice', () => {
  beforeAll(async () => {
    const lines = [
      ['{DE,AT}', 'marketing', 1, '0.05', '2026-01-01'],
      ['{DE,AT}', 'marketing', 1, '0.10', '2026-02-01'],
      ['{DE,AT}', 'marketing', 1000, '0.08', '2026-02-01'],
      ['{DE,AT}', 'marketing', 1, '9', '2099-01-01'],
      ['{FR}', 'marketing', 1, '0.12', '2026-01-01'],
      ['{*}', 'marketing', 1, '0.02', '2026-01-01'],
      ['{IN}', 'authentication', 1, '0.001', '2026-01-01'],
      ['{IN}', 'authentication-international', 1, '0.03', '2026-01-01'],
      ['{IN}', 'utility', 1, '0.002', '2026-01-01'],
    ];
    for (const line of lines) {
      const columns = 'countries, category, tier_from, price, currency, valid_from';
      await opened.database.execute(`insert into usage_rate (${columns}) values ($1, $2, $3, $4, 'EUR', $5)`, line);
    }
  });

  it.each<[string | null, string | null, number, string]>([
    ['marketing', 'DE', 0.1, 'the newest that holds, of all tiers'],
    ['marketing', 'FR', 0.12, 'of the country'],
    ['marketing', 'BR', 0.02, 'of * where no price names the country'],
    ['marketing', null, 0.12, 'of any country where it is not known'],
    ['authentication', 'IN', 0.03, 'with the variants of the category'],
    ['utility', 'DE', 0.002, 'of other countries where there is no *'],
    ['service', 'DE', 0.1, 'of any category where its own has none'],
    [null, 'IN', 0.03, 'of the country where the category is not known'],
  ])('of %s in %s is %s: %s', async (category, country, price, _why) => {
    const { found } = await opened.database.row<{ found: number }>(
      `select ${highestPrice('$1::text', '$2::text', true)}::float8 as found`,
      [category, country],
    );
    expect(found).toBe(price * 1_000_000);
  });

  const known = async (category: string, country: string): Promise<number> => {
    const { found } = await opened.database.row<{ found: number }>(
      `select ${highestPrice('$1::text', '$2::text', false)}::float8 as found`,
      [category, country],
    );
    return found;
  };

  it('of a category that is known for sure leaves out its variants', async () => {
    expect(await known('authentication', 'IN')).toBe(1_000);
  });

  it('of marketing_lite is that of marketing, unless it has its own in the country', async () => {
    expect([await known('marketing_lite', 'FR'), await known('marketing_lite', 'BR')]).toEqual([120_000, 20_000]);
    await opened.database.execute(
      `insert into usage_rate (countries, category, tier_from, price, currency, valid_from)
       values ('{FR}', 'marketing_lite', 1, 0.01, 'EUR', '2026-01-01')`,
    );
    expect([await known('marketing_lite', 'FR'), await known('marketing_lite', 'BR')]).toEqual([10_000, 20_000]);
  });
});
