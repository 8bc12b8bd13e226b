import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import { seedQueued } from '../../test/support/rig/seed-messages.js';
import { sendText } from '../../test/support/rig/send-text.js';
import { Stage } from '../../test/support/rig/stage.js';
import { pause, waitFor } from '../../test/support/rig/wait.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';

const LIMIT_MS = 1_000;
const BUSY = 100;
const SAMPLES = 12;
const BETWEEN_MS = 250;
/** The claim is of a worker at work, not of one that starts: by then every lane has had its turn. */
export const UNDER_WAY = 2_000;
/** No other part writes to these. */
const QUIET_RECIPIENT = 9_000_000;
/** How long a message may be looked for; one that is not there by then counts as that late. */
const GIVE_UP_MS = 20_000;

/** The first message of a workspace that was quiet, while others keep the worker busy. */
export const quietWorkspaceClaim: Claim = {
  name: 'quiet-workspace',
  async measure(context): Promise<Finding[]> {
    const each = context.quick ? 1_000 : 10_000;
    const besideMany = await firstMessages(context, async (stage) => {
      for (let i = 0; i < BUSY; i++) {
        const { connections } = await stage.workspace();
        for (const connection of connections) await seedQueued(stage.database.pool, connection, { count: each });
      }
      return UNDER_WAY;
    });
    const besideOne = await firstMessages(context, async (stage) => {
      const { connections } = await stage.workspace();
      for (const connection of connections) {
        await seedQueued(stage.database.pool, connection, { count: 100_000, recipients: 1 });
      }
      return 50;
    });
    return [
      finding(`first message of a quiet workspace while ${BUSY} others have ${each} queued each`, besideMany),
      finding('first message of a quiet workspace while one number has 100000 to one recipient', besideOne),
    ];
  },
};

function finding(claim: string, found: FirstMessages): Finding {
  return atMost(LIMIT_MS, {
    claim,
    value: Math.max(...found.takenMs),
    unit: 'ms',
    notes: {
      worst_of: found.takenMs.length,
      median_ms: median(found.takenMs),
      median_until_claimed_ms: median(found.claimedMs),
    },
  });
}

/** Milliseconds of each first message. */
interface FirstMessages {
  /** From its 202 to the moment when the simulator had it. */
  takenMs: number[];
  /** From its acceptance to its claim, by the database's clock. */
  claimedMs: number[];
}

/** @param fill makes the others' backlog; returns how many messages must be out before the measuring begins */
function firstMessages(context: BenchContext, fill: (stage: Stage) => Promise<number>): Promise<FirstMessages> {
  return context.scope.within(async (scope) => {
    const stage = await Stage.set(scope, await context.postgres(), 'quiet');
    const underWay = await fill(stage);
    const quiet: SeededWorkspace[] = [];
    for (let i = 0; i < SAMPLES; i++) quiet.push(await quietWorkspace(stage));
    const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);
    await waitFor('the worker to be busy', async () => ((await stage.simulator.count()) > underWay ? true : null), {
      timeoutMs: 30_000,
    });
    const answeredAt: number[] = [];
    for (const workspace of quiet) {
      answeredAt.push((await sendText(api, workspace, QUIET_RECIPIENT)).answeredAt);
      await pause(BETWEEN_MS);
    }
    const takenMs: number[] = [];
    for (const [i, workspace] of quiet.entries()) {
      const takenAt = await takenAtOf(stage, workspace);
      takenMs.push(takenAt === null ? GIVE_UP_MS : Math.max(0, takenAt - (answeredAt[i] ?? 0)));
    }
    const { rows } = await stage.database.pool.query<{ ms: number }>(
      `select extract(epoch from processing_at - queued_at)::double precision * 1000 as ms from message_view
       where organization_id = any($1) and processing_at is not null`,
      [quiet.map((workspace) => workspace.organizationId)],
    );
    context.say(`worst ${Math.max(...takenMs)} ms of ${takenMs.join(', ')}`);
    return { takenMs, claimedMs: rows.map((row) => row.ms) };
  });
}

async function quietWorkspace(stage: Stage): Promise<SeededWorkspace> {
  const workspace = await stage.workspace();
  await stage.database.pool.query(
    `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
     values (gen_random_uuid(), $1, $2, $3, now())`,
    [workspace.organizationId, workspace.connections[0].id, recipientNumber(QUIET_RECIPIENT)],
  );
  return workspace;
}

async function takenAtOf(stage: Stage, workspace: SeededWorkspace): Promise<number | null> {
  const own = workspace.connections[0].phoneNumberId;
  const find = async (): Promise<number | null> => {
    const taken = await stage.simulator.taken(recipientNumber(QUIET_RECIPIENT));
    const first = taken.find((message) => message.phone_number_id === own);
    return first === undefined ? null : Date.parse(first.taken_at);
  };
  return waitFor('the first message', find, { timeoutMs: GIVE_UP_MS, everyMs: 500 }).catch(() => null);
}
