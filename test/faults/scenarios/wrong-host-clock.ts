import type { FaultReport } from '../../support/rig/fault-result.js';
import { temporaryFolder } from '../../support/rig/folder.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { waitFor } from '../../support/rig/wait.js';
import { Caller } from '../caller.js';
import { FakeClock } from '../faketime.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';
import { Receiver } from '../webhook-receiver.js';
import { WrongClockCalls } from '../wrong-clock-calls.js';

const LANES = 4;
const RECIPIENTS = 50;
const MESSAGES = 60;
/** More than anything is kept for. */
const OFFSETS = ['+400d', '-400d'];
const SWEEPS = ['sweep:retention', 'sweep:webhook_purge'];
const SWEPT_WITHIN_MS = 60_000;
const EMPTIED_WITHIN_MS = 60_000;
const SETTINGS = {
  WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
  MESSAGE_CONTENT_RETENTION_DAYS: '30',
  ATTEMPT_RETENTION_DAYS: '31',
  WEBHOOK_RETENTION_DAYS: '30',
  NOTIFICATION_RETENTION_DAYS: '30',
};

/** What retention would clear, and the partitions that it would drop. */
const COUNTS = `
select (select count(*)::integer from message_content) as contents,
  (select count(*)::integer from message_attempt) as attempts,
  (select count(*)::integer from webhook_event) as events,
  (select count(*)::integer from webhook_delivery) as deliveries,
  (select count(*)::integer from platform_notification) as notifications,
  (select count(*)::integer from pg_inherits where inhparent in ('webhook_delivery'::regclass, 'message_content'::regclass)) as partitions`;

/**
 * A worker whose clock is 400 days ahead, and one that is as far behind, each alone, while the webhook is away, and then
 * beside a right one; apis that are ahead and behind take messages too. Only the database's clock may say what is old, what
 * has closed and what is due.
 */
export const wrongHostClock: Scenario = {
  name: 'wrong-host-clock',
  goal: 'hosts 400 days ahead and behind: nothing is deleted, windows, codes, cursors and send_at are right, events wait for a webhook that is away; 0 lost, 0 sent twice',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const folder = temporaryFolder(scope, 'clocks');
  const clocks = OFFSETS.map((offset, n) => FakeClock.create(folder, `clock-${n}`, offset));
  const receiver = await Receiver.start();
  scope.defer(() => receiver.stop());
  let isAway = false;
  const arrived = new Set<string>();
  receiver.answer = ({ id }) => {
    if (!isAway) arrived.add(id);
    return { status: isAway ? 503 : 204 };
  };
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 80,
    recipients: RECIPIENTS,
    latencyMs: 20,
    settings: SETTINGS,
  });
  await subscribe(stage, receiver);
  const apis: HeraldProcess[] = [];
  for (const { settings } of clocks) apis.push(await stage.stage.herald('api', { settings }));
  const [ahead, behind] = apis.map(({ url }) => url) as [string, string];
  const callers = [stage.caller, ...apis.map(({ url }) => new Caller(url, stage.workspace))];
  const calls = await WrongClockCalls.prepare(stage);
  const { acknowledged, violations } = calls;
  /** Resolves with the (monotonic) time at which the texts were done. */
  const send = async (): Promise<number> => {
    for (let n = 0; n < MESSAGES; n++) {
      const connection = stage.workspace.connections[n % LANES];
      const caller = callers[n % callers.length];
      if (connection === undefined || caller === undefined) throw new Error('there is no number, or no caller');
      acknowledged.push((await caller.send(connection, n % RECIPIENTS)).messageId);
    }
    await stage.recoveredAfter(performance.now());
    const doneAt = performance.now();
    if (isAway) return doneAt;
    await emptied(stage, 'webhook_queue').catch(() => violations.push('not every event was delivered'));
    const missing = (await eventsOf(stage)).filter((id) => !arrived.has(id));
    if (missing.length > 0) violations.push(`${missing.length} events never arrived`);
    return doneAt;
  };
  let counts = await countsOf(stage);
  const compare = async (when: string): Promise<void> => {
    const now = await countsOf(stage);
    for (const [what, before] of Object.entries(counts)) {
      if ((now[what] ?? 0) < before) violations.push(`${when}: of ${before} ${what} ${now[what]} are left`);
    }
    counts = now;
    context.say(`${when}: ${JSON.stringify(now)}`);
  };

  await send();
  await compare('at first');
  isAway = true;
  await send();
  await calls.check([ahead, behind]);
  await emptied(stage, 'message_queue where held_until is not null').catch(() =>
    violations.push('a scheduled message did not go out'),
  );
  await compare('the webhook is away');
  await stage.worker.child.stop();
  const wrong: HeraldProcess[] = [];
  for (const [n, clock] of clocks.entries()) {
    const before = await waiting(stage);
    const since = await overdue(stage);
    const worker = await stage.stage.herald('worker', { settings: clock.settings });
    await swept(stage, since);
    await compare(`${OFFSETS[n]} alone`);
    const left = await waiting(stage);
    if (left < before) violations.push(`${OFFSETS[n]} alone: of ${before} events that waited ${left} are left`);
    await worker.child.stop();
    wrong.push(worker);
  }
  const since = await overdue(stage);
  for (const worker of [stage.worker, ...wrong]) worker.revive();
  await Promise.all([stage.worker, ...wrong].map((worker) => worker.ready()));
  isAway = false;
  await stage.stage.database.pool.query('update webhook_queue set due_at = now() where attempt_id is null');
  await send();
  await swept(stage, since);
  await compare('all together');

  const all = [stage.api, ...apis, stage.worker, ...wrong];
  await Promise.all(all.map(({ child }) => child.stop()));
  const startedAt = performance.now();
  for (const herald of all) herald.revive();
  await Promise.all(all.map((herald) => herald.ready()));
  const recoveredMs = (await send()) - startedAt;
  await compare('started again');
  return reportOf({
    faults: OFFSETS.length + 2,
    attempted: acknowledged.length,
    judgement: await stage.judge(acknowledged),
    recoveredMs,
    violations,
    notes: counts,
  });
}

