import { Injectable, Logger } from '@nestjs/common';
import { AuditTrail } from '../operations/audit-trail.js';
import { Database } from '../database/database.js';
import { isOfOlderSchema } from '../database/database-faults.js';
import { Metrics } from '../operations/metrics/metrics.js';
import { Readiness } from '../operations/readiness.js';
import { BLOCKED_ADVICE, BLOCKED_SINCE, CLAIMS_BLOCKED } from './claims-blocked.js';
import { Failover } from './failover.js';

/** Work that may have been done already without this database knowing it. */
export interface Uncertain {
  /** The name that the command line prints. */
  readonly name: string;
  /** When the newest waiting row was queued, by the clock of the server that wrote it; null where none waits. */
  newest(): Promise<Date | null>;
  /** How many rows would be marked; counted up to 1,000,000. */
  count(before: Date): Promise<number>;
  /** Removes every row queued before `before` from the queue, in the ambient transaction; returns how many. */
  mark(before: Date): Promise<number>;
}

export interface RestorePlan {
  /** Rows queued before this time are uncertain; by the database's clock. */
  before: Date;
  counts: Record<string, number>;
}

/** The database is not the one that was confirmed last. */
export interface Blocked {
  confirmed: string;
  found: string;
  /** Rows queued since this time were accepted here; null where no process has noticed the change yet. */
  since: Date | null;
}

const CONTINUED = `select count(*)::integer as count from database_identity
  where continued_at > clock_timestamp() - interval '1 hour'`;

const LAST_BEAT = `select max(beat_at) as beat from heartbeat where name = 'clock' or name like 'sweep:%'`;
const NOTE = 'update database_identity set blocked_since = $1, blocked_on = identity_of_database()';

// An arbitrary number that no other program on the server uses.
const LOCK = 7_204_118_302;

/**
 * Prevents that messages are sent again after a restored backup, a point-in-time recovery, or the promotion of a
 * standby that lacks commits: rows that are `queued` there may have been sent already. Each of these changes the
 * database's identity, as does a planned move, and the rule is the same for all: claims are blocked until an operator
 * decides. With AFTER_FAILOVER=continue Herald decides alone if `Failover` proves that a promoted standby has every
 * commit.
 *
 * Claims compare the identity themselves (`laneGrants`). This class reports blocked claims, and unblocks them.
 */
@Injectable()
export class Restoration {
  private readonly logger = new Logger('Restore');
  private readonly uncertain: Uncertain[] = [];
  private readonly adoptions: (() => Promise<unknown>)[] = [];

  constructor(
    private readonly database: Database,
    private readonly audit: AuditTrail,
    private readonly failover: Failover,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    // Blocked claims are no reason to refuse requests: messages accepted meanwhile are sent afterwards.
    readiness.register('lanes', async () =>
      (await this.blocked()) === null
        ? { ok: true }
        : { ok: true, detail: `claims are blocked, nothing is sent: ${BLOCKED_ADVICE}` },
    );
    metrics.add({
      name: 'lanes_held',
      help: `1: the database changed its identity, and nothing is sent until an operator decides: ${BLOCKED_ADVICE}.`,
      collect: async () => [{ value: (await this.blocked()) === null ? 0 : 1 }],
    });
    metrics.add({
      name: 'failover_continued',
      help: '1: within the last hour Herald went on by itself after a failover (AFTER_FAILOVER=continue).',
      collect: async () => [{ value: await this.database.count(CONTINUED) }],
    });
  }

  /** Adds work that may have been done already; call it while the application starts. */
  add(uncertain: Uncertain): void {
    this.uncertain.push(uncertain);
  }

  /**
   * Adds a correction that runs in the ambient transaction when another database is confirmed; call it while the
   * application starts.
   */
  onConfirm(adoption: () => Promise<unknown>): void {
    this.adoptions.push(adoption);
  }

  /** Null where the database is the one that was confirmed last. */
  blocked(): Promise<Blocked | null> {
    return this.database.find<Blocked>(
      `select identity as confirmed, identity_of_database() as found, ${BLOCKED_SINCE} as since
       from database_identity where ${CLAIMS_BLOCKED}`,
    );
  }

  /** What `mark` would do, without doing it. */
  async plan(before?: Date): Promise<RestorePlan> {
    return this.each(before, (uncertain, until) => uncertain.count(until));
  }

  /**
   * Removes waiting rows and rows in flight from the queue, all or none, and unblocks claims.
   *
   * @param before rows queued later stay: they were accepted on this database. Default: when claims were blocked,
   * otherwise now.
   */
  async mark(before?: Date): Promise<RestorePlan> {
    return this.locked(async () => {
      const plan = await this.each(before, (uncertain, until) => uncertain.mark(until));
      await this.confirm();
      const details = { before: plan.before, marked: plan.counts };
      await this.audit.record({ action: 'database.restored', organizationId: null, details });
      return plan;
    });
  }

