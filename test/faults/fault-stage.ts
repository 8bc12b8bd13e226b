import { freePort } from '../support/rig/free-port.js';
import type { HeraldPlace, HeraldProcess } from '../support/rig/herald.js';
import { judge, type JudgedMessage, type Judgement } from '../support/rig/judge.js';
import type { BenchPostgres } from '../support/rig/postgres.js';
import type { Scope } from '../support/rig/scope.js';
import { seedConversations } from '../support/rig/seed-messages.js';
import { Stage } from '../support/rig/stage.js';
import { TcpProxy } from '../support/rig/tcp-proxy.js';
import { waitFor } from '../support/rig/wait.js';
import type { SeededWorkspace } from '../support/rig/workspace.js';
import { Caller } from './caller.js';
import type { FaultContext } from './scenario.js';

/** All must have a final state this long after the last fault: a lease lasts 20 s, the rest is for a slow machine. */
export const RECOVERY_LIMIT_MS = 60_000;
const GIVE_UP_MS = 120_000;
const NOTIFICATIONS_MS = 60_000;

export interface FaultStageOptions {
  /** Default: any free one. */
  apiPort?: number;
  lanes: number;
  /** Of each lane: low enough for the faults to fall into the sending. */
  messagesPerSecond: number;
  recipients: number;
  /** How long the platform thinks about each message, so that some are always in flight. */
  latencyMs: number;
  /** Default 1. */
  workers?: number;
  /** A proxy of its own before the database and the platform for each process. */
  proxied?: boolean;
  /** What stands between every process and the database: their address of it, and more settings. */
  databaseVia?: (url: string) => Promise<{ databaseUrl: string; settings: Record<string, string> }>;
  /** For every process. */
  settings?: Record<string, string>;
  /** Main file of every process. Default: this build's. */
  program?: string;
  /** For the nth worker besides. */
  workerSettings?: (n: number) => Record<string, string>;
  /** Where the platform's notifications go instead; is given the api's address for them. */
  notifyVia?: (apiAddress: string) => string;
}

/** What stands between one process and the rest. */
export interface Links {
  database: TcpProxy;
  platform: TcpProxy;
}

interface Parts {
  stage: Stage;
  api: HeraldProcess;
  workers: HeraldProcess[];
  /** The api's, then the workers'; empty unless asked for. */
  links: Links[];
  workspace: SeededWorkspace;
}

/** Database, simulator (which reports statuses), api and workers, and a workspace with open windows. */
export class FaultStage {
  readonly stage: Stage;
  readonly api: HeraldProcess;
  readonly workers: readonly HeraldProcess[];
  readonly links: readonly Links[];
  readonly workspace: SeededWorkspace;
  readonly caller: Caller;

  private constructor(parts: Parts) {
    this.stage = parts.stage;
    this.api = parts.api;
    this.workers = parts.workers;
    this.links = parts.links;
    this.workspace = parts.workspace;
    this.caller = new Caller(parts.api.url, parts.workspace);
  }

