import { Injectable, Logger, Optional } from '@nestjs/common';
import { codeOf, describeError } from '../../common/describe-error.js';
import { within } from '../../common/within.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { isUnreachable, stateOf } from '../database/database-faults.js';
import { FOREIGN_SCHEMA, readSchemaState } from '../database/schema-state.js';

export interface ReadinessPart {
  ok: boolean;
  /** One sentence or figure, nothing secret. */
  detail?: string;
}

/**
 * Looks at one condition under which this process may be sent traffic. It must end within a second, one way or the other;
 * what it throws counts as not ready.
 */
export type ReadinessCheck = () => Promise<ReadinessPart>;

export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  parts: Record<string, ReadinessPart>;
}

const CHECK_TIMEOUT_MS = 1_000;
/** Probes are public: more of them must not cost more. */
const REMEMBERED_MS = 500;

interface NamedCheck {
  name: string;
  check: ReadinessCheck;
  mayBeRemembered: boolean;
  last?: { part: Promise<LookedAt>; at: number };
}

/** Gathers what every queue says about being ready. The log has a line whenever another part is the reason why not. */
@Injectable()
export class Readiness {
  private readonly logger = new Logger(Readiness.name);
  private readonly checks: NamedCheck[] = [];
  private reasons = '';

  /**
   * Adds a condition; call it while the application starts.
   *
   * @param mayBeRemembered false where looking costs nothing and must see a change at once.
   */
  register(name: string, check: ReadinessCheck, mayBeRemembered = true): void {
    this.checks.push({ name, check, mayBeRemembered });
  }

  async report(): Promise<ReadinessReport> {
    const parts = await Promise.all(this.checks.map(async (each) => [each.name, await partOf(each)] as const));
    const missing = parts.filter(([, { ok }]) => !ok);
    this.tell(missing);
    return {
      status: missing.length === 0 ? 'ready' : 'not_ready',
      parts: Object.fromEntries(parts.map(([name, part]) => [name, shown(part)])),
    };
  }

  private tell(missing: readonly (readonly [name: string, part: LookedAt])[]): void {
    const reasons = missing.map(([name]) => name).join();
    if (reasons === this.reasons) return;
    this.reasons = reasons;
    if (missing.length === 0) this.logger.log('ready again');
    else {
      const told = missing.map(
        ([name, { detail = '', error }]) =>
          `${name}: ${error === undefined ? detail : `${detail}: ${describeError(error)}`}`,
      );
      this.logger.warn(`not ready: ${told.join('; ')}`);
    }
  }
}

interface LookedAt extends ReadinessPart {
  /** What the check threw. Drivers' messages may name hosts and users: for the log alone. */
  error?: unknown;
}

const shown = ({ ok, detail }: LookedAt): ReadinessPart => ({ ok, ...(detail !== undefined && { detail }) });

/** One look at a check serves all that ask within half a second of its begin. */
function partOf(named: NamedCheck): Promise<LookedAt> {
  const { check, mayBeRemembered, last } = named;
  const at = performance.now();
  if (mayBeRemembered && last !== undefined && at - last.at < REMEMBERED_MS) return last.part;
  const part = looked(check);
  named.last = { part, at };
  return part;
}

async function looked(check: ReadinessCheck): Promise<LookedAt> {
  try {
    return (await within(CHECK_TIMEOUT_MS, check())) ?? { ok: false, detail: 'no answer' };
  } catch (error) {
    const code = stateOf(error);
    const what = isUnreachable(error) ? 'cannot be reached' : 'failed';
    return { ok: false, detail: code === undefined ? what : `${what} (${code})`, error };
  }
}

const PING_TIMEOUT_MS = 500;

/** The row `ready` is written once in so many seconds by all processes together. */
const WRITE_EVERY_S = 5;

/**
 * SQL: proves that the database takes writes. One that does not refuses the statement even where no row is due, which
 * costs a look at one row and writes nothing.
 */
export const PROVE_WRITES = `update heartbeat set beat_at = clock_timestamp() where name = 'ready'
  and beat_at not between clock_timestamp() - interval '${WRITE_EVERY_S} seconds' and clock_timestamp()`;

/** SQL: proves that files of the database can grow: an update of a row fits into the pages that are there, an insert often does not. */
export const PROVE_SPACE = `do $$ begin
  create temporary table herald_space on commit drop as select repeat(gen_random_uuid()::text, 50) from generate_series(1, 100);
end $$`;
const UNDEFINED_TABLE = '42P01';
const NOT_PERMITTED = '42501';
const READ_ONLY = '25006';
/** Class of errors: a full disk, no memory, too many connections. */
const NO_RESOURCES = '53';

