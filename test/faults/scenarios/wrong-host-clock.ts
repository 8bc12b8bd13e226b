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

const LANES = 4;
const RECIPIENTS = 50;
const MESSAGES = 100;
/** More than anything is kept for. */
const OFFSETS = ['+200d', '-200d'];
const SWEPT_WITHIN_MS = 60_000;
const DELIVERED_WITHIN_MS = 60_000;
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
  (select count(*)::integer from pg_inherits where inhparent = 'webhook_delivery'::regclass) as partitions`;

/**
 * A worker whose clock is 200 days ahead, and one that is as far behind, each alone and then beside a right one; an api
 * that is behind takes messages too. Only the database's clock may say what is old.
 */
export const wrongHostClock: Scenario = {
  name: 'wrong-host-clock',
  goal: 'hosts 200 days ahead and behind: nothing is deleted, partitions stay, all goes on and starts again; 0 lost, 0 sent twice',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const folder = temporaryFolder(scope, 'clocks');
  const clocks = OFFSETS.map((offset, n) => FakeClock.create(folder, `clock-${n}`, offset));
  const receiver = await Receiver.start();
  scope.defer(() => receiver.stop());
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 80,
    recipients: RECIPIENTS,
    latencyMs: 20,
    settings: SETTINGS,
  });
  await subscribe(stage, receiver);
  const behind = await stage.stage.herald('api', { settings: clocks[1]?.settings });
  const callers = [stage.caller, new Caller(behind.url, stage.workspace)];
  const acknowledged: string[] = [];
  const violations: string[] = [];
  const send = async (): Promise<void> => {
    for (let n = 0; n < MESSAGES; n++) {
      const connection = stage.workspace.connections[n % LANES];
      const caller = callers[n % callers.length];
      if (connection === undefined || caller === undefined) return;
      acknowledged.push((await caller.send(connection, n % RECIPIENTS)).messageId);
    }
    await stage.recoveredAfter(performance.now());
    await delivered(stage).catch(() => violations.push('not every event was delivered'));
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
  await stage.worker.child.stop();
  const wrong: HeraldProcess[] = [];
  for (const [n, clock] of clocks.entries()) {
    const worker = await stage.stage.herald('worker', { settings: clock.settings });
    await swept(stage);
    await compare(`${OFFSETS[n]} alone`);
    await worker.child.stop();
    wrong.push(worker);
  }
  for (const worker of [stage.worker, ...wrong]) worker.revive();
  await Promise.all([stage.worker, ...wrong].map((worker) => worker.ready()));
  await send();
  await swept(stage);
  await compare('all together');

  const all = [stage.api, behind, stage.worker, ...wrong];
  await Promise.all(all.map(({ child }) => child.stop()));
  const startedAt = performance.now();
  for (const herald of all) herald.revive();
  await Promise.all(all.map((herald) => herald.ready()));
  await send();
  await compare('started again');
  const recoveredMs = performance.now() - startedAt;
  return reportOf({
    faults: OFFSETS.length + 1,
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

/** Makes the sweep overdue, and waits until it has succeeded in whichever worker leads. */
async function swept({ stage }: FaultStage): Promise<void> {
  const { pool } = stage.database;
  const { rows } = await pool.query<{ now: string }>('select clock_timestamp()::text as now');
  await pool.query(
    `insert into heartbeat values ('sweep:retention', clock_timestamp() - interval '1 day')
     on conflict (name) do update set beat_at = excluded.beat_at`,
  );
  const done = `select from heartbeat where name = 'sweep:retention' and beat_at > $1`;
  await waitFor(
    'retention to succeed',
    async () => ((await pool.query(done, [rows[0]?.now])).rowCount === 1 ? true : null),
    { timeoutMs: SWEPT_WITHIN_MS * 2 },
  );
}

async function delivered({ stage }: FaultStage): Promise<void> {
  const open = 'select from webhook_queue limit 1';
  await waitFor(
    'every event to be delivered',
    async () => ((await stage.database.pool.query(open)).rowCount === 0 ? true : null),
    {
      timeoutMs: DELIVERED_WITHIN_MS,
    },
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
