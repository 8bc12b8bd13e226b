import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { untilDrained } from '../../test/support/rig/drain.js';
import { seedQueued } from '../../test/support/rig/seed-messages.js';
import { Stage } from '../../test/support/rig/stage.js';
import { pause } from '../../test/support/rig/wait.js';

const MIB = 1_048_576;
/** Of Node's defaults; with less, see "Sizes" in docs/operations.md. */
const LIMIT_MIB = 96;
const CONNECTIONS = 20;
const THROUGHPUT = 10_000;
const SAMPLE_MS = 50;

/** How much a worker grows over what it holds when it is ready and idle. */
export const memoryClaim: Claim = {
  name: 'memory',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: BenchContext['scope']): Promise<Finding[]> {
  const count = context.quick ? 20_000 : 100_000;
  const stage = await Stage.set(scope, await context.postgres(), 'memory');
  const { connections } = await stage.workspace(CONNECTIONS, THROUGHPUT);
  const worker = await stage.herald('worker');
  const resident = (): number => worker.child.residentBytes() ?? Number.NaN;
  await pause(1_000);
  const before = resident();

  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, resident())), SAMPLE_MS);
  try {
    for (const connection of connections) {
      await seedQueued(stage.database.pool, connection, { count: count / CONNECTIONS });
    }
    await untilDrained(stage.database.pool, 120_000);
  } finally {
    clearInterval(timer);
  }
  const mib = (bytes: number): number => Math.round(bytes / MIB);
  context.say(`worker: ${mib(before)} MiB idle, at most ${mib(peak)} MiB while ${count} messages drained`);
  return [
    atMost(LIMIT_MIB, {
      claim: `memory of a worker while ${count} messages drain, over idle`,
      value: (peak - before) / MIB,
      unit: 'MiB',
      notes: { idle_mib: mib(before), peak_mib: mib(peak), after_mib: mib(resident()) },
    }),
  ];
}