/** The database answers within 500 ms, and takes writes; where it was full, also that it has space again. */
export async function databaseAnswers(database: Database): Promise<ReadinessPart> {
  const startedAt = performance.now();
  const wrote = prove(database).catch((error: unknown) => {
    // Before the migrations, of which another part says that they are missing.
    if (codeOf(error) === UNDEFINED_TABLE) return 0;
    throw error;
  });
  const answer = await within(
    PING_TIMEOUT_MS,
    wrote.then(
      () => ({ refusal: null }),
      (error: unknown) => ({ refusal: refusalOf(error) }),
    ),
  );
  if (answer === null) return { ok: false, detail: `no answer within ${PING_TIMEOUT_MS} ms` };
  if (answer.refusal !== null) return { ok: false, detail: answer.refusal };
  return { ok: true, detail: `${Math.round(performance.now() - startedAt)} ms` };
}

async function prove(database: Database): Promise<unknown> {
  if (!database.diskWasFull) return database.execute(PROVE_WRITES);
  // A role that may not make temporary tables cannot prove it: the next statement that fails says so again.
  await database.execute(PROVE_SPACE).catch((error: unknown) => {
    if (codeOf(error) !== NOT_PERMITTED) throw error;
  });
  database.diskWasFull = false;
  return database.execute(PROVE_WRITES);
}

/** Words of ours: drivers' messages may name hosts and users. */
function refusalOf(error: unknown): string {
  const code = codeOf(error);
  if (code === READ_ONLY) return 'it is read-only';
  if (code?.startsWith(NO_RESOURCES) === true) return 'it is full, or lacks another resource';
  throw error;
}

/** Every migration of this build has run, as it is in this build; checked until it is true, then no more. */
export function migrationsRan(database: Database): ReadinessCheck {
  let isOwn = false;
  return async () => {
    if (isOwn) return { ok: true };
    const { foreign, missing } = await readSchemaState((sql) => database.query(sql));
    if (foreign) return { ok: false, detail: FOREIGN_SCHEMA };
    isOwn = missing.length === 0;
    return isOwn ? { ok: true } : { ok: false, detail: `missing: ${missing.join(', ')}` };
  };
}

const OLDEST_MS = 30_000;
const START_GRACE_MS = 30_000;

/**
 * The sweeps of the fleet run: without a sweep messages would be left behind. Looks at the rows
 * `sweep:<name>` of `heartbeat`, by the database's clock, so any process can check; only a worker is not ready for it. A
 * sweep that runs seldom says so with `expect`.
 */
@Injectable()
export class Heartbeats {
  private readonly oldestMs = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    @Optional() private readonly startedAt = performance.now(),
  ) {}

  private get works(): boolean {
    return this.config.process.roles.includes('worker');
  }

  /** A sweep that runs every `everyMs` may be silent for three rounds, 30 seconds at least. */
  expect(sweep: string, everyMs: number): void {
    this.oldestMs.set(sweep, Math.max(OLDEST_MS, everyMs * 3));
  }

  /** Only of this release's own sweeps: those that another one has are no business of this process. */
  async check(): Promise<ReadinessPart> {
    const beats = await this.database.query<{ name: string; ageMs: number }>(
      `select substr(name, 7) as name, (extract(epoch from clock_timestamp() - beat_at) * 1000)::float8 as "ageMs"
       from heartbeat where name = any($1)`,
      [[...this.oldestMs.keys()].map((name) => `sweep:${name}`)],
    );
    const runningMs = performance.now() - this.startedAt;
    if (beats.length === 0) {
      const ok = !this.works || runningMs < START_GRACE_MS;
      return { ok, detail: ok ? 'none yet' : 'no sweep has run yet' };
    }
    const ageMs = new Map(beats.map((beat) => [beat.name, beat.ageMs]));
    const silent: string[] = [];
    for (const [name, oldestMs] of this.oldestMs) {
      const age = ageMs.get(name);
      // After a long stop every row is old: a sweep that runs seldom has as long as between two rounds for its first.
      // One without a row is new in this release: where another one leads, it is only now tried elsewhere.
      const graceMs = age === undefined ? START_GRACE_MS : 0;
      if (runningMs <= oldestMs + graceMs || (age ?? Infinity) <= oldestMs) continue;
      silent.push(age === undefined ? `${name} without a success` : `${name} ${Math.round(age / 1_000)} s`);
    }
    silent.sort((a, b) => (a < b ? -1 : 1));
    if (silent.length === 0) return { ok: true, detail: `${beats.length} sweeps` };
    // Without workers an api still accepts, and what it accepts is durable: a proxy must not turn callers away.
    return { ok: !this.works, detail: `silent for too long: ${silent.join(', ')}` };
  }
}
