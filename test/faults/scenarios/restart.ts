import { randomUUID } from 'node:crypto';
import type { FaultReport } from '../../support/rig/fault-result.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import type { BenchPostgres } from '../../support/rig/postgres.js';
import { recipientNumber } from '../../support/rig/recipients.js';
import { waitFor } from '../../support/rig/wait.js';
import { installedPostgres, InstalledPostgres } from '../../support/rig/installed-postgres.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const LANES = 4;
const RECIPIENTS = 50;
/** Of each kind and start. */
const MESSAGES = 20;
/** The least that is taken is ten seconds. */
const SEND_AT_S = 12;
/** A second message to such a number within 6 s is refused (131056), and due again 1, 4 and 16 s later. */
const PAIR_LIMITED = '4915100000010';
/** All but those that run once an hour have their next round within a minute. */
const ROUNDS_S = 60;
const ROUNDS_WITHIN_MS = 120_000;
const FIRST = 'first start';

/**
 * A second start on the same database, and a worker that takes over from the one that led: all that runs again and again
 * goes on, on the newest version of PostgreSQL and on the oldest that is supported.
 */
export const restart: Scenario = {
  name: 'restart',
  goal: 'PostgreSQL 15 and 18: after stop and start, and after the leading worker is replaced, scheduled and deferred messages go and every sweep succeeds',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport[]> {
  const programs = installedPostgres(15);
  const oldest = programs === null ? null : await InstalledPostgres.start(programs);
  scope.defer(() => oldest?.remove());
  const reports = [runOn(context, scope, context.postgres, 18)];
  if (oldest === null) context.say('PostgreSQL 15 is not installed (Debian: postgresql-15): only 18 is tried');
  else reports.push(runOn(context, scope, oldest, 15));
  return Promise.all(reports);
}

async function runOn(
  context: FaultContext,
  scope: FaultContext['scope'],
  postgres: Pick<BenchPostgres, 'url'>,
  version: number,
): Promise<FaultReport> {
  const stage = await FaultStage.set({ ...context, postgres }, scope, {
    lanes: LANES,
    messagesPerSecond: 50,
    recipients: RECIPIENTS,
    latencyMs: 20,
  });
  await openPairLimited(stage);
  const acknowledged: string[] = [];
  const late: string[] = [];
  const violations: string[] = [];
  const phases: Record<string, number> = {};
  const goesOn = async (what: string, workers: readonly HeraldProcess[]): Promise<void> => {
    const from = performance.now();
    const since = await clockOf(stage);
    acknowledged.push(...(await sendAll(stage)));
    const scheduled = async () =>
      (await stage.stage.database.pool.query('select from message_queue where held_until is not null limit 1'))
        .rowCount;
    await waitFor('what is scheduled to go', async () => ((await scheduled()) === 0 ? true : null), {
      timeoutMs: ROUNDS_WITHIN_MS,
    }).catch(() => violations.push(`${what}: scheduled messages were not sent`));
    await stage.recoveredAfter(from);
    // Those that run once a minute have not run by then.
    if (what === FIRST) return;
    const silent = () => silentSweeps(stage, since);
    await waitFor('every sweep to succeed', async () => ((await silent()).length === 0 ? true : null), {
      timeoutMs: ROUNDS_WITHIN_MS,
    }).catch(async () => late.push(`${what}: no success of ${(await silent()).join(', ')}`));
    for (const { url } of workers) {
      const ready = await fetch(`${url}/health/ready`);
      if (!ready.ok) violations.push(`${what}: ${await ready.text()}`);
    }
    phases[`${what}_ms`] = Math.round(performance.now() - from);
    context.say(`PostgreSQL ${version}: ${what} after ${phases[`${what}_ms`]} ms`);
  };

  await goesOn(FIRST, [stage.worker]);
  await Promise.all([stage.api.child.stop(), stage.worker.child.stop()]);
  stage.api.revive();
  stage.worker.revive();
  await Promise.all([stage.api.ready(), stage.worker.ready()]);
  await goesOn('second start', [stage.worker]);
  // As a rolling update does: the new one is there before the old one goes.
  const next = await stage.stage.herald('worker');
  await stage.worker.child.stop();
  const replacedAt = performance.now();
  await goesOn('leader replaced', [next]);

  const judgement = await stage.judge(acknowledged);
  const { rows } = await stage.stage.database.pool.query<{ many: number }>(
    `select count(distinct message_id)::integer as many from message_attempt_view where platform_code = 131056`,
  );
  if ((rows[0]?.many ?? 0) < 2) late.push('too few messages were deferred');
  const report = reportOf({
    faults: 2,
    attempted: acknowledged.length,
    judgement,
    recoveredMs: Math.max(0, performance.now() - replacedAt),
    recoveryLimitMs: ROUNDS_WITHIN_MS + 60_000,
    violations,
    late,
    notes: { deferred: rows[0]?.many ?? 0, ...phases },
  });
  return { ...report, test: `restart (PostgreSQL ${version})` };
}

/** Messages that go at once, that are scheduled, and that the platform defers. */
async function sendAll(stage: FaultStage): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < MESSAGES; n++) {
    const connection = stage.workspace.connections[n % LANES];
    if (connection === undefined) break;
    ids.push((await stage.caller.send(connection, n)).messageId);
    ids.push(await schedule(stage, connection.id, recipientNumber(n)));
  }
  for (let n = 0; n < 2; n++)
    ids.push((await stage.caller.send(stage.workspace.connections[0], PAIR_LIMITED)).messageId);
  return ids;
}

async function schedule(stage: FaultStage, connectionId: string, to: string): Promise<string> {
  const response = await fetch(`${stage.api.url}/api/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stage.workspace.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({
      connection_id: connectionId,
      to: `+${to}`,
      type: 'text',
      text: { body: 'Later' },
      send_at: new Date(Date.now() + SEND_AT_S * 1_000).toISOString(),
    }),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`Herald answered ${response.status}: ${text}`);
  return (JSON.parse(text) as { data: { id: string } }).data.id;
}

async function openPairLimited(stage: FaultStage): Promise<void> {
  const [connection] = stage.workspace.connections;
  await stage.stage.database.pool.query(
    `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
     values (gen_random_uuid(), $1, $2, $3, now())`,
    [connection.organizationId, connection.id, PAIR_LIMITED],
  );
}

async function clockOf(stage: FaultStage): Promise<string> {
  const { rows } = await stage.stage.database.pool.query<{ now: string }>('select clock_timestamp()::text as now');
  return rows[0]?.now ?? '';
}

/** Those that have not succeeded since, of all that run often. */
async function silentSweeps(stage: FaultStage, since: string): Promise<string[]> {
  const { rows } = await stage.stage.database.pool.query<{ name: string; old: boolean }>(
    `select substr(name, 7) as name, beat_at < $1 as old from heartbeat
     where name like 'sweep:%' and every_seconds <= ${ROUNDS_S}`,
    [since],
  );
  const known = new Set(rows.map(({ name }) => name));
  const silent = rows.filter(({ old }) => old).map(({ name }) => name);
  return [
    ...silent,
    ...['send_due', 'send_leases', 'schedule_due', 'retention', 'clock'].filter((name) => !known.has(name)),
  ];
}