async function countsOf({ stage }: FaultStage): Promise<Record<string, number>> {
  const { rows } = await stage.database.pool.query<Record<string, number>>(COUNTS);
  return rows[0] ?? {};
}

async function waiting({ stage }: FaultStage): Promise<number> {
  return (await stage.database.pool.query('select from webhook_queue')).rowCount ?? 0;
}

/** Of messages: of the numbers there are some from before there was a webhook. */
async function eventsOf({ stage }: FaultStage): Promise<string[]> {
  const ofMessages = `select id from webhook_event where type like 'message.%'`;
  return (await stage.database.pool.query<{ id: string }>(ofMessages)).rows.map(({ id }) => id);
}

/** Makes the sweeps overdue, so that a worker which starts runs them at once; resolves with the present time. */
async function overdue({ stage }: FaultStage): Promise<string> {
  const { rows } = await stage.database.pool.query<{ now: string }>(
    `insert into heartbeat (name, beat_at) select unnest($1::text[]), clock_timestamp() - interval '1 day'
     on conflict (name) do update set beat_at = excluded.beat_at returning clock_timestamp()::text as now`,
    [SWEEPS],
  );
  return rows[0]?.now ?? '';
}

/** Waits until they have succeeded since then, in whichever worker leads. */
async function swept({ stage }: FaultStage, since: string): Promise<void> {
  const done = `select from heartbeat where name = any($1) and beat_at > $2`;
  await waitFor(
    'the sweeps to succeed',
    async () => ((await stage.database.pool.query(done, [SWEEPS, since])).rowCount === SWEEPS.length ? true : null),
    { timeoutMs: SWEPT_WITHIN_MS * 2 },
  );
}

async function emptied({ stage }: FaultStage, rows: string): Promise<void> {
  const open = `select from ${rows} limit 1`;
  await waitFor(
    `no row of ${rows}`,
    async () => ((await stage.database.pool.query(open)).rowCount === 0 ? true : null),
    { timeoutMs: EMPTIED_WITHIN_MS },
  );
}

async function subscribe(stage: FaultStage, receiver: Receiver): Promise<void> {
  const response = await fetch(`${stage.api.url}/api/v1/webhook`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${stage.workspace.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url('/hook') }),
  });
  if (!response.ok) throw new Error(`the webhook was refused: ${await response.text()}`);
}
