import type { FaultReport } from '../../support/rig/fault-result.js';
import { randomUUID } from 'node:crypto';
import { pause } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const CLIENTS = 16;
const LANES = 8;
const RECIPIENTS = 50;
const BETWEEN_MS = 10;

/** kill -9 of the api while clients repeat their requests with the same key until they have an answer. */
export const apiKilled: Scenario = {
  name: 'api-killed',
  goal: 'G2: kill -9 of the api; one key makes one message, 0 missing',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [kills, leastKeys] = context.quick ? [5, 200] : [20, 1_000];
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 1_000,
    recipients: RECIPIENTS,
    latencyMs: 0,
  });
  const messageOfKey = new Map<string, string>();
  const violations: string[] = [];
  const late: string[] = [];
  const clientsMayEnd = new AbortController();
  let attempted = 0;
  let repeated = 0;

  const client = async (): Promise<void> => {
    while (!clientsMayEnd.signal.aborted || attempted < leastKeys) {
      const n = attempted++;
      const key = randomUUID();
      const connection = stage.workspace.connections[n % LANES];
      if (connection === undefined) return;
      const first = await stage.caller.send(connection, n % RECIPIENTS, key);
      if (first.tries > 1) repeated++;
      messageOfKey.set(key, first.messageId);
      const again = await stage.caller.send(connection, n % RECIPIENTS, key);
      if (again.messageId !== first.messageId) violations.push(`key ${key} was answered with two ids`);
      if (!again.replayed) violations.push(`the repeat of key ${key} was not marked as replayed`);
      await pause(BETWEEN_MS);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  clients.catch(() => undefined); // awaited below; until then a failure must not end the process
  let killedAt = performance.now();
  for (let kill = 1; kill <= kills; kill++) {
    await stage.api.ready();
    await pause(randomBetween(50, 500));
    await stage.api.child.kill();
    killedAt = performance.now();
    stage.api.revive();
    context.say(`kill ${kill} of ${kills}: ${messageOfKey.size} keys answered, ${repeated} of them after repeats`);
  }
  clientsMayEnd.abort();
  const answeredAt = await clients.then(() => performance.now());
  const recoveredMs = await stage.recoveredAfter(Math.max(killedAt, answeredAt));
  const { rows } = await stage.stage.database.pool.query<{ key: string; id: string }>(
    'select k.key, m.id from message m left join idempotency_key k on k.message_id = m.id',
  );
  const stored = new Map(rows.map((row) => [row.key, row.id]));
  for (const [key, id] of messageOfKey) if (stored.get(key) !== id) violations.push(`key ${key} has another message`);
  if (rows.length !== attempted) violations.push(`${attempted} keys made ${rows.length} messages`);
  if (repeated === 0) late.push('no kill fell into a request: nothing was shown');
  const judgement = await stage.judge([...messageOfKey.values()]);
  return reportOf({ faults: kills, attempted, judgement, recoveredMs, violations, late });
}
