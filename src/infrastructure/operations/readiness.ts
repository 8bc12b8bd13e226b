import { Injectable, Logger, Optional } from '@nestjs/common';
import { codeOf, describeError } from '../../common/describe-error.js';
import { within } from '../../common/within.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { isUnreachable, stateOf } from '../database/database-faults.js';
import { FOREIGN_SCHEMA, readSchemaState } from '../database/schema-state.js';

export interface ReadinessPart {
  ok: boolean;
  /** One sentence or figure without secrets. */
  detail?: string;
}

/**
 * Checks one condition under which this process may receive traffic. It must end within a second; an error counts as
 * not ready.
 */
export type ReadinessCheck = () => Promise<ReadinessPart>;

export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  parts: Record<string, ReadinessPart>;
}

const CHECK_TIMEOUT_MS = 1_000;
/** Probes are public, so frequent ones must not cost more. */
const REMEMBERED_MS = 500;

interface NamedCheck {
  name: string;
  check: ReadinessCheck;
  mayBeRemembered: boolean;
  last?: { part: Promise<LookedAt>; at: number };
}

/** Collects the readiness of every part. Logs whenever a different part makes the process unready. */
@Injectable()
export class Readiness {
  private readonly logger = new Logger(Readiness.name);
  private readonly checks: NamedCheck[] = [];
  private reasons = '';

  /**
   * Adds a condition; call it while the application starts.
   *
   * @param mayBeRemembered false where the check is free and must notice a change at once.
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
  /** The error of the check. Drivers' messages may contain hosts and users, so it is only logged. */
  error?: unknown;
}

const shown = ({ ok, detail }: LookedAt): ReadinessPart => ({ ok, ...(detail !== undefined && { detail }) });

/** One run of a check serves all requests within half a second of its start. */
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

/** All processes together write the row `ready` once in this many seconds. */
const WRITE_EVERY_S = 5;

/**
 * SQL: proves that the database accepts writes. A read-only one refuses the statement even if no row is due; otherwise
 * it reads one row and writes nothing.
 */
export const PROVE_WRITES = `update heartbeat set beat_at = clock_timestamp() where name = 'ready'
  and beat_at not between clock_timestamp() - interval '${WRITE_EVERY_S} seconds' and clock_timestamp()`;

/**
 * SQL: proves that files of the database can grow: an update of a row often fits into existing pages, an insert often
 * does not.
 */
export const PROVE_SPACE = `do $$ begin
  create temporary table herald_space on commit drop as select repeat(gen_random_uuid()::text, 50) from generate_series(1, 100);
end $$`;
const UNDEFINED_TABLE = '42P01';
const NOT_PERMITTED = '42501';
const READ_ONLY = '25006';
/** PostgreSQL's class of errors for a full disk, no memory, too many connections. */
const NO_RESOURCES = '53';

/** The database answers within 500 ms, and accepts writes. If it was full, it must also have space again. */
export async function databaseAnswers(database: Database): Promise<ReadinessPart> {
  const startedAt = performance.now();
  const wrote = prove(database).catch((error: unknown) => {
    // Before the migrations ran; another check reports that.
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
  // A role that may not make temporary tables cannot prove it: the next failing statement reports it again.
  await database.execute(PROVE_SPACE).catch((error: unknown) => {
    if (codeOf(error) !== NOT_PERMITTED) throw error;
  });
  database.diskWasFull = false;
  return database.execute(PROVE_WRITES);
}

/** Herald's own words: drivers' messages may contain hosts and users. */
function refusalOf(error: unknown): string {
  const code = codeOf(error);
  if (code === READ_ONLY) return 'it is read-only';
  if (code?.startsWith(NO_RESOURCES) === true) return 'it is full, or lacks another resource';
  throw error;
}

/** Every migration of this build has run unchanged; checked until it is true, then no more. */
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
 * Whether the sweeps of all processes run: without them messages would be left behind. Reads the rows `sweep:<name>` of
 * `heartbeat`, by the database's clock, so any process can check; only a worker becomes unready. A rare sweep announces
 * itself with `expect`.
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

  /** A sweep may be silent for three rounds, at least 30 seconds. */
  expect(sweep: string, everyMs: number): void {
    this.oldestMs.set(sweep, Math.max(OLDEST_MS, everyMs * 3));
  }

  /** Checks only sweeps of this release. */
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
      // After a long stop every row is old: a rare sweep then has one interval until its first round. A sweep without a
      // row is new in this release: while another release leads, other workers only begin to run it.
      const graceMs = age === undefined ? START_GRACE_MS : 0;
      if (runningMs <= oldestMs + graceMs || (age ?? Infinity) <= oldestMs) continue;
      silent.push(age === undefined ? `${name} without a success` : `${name} ${Math.round(age / 1_000)} s`);
    }
    silent.sort((a, b) => (a < b ? -1 : 1));
    if (silent.length === 0) return { ok: true, detail: `${beats.length} sweeps` };
    // Without workers an api process still accepts messages, which are durable: a proxy must not refuse callers.
    return { ok: !this.works, detail: `silent for too long: ${silent.join(', ')}` };
  }
}
