import pg from 'pg';
import { EventsRepository, MAX_SCANNED } from '../../src/modules/webhook/events/events.repository.js';
import { insertWebhookEvents } from '../../src/modules/webhook/webhook.types.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { rowsRead } from '../support/rows-read.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp } from './fixture.js';
import { idsOf, page, reader, type Page } from './event-pages.js';

const WRITERS = 50;

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp({ roles: ['api', 'worker', 'simulator'] }), Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

const TRANSACTION = `with ${insertWebhookEvents(`(select $1::uuid as organization_id, 'message.status.updated' as event_type,
  jsonb_build_object('transaction', $2::integer, 'n', n) as event_data, clock_timestamp() as occurred_at,
  null::uuid[] as connection_ids, null::bytea as trace_context from generate_series(1, $3::integer) n)`)} select id from announced`;

async function client(): Promise<pg.Client> {
  const made = new pg.Client({ connectionString: test.databaseUrl });
  await made.connect();
  return made;
}

describe('a reader that polls', () => {
  it(`sees each event of ${WRITERS} writers at once, long transactions and all, once and in the order of commits`, async () => {
    const { organizationId, api, start } = await reader(test);
    const writers = await Promise.all(Array.from({ length: WRITERS }, client));
    const long = await Promise.all([client(), client()]);
    let clock = 0;
    const transactions = new Map<number, { began: number; ended: number }>();
    const written = new Set<string>();
    let writing = true;
    let cursor = start;
    const seen: Page['data'] = [];

    /** Reads a page as a program that is started anew each time; every third time it dies before it has stored anything. */
    let reads = 0;
    const readOn = async (): Promise<Page> => {
      const answer = await page(api, { after: cursor, limit: String(1 + (reads % 40)) });
      if (++reads % 3 === 0) {
        const again = await page(api, { after: cursor, limit: '250' });
        expect(idsOf(again.data).slice(0, answer.data.length)).toEqual(idsOf(answer.data));
        return { ...answer, data: [] };
      }
      seen.push(...answer.data);
      cursor = answer.next;
      return answer;
    };

    const write = async (on: pg.Client, nth: number, hold: () => Promise<void>): Promise<void> => {
      const began = ++clock;
      await on.query('begin');
      const ids: string[] = [];
      for (const count of [1 + (nth % 3), 2]) {
        const { rows } = await on.query<{ id: string }>(TRANSACTION, [organizationId, nth, count]);
        ids.push(...rows.map(({ id }) => id));
        await hold();
      }
      if (nth % 10 === 9) {
        await on.query('rollback');
        return;
      }
      await on.query('commit');
      transactions.set(nth, { began, ended: ++clock });
      for (const id of ids) written.add(id);
    };

    try {
      // Two that stay open while hundreds begin and end, one of which wrote first of all.
      const releases: (() => void)[] = [];
      const held = long.map((on, n) =>
        write(on, 100_000 + n, () => new Promise<void>((resolve) => releases.push(resolve))),
      );
      await waitFor(() => releases.length === 2, { what: 'both have written' });
      const loops = writers.map(async (on, n) => {
        for (let round = 0; round < 8; round++) {
          // Queries of different length in place of a pause.
          await write(
            on,
            n * 100 + round,
            async () =>
              void (await on.query(`select count(*) from generate_series(1, $1)`, [
                1 + ((n * 997 + round * 131) % 20_000),
              ])),
          );
        }
      });
      let behind = 0;
      const reading = (async () => {
        while (writing) {
          const { data, done } = await readOn();
          if (data.length === 0 && !done) behind++;
        }
      })();
      await Promise.all(loops);
      // All of the others are committed, and none may be given before the two that began earlier.
      expect(seen).toEqual([]);
      await waitFor(() => behind > 2, { what: 'an answer that says that more will follow' });
      // One by one: the second statements of both.
      let open = held.length;
      for (const one of held) void one.then(() => open--);
      while (open > 0) {
        for (const release of releases.splice(0)) release();
        await waitFor(() => open === 0 || releases.length > 0, { what: 'the next statement' });
      }
      await Promise.all(held);
      writing = false;
      await reading;
      await waitFor(async () => (await readOn()).done && seen.length >= written.size, {
        what: 'the last event',
      });
    } finally {
      await Promise.all([...writers, ...long].map((on) => on.end()));
    }
    expect(seen).toHaveLength(written.size);
    expect(new Set(idsOf(seen))).toEqual(written);
    // What began after another one had ended comes after it.
    const places = new Map<number, { first: number; last: number }>();
    seen.forEach(({ data }, place) => {
      const { first = place } = places.get(Number(data.transaction)) ?? {};
      places.set(Number(data.transaction), { first, last: place });
    });
    const wrong = [...transactions].flatMap(([one, { ended }]) =>
      [...transactions].filter(
        ([other, { began }]) => began > ended && (places.get(other)?.first ?? -1) < (places.get(one)?.last ?? 0),
      ),
    );
    expect(wrong).toEqual([]);
    // Events of one transaction are together, in the order in which it wrote them.
    for (const { first, last } of places.values()) {
      const own = seen.slice(first, last + 1).map(({ data }) => data.transaction);
      expect(new Set(own).size).toBe(1);
    }
  }, 240_000);
});

it('costs as much a page among a million events as among a thousand', async () => {
  const { organizationId, api, start } = await reader(test);
  const other = await reader(test);
  const repository = test.app.get(EventsRepository);
  // Many statements: one of a million rows takes longer than it may.
  const write = (count: number) =>
    test.database.execute(
      `insert into webhook_event (organization_id, type, data, occurred_at)
       select case when n % 2 = 0 then $1::uuid else $2::uuid end,
         case when n % 1000 = 0 then 'message.received' else 'message.status.updated' end, '{"n":1}', clock_timestamp()
       from generate_series(1, $3::integer) n`,
      [organizationId, other.organizationId, count],
    );
  const cost = async (types: string[] | null) => {
    const { next } = await page(api, { after: start, limit: '10' });
    const bytes = Buffer.from(next, 'base64url');
    const after = {
      kind: 'event' as const,
      transaction: String(bytes.readBigUInt64BE(9)),
      id: uuidOf(bytes.toString('hex', 17)),
    };
    return rowsRead(test.database, 'webhook_event', () =>
      repository.page(organizationId, { after, types: types as never, limit: 100 }),
    );
  };
  const settle = () => waitFor(async () => (await page(api, { after: start, limit: '10' })).data.length === 10);
  await write(8_000);
  await settle();
  const few = [await cost(null), await cost(['message.received'])];
  for (let part = 0; part < 20; part++) await write(40_000);
  // Holds the last ones back.
  const open = await client();
  await open.query('begin');
  await open.query('select pg_current_xact_id()');
  for (let part = 0; part < 5; part++) await write(40_000);
  await test.database.execute('analyze webhook_event');
  const many = [await cost(null), await cost(['message.received'])];
  await open.end();
  expect(few[0]).toBeLessThan(500);
  expect(few[1]).toBeLessThan(3 * MAX_SCANNED);
  many.forEach((rows, n) => expect(rows).toBeLessThan(1.2 * (few[n] ?? 0) + 20));
}, 240_000);

const uuidOf = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
