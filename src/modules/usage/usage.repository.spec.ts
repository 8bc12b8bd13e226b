import fc from 'fast-check';
import { newId } from '../../common/ids.js';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { beginTransaction } from '../../../test/support/open-transaction.js';
import { idAt, insertMessage, type MessageSpec } from '../../../test/support/message-factory.js';
import { FUZZ_SEED, runs } from '../../../test/support/runs.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { CountingRepository } from './counting.repository.js';
import { bucketsOf, TimeZone } from './periods.js';
import { type SummedRow, UsageRepository } from './usage.repository.js';
import {
  type Group,
  highestPrice,
  type Interval,
  LAST_COUNT_HOURS,
  lateOf,
  MEASURES,
  NOTE_LATE,
  SLOT_MS,
} from './usage.types.js';

const MINUTE = 60_000;
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

const clear = async (): Promise<void> => {
  for (const table of ['usage', 'usage_due', 'message', 'message_state', 'message_content']) {
    await opened.database.execute(`delete from ${table}`);
  }
};

beforeEach(async () => {
  await clear();
  const factories = new Factories(opened.database);
  const workspace = await factories.workspace();
  connection = await factories.connection({ organizationId: workspace.id });
  repository = new UsageRepository(opened.database);
  counting = new CountingRepository(opened.database);
});

const insert = ({ createdAt = new Date(), ...spec }: Partial<MessageSpec>): Promise<{ id: string }> =>
  insertMessage(opened.database, { connection, status: 'delivered', id: idAt(createdAt), createdAt, ...spec });

const ago = (ms: number): Date => new Date(Date.now() - ms);
const startOf = (time: Date): Date => new Date(Math.floor(time.getTime() / SLOT_MS) * SLOT_MS);

async function countAll(kept = FOREVER, of = counting): Promise<void> {
  await of.addSlots();
  // A hundred slots without messages would be counted one by one: here they are as after the count.
  const empty = `counted_at is null and start <> all(array(select date_bin('15 minutes', created_at, 'epoch') from message))`;
  await opened.database.execute(
    `delete from usage_due where start <= now() - interval '${LAST_COUNT_HOURS} hours' and ${empty}`,
  );
  await opened.database.execute(
    `update usage_due set counted_at = clock_timestamp(), at = start + interval '${LAST_COUNT_HOURS} hours'
     where start < now() - interval '16 minutes' and ${empty}`,
  );
  while (await of.countDue(kept));
}

/** What has something to count, or has figures. */
const again = (): Promise<number> =>
  opened.database.execute(
    `update usage_due set at = clock_timestamp() where at is not null and start = any(array(
       select date_bin('15 minutes', created_at, 'epoch') from message union all select start from usage))`,
  );

/** Counts what is noted and what is due at any time, but for slots that are younger than a day and so due again and again. */
async function countAllDue(): Promise<void> {
  do {
    while (await counting.countDue(FOREVER));
  } while (
    (await opened.database.execute(
      `update usage_due set at = clock_timestamp() where at is not null and start < now() - interval '1 day'`,
    )) > 0
  );
}