  private async each(
    before: Date | undefined,
    work: (uncertain: Uncertain, before: Date) => Promise<number>,
  ): Promise<RestorePlan> {
    const plan: RestorePlan = { before: before ?? (await this.blocked())?.since ?? (await this.now()), counts: {} };
    for (const uncertain of this.uncertain) plan.counts[uncertain.name] = await work(uncertain, plan.before);
    return plan;
  }

  /** Confirms this database as it is, and unblocks claims: nothing was sent without this database knowing it. */
  async adopt(): Promise<void> {
    await this.locked(async () => {
      await this.confirm();
      await this.audit.record({ action: 'database.confirmed', organizationId: null });
    });
  }

  /** Seconds since any worker last finished a sweep on this database; null where none ever did. */
  async silentSeconds(): Promise<number | null> {
    const { seconds } = await this.database.row<{ seconds: number | null }>(
      `select extract(epoch from clock_timestamp() - max(beat_at))::float8 as seconds
       from heartbeat where name like 'sweep:%'`,
    );
    return seconds;
  }

  /** Logs that claims are blocked; for the start of a process. */
  async checkAtStart(): Promise<void> {
    try {
      if ((await this.notice()) > 0) return;
      const blocked = await this.blocked();
      if (blocked !== null) this.warn(blocked, null);
    } catch (error) {
      // Readiness reports missing migrations; without them nothing is claimed.
      if (!isOfOlderSchema(error)) throw error;
    }
  }

  /** The condition under which `notice` has something to do. */
  readonly unnoticed = `${CLAIMS_BLOCKED} and exists (select from database_identity where (${BLOCKED_SINCE}) is null)`;

  /**
   * Records since when claims are blocked, once, so that an operator can decide; or unblocks them where no decision is
   * needed. Returns 1 where this call did either.
   */
  async notice(): Promise<number> {
    if ((await this.blocked())?.since !== null) return 0;
    const tell = await this.locked(async () => {
      const blocked = await this.blocked();
      if (blocked?.since !== null) return null;
      const verdict = await this.failover.verdict(blocked.confirmed, blocked.found);
      if (verdict.kind === 'wait') return null;
      if (verdict.kind === 'continue') return this.continueOn(blocked);
      const since = await this.newest();
      await this.database.execute(NOTE, [since]);
      return () => this.warn({ ...blocked, since }, verdict.reason);
    });
    tell?.();
    return tell === null ? 0 : 1;
  }

  /**
   * Rows in flight keep their leases: their process records the outcome here, or the end of the lease makes it unknown.
   */
  private async continueOn({ confirmed, found }: Blocked): Promise<() => void> {
    await this.confirm();
    await this.database.execute('update database_identity set continued_at = clock_timestamp()');
    const details = { from: confirmed, to: found };
    await this.audit.record({ action: 'database.continued', organizationId: null, details });
    return () =>
      this.logger.warn(
        `went on by itself after a failover from ${confirmed} to ${found}: the standby was synchronous, and has every commit`,
      );
  }

  private warn({ confirmed, found, since }: Blocked, reason: string | null): void {
    const blocked =
      `claims are blocked, nothing is sent: the database is ${found} (cluster/timeline/database), and Herald last worked on ` +
      confirmed;
    if (since === null && this.failover.continues) {
      this.logger.warn(`${blocked}; a worker that knew that one decides, if there is one`);
      return;
    }
    const why = reason === null ? '' : ` Herald does not go on by itself: ${reason}.`;
    this.logger.error(
      `${blocked}; what it queued before ${since?.toISOString() ?? 'now'} may have been sent.${why} Decide: ${BLOCKED_ADVICE}`,
    );
  }

  private async confirm(): Promise<void> {
    for (const adoption of this.adoptions) await adoption();
    await this.database.execute(
      `update database_identity set identity = identity_of_database(), blocked_since = null, blocked_on = null, confirmed_at = clock_timestamp()`,
    );
  }

  /** A time after every queued row and the last heartbeat: the previous server's clock may have been ahead. */
  private async newest(): Promise<Date> {
    const times = [(await this.now()).getTime()];
    const { beat } = await this.database.row<{ beat: Date | null }>(LAST_BEAT);
    times.push((beat?.getTime() ?? 0) + 1);
    for (const each of this.uncertain) times.push(((await each.newest())?.getTime() ?? 0) + 1);
    return new Date(Math.max(...times));
  }

  /** Rounded up, since a `Date` has no microseconds. */
  private async now(): Promise<Date> {
    const now = `select clock_timestamp() + interval '1 millisecond' as now`;
    return (await this.database.row<{ now: Date }>(now)).now;
  }

  private locked<T>(work: () => Promise<T>): Promise<T> {
    return this.database.transaction(async () => {
      await this.database.query('select pg_advisory_xact_lock($1)', [LOCK]);
      return work();
    });
  }
}
