import { freePort } from '../../bench/rig/free-port.js';
import type { HeraldProcess } from '../../bench/rig/herald.js';
import { judge, type JudgedMessage, type Judgement } from '../../bench/rig/judge.js';
import type { Scope } from '../../bench/rig/scope.js';
import { seedConversations } from '../../bench/rig/seed-messages.js';
import { Stage } from '../../bench/rig/stage.js';
import { waitFor } from '../../bench/rig/wait.js';
import type { SeededWorkspace } from '../../bench/rig/workspace.js';
import { Caller } from './caller.js';
import type { FaultContext } from './scenario.js';

/** All must have a final state this long after the last fault: a lease lasts 20 s, the rest is for a slow machine. */
export const RECOVERY_LIMIT_MS = 60_000;
const GIVE_UP_MS = 120_000;
const NOTIFICATIONS_MS = 30_000;

export interface FaultStageOptions {
  lanes: number;
  /** Of each lane: low enough for the faults to fall into the sending. */
  messagesPerSecond: number;
  recipients: number;
  /** How long the platform thinks about each message, so that some are always on the wire. */
  latencyMs: number;
}

/** Database, simulator (which reports statuses), api and worker, and a workspace with open windows. */
export class FaultStage {
  private constructor(
    readonly stage: Stage,
    readonly api: HeraldProcess,
    readonly worker: HeraldProcess,
    readonly workspace: SeededWorkspace,
    readonly caller: Caller,
  ) {}

  static async set(context: FaultContext, scope: Scope, options: FaultStageOptions): Promise<FaultStage> {
    const apiPort = await freePort();
    const stage = await Stage.set(scope, context.postgres, 'faults', {
      simulator: { statuses: 'on', webhookUrl: `http://127.0.0.1:${apiPort}/platform/whatsapp/webhook` },
      settings: context.redisUrl === null ? {} : { REDIS_URL: context.redisUrl, QUEUE_PREFIX: `faults-${apiPort}` },
    });
    await stage.simulator.control('POST', 'faults', { latency_ms: options.latencyMs });
    const workspace = await stage.workspace(options.lanes, options.messagesPerSecond);
    for (const connection of workspace.connections) {
      await seedConversations(stage.database.pool, connection, options.recipients);
    }
    const api = await stage.herald('api', apiPort);
    const worker = await stage.herald('worker');
    return new FaultStage(stage, api, worker, workspace, new Caller(api.url, workspace));
  }

  /** Messages that the platform has taken so far. */
  taken(): Promise<number> {
    return this.stage.simulator.count();
  }

  /** Waits until no message is open any more; returns the milliseconds since `faultAt` (monotonic). */
  async recoveredAfter(faultAt: number): Promise<number> {
    const open = `select 1 from message where status in ('queued', 'processing') limit 1`;
    await waitFor(
      'every message to have a final state',
      // The database may be away: then nothing is known, and it is asked again.
      async () => {
        const result = await this.stage.database.pool.query(open).catch(() => null);
        return result?.rowCount === 0 ? true : null;
      },
      { timeoutMs: GIVE_UP_MS },
    ).catch(() => null);
    return Math.max(0, performance.now() - faultAt);
  }

  /** Waits until the platform has reported all statuses, then compares all that is known. */
  async judge(acknowledged: readonly string[]): Promise<Judgement> {
    const { simulator, database } = this.stage;
    await waitFor(
      'the platform to report its statuses',
      async () => ((await simulator.pendingNotifications()) === 0 ? true : null),
      { timeoutMs: NOTIFICATIONS_MS },
    ).catch(() => null);
    const { rows } = await database.pool.query<JudgedMessage>(
      `select m.id, m.status, coalesce(a.attempts, '[]') as attempts from message m left join (
         select message_id, json_agg(json_build_object('id', id, 'status', status) order by number) as attempts
         from message_attempt group by message_id) as a on a.message_id = m.id
       where m.direction = 'outbound'`,
    );
    const taken = (await simulator.taken()).map((message) => message.callback);
    return judge({ acknowledged, messages: rows, taken });
  }
}
