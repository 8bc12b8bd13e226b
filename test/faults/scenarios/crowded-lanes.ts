import { ROW_ID } from '../../support/rig/seed-messages.js';
import { waitFor } from '../../support/rig/wait.js';
import type { SeededConnection } from '../../support/rig/workspace.js';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { forEachOf } from '../caller.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const CROWD = 10_000;
const EACH = 20;
const LIMIT_MS = 1_000;
/** The sweep that fails what is too old looks every ten seconds. */
const EXPIRY_MS = 20_000;

interface Crowd {
  name: string;
  queuedAt: string;
  nextAttemptAt: string;
  /** Whether each recipient has a second message that is due, which waits for the first. */
  followed: boolean;
}

const NOW = 'clock_timestamp()';
const TOO_OLD = "clock_timestamp() - interval '25 hours'";
const CROWDS: readonly Crowd[] = [
  { name: 'deferred', queuedAt: NOW, nextAttemptAt: "clock_timestamp() + interval '2 hours'", followed: false },
  {
    name: 'deferred and followed',
    queuedAt: NOW,
    nextAttemptAt: "clock_timestamp() + interval '2 hours'",
    followed: true,
  },
  { name: 'expired', queuedAt: TOO_OLD, nextAttemptAt: TOO_OLD, followed: false },
];

/** What an outage leaves in a lane is in front of what is due. */
export const crowdedLanes: Scenario = {
  name: 'crowded-lanes',
  goal: `${CROWD} recipients with deferred or expired messages in front: due messages leave within ${LIMIT_MS} ms; the expired are cleared within ${EXPIRY_MS / 1_000} s`,
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const stage = await FaultStage.set(context, scope, {
    lanes: CROWDS.length,
    messagesPerSecond: 80,
    recipients: EACH,
    latencyMs: 20,
  });
  const { pool } = stage.stage.database;
  const lanes = CROWDS.map((crowd, n) => ({ crowd, connection: connectionOf(stage, n) }));
  for (const { crowd, connection } of lanes) await seed(stage, connection, crowd);
  const seededAt = performance.now();

  const acknowledged: string[] = [];
  await forEachOf(CROWDS.length * EACH, CROWDS.length, async (n) => {
    const connection = connectionOf(stage, n % CROWDS.length);
    acknowledged.push((await stage.caller.send(connection, Math.floor(n / CROWDS.length))).messageId);
  });
  const sentAt = performance.now();
  const late: string[] = [];
  const open = async (condition: string): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::integer as count from message_view where status in ('queued', 'processing') and ${condition}`,
    );
    return rows[0]?.count ?? 0;
  };
  const emptied = (condition: string, timeoutMs: number): Promise<boolean> =>
    waitFor(condition, async () => ((await open(condition)) === 0 ? true : null), { timeoutMs }).catch(() => false);

  await emptied(`client_message_id is null`, EXPIRY_MS);
  const { rows: left } = await pool.query<{ connection_id: string; ms: number }>(
    `select m.connection_id, max(coalesce(extract(epoch from a.started_at - m.queued_at) * 1000, $2))::float8 as ms
     from message_view m left join message_attempt_view a on a.message_id = m.id and a.number = 1
     where m.id = any($1) group by 1`,
    [acknowledged, EXPIRY_MS],
  );
  const recoveredMs = performance.now() - sentAt;
  const notes: Record<string, number> = {};
  for (const { crowd, connection } of lanes) {
    const worst = Math.round(left.find((row) => row.connection_id === connection.id)?.ms ?? EXPIRY_MS);
    notes[`${crowd.name.replaceAll(' ', '_')}_worst_ms`] = worst;
    if (worst > LIMIT_MS) late.push(`behind ${CROWD} ${crowd.name}: a due message left after ${worst} ms`);
  }
  if (!(await emptied(`queued_at < now() - interval '24 hours'`, EXPIRY_MS))) {
    late.push(`expired messages are still queued ${EXPIRY_MS / 1_000} s after the last one was sent`);
  }
  notes.expiry_ms = Math.round(performance.now() - seededAt);
  context.say(JSON.stringify(notes));
  // The crowd is no part of what callers were promised.
  const crowd = `select id from message where client_message_id is not null`;
  for (const table of ['message_state', 'message_queue', 'message_content']) {
    await pool.query(`delete from ${table} where message_id in (${crowd})`);
  }
  await pool.query('delete from message where client_message_id is not null');
  const judgement = await stage.judge(acknowledged);
  return reportOf({ faults: CROWDS.length, attempted: acknowledged.length, judgement, recoveredMs, late, notes });
}

function connectionOf(stage: FaultStage, n: number): SeededConnection {
  const connection = stage.workspace.connections[n];
  if (connection === undefined) throw new Error(`there is no lane ${n}`);
  return connection;
}

/** Recipients whose numbers are in front of all others. */
async function seed({ stage }: FaultStage, connection: SeededConnection, crowd: Crowd): Promise<void> {
  const insert = (queuedAt: string, nextAttemptAt: string) =>
    stage.database.pool.query(
      `with made as (
         insert into message (id, organization_id, connection_id, direction, type, recipient, sender,
           client_message_id, fingerprint, created_at)
         select ${ROW_ID}, $1, $2, 'outbound', 'text', '1' || lpad(n::text, 9, '0'), $4, 'crowd',
           sha256(n::text::bytea), date_trunc('milliseconds', ${queuedAt})
         from generate_series(1, $3::integer) as n returning *
       ), contents as (
         insert into message_content (message_id, body, content) select id, 'Hello', '{"body":"Hello"}' from made
       ), stated as (
         insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
         select id, organization_id, connection_id, created_at, created_at from made
       )
       insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at,
         due_at, expires_at)
       select connection_id, created_at, id, organization_id, recipient, ${queuedAt}, ${nextAttemptAt},
         ${queuedAt} + interval '1 day' from made`,
      [connection.organizationId, connection.id, CROWD, connection.phoneNumber],
    );
  await insert(crowd.queuedAt, crowd.nextAttemptAt);
  if (crowd.followed) await insert(NOW, NOW);
  // A row that was accepted long ago is before the mark from which lanes look.
  await stage.database.pool.query(`update lane set low_at = '-infinity' where key = $1`, [connection.id]);
}
