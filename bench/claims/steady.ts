import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { percentile } from '../../test/support/rig/figures.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { sendText } from '../../test/support/rig/send-text.js';
import { Stage } from '../../test/support/rig/stage.js';
import { pause, waitFor } from '../../test/support/rig/wait.js';

const PER_SECOND = 200;
const RECIPIENTS = 2_000;
/** So that pace does not bind. */
const THROUGHPUT = 1_000;
/** What the platform thinks about each message. */
const PLATFORM_MS = 20;
const P50_MS = 30;
const P99_MS = 300;
/** The processes compile what is hot in this time; not counted. */
const WARM_UP_MS = 2_000;

/** How soon a message reaches the platform while 200 a second come in, whether or not the last answer is there. */
export const steadyClaim: Claim = {
  name: 'steady',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const seconds = context.quick ? 8 : 300;
  const stage = await Stage.set(scope, await context.postgres(), 'steady');
  const workspace = await stage.workspace(1, THROUGHPUT);
  const [connection] = workspace.connections;
  await seedConversations(stage.database.pool, connection, RECIPIENTS);
  await stage.simulator.control('POST', 'faults', { latency_ms: PLATFORM_MS });
  const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);

  const total = PER_SECOND * (seconds + WARM_UP_MS / 1_000);
  const answeredAt = new Map<string, number>();
  const from = performance.now();
  const sends: Promise<void>[] = [];
  for (let n = 0; n < total; n++) {
    await pause(Math.max(0, from + (n * 1_000) / PER_SECOND - performance.now()));
    const measured = performance.now() - from > WARM_UP_MS;
    const sending = sendText(api, workspace, n % RECIPIENTS).then((sent) => {
      if (measured) answeredAt.set(sent.id, sent.answeredAt);
    });
    sends.push(sending);
  }
  await Promise.all(sends);
  const all = async (): Promise<true | null> => ((await stage.simulator.count()) >= total ? true : null);
  await waitFor('the messages to leave', all, { timeoutMs: 30_000 });
  const latencies = await latenciesOf(stage, answeredAt);
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  context.say(`${latencies.length} messages at ${PER_SECOND}/s: p50 ${p50} ms, p99 ${p99} ms`);
  const claim = `from the 202 to the platform at ${PER_SECOND} messages/s`;
  const notes = { messages: latencies.length, worst_ms: Math.max(...latencies) };
  return [
    atMost(P50_MS, { claim: `${claim} (p50)`, value: p50, unit: 'ms', notes }),
    atMost(P99_MS, { claim: `${claim} (p99)`, value: p99, unit: 'ms', notes }),
  ];
}

/** Milliseconds from each answer until the simulator had the message; 0 where it had it first. */
async function latenciesOf(stage: Stage, answeredAt: ReadonlyMap<string, number>): Promise<number[]> {
  const takenAt = new Map<string, number>();
  for (const { callback, taken_at } of await stage.simulator.taken()) {
    if (callback !== null) takenAt.set(callback, Date.parse(taken_at));
  }
  const { rows } = await stage.database.pool.query<{ id: string; attempt_id: string }>(
    `select m.id, a.id as attempt_id from message_view m join message_attempt_view a on a.message_id = m.id and a.number = 1
     where m.id = any($1)`,
    [[...answeredAt.keys()]],
  );
  return rows.map((row) => {
    const taken = takenAt.get(`${row.id}.${row.attempt_id}`);
    if (taken === undefined) throw new Error(`message ${row.id} never reached the simulator`);
    return Math.max(0, taken - (answeredAt.get(row.id) ?? Number.NaN));
  });
}