interface Client {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

/** As FactsRepository writes it. */
async function change(id: string, status: string, client: Client = opened.database): Promise<void> {
  const late = lateOf([id], Date.now());
  if (late.length > 0) await client.query(NOTE_LATE, [late]);
  await client.query('update message_state set status = $2 where message_id = $1', [id, status]);
}

const due = (): Promise<{ start: Date; at: Date; minutes: number }[]> =>
  opened.database.query(
    `select start, at, extract(epoch from at - clock_timestamp())::float8 / 60 as minutes from usage_due
     where at is not null order by start`,
  );

function rowsOf(
  since: Date,
  until: Date,
  {
    groupBy = [],
    interval = 'day',
    timezone = 'UTC',
  }: { groupBy?: Group[]; interval?: Interval; timezone?: string } = {},
): Promise<SummedRow[]> {
  const buckets = bucketsOf({ since, until, interval }, new TimeZone(timezone));
  return repository.summed({ organizationId: connection.organizationId, buckets, until, groupBy, filter: {} });
}

/** Of all that is counted. */
async function sum(measure: (typeof MEASURES)[number]): Promise<number> {
  const rows = await rowsOf(ago(90 * DAY), new Date(Date.now() + HOUR));
  return rows.reduce((all, row) => all + row[measure], 0);
}

describe('UsageRepository', () => {
  it('counts what happened to messages, in the slot of their submission', async () => {
    const at = new Date(Math.floor(Date.now() / DAY) * DAY - 3 * DAY + 5 * HOUR + 20 * MINUTE);
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
      [day + 5 * HOUR + 15 * MINUTE, day + 5 * HOUR + 30 * MINUTE, true],
      [day + 5 * HOUR, day + 5 * HOUR + 15 * MINUTE, false],
    ] as const) {
      const rows = await rowsOf(new Date(since), new Date(until));
      const of = (key: (typeof MEASURES)[number]): number => rows.reduce((all, row) => all + row[key], 0);
      expect(
        (['submitted', 'accepted', 'delivered', 'read', 'failed', 'received'] as const).map((measure) => of(measure)),
      ).toEqual(found ? [4, 2, 2, 1, 1, 1] : [0, 0, 0, 0, 0, 0]);
    }
  });

  it('counts nothing of a history, and of the app what follows the sending', async () => {
    const { id } = await insert({ status: 'read' });
    const app = await insert({ status: 'read' });
    await opened.database.execute(`update message set source = 'history' where id = $1`, [id]);
    await opened.database.execute(`update message set source = 'app' where id = $1`, [app.id]);
    await countAll();
    expect([await sum('submitted'), await sum('read')]).toEqual([0, 1]);
  });

  it('counts nothing twice, however many count at once and however often', async () => {
    for (let day = 0; day < 3; day++) await insert({ createdAt: ago(day * DAY) });
    const other = new CountingRepository(opened.database);
    await Promise.all([countAll(), countAll(FOREVER, other)]);
    await again();
    await Promise.all([countAll(), countAll(FOREVER, other)]);
    expect(await sum('submitted')).toBe(3);
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
    expect(await sum('submitted')).toBe(1);
    await countAll();
    expect(await sum('submitted')).toBe(2);
  });

  it('reads what was submitted, however many numbers there are', async () => {
    await opened.database.execute(
      `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext)
       select gen_random_uuid(), $1, '77' || n, '77', lpad(n::text, 10, '3'), 'connected', '\\x00'
       from generate_series(1, 5000) as n`,
      [connection.organizationId],
    );
    const createdAt = new Date();
    for (let n = 0; n < 20; n++) await insert({ createdAt });
    await insert({ createdAt: ago(HOUR) });
    await opened.database.execute('insert into usage_due values ($1, clock_timestamp())', [startOf(createdAt)]);
    const rowsRead = async (): Promise<number[]> => {
      const rows = await opened.database.query<{ rows: number }>(
        `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as rows
         from unnest('{connection,message,message_state}'::text[]) with ordinality as t (name, place)
         left join pg_stat_xact_user_tables on relname = name and schemaname = 'public' order by place`,
      );
      return rows.map(({ rows: count }) => count);
    };
    const read = await opened.database.transaction(async () => {
      const before = await rowsRead();
      await counting.countDue(FOREVER);
      return (await rowsRead()).map((count, index) => count - (before[index] ?? 0));
    });
    expect(read).toEqual([0, 20, 20]);
  });

  it('counts the present slot every half minute, and an ended one at its times', async () => {
    await countAll();
    const [present] = await due();
    expect(present?.minutes).toBeGreaterThan(0.4);
    expect(present?.minutes).toBeLessThan(0.7);

    const regular = async (age: number): Promise<number | null> => {
      await opened.database.execute('delete from usage_due');
      const start = startOf(ago(age));
      await opened.database.execute('insert into usage_due values ($1, clock_timestamp())', [start]);
      expect(await counting.countDue(FOREVER)).toBe(true);
      const [left] = await due();
      return left === undefined ? null : (left.at.getTime() - start.getTime()) / MINUTE;
    };
    // The start of a slot is up to a quarter of an hour older than what it has.
    expect(await regular(36 * MINUTE)).toBe(75);
    expect(await regular(80 * MINUTE)).toBe(23 * 60);
    expect(await regular(22 * HOUR)).toBe(23 * 60);
    expect(await regular(23 * HOUR)).toBeNull();
  });

