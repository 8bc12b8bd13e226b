import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { CODE_SETTINGS, CodeProject } from '../../test/support/rig/codes.js';
import { median, percentile } from '../../test/support/rig/figures.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import { seedQueued } from '../../test/support/rig/seed-messages.js';
import { Stage } from '../../test/support/rig/stage.js';
import { pause, waitFor } from '../../test/support/rig/wait.js';
import { UNDER_WAY } from './quiet-workspace.js';

const LIMIT_MS = 300;
const BETWEEN_MS = 50;
const CONNECTIONS = 20;
/** So high that pace never binds: the worker is as busy as it can be. */
const CAMPAIGN_PER_SECOND = 10_000;
const HANG_MS = 2_000;
/** Of the whole process, by default. */
const PLACES = 256;
/** No other part writes to these. */
const FIRST_RECIPIENT = 9_000_000;
const GIVE_UP_MS = 20_000;
const BUSY_MS = 60_000;

/** How soon a one-time code leaves, while a campaign has the same worker process. */
export const codesClaim: Claim = {
  name: 'otp',
  async measure(context): Promise<Finding[]> {
    const messages = context.quick ? 50_000 : 100_000;
    const [besideCampaign, besideHanging] = [
      await codesBeside(context, { messages, latencyMs: 0, underWay: UNDER_WAY }),
      // Each place is taken by a request that waits for its answer.
      await codesBeside(context, { messages, latencyMs: HANG_MS, underWay: PLACES }),
    ];
    return [
      finding(`a one-time code leaves while another workspace's ${messages} messages drain (p99)`, besideCampaign),
      finding(`a one-time code leaves while ${PLACES} requests of a campaign hang for 2 s (p99)`, besideHanging),
    ];
  },
};

interface Codes {
  /** Milliseconds from each 202 to the moment when the simulator had the code. */
  takenMs: number[];
  /** Milliseconds from each acceptance to its claim, by the database's clock. */
  claimedMs: number[];
}

interface Campaign {
  messages: number;
  /** How long the platform thinks about each request. */
  latencyMs: number;
  /** How many messages must be out before the measuring begins. */
  underWay: number;
}

function finding(claim: string, { takenMs, claimedMs }: Codes): Finding {
  return atMost(LIMIT_MS, {
    claim,
    value: percentile(takenMs, 0.99),
    unit: 'ms',
    notes: {
      codes: takenMs.length,
      median_ms: median(takenMs),
      worst_ms: Math.max(...takenMs),
      median_until_claimed_ms: median(claimedMs),
      p99_until_claimed_ms: percentile(claimedMs, 0.99),
    },
  });
}

function codesBeside(context: BenchContext, { messages, latencyMs, underWay }: Campaign): Promise<Codes> {
  return context.scope.within(async (scope) => {
    const stage = await Stage.set(scope, await context.postgres(), 'codes', { settings: CODE_SETTINGS });
    const { pool } = stage.database;
    const { connections } = await stage.workspace(CONNECTIONS, CAMPAIGN_PER_SECOND);
    for (const connection of connections) await seedQueued(pool, connection, { count: messages / CONNECTIONS });
    const project = await CodeProject.seed(pool, stage.simulator, 1_000);
    await pool.query('analyze');
    await stage.simulator.control('POST', 'faults', { latency_ms: latencyMs });
    const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);
    const busy = async () => ((await stage.simulator.count()) >= underWay ? true : null);
    await waitFor('the worker to be busy', busy, { timeoutMs: BUSY_MS });

    const codes = context.quick ? 100 : 250;
    const sent: { to: string; answeredAt: number }[] = [];
    for (let n = 0; n < codes; n++) {
      const to = recipientNumber(FIRST_RECIPIENT + n);
      sent.push({ to, answeredAt: (await project.send(api.url, to)).answeredAt });
      await pause(BETWEEN_MS);
    }
    const left = await pool.query('select 1 from message_queue where attempt_id is null limit 1');
    if (left.rowCount === 0) throw new Error('the campaign was over before the codes were');
    const takenMs: number[] = [];
    for (const { to, answeredAt } of sent) takenMs.push(await takenAfter(stage, to, answeredAt));
    const { rows } = await pool.query<{ ms: number }>(
      `select extract(epoch from sending_at - created_at)::double precision * 1000 as ms from otp_challenge
       where sending_at is not null`,
    );
    const claimedMs = rows.map((row) => row.ms);
    context.say(
      `median ${median(takenMs)} ms, p99 ${percentile(takenMs, 0.99)} ms, worst ${Math.max(...takenMs)} ms; ` +
        `until claimed ${Math.round(median(claimedMs))} and ${Math.round(percentile(claimedMs, 0.99))} ms`,
    );
    return { takenMs, claimedMs };
  });
}

/** A code that is not there in time counts as that late. */
async function takenAfter(stage: Stage, to: string, answeredAt: number): Promise<number> {
  const find = async () => (await stage.simulator.taken(to))[0]?.taken_at ?? null;
  const takenAt = await waitFor('a code', find, { timeoutMs: GIVE_UP_MS }).catch(() => null);
  return takenAt === null ? GIVE_UP_MS : Math.max(0, Date.parse(takenAt) - answeredAt);
}
