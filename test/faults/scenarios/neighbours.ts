import type { FaultReport } from '../../support/rig/fault-result.js';
import { BenchContext } from '../../../bench/bench-context.js';
import { firstMessages, UNDER_WAY } from '../../../bench/claims/quiet-workspace.js';
import { seedQueued } from '../../support/rig/seed-messages.js';
import type { Scenario } from '../scenario.js';

const WORKSPACES = 100;
const EACH = 1_000;
const LIMIT_MS = 1_000;

/** A hundred workspaces with a thousand messages each, and some that send their first. */
export const neighbours: Scenario = {
  name: 'neighbours',
  longOnly: true,
  goal: 'a quiet workspace beside 100 busy ones: first message within 1,000 ms',
  alone: true,
  async run({ scope, postgres, quick, say }): Promise<FaultReport> {
    const { takenMs } = await firstMessages(new BenchContext(scope, quick, say, postgres), async (stage) => {
      for (let i = 0; i < WORKSPACES; i++) {
        const { connections } = await stage.workspace();
        for (const connection of connections) await seedQueued(stage.database.pool, connection, { count: EACH });
      }
      return UNDER_WAY;
    });
    const worst = Math.max(...takenMs);
    return {
      faults: WORKSPACES,
      attempted: takenMs.length,
      acknowledged: takenMs.length,
      lost: 0,
      duplicated: 0,
      unknown: 0,
      recovered_ms: worst,
      violations: [],
      late: worst > LIMIT_MS ? [`a quiet workspace's first message took ${worst} ms`] : [],
    };
  },
};