  static async set(
    context: { postgres: Pick<BenchPostgres, 'url'> } & Pick<FaultContext, 'redisUrl'>,
    scope: Scope,
    options: FaultStageOptions,
  ): Promise<FaultStage> {
    const apiPort = options.apiPort ?? (await freePort());
    const address = `http://127.0.0.1:${apiPort}/platform/whatsapp/webhook`;
    const queue: Record<string, string> =
      context.redisUrl === null ? {} : { REDIS_URL: context.redisUrl, QUEUE_PREFIX: `faults-${apiPort}` };
    const stage = await Stage.set(scope, context.postgres, 'faults', {
      simulator: { statuses: 'on', webhookUrl: options.notifyVia?.(address) ?? address },
      settings: { ...queue, ...options.settings },
    });
    const via = await options.databaseVia?.(stage.database.url);
    await stage.simulator.control('POST', 'faults', { latency_ms: options.latencyMs });
    const workspace = await stage.workspace(options.lanes, options.messagesPerSecond);
    for (const connection of workspace.connections) {
      await seedConversations(stage.database.pool, connection, options.recipients);
    }
    const links: Links[] = [];
    const { program } = options;
    const placed = async (settings: Record<string, string> = {}): Promise<Partial<HeraldPlace>> => {
      if (via !== undefined) return { ...via, program, settings: { ...settings, ...via.settings } };
      if (options.proxied !== true) return { program, settings };
      const database = await TcpProxy.before(scope, stage.database.url);
      const platform = await TcpProxy.before(scope, stage.simulator.url);
      links.push({ database, platform });
      const databaseUrl = database.through(stage.database.url);
      return { databaseUrl, program, simulatorUrl: platform.through(stage.simulator.url), settings };
    };
    const api = await stage.herald('api', { port: apiPort, ...(await placed()) });
    const workers: HeraldProcess[] = [];
    for (let n = 0; n < (options.workers ?? 1); n++) {
      workers.push(await stage.herald('worker', await placed(options.workerSettings?.(n))));
    }
    return new FaultStage({ stage, api, workers, links, workspace });
  }

  /** The only one, or the first. */
  get worker(): HeraldProcess {
    const [worker] = this.workers;
    if (worker === undefined) throw new Error('there is no worker');
    return worker;
  }

  /** Messages that the platform has taken so far. */
  taken(): Promise<number> {
    return this.stage.simulator.count();
  }

  /** Waits until no message is open any more; returns the milliseconds since `faultAt` (monotonic). */
  async recoveredAfter(faultAt: number): Promise<number> {
    await this.ended();
    return Math.max(0, performance.now() - faultAt);
  }

  private ended(): Promise<void> {
    return this.empty('message_queue', GIVE_UP_MS, 'every message to have a final state');
  }

  private async empty(table: 'message_queue' | 'notification_queue', timeoutMs: number, what: string): Promise<void> {
    await waitFor(
      what,
      // The database may be away: then nothing is known, and it is asked again.
      async () => {
        const result = await this.stage.database.pool.query(`select 1 from ${table} limit 1`).catch(() => null);
        return result?.rowCount === 0 ? true : null;
      },
      { timeoutMs },
    ).catch(() => null);
  }

  /** Waits until the platform has reported all statuses, then compares all that is known. */
  async judge(acknowledged: readonly string[]): Promise<Judgement> {
    const { simulator, database } = this.stage;
    await waitFor(
      'the platform to report its statuses',
      async () => ((await simulator.pendingNotifications()) === 0 ? true : null),
      { timeoutMs: NOTIFICATIONS_MS },
    ).catch(() => null);
    // What could not be applied at once is stored, and a worker applies it.
    await this.empty('notification_queue', NOTIFICATIONS_MS, 'every stored notification to be applied');
    // A worker that goes on late puts back what it definitely did not send: that waits once more.
    await this.ended();
    const { rows } = await database.pool.query<JudgedMessage>(
      `select m.id, m.status, coalesce(a.attempts, '[]') as attempts from message_view m left join (
         select message_id, json_agg(json_build_object('id', id, 'status', status) order by number) as attempts
         from message_attempt_view group by message_id) as a on a.message_id = m.id
       where m.direction = 'outbound'`,
    );
    // One-time codes are no messages.
    const { rows: codes } = await database.pool.query<{ id: string }>('select attempt_id as id from otp_challenge');
    const isCode = new Set(codes.map(({ id }) => id));
    const taken = (await simulator.taken())
      .map(({ callback }) => attemptOf(callback))
      .filter((id) => !isCode.has(id ?? ''));
    return judge({ acknowledged, messages: rows, taken });
  }
}

/** The attempt's id from what was sent along with it; a code's is the attempt's alone. */
function attemptOf(callback: string | null): string | null {
  return callback?.split('.').at(-1) ?? null;
}
