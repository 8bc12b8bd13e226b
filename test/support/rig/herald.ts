import { randomBytes } from 'node:crypto';
import { Child } from './child.js';
import { freePort } from './free-port.js';
import { compiled } from './paths.js';
import type { Scope } from './scope.js';
import { waitFor } from './wait.js';

/** Secrets of one run: writers and readers of rows must have the same. */
export const APP_SECRET = randomBytes(16).toString('hex');
const ENCRYPTION_KEYS = `1:${randomBytes(32).toString('base64')}`;
// Three seconds on a quiet machine; a crowded one must not fail a test of something else.
const READY_MS = 120_000;

export interface HeraldPlace {
  databaseUrl: string;
  dataDir: string;
  simulatorUrl: string;
  /** Default: any free one. */
  port?: number;
  /** More settings, such as REDIS_URL. */
  settings?: Record<string, string>;
  /** Its main file. Default: this build's. */
  program?: string;
}

/** The settings that a process of the service gets, as in production, which would refuse a platform without TLS. */
export function heraldSettings(place: HeraldPlace): Record<string, string> {
  return {
    NODE_ENV: 'test',
    DEMO: 'false',
    API_DOCS: 'false',
    ROLES: 'api',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    DATABASE_URL: place.databaseUrl,
    DATA_DIR: place.dataDir,
    WHATSAPP_API_URL: place.simulatorUrl,
    WHATSAPP_APP_SECRET: APP_SECRET,
    WHATSAPP_VERIFY_TOKEN: 'bench',
    ENCRYPTION_KEYS,
    SHUTDOWN_DRAIN_MS: '0', // there is no balancer to wait for
    OVERLOAD_LOOP_DELAY_MS: '0', // the load has the same cores: what it takes from the loop is no overload
    ...place.settings,
  };
}

/** One process of the service with the roles it was given. */
export class HeraldProcess {
  private constructor(
    private readonly scope: Scope,
    readonly roles: string,
    readonly port: number,
    private readonly env: Record<string, string>,
    public program: string,
    public child: Child,
  ) {}

  /** Starts it and waits until it says that it is ready. */
  static async start(scope: Scope, roles: string, place: HeraldPlace): Promise<HeraldProcess> {
    const port = place.port ?? (await freePort());
    const env = { ...heraldSettings(place), ROLES: roles, PORT: String(port) };
    const program = place.program ?? compiled('src/main');
    const herald = new HeraldProcess(scope, roles, port, env, program, spawnHerald(scope, roles, env, program));
    await herald.ready();
    return herald;
  }

  get url(): string {
    return `http://${this.env.HOST}:${this.port}`;
  }

  /** Starts it again after it was killed, on the same port; does not wait until it is ready. */
  revive(): void {
    this.child = spawnHerald(this.scope, this.roles, this.env, this.program);
  }

  async ready(timeoutMs = READY_MS): Promise<void> {
    const { child } = this;
    await waitFor(
      `${child.name} to be ready`,
      async () => {
        if (!child.isRunning) throw new Error(`${child.name} ended:\n${child.tail}`);
        const response = await fetch(`${this.url}/health/ready`).catch(() => null);
        await response?.arrayBuffer();
        return response?.ok === true ? true : null;
      },
      { timeoutMs, everyMs: 20 },
    );
  }
}

function spawnHerald(scope: Scope, roles: string, env: Record<string, string>, program: string): Child {
  return Child.start(scope, {
    name: `Herald (${roles})`,
    args: [...profiling(), '--enable-source-maps', program],
    env,
  });
}

/** `BENCH_PROFILE=<folder>` makes each process leave a CPU profile there when it stops. */
function profiling(): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
