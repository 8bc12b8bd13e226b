import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, atMostTimes, type Finding } from '../finding.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedQueued } from '../../test/support/rig/seed-messages.js';
import type { TakenMessage } from '../../test/support/rig/simulator.js';
import { Stage } from '../../test/support/rig/stage.js';
import { pause, waitFor } from '../../test/support/rig/wait.js';
import type { SeededConnection, SeededWorkspace } from '../../test/support/rig/workspace.js';

const PAUSED = 100_000;
/** Twenty messages each, so that their order can be seen. */
const RECIPIENTS = 5_000;
const SEEDED_AT_ONCE = 20_000;
/** Of the tag, each to a recipient of its own: sent once and deferred before the pause. */
const TRIED = 20_000;
const FIRST_TRIED = 500_000;
/** Of another tag, queued behind the paused one. */
const OTHERS = 2_000;
/** So that pace does not bind. */
const THROUGHPUT = 1_000;
const UNDER_WAY = 2_000;
const LIMIT_MS = 1_000;
/** Looks of an idle system; each row of the tag would be read several times. */
const MAX_READS = 200;
/** After a pause nothing is expected; so long it is looked for. */
const QUIET_MS = 5_000;
const WINDOWS = 5;
const WINDOW_MS = 3_000;
const MAX_TIMES = 1.5;
const LONG_MS = 120_000;
const TAG = 'big';

/** A tag of many queued messages is paused while it is sent, and resumed. */
export const pausedTagClaim: Claim = {
  name: 'paused-tag',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const stage = await Stage.set(scope, await context.postgres(), 'paused');
  const campaign = await stage.workspace(1, THROUGHPUT);
  const alone = await stage.workspace(1, THROUGHPUT);
  const { pool } = stage.database;
  for (let n = 0; n < PAUSED; n += SEEDED_AT_ONCE)
    await seedQueued(pool, campaign.connections[0], { count: SEEDED_AT_ONCE, recipients: RECIPIENTS, tag: TAG });
  await seedQueued(pool, campaign.connections[0], { count: TRIED, first: FIRST_TRIED, tag: TAG, tries: 1 });
  await pool.query('vacuum analyze');
  const places = await placesOf(stage);
  const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);
  const { simulator } = stage;
  await waitFor('the campaign to be under way', async () => ((await simulator.count()) > UNDER_WAY ? true : null), {
    timeoutMs: LONG_MS,
  });

  const pausedAt = await act(api, campaign, 'pause');
  const behindMs = await drained(stage, campaign.connections[0]);
  await pause(Math.max(0, pausedAt + QUIET_MS - Date.now()));
  const left = campaignOf(await simulator.taken(), campaign.connections[0]);
  const lastMs = Math.max(0, Math.max(...left.map(({ taken_at }) => Date.parse(taken_at))) - pausedAt);
  await waitFor('no row of the tag to be due', async () => ((await queued(stage)) === 0 ? true : null), {
    timeoutMs: LONG_MS,
  });
  const movedMs = Date.now() - pausedAt;
  await waitFor('the mark of the lane to pass what was due', () => markPasses(stage, pausedAt), { timeoutMs: LONG_MS });
  const idleReads = await readsPerSecond(stage);
  const aloneMs = await drained(stage, alone.connections[0]);

  const resumedAt = await act(api, campaign, 'resume');
  const more = left.length + UNDER_WAY;
  const campaignLeft = async (): Promise<number> => campaignOf(await simulator.taken(), campaign.connections[0]).length;
  await waitFor('the campaign to go on', async () => ((await campaignLeft()) > more ? true : null), {
    timeoutMs: LONG_MS,
  });
  const all = campaignOf(await simulator.taken(), campaign.connections[0]);
  const resumed = (await simulator.taken()).map(({ taken_at }) => Date.parse(taken_at)).filter((at) => at > resumedAt);
  const firstMs = Math.min(...resumed) - resumedAt;
  requireOrder(all, places);
  context.say(
    `last after ${lastMs} ms, none due after ${movedMs} ms; others ${behindMs} ms, alone ${aloneMs} ms; first after the resume ${firstMs} ms; ${idleReads} entries of due rows read a second`,
  );
  const tag = `a tag of ${PAUSED} queued messages, and ${TRIED} that were deferred before`;
  return [
    atMost(LIMIT_MS, {
      claim: `pause of ${tag}: its last message leaves`,
      value: lastMs,
      unit: 'ms',
      notes: { sent_before: left.length, none_due_ms: movedMs, first_after_the_resume_ms: firstMs },
    }),
    atMostTimes(
      MAX_TIMES,
      {
        claim: `${OTHERS} messages of another tag of the number, queued behind ${tag} as it is paused`,
        value: behindMs,
        unit: 'ms',
      },
      { name: 'the same on a number of their own', value: aloneMs },
    ),
    atMost(MAX_READS, {
      claim: `${tag}: entries of due rows that are read in a second of its pause`,
      value: idleReads,
      unit: '',
    }),
  ];
}

