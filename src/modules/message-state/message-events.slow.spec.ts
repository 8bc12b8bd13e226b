import fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { runs } from '../../../test/support/runs.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { eventsOf } from '../../../test/support/webhook-events.js';
import {
  opened,
  statuses,
  outcomes,
  type Made,
  make,
  outcome,
  UNKNOWN,
  report,
  rowOf,
  statusesOf,
  runOut,
} from '../../../test/support/fixtures/message-events.js';
import { StatusBatches } from '../../../test/messages/report-batches.js';

it('every change has exactly one event, in order, however reports, answers and sweeps interleave and repeat', async () => {
  const reported = fc.array(
    fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
    {
      maxLength: 8,
    },
  );
  const answers = fc.constantFrom(
    ['accepted' as const],
    ['unknown' as const],
    ['unknown' as const, 'lease' as const],
    ['lease' as const, 'accepted' as const, 'accepted' as const],
  );
  const histories = fc.array(
    fc.tuple(reported, answers).map(([reports, own]) => [...reports, ...own]),
    { minLength: 1, maxLength: 10 },
  );
  const repositories = Array.from({ length: 3 }, () => new StatusBatches(opened.database));
  await fc.assert(
    fc.asyncProperty(histories, fc.array(fc.nat(), { minLength: 110, maxLength: 110 }), async (planned, order) => {
      const all = await Promise.all(planned.map(async (kinds) => ({ kinds, made: await make('processing') })));
      const steps = all
        .flatMap(({ kinds, made }) => kinds.map((kind) => ({ kind, made })))
        .map((step, n) => ({ ...step, key: order[n] ?? 0 }))
        .sort((a, b) => a.key - b.key);
      await Promise.all(
        steps.map(async ({ kind, made }, n) => {
          if (kind === 'accepted') await outcomes.record(outcome(made));
          else if (kind === 'unknown') await outcomes.record(outcome(made, UNKNOWN));
          else if (kind === 'lease') await runOut(made);
          else await (repositories[n % 3] ?? statuses).apply(report(made, kind));
        }),
      );
      for (const { made } of all) await expectChain(made);
    }),
    { numRuns: runs(15) },
  );
});

it('every change has exactly one event, though connections break in the middle and all is done again', async () => {
  const made = await Promise.all(Array.from({ length: 60 }, () => make('processing')));
  const killer = new pg.Client({ connectionString: opened.url });
  await killer.connect();
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver) {
      const { rowCount } = await killer.query(
        // With a wait for its end, so that none dies under a statement after this loop.
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database()
           and pid <> pg_backend_pid() and backend_type = 'client backend' and (state <> 'idle' or random() < 0.1)
         order by random() limit 1`,
      );
      kills += rowCount ?? 0;
      await pause(25);
    }
  })();
  // As the sender and the notifications do: what may not have been written is written again.
  const insist = (work: () => Promise<unknown>): Promise<true> => waitFor(() => work().then(() => true as const));
  try {
    await Promise.all(
      made.map(async (each, n) => {
        await pause(n * 15);
        await insist(() => outcomes.record(outcome(each, n % 3 === 0 ? UNKNOWN : {})));
        for (const status of ['sent', 'delivered', 'read'] as const) {
          await insist(() => statuses.apply(report(each, status)));
        }
      }),
    );
    // A slow machine has killed less by now: repeats, which change nothing, go on until enough was broken.
    for (let n = 0; kills <= 5; n++) {
      const each = made[n % made.length];
      if (each !== undefined) await insist(() => statuses.apply(report(each, 'read')));
    }
  } finally {
    isOver = true;
    await killing;
    await killer.end();
  }
  expect(kills).toBeGreaterThan(5);
  for (const each of made) {
    await expectChain(each);
    expect(await rowOf(each.id)).toMatchObject({ status: 'read', event_count: 4 });
  }
});

/** A chain without a gap: each event begins where the one before it ended, and the last one is what is. */
async function expectChain(made: Made): Promise<void> {
  const events = await eventsOf(opened.database, made.id);
  const row = await rowOf(made.id);
  expect(events.map(({ data }) => data.sequence)).toEqual(events.map((_event, index) => index + 1));
  expect(events.map(({ data }) => data.previous_status)).toEqual(['processing', ...statusesOf(events)].slice(0, -1));
  expect([row.status, row.event_count]).toEqual([events.at(-1)?.data.status ?? 'processing', events.length]);
  expect(new Set(statusesOf(events)).size).toBe(events.length);
}
