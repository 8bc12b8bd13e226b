import { Injectable } from '@nestjs/common';
import { migrations } from '../../../migrations/all.js';
import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';

export interface ReadinessPart {
  ok: boolean;
  /** One sentence or figure, nothing secret. */
  detail?: string;
}

/** One condition under which this process may be sent traffic. */
export abstract class ReadinessCheck {
  abstract readonly name: string;
  /** False where looking costs nothing and must see a change at once. */
  readonly mayBeRemembered: boolean = true;

  /** Must end within a second, one way or the other; what it throws counts as not ready. */
  abstract check(): Promise<ReadinessPart>;
}

export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  parts: Record<string, ReadinessPart>;
}

const CHECK_TIMEOUT_MS = 1_000;
/** Probes are public: more of them must not cost more. */
const REMEMBERED_MS = 500;

interface Remembered {
  part: Promise<ReadinessPart>;
  at: number;
}

/** Gathers what every queue says about being ready. */
@Injectable()
export class Readiness {
  private readonly checks: ReadinessCheck[] = [];
  private readonly remembered = new Map<ReadinessCheck, Remembered>();

  /** Adds a condition; call it while the application starts. */
  register(check: ReadinessCheck): void {
    this.checks.push(check);
  }

  async report(): Promise<ReadinessReport> {
    const parts = await Promise.all(this.checks.map(async (check) => [check.name, await this.partOf(check)] as const));
    return {
      status: parts.every(([, part]) => part.ok) ? 'ready' : 'not_ready',
      parts: Object.fromEntries(parts),
    };
  }

  /** One look at a check serves all that ask within half a second of its begin. */
  private partOf(check: ReadinessCheck): Promise<ReadinessPart> {
    if (!check.mayBeRemembered) return partOf(check);
    const known = this.remembered.get(check);
    const now = performance.now();
    if (known !== undefined && now - known.at < REMEMBERED_MS) return known.part;
    const part = partOf(check);
    this.remembered.set(check, { part, at: now });
    return part;
  }
}

async function partOf(check: ReadinessCheck): Promise<ReadinessPart> {
  try {
    return (await within(CHECK_TIMEOUT_MS, check.check())) ?? { ok: false, detail: 'no answer' };
  } catch {
    // Drivers' messages may name hosts and users; the log has them.
    return { ok: false, detail: 'failed' };
  }
}

/** What `work` gives, or null where that takes longer. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const PING_TIMEOUT_MS = 500;

/** The database answers within 500 ms. */
export class DatabaseCheck extends ReadinessCheck {
  readonly name = 'database';

  constructor(private readonly database: Database) {
    super();
  }

  async check(): Promise<ReadinessPart> {
    const startedAt = performance.now();
    const answer = await within(PING_TIMEOUT_MS, this.database.query('select 1'));
    if (answer === null) return { ok: false, detail: `no answer within ${PING_TIMEOUT_MS} ms` };
    return { ok: true, detail: `${Math.round(performance.now() - startedAt)} ms` };
  }
}

/** Every migration of this build has run; checked until it is true, then no more. */
export class MigrationsCheck extends ReadinessCheck {
  readonly name = 'migrations';
  private applied = false;

  constructor(private readonly database: Database) {
    super();
  }

  async check(): Promise<ReadinessPart> {
    if (this.applied) return { ok: true };
    const rows = await this.database.query<{ name: string }>('select name from schema_migration');
    const known = new Set(rows.map((row) => row.name));
    const missing = migrations.map((migration) => migration.name).filter((name) => !known.has(name));
    this.applied = missing.length === 0;
    return this.applied ? { ok: true } : { ok: false, detail: `missing: ${missing.join(', ')}` };
  }
}

const OLDEST_MS = 30_000;
const START_GRACE_MS = 30_000;

interface Beat {
  name: string;
  ageMs: number;
}

/**
 * The sweeps of the fleet run: without a sweep messages would be left behind. Looks at the rows
 * `sweep:<name>` of `heartbeat`, by the database's clock, so any process can check; only a worker is not ready for it. A
 * sweep that runs seldom says so with `expect`.
 */
export class Heartbeats extends ReadinessCheck {
  readonly name = 'sweeps';
  private readonly oldestMs = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly startedAt = performance.now(),
  ) {
    super();
  }

  private get works(): boolean {
    return this.config.process.roles.includes('worker');
  }

  /** A sweep that runs every `everyMs` may be silent for three rounds, 30 seconds at least. */
  expect(sweep: string, everyMs: number): void {
    this.oldestMs.set(sweep, Math.max(OLDEST_MS, everyMs * 3));
  }

  async check(): Promise<ReadinessPart> {
    const beats = await this.database.query<Beat>(
      `select substr(name, 7) as name, (extract(epoch from clock_timestamp() - beat_at) * 1000)::float8 as "ageMs"
       from heartbeat where name like 'sweep:%' order by name`,
    );
    const runningMs = performance.now() - this.startedAt;
    const starting = runningMs < START_GRACE_MS;
    // After a long stop every row is old: a sweep that runs seldom has as long as between two rounds for its first.
    const silent = beats.filter((beat) => {
      const oldestMs = this.oldestMs.get(beat.name) ?? OLDEST_MS;
      return beat.ageMs > oldestMs && runningMs > oldestMs;
    });
    if (silent.length > 0 && !starting) {
      const list = silent.map(({ name, ageMs }) => `${name} ${Math.round(ageMs / 1_000)} s`);
      // Without workers an api still accepts, and what it accepts is durable: a proxy must not turn callers away.
      return { ok: !this.works, detail: `silent for too long: ${list.join(', ')}` };
    }
    if (beats.length > 0) return { ok: true, detail: `${beats.length} sweeps` };
    if (this.works && !starting) return { ok: false, detail: 'no sweep has run yet' };
    return { ok: true, detail: 'none yet' };
  }
}
