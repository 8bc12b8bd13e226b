import pg from 'pg';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';
import { Receiver, type Envelope } from '../webhook-receiver.js';

const LANES = 6;
const RECIPIENTS = 2_000;
/** Of traffic before the transaction, for comparison. */
const WITHOUT_MS = 15_000;
const VACUUM_EVERY_MS = 10_000;
const LIMIT_MS = 2_000;
/** Messages and events that are done with before the traffic: what minutes of it would leave. */
const DONE = 100_000;
const EACH = 10_000;
/** With the transaction still open: what is in flight ends, and no more is left. */
const BEHIND_MS = 10_000;

/**
 * Traffic with webhooks beside a transaction that stays open, such as a backup: no removed row is vacuumed, and the planner takes
 * the queues for nearly empty.
 */
export const openTransaction: Scenario = {
  name: 'open-transaction',
  goal: `a transaction that stays open beside traffic with webhooks; p99 from read to its webhook within ${LIMIT_MS} ms, nothing behind at the end`,
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const lastsMs = context.quick ? 40_000 : 300_000;
  const traffic = { callers: context.quick ? 3 : 10, betweenMs: context.quick ? 150 : 75 };
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 80,
    recipients: RECIPIENTS,
    latencyMs: 20,
    settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
  });
  const { pool, url } = stage.stage.database;
  const receiver = await Receiver.start();
  scope.defer(() => receiver.stop());
  receiver.keep = false;
  const readMs: number[] = [];
  receiver.answer = ({ id, body }) => {
    if ((JSON.parse(body) as Envelope).data.status === 'read') readMs.push(Date.now() - millisecondsOf(id));
    return { status: 204 };
  };
  await subscribe(stage, receiver);

  const sending = new Traffic(stage, { ...traffic, least: 0, most: Infinity, recipients: RECIPIENTS });
  await pause(WITHOUT_MS);
  const without = readMs.splice(0);
  const foreign = new pg.Client({ connectionString: url });
  await foreign.connect();
  scope.defer(() => foreign.end());
  await foreign.query('begin isolation level repeatable read');
  await foreign.query('select count(*) from message');
  for (let done = 0; done < DONE; done += EACH) await leaveRows(stage);
  context.say(`${DONE} messages and events are done with`);
  const startedAt = performance.now();
  while (performance.now() - startedAt < lastsMs) {
    await pause(VACUUM_EVERY_MS);
    // As autovacuum does, at a moment at which few rows wait.
    for (const table of ['message_queue', 'webhook_queue']) await pool.query(`vacuum (analyze) ${table}`);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    context.say(`after ${seconds} s: ${sending.attempted} messages, ${readMs.length} reads delivered`);
  }
  const sentAt = await sending.end();
  const late: string[] = [];
  const behind = async (): Promise<number> => {
    const { rows } = await pool.query<{ behind: number }>(
      'select ((select count(*) from message_queue) + (select count(*) from webhook_queue))::integer as behind',
    );
    return rows[0]?.behind ?? 0;
  };
  const nothingBehind = async () =>
    (await behind()) === 0 && without.length + readMs.length >= sending.attempted ? true : null;
  await waitFor('nothing to be behind', nothingBehind, { timeoutMs: BEHIND_MS }).catch(async () => {
    const missing = sending.attempted - without.length - readMs.length;
    late.push(`${await behind()} messages and events were behind at the end, ${missing} reads were not delivered`);
  });
  await foreign.query('rollback');
  const recoveredMs = await stage.recoveredAfter(sentAt);
  const judgement = await stage.judge(sending.acknowledged);
  const p99 = Math.round(percentile(readMs, 0.99));
  if (p99 > LIMIT_MS) late.push(`99 % of the webhooks of read came within ${p99} ms, more than ${LIMIT_MS}`);
  return reportOf({
    faults: 1,
    attempted: sending.attempted,
    judgement,
    recoveredMs,
    late,
    notes: {
      read_p50_ms: Math.round(percentile(readMs, 0.5)),
      read_p99_ms: p99,
      read_p99_without_ms: Math.round(percentile(without, 0.99)),
      reads: readMs.length,
    },
  });
}

async function subscribe({ api, workspace }: FaultStage, receiver: Receiver): Promise<void> {
  const response = await fetch(`${api.url}/api/v1/webhook`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${workspace.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url() }),
  });
  if (response.status !== 200) throw new Error(`PUT /webhook answered ${response.status}: ${await response.text()}`);
}

/** Leaves the removed rows of messages that were sent, and of events that were delivered, some minutes ago. */
async function leaveRows({ stage, workspace }: FaultStage): Promise<void> {
  const { organizationId, connections } = workspace;
  const ids = connections.map(({ id }) => id);
  const client = await stage.database.pool.connect();
  try {
    // Others see only what is left.
    await client.query('begin');
    await client.query(
      `insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at,
         attempt_id, claimed_at, lease_until, expires_at)
       select ($1::uuid[])[1 + n % cardinality($1)], now() - interval '3 minutes', uuid_v7(), $2,
         '4' || floor(random() * 1000000), now() - interval '3 minutes', uuid_v7(), now() - interval '3 minutes',
         now() - interval '2 minutes', now() + interval '1 day'
       from generate_series(1, $3::integer) n`,
      [ids, organizationId, EACH],
    );
    await client.query(`delete from message_queue where lease_until = now() - interval '2 minutes'`);
    await client.query(
      `insert into webhook_queue (event_id, organization_id, endpoint_id, attempt_count, attempt_id, due_at)
       select uuid_v7(), $1, e.id, 1, uuid_v7(), now() - interval '3 minutes' from webhook_endpoint e cross join generate_series(1, $2::integer) where e.organization_id = $1`,
      [organizationId, EACH],
    );
    await client.query(`delete from webhook_queue where due_at = now() - interval '3 minutes'`);
    await client.query('commit');
  } finally {
    client.release();
  }
}

/** When an event was written, by its id. */
function millisecondsOf(id: string): number {
  return parseInt(id.replace('-', '').slice(0, 12), 16);
}
