import type { Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import { Child } from '../../test/support/rig/child.js';
import { temporaryFolder } from '../../test/support/rig/folder.js';
import { freePort } from '../../test/support/rig/free-port.js';
import { compiled } from '../../test/support/rig/paths.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { waitFor } from '../../test/support/rig/wait.js';

const LIMIT_MS = 3_000;
const READY_MS = 60_000;

/** `npm start` on a laptop, all roles in one process, whose database was made before. */
export const coldStartClaim: Claim = {
  name: 'cold-start',
  async measure(context): Promise<Finding[]> {
    return context.scope.within(async (scope) => {
      const dataDir = temporaryFolder(scope, 'cold-start');
      context.say(`first start, which makes the database: ${Math.round(await startOnce(scope, dataDir))} ms`);
      const runs: number[] = [];
      for (let i = 0; i < (context.quick ? 3 : 7); i++) runs.push(await startOnce(scope, dataDir));
      context.say(`later starts: ${runs.map(Math.round).join(', ')} ms`);
      return [
        atMost(LIMIT_MS, {
          claim: 'cold start, embedded PostgreSQL, database already made',
          value: median(runs),
          unit: 'ms',
          notes: { runs: runs.map(Math.round).join(', ') },
        }),
      ];
    });
  },
};

/** Starts, waits until it is ready, stops; returns the milliseconds from start to ready. */
function startOnce(outer: Scope, dataDir: string): Promise<number> {
  return outer.within(async (scope) => {
    const [port, simulatorPort] = [await freePort(), await freePort()];
    const startedAt = performance.now();
    const child = Child.start(scope, {
      name: 'Herald',
      args: ['--enable-source-maps', compiled('src/main')],
      env: { DATA_DIR: dataDir, PORT: String(port), SIMULATOR_PORT: String(simulatorPort), LOG_LEVEL: 'warn' },
    });
    await waitFor(
      'Herald to be ready',
      async () => {
        if (!child.isRunning) throw new Error(`Herald ended:\n${child.tail}`);
        const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
        await response?.arrayBuffer();
        return response?.ok === true ? true : null;
      },
      { timeoutMs: READY_MS, everyMs: 10 },
    );
    return performance.now() - startedAt;
  });
}
