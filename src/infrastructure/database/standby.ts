import { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import pg, { type PoolClient, type QueryResult } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { describeError } from '../../common/describe-error.js';
import { poolOf } from './database.js';
import { closeNow, KEEP_ALIVE } from './lost-server.js';
import { lsnOf, type PrimaryHistory } from './primary-history.js';

/** A standby counts as away if a connection or an answer takes longer than this. */
const AWAY_AFTER_MS = 2_000;
/** Wait between two queries to a standby that has not replayed the primary's last known position yet. */
const AGAIN_MS = 100;

interface Answer {
  isStandby: boolean;
  replayed: string | null;
  identity: string;
  server: string;
}

/** SQL: identifies the running server instance. An address may lead to several servers in turn. */
const SERVER = `concat_ws(' ', extract(epoch from pg_postmaster_start_time()), inet_server_addr(), inet_server_port())`;

const LOOK = `select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed,
  identity_of_database() as identity, ${SERVER} as server`;

const VERIFY = `select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed, ${SERVER} as server`;

/** The standby that was chosen for a read. */
export interface ChosenStandby {
  source: DataSource;
  /** The standby is at most this many milliseconds behind the primary. */
  lagMs: number;
}

/**
 * One standby: a connection that polls the standby's position in the write-ahead log, and a pool for reads. If the
 * standby does not answer in time, the connection and the pool are closed at once, so that waiting statements fail.
 */
export class Standby {
  private readonly logger = new Logger('Standby');
  private watcher: pg.Client | null = null;
  private source: DataSource | null = null;
  private server: string | null = null;
  private replayed: bigint | null = null;
  private completeUntil = -Infinity;
  private isAsked = false;
  private closed = false;
  /** Why the standby is not used; null while it answers. Contains no host or user. */
  fault: string | null = 'was not asked yet';

  /**
   * @param name host and port, for the log.
   * @param options returns the options of the pool, with the same entities as the primary's.
   */
  constructor(
    readonly name: string,
    private readonly url: string,
    private readonly options: () => DataSourceOptions,
  ) {}

  /** The standby is at most this many milliseconds behind the primary; Infinity: it is away, or that is unknown. */
  get lagMs(): number {
    return performance.now() - this.completeUntil;
  }

  /** Null where the standby is away, is more than `mostMs` behind, or has not replayed the log up to `atLeast`. */
  choose(mostMs: number, atLeast: bigint | null): ChosenStandby | null {
    const { source, replayed, lagMs } = this;
    if (source === null || replayed === null || lagMs > mostMs) return null;
    return atLeast !== null && replayed < atLeast ? null : { source, lagMs };
  }

  /**
   * Queries the standby's position until the standby has replayed the primary's last known position, at most until
   * `until` (monotonic ms). Does nothing while an earlier call waits for an answer. Never rejects.
   */
  async look(history: PrimaryHistory, until: number): Promise<void> {
    if (this.isAsked || this.closed) return;
    this.isAsked = true;
    try {
      while (!this.closed) {
        const watcher = await this.connected();
        const { fault, server, replayed } = await askStandby(watcher, history);
        if (fault !== null) {
          this.leave(fault);
          return;
        }
        this.server = server;
        this.replayed = replayed;
        this.completeUntil = history.completeUntil(this.replayed);
        if (this.source === null) await this.open();
        if (this.fault !== null) this.logger.log(`${this.name} answers`);
        this.fault = null;
        const { lastLsn } = history;
        if (lastLsn === null || lastLsn <= this.replayed || performance.now() + AGAIN_MS > until) return;
        await pause(AGAIN_MS);
      }
    } catch (error) {
      this.leave('does not answer', error);
    } finally {
      this.isAsked = false;
    }
  }

  close(): void {
    this.closed = true;
    this.leave('was closed');
  }

  private async connected(): Promise<pg.Client> {
    if (this.watcher !== null) return this.watcher;
    const watcher = new pg.Client({
      connectionString: this.url,
      application_name: 'herald-standby',
      connectionTimeoutMillis: AWAY_AFTER_MS,
      query_timeout: AWAY_AFTER_MS,
      ...KEEP_ALIVE,
    });
    // A server that stops closes the connection, so the stop is noticed at once. This matters because a restarted
    // server may have replayed less than before. While a query runs, the query itself fails and reports the lost
    // connection.
    const lost = (): void => {
      if (this.watcher === watcher && !this.isAsked) this.leave('closed the connection');
    };
    watcher.on('error', lost).on('end', lost);
    this.watcher = watcher;
    await watcher.connect();
    return watcher;
  }

  private async open(): Promise<void> {
    const options = this.options();
    const verify = (client: PoolClient, done: (error?: Error) => void): void => {
      client.query<Answer>(VERIFY, (error: Error | null, result: QueryResult<Answer> | undefined) => {
        done(error ?? (this.isSame(result?.rows[0]) ? undefined : new Error(OTHER_SERVER)));
      });
    };
    const source = new DataSource({ ...options, extra: { ...(options.extra as object), verify } });
    await source.initialize();
    // This standby was closed, or given up, while the pool was made.
    if (this.watcher === null || this.closed) {
      await source.destroy();
      throw new Error('the connection was closed');
    }
    lent.set(source, watchLent(source));
    this.source = source;
  }

  /** Whether a new connection leads to the polled server, and not to an earlier state of it. */
  private isSame(answer: Answer | undefined): boolean {
    if (answer?.isStandby !== true || answer.server !== this.server) return false;
    return this.replayed !== null && placeOf(answer) >= this.replayed;
  }

  private leave(fault: string, cause?: unknown): void {
    const { watcher, source } = this;
    this.watcher = null;
    this.source = null;
    this.server = null;
    this.replayed = null;
    this.completeUntil = -Infinity;
    if (this.fault !== fault && !this.closed) {
      const reason = cause === undefined ? '' : ` (${describeError(cause)})`;
      this.logger.warn(`${this.name} ${fault}${reason}: the primary is read instead`);
    }
    this.fault = fault;
    if (watcher !== null) closeNow(watcher);
    if (source === null) return;
    // Reads that wait for the standby fail now, and are repeated on the primary.
    for (const client of lent.get(source) ?? []) closeNow(client);
    source.destroy().catch(() => undefined);
  }
}

const OTHER_SERVER = 'DATABASE_READ_URL leads to several servers in turn: name each with an address of its own';

/** The connections of a pool that are in use. */
const lent = new WeakMap<DataSource, ReadonlySet<PoolClient>>();

function watchLent(source: DataSource): ReadonlySet<PoolClient> {
  const inUse = new Set<PoolClient>();
  const watched = new WeakSet<PoolClient>();
  poolOf(source)
    .on('acquire', (client) => {
      // The statement reports a broken connection; as an unhandled event it would end the process.
      if (!watched.has(client)) client.on('error', () => undefined);
      watched.add(client);
      inUse.add(client);
    })
    .on('release', (_fault: unknown, client) => inUse.delete(client));
  return inUse;
}

const placeOf = ({ replayed }: Pick<Answer, 'replayed'>): bigint => lsnOf(replayed ?? '0/0');

/** Asks a standby for its position. `fault`: why it cannot be compared with the primary's; null where it can. */
export async function askStandby(
  client: pg.ClientBase,
  { identity }: PrimaryHistory,
): Promise<{ fault: string | null; server: string; replayed: bigint }> {
  const { rows } = await client.query<Answer>(LOOK);
  const [answer] = rows;
  if (answer === undefined) throw new Error('no row');
  return { fault: faultOf(answer, identity), server: answer.server, replayed: placeOf(answer) };
}

function faultOf(answer: Answer, identity: string | null): string | null {
  if (!answer.isStandby) return 'is no standby';
  if (identity === null) return 'cannot be compared: the primary does not answer';
  // After a promotion a standby has the new identity only from its next restart point on, up to `checkpoint_timeout`
  // later.
  return answer.identity === identity ? null : 'is of another cluster, timeline or database than the primary';
}
