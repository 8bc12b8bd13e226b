import { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import pg, { type PoolClient, type QueryResult } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { describeError } from '../../common/describe-error.js';
import { poolOf } from './database.js';
import { closeNow, KEEP_ALIVE } from './lost-server.js';
import { lsnOf, type PrimaryHistory } from './primary-history.js';

/** A connection, and an answer to a look, come within this time, or the standby is away. */
const AWAY_AFTER_MS = 2_000;
/** Between two questions to a standby that has not replayed yet what the primary had at the last look. */
const AGAIN_MS = 100;

interface Answer {
  isStandby: boolean;
  replayed: string | null;
  identity: string;
  server: string;
}

/** SQL: the run of the server that answers. An address may lead to several in turn. */
const SERVER = `concat_ws(' ', extract(epoch from pg_postmaster_start_time()), inet_server_addr(), inet_server_port())`;

const LOOK = `select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed,
  identity_of_database() as identity, ${SERVER} as server`;

const VERIFY = `select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed, ${SERVER} as server`;

/** What a read needs of the standby that was chosen for it. */
export interface ChosenStandby {
  source: DataSource;
  /** At most so far behind is what it reads. */
  lagMs: number;
}

/**
 * One standby: a connection that looks how far it is, and a pool for reads while it may be read. Where it does not answer
 * in time, both are closed at once, and so end the statements that wait for it.
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
  /** Why it is not read; null while it answers. Names no host or user. */
  fault: string | null = 'was not asked yet';

  /**
   * @param name for the log: its host and port.
   * @param options of its pool, with the entities of the primary's.
   */
  constructor(
    readonly name: string,
    private readonly url: string,
    private readonly options: () => DataSourceOptions,
  ) {}

  /** At most so many milliseconds is it behind; Infinity: it is away, or what it has is not known. */
  get lagMs(): number {
    return performance.now() - this.completeUntil;
  }

  /** Null where it is away, further behind than `mostMs`, or has not replayed up to `atLeast`. */
  choose(mostMs: number, atLeast: bigint | null): ChosenStandby | null {
    const { source, replayed, lagMs } = this;
    if (source === null || replayed === null || lagMs > mostMs) return null;
    return atLeast !== null && replayed < atLeast ? null : { source, lagMs };
  }

  /**
   * Asks how far it is, until it has what the primary had at the last look, but not beyond `until` (monotonic
   * milliseconds). Does nothing while the look before it waits for an answer. Never rejects.
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
    // A server that ends says so here at once. After its next start it may know less than before.
    // While it is asked, the question fails and says why.
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
    // It was left meanwhile.
    if (this.watcher === null || this.closed) {
      await source.destroy();
      throw new Error('the connection was closed');
    }
    lent.set(source, watchLent(source));
    this.source = source;
  }

  /** Whether a new connection leads to the server that was looked at, and not to an earlier state of it. */
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
    // Reads that wait for it fail now, and are done again on the primary.
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
      // Its statement reports a connection that breaks; as an event alone it would end the process.
      if (!watched.has(client)) client.on('error', () => undefined);
      watched.add(client);
      inUse.add(client);
    })
    .on('release', (_fault: unknown, client) => inUse.delete(client));
  return inUse;
}

const placeOf = ({ replayed }: Pick<Answer, 'replayed'>): bigint => lsnOf(replayed ?? '0/0');

/** How far a standby is; `fault`: why that cannot be compared with the primary, null where it can be. */
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
  // After a promotion a standby says so from its next restart point on, up to `checkpoint_timeout` later.
  return answer.identity === identity ? null : 'is of another cluster, timeline or database than the primary';
}