  it('times are of delivered messages only', async () => {
    await insert({ status: 'sent' });
    const { id } = await insert({ status: 'read' });
    await opened.database.execute(
      `update message_state set delivered_at = accepted_at + interval '1 second' where message_id = $1`,
      [id],
    );
    await countAll();
    const [row] = await rowsOf(ago(DAY), new Date(Date.now() + HOUR), { groupBy: ['type'] });
    expect(row?.delivery).toEqual(Array.from({ length: 16 }, (_, index) => (index === 3 ? 1 : 0)));
  });

  it('says the same of all messages and of each group, in every zone', async () => {
    const statuses = ['read', 'delivered', 'failed', 'queued', 'received'] as const;
    const now = Date.now();
    for (let n = 0; n < 60; n++) {
      const status = statuses[n % statuses.length] ?? 'read';
      const recipient = n % 2 ? '491701234567' : '12042345678';
      await insert({ createdAt: new Date(now - n * 97 * MINUTE), status, recipient });
    }
    await opened.database.execute(
      `update message_state set billable = status = 'read', pricing_category = 'utility', pricing_type = 'regular'`,
    );
    await countAll();
    const [since, until] = [startOf(new Date(now - 5 * DAY)), startOf(new Date(now + HOUR))];
    const sumsOf = (rows: SummedRow[]) => {
      const sums = new Map<string, number>();
      const add = (key: unknown[], count: number): void => {
        if (count > 0) sums.set(key.join(' '), (sums.get(key.join(' ')) ?? 0) + count);
      };
      for (const { bucket, kinds, delivery, ...row } of rows) {
        for (const measure of MEASURES) add([bucket, measure], row[measure]);
        for (const [index, count] of delivery.entries()) add([bucket, 'delivery', index], count);
        for (const [billable, type, category, failure, count, failed] of kinds) {
          add([bucket, 'submitted', billable, type, category, failure], count);
          add([bucket, 'failed', billable, type, category, failure], failed);
        }
      }
      return sums;
    };
    for (const timezone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Los_Angeles', 'Asia/Kathmandu']) {
      for (const interval of ['hour', 'day', 'month'] as const) {
        const all = await rowsOf(since, until, { interval, timezone });
        expect(all.reduce((total, row) => total + row.submitted + row.received, 0)).toBe(60);
        for (const groupBy of [['connection'], ['category', 'type'], ['country', 'source']] satisfies Group[][]) {
          expect(sumsOf(await rowsOf(since, until, { interval, timezone, groupBy }))).toEqual(sumsOf(all));
        }
      }
    }
  });

  it('says up to when all is counted', async () => {
    expect(await counting.asOf()).toBeNull();
    const before = Date.now();
    await countAll();
    const asOf = (await counting.asOf())?.getTime() ?? 0;
    expect(asOf).toBeGreaterThan(before - 1_000);
    // Neither a count of an ended slot nor a late change says anything of the present one.
    const old = await insert({ createdAt: ago(9 * DAY) });
    await change(old.id, 'read');
    while (await counting.countDue(FOREVER));
    expect((await counting.asOf())?.getTime()).toBe(asOf);
    const start = startOf(ago(3 * HOUR));
    await opened.database.execute('insert into usage_due values ($1, clock_timestamp())', [start]);
    expect(await counting.asOf()).toEqual(start);
  });

  it('removes what is older than 25 months, and no workspace sees another', async () => {
    await insert({ createdAt: ago(2 * DAY) });
    await countAll();
    expect(await counting.remove(ago(3 * DAY), 1_000)).toBe(0);
    const own = connection;
    connection = { ...connection, organizationId: (await new Factories(opened.database).workspace()).id };
    expect(await sum('submitted')).toBe(0);
    connection = own;
    expect(await counting.remove(new Date(), 1_000)).toBeGreaterThan(0);
    expect(await sum('submitted')).toBe(0);
  });
});