/** Place of each message of the campaign among those of its recipient. */
async function placesOf({ database }: Stage): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.pool.query<{ id: string; place: string }>(
    `select message_id as id, row_number() over (partition by recipient order by seq) as place from message_queue`,
  );
  return new Map(rows.map(({ id, place }) => [id, Number(place)]));
}

/** Returns when the 202 was there. */
async function act(api: HeraldProcess, { apiKey }: SeededWorkspace, action: 'pause' | 'resume'): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const { status } = await fetch(`${api.url}/api/v1/tags/${TAG}/${action}`, { method: 'POST', headers });
  const answeredAt = Date.now();
  if (status !== 202) throw new Error(`${action} answered ${status}`);
  return answeredAt;
}

let first = 1_000_000;

/** Queues messages of another tag; milliseconds until the last of them was taken. */
async function drained({ database, simulator }: Stage, connection: SeededConnection): Promise<number> {
  const from = Date.now();
  const own = recipientNumber(first);
  await seedQueued(database.pool, connection, { count: OTHERS, first, tag: 'other' });
  first += OTHERS;
  const end = recipientNumber(first);
  const taken = async (): Promise<number | null> => {
    const times = (await simulator.taken())
      .filter(({ to }) => to >= own && to < end)
      .map(({ taken_at }) => Date.parse(taken_at));
    return times.length === OTHERS ? Math.max(...times) : null;
  };
  return (await waitFor('the other tag to be sent', taken, { timeoutMs: LONG_MS, everyMs: 500 })) - from;
}

/** Until then looks read what was removed, as long as another transaction is open. */
async function markPasses({ database }: Stage, at: number): Promise<true | null> {
  const { rowCount } = await database.pool.query(
    `select from lane l where exists (select from message_queue q where q.connection_id::text = l.key and q.held_until = 'infinity')
       and l.low_at > to_timestamp($1::float8 / 1000)`,
    [at],
  );
  return rowCount === 0 ? null : true;
}

/** Entries of the index of due rows that are read in a second, most of the time: once a minute marks are checked. */
async function readsPerSecond({ database }: Stage): Promise<number> {
  const counts: number[] = [];
  for (let n = 0; n < WINDOWS + 1; n++) {
    if (n > 0) await pause(WINDOW_MS);
    const { rows } = await database.pool.query<{ entries: string }>(
      `select idx_tup_read as entries from pg_stat_user_indexes where indexrelname = 'message_queue_due'`,
    );
    counts.push(Number(rows[0]?.entries ?? 0));
  }
  const read = counts.slice(1).map((count, n) => count - (counts[n] ?? 0));
  return Math.round((read.toSorted((a, b) => a - b)[Math.floor(WINDOWS / 2)] ?? Number.NaN) / (WINDOW_MS / 1_000));
}

async function queued({ database }: Stage): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::integer as count from message_queue where tag = $1 and held_until is null`,
    [TAG],
  );
  return rows[0]?.count ?? 0;
}

const campaignOf = (taken: readonly TakenMessage[], { phoneNumberId }: SeededConnection): TakenMessage[] =>
  taken.filter(({ phone_number_id, to }) => phone_number_id === phoneNumberId && to < recipientNumber(RECIPIENTS));

/** @throws Error where a recipient got messages in another order than they were queued in */
function requireOrder(taken: readonly TakenMessage[], places: ReadonlyMap<string, number>): void {
  const last = new Map<string, number>();
  for (const { to, callback } of taken) {
    const place = places.get(callback?.split('.')[0] ?? '') ?? Number.NaN;
    if (!(place > (last.get(to) ?? 0))) throw new Error(`${to} got message ${place} after ${last.get(to)}`);
    last.set(to, place);
  }
}