describe('what changes late', () => {
  it('is of messages whose slot began 22 hours ago', () => {
    const now = Date.parse('2026-11-28T22:00:00Z');
    const [late, young] = [idAt(new Date('2026-11-28T00:14:59.999Z')), idAt(new Date('2026-11-28T00:15:00Z'))];
    expect(lateOf([late, young, newId()], now)).toEqual([late]);
  });

  it('is counted minutes later, once however often it changes, and retention waits for it', async () => {
    const at = ago(9 * DAY);
    const { id } = await insert({ createdAt: at, status: 'sent' });
    await countAll();
    const left = () => counting.countedBefore(ago(8.5 * DAY));
    expect((await left()).getTime()).toBeGreaterThan(at.getTime());
    await change(id, 'delivered');
    await change(id, 'read');
    expect(await left()).toEqual(startOf(at));
    expect(await counting.countDue(FOREVER)).toBe(false);
    const [noted, ...others] = (await due()).filter(({ start }) => start < ago(DAY));
    expect([noted?.start, others]).toEqual([startOf(at), []]);
    expect(noted?.minutes).toBeGreaterThan(4);
    expect(noted?.minutes).toBeLessThan(6);
    await again();
    await countAll();
    expect([await sum('submitted'), await sum('read')]).toEqual([1, 1]);
    expect((await left()).getTime()).toBeGreaterThan(at.getTime());
  });

  it('is counted the later, the more messages the slot has, after a quarter of its age at most and before retention', async () => {
    const minutesOf = async (age: number, messages: number, kept = FOREVER): Promise<number> => {
      await clear();
      const { id } = await insert({ createdAt: ago(age) });
      await countAll();
      await opened.database.execute('update usage set submitted = $1', [messages]);
      await change(id, 'read');
      await counting.countDue(kept);
      const start = startOf(ago(age));
      return Math.round((await due()).find((each) => each.start.getTime() === start.getTime())?.minutes ?? NaN);
    };
    expect(await minutesOf(2 * DAY, 100)).toBe(5);
    expect(await minutesOf(2 * DAY, 3_600)).toBe(60);
    const quarter = (await minutesOf(2 * DAY, 1_000_000)) / 60;
    expect(quarter).toBeGreaterThanOrEqual(12);
    expect(quarter).toBeLessThan(12.1);
    const left = await minutesOf(29 * DAY, 1_000_000, { contents: 30, codes: 0 });
    expect(left).toBeGreaterThan(21 * 60);
    expect(left).toBeLessThanOrEqual(22 * 60);
  });

  it('is not counted once contents are gone: a count would know less than the figures, or nothing', async () => {
    const kept = { contents: 30, codes: 0 };
    const { id } = await insert({ createdAt: ago(31 * DAY), type: 'template', content: { name: 'news' } });
    // What was never counted is, whatever its age.
    await countAll(kept);
    await opened.database.execute('delete from message_content');
    await change(id, 'read');
    await counting.countDue(kept);
    await again();
    await countAll(kept);
    await opened.database.execute('delete from message');
    await opened.database.query(NOTE_LATE, [[id]]);
    await counting.countDue(kept);
    await again();
    await countAll(kept);
    const rows = await rowsOf(ago(40 * DAY), new Date(), { groupBy: ['template'] });
    expect(rows.map(({ template, submitted }) => [template, submitted])).toEqual([['news', 1]]);
    expect((await due()).filter(({ start }) => start < ago(DAY))).toEqual([]);
  });

  it('is counted where its transaction was open while the slot was', async () => {
    const { id } = await insert({ createdAt: ago(9 * DAY), status: 'sent' });
    await countAll();
    await change(id, 'delivered');
    await counting.countDue(FOREVER);
    // The slot is due already, so nothing but its own note says that it changes again.
    const open = await beginTransaction(opened.url);
    await change(id, 'read', open);
    await countAllDue();
    expect([await sum('delivered'), await sum('read')]).toEqual([1, 0]);
    await open.query('commit');
    await open.end();
    await countAllDue();
    expect(await sum('read')).toBe(1);
  });

  it('of a slot of the last day needs no note: it is counted once more an hour after notes have begun', async () => {
    const createdAt = ago(21 * HOUR);
    const { id } = await insert({ createdAt, status: 'sent' });
    await countAll();
    const open = await beginTransaction(opened.url);
    await change(id, 'read', open);
    await again();
    await countAll();
    expect(await opened.database.query('select from usage_due where at is null')).toEqual([]);
    await open.query('commit');
    await open.end();
    const slot = (await due()).find(({ start }) => start.getTime() === startOf(createdAt).getTime());
    expect((slot?.at.getTime() ?? 0) - (slot?.start.getTime() ?? 0)).toBe(23 * HOUR);
    await again();
    await countAll();
    expect(await sum('read')).toBe(1);
  });

  it('counts a message whose transaction was open during the first counts of its slot', async () => {
    await insert({ createdAt: ago(20 * MINUTE) });
    await countAll();
    const open = await beginTransaction(opened.url);
    const createdAt = ago(18 * MINUTE);
    const rows = {
      execute: async (sql: string, values?: readonly unknown[]) =>
        (await open.query(sql, [...(values ?? [])])).rowCount ?? 0,
    };
    await insertMessage(rows, { connection, status: 'sent', id: idAt(createdAt), createdAt });
    await again();
    await countAll();
    expect(await sum('submitted')).toBe(1);
    await open.query('commit');
    await open.end();
    expect((await due()).map(({ start }) => start.getTime())).toContain(startOf(createdAt).getTime());
    await again();
    await countAll();
    expect(await sum('submitted')).toBe(2);
  });

  it('is in the counts in the end, whichever transactions were open during them', async () => {
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
        await clear();
        // Two of each slot, one of them right behind its last regular count.
        const ids: string[] = [];
        for (const age of [9 * DAY, 9 * DAY, 25 * HOUR, 25 * HOUR]) {
          ids.push((await insert({ createdAt: startOf(ago(age)), status: 'sent' })).id);
        }
        await opened.database.execute(
          `insert into usage_due (start, at) select distinct created_at, now() from message`,
        );
        const isOpen = new Set<number>();
        for (const { act, message, status } of steps) {
          const client = clients[message];
          if (act === 'change') {
            if (!isOpen.has(message)) await client?.query('begin');
            isOpen.add(message);
            await change(ids[message] ?? '', status, client);
          } else if (act === 'due') await again();
          else if (act === 'count') while (await counting.countDue(FOREVER));
          else if (isOpen.delete(message)) await client?.query(act === 'commit' ? 'commit' : 'rollback');
        }
        for (const message of isOpen) await clients[message]?.query('commit');
        await countAllDue();
        const { wanted } = await opened.database.row<{ wanted: number[] }>(
          `select json_build_array(count(*), count(*) filter (where status = 'read'),
             count(*) filter (where status in ('delivered', 'read') or delivered_at is not null),
             count(*) filter (where status = 'failed')) as wanted from message_state`,
        );
        const counted = [await sum('submitted'), await sum('read'), await sum('delivered'), await sum('failed')];
        expect(counted).toEqual(wanted);
      }),
      { numRuns: runs(25), seed: FUZZ_SEED },
    );
    for (const client of clients) await client.end();
  });
});

describe('a clock that is set', () => {
  it('forward and back: the slots of the present day are counted', async () => {
    await insert({});
    await countAll();
    // As they are where the clock was two days ahead: the rows of then, and none of the present day.
    await opened.database.execute(
      `update usage_due set start = start + interval '2 days', at = at + interval '2 days', counted_at = counted_at + interval '2 days'`,
    );
    // As ClockSteps does.
    await opened.database.execute('update usage_due set at = clock_timestamp() where at is not null');
    await insert({});
    await insert({ createdAt: ago(3 * HOUR) });
    await countAll();
    expect(await sum('submitted')).toBe(3);
    expect((await counting.asOf())?.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    const present = startOf(new Date()).getTime();
    const rows = (await due()).filter(({ start, minutes }) => start.getTime() === present && minutes < 1);
    expect(rows).toHaveLength(1);
  });

  it('forward: no slot between is left out', async () => {
    await insert({ createdAt: ago(5 * DAY) });
    await countAll();
    await opened.database.execute(
      `update usage_due set start = start - interval '4 days', counted_at = counted_at - interval '4 days'`,
    );
    await insert({ createdAt: ago(3 * DAY) });
    await countAll();
    expect(await sum('submitted')).toBe(2);
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
