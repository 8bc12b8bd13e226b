import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type OnApplicationShutdown, Optional } from '@nestjs/common';
import pg, { type ClientBase, type Pool, type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { DataSource, type EntityManager, type EntityTarget, type ObjectLiteral, type Repository } from 'typeorm';
import { lateSource, onPrimary } from '../../common/late-read.js';
import { Config } from '../config/config.js';
import { isDiskFull, isLocked, isTransientConflict, isUnreachable } from './database-faults.js';
import { closeNow, leaveLostServer } from './lost-server.js';
import { sessionLink, sessionPool } from './pooler.js';
import { PreparedStatements, type Prepared } from './prepared.js';
import { refuseUnreplicatedCommits } from './unreplicated-commits.js';

/** The methods by which a batch or a repository runs statements. */
export type Statements = Pick<Database, 'query' | 'execute'>;

/**
 * Settings of a transaction, because behind some poolers session settings do not outlast one. A bitmap scan loses the
 * order of the index, so all its rows are read and sorted to find the first. Before PostgreSQL 18 a table without an
 * index is still scanned sequentially, at a cost so high that the plan would be compiled, which takes seconds.
 */
export const BY_INDEX = 'set local enable_seqscan = off; set local enable_bitmapscan = off; set local jit = off';

/** A process that freezes during a claim keeps its locks no longer than its lanes. */
const MAX_IDLE_MS = 5_000;

/** Connections reserved for batches once all others are in use. Two batches of a kind may be in flight. */
export const RESERVED_CONNECTIONS = 2;

interface Ambient {
  manager: EntityManager;
  client: PoolClient;
}

/**
 * Access to PostgreSQL. A transaction is ambient: statements inside `transaction(...)` take part in it without a
 * handle.
 */
@Injectable()
export class Database implements OnApplicationShutdown {
  private readonly ambient = new AsyncLocalStorage<Ambient | null>();
  private readonly prepared: PreparedStatements;
  private readonly lossHandlers: (() => void)[] = [];
  private reserve: Pool | null = null;
  /** A statement of this process failed because the disk is full; the code that finds space again resets this. */
  diskWasFull = false;

  /** @param config default: connections go to PostgreSQL itself, not a pooler. */
  constructor(
    private readonly dataSource: DataSource,
    @Optional() private readonly config?: Config,
  ) {
    this.prepared = new PreparedStatements(config?.database.pooling !== 'transaction');
    this.watch(this.pool);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.reserve?.end();
  }

  /**
   * Calls `handle` when the server no longer is the primary, or no longer answers. Close connections outside the pool
   * then.
   */
  onServerLost(handle: () => void): void {
    this.lossHandlers.push(handle);
  }

  /** The entity manager of the ambient transaction, otherwise of the pool. */
  get manager(): EntityManager {
    return this.current?.manager ?? this.source.manager;
  }

  get inTransaction(): boolean {
    return this.current !== null;
  }

  /** The pool of this process's own statements. */
  get pool(): Pool {
    return poolOf(this.dataSource);
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.manager.getRepository(entity);
  }

  async query<R extends QueryResultRow>(sql: string | Prepared, params: readonly unknown[] = []): Promise<R[]> {
    return (await this.run<R>(sql, params)).rows;
  }

  /** The row of a statement that always has one, such as a count. @throws Error where there is none. */
  async row<R extends QueryResultRow>(sql: string, params: readonly unknown[] = []): Promise<R> {
    const [row] = await this.query<R>(sql, params);
    if (row === undefined) throw new Error(`a statement without the row that it always has: ${sql.slice(0, 80)}`);
    return row;
  }

  /** The first row of a statement; null where it has none. */
  async find<R extends QueryResultRow>(sql: string, params: readonly unknown[] = []): Promise<R | null> {
    const [row] = await this.query<R>(sql, params);
    return row ?? null;
  }

  /** The `count` of a statement that returns only a count. */
  async count(sql: string, params: readonly unknown[] = []): Promise<number> {
    return (await this.row<{ count: number }>(sql, params)).count;
  }

  /** As `query`, but returns the number of rows changed. */
  async execute(sql: string | Prepared, params: readonly unknown[] = []): Promise<number> {
    return (await this.run(sql, params)).rowCount ?? 0;
  }

  /** Whether the statement changes any row. */
  async changes(sql: string, params: readonly unknown[] = []): Promise<boolean> {
    return (await this.execute(sql, params)) > 0;
  }

  /**
   * Runs `work` in one transaction; joins the ambient one where there is one. Deadlocks and serialization failures roll
   * the whole work back and run it again, three times at the most, so `work` must have no effect outside the database.
   * Within a late read it runs on the standby, and is not repeated.
   *
   * @param settings statements without parameters, sent with the BEGIN in one round trip.
   */
  async transaction<T>(work: () => Promise<T>, settings?: string): Promise<T> {
    if (this.inTransaction) {
      if (settings !== undefined) await this.execute(settings);
      return work();
    }
    for (let tries = 1; ; tries++) {
      try {
        return await this.once(work, settings);
      } catch (error) {
        // A standby may have removed a row that the read needs: the read is repeated on the primary.
        if (tries >= 3 || !isTransientConflict(error) || lateSource() !== null) throw error;
      }
    }
  }

  /**
   * Like `transaction`, for statements on a queue: they read an index in its order wherever there is one. The planner's
   * statistics do not show the queue's present size, and a plan made while it was empty stays in use as it grows.
   *
   * @param withinMs time limit of each statement; default: that of the session.
   */
  byIndex<T>(work: () => Promise<T>, withinMs?: number): Promise<T> {
    const settings = `${BY_INDEX}; set local idle_in_transaction_session_timeout = ${MAX_IDLE_MS}`;
    return this.transaction(
      work,
      withinMs === undefined ? settings : `${settings}; set local statement_timeout = ${withinMs}`,
    );
  }

  /**
   * Runs `work` outside the caller's transaction, for batches that several callers share. If every connection is in
   * use, its statements get a reserved one: slow reads must not delay a batch of writes.
   */
  detached<T>(work: () => Promise<T>): Promise<T> {
    // Not `exit`, which would turn the tracking of all the process's promises off and on again.
    return onPrimary(() => this.ambient.run(null, work));
  }

  /**
   * Provides a connection that keeps its session: locks and settings outlast a transaction. If `work` succeeds it must
   * have cleaned up; if it fails the connection is closed. Behind a pooler in transaction mode the connection goes to
   * DATABASE_DIRECT_URL and is made for this call, so use it rarely.
   */
  async session<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    if (this.config?.database.pooling === 'transaction') return this.directSession(this.config.database, work);
    return lend(this.pool, work);
  }

  private async directSession<T>(settings: Config['database'], work: (client: ClientBase) => Promise<T>): Promise<T> {
    // A pool of one, because pools give sessions their settings behind a pooler.
    const pool = new pg.Pool({
      application_name: 'herald-session',
      max: 1,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      query_timeout: settings.queryTimeoutMs + 1_000,
      ...sessionPool(sessionLink(settings), { statement_timeout: settings.queryTimeoutMs }),
    });
    pool.on('error', () => undefined);
    try {
      return await lend(pool, (client) => work(client.on('error', () => undefined))); // its statement reports the error
    } finally {
      await pool.end();
    }
  }

  private async once<T>(work: () => Promise<T>, settings?: string): Promise<T> {
    const runner = this.source.createQueryRunner();
    let client: PoolClient | null = null;
    try {
      client = (await runner.connect()) as PoolClient;
      if (settings === undefined) await runner.startTransaction();
      else {
        // Marks the runner as TypeORM itself does; it commits, or rolls back if the work fails.
        Object.assign(runner, { isTransactionActive: true });
        await client.query(`start transaction; ${settings}`);
      }
      const result = await this.ambient.run({ manager: runner.manager, client }, work);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      // A connection that no longer answers would delay its next user too: it is closed, and the pool forgets it.
      if (client !== null && isUnreachable(error) && !isLocked(error)) closeNow(client);
      else if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }

  /** The data source for the next statement: the primary, or the standby of the current late read. */
  private get source(): DataSource {
    return (lateSource() as DataSource | null) ?? this.dataSource;
  }

  /** The pool for the next statement. */
  private get lender(): Pool {
    const pool = poolOf(this.source);
    const isBatch = this.ambient.getStore() === null;
    return isBatch && pool.idleCount === 0 && pool.totalCount >= pool.options.max ? this.reserved() : pool;
  }

  private reserved(): Pool {
    if (this.reserve === null) {
      const { options } = this.pool;
      this.reserve = new pg.Pool({
        ...options,
        password: options.password, // not among the properties that are copied
        application_name: 'herald-batch',
        max: RESERVED_CONNECTIONS,
        allowExitOnIdle: true,
      });
      this.reserve.on('error', () => undefined); // as the pool's: a broken idle connection is replaced
      this.watch(this.reserve);
    }
    return this.reserve;
  }

  private watch(pool: Pool): void {
    refuseUnreplicatedCommits(pool);
    leaveLostServer(pool, () => {
      for (const handle of this.lossHandlers) handle();
    });
  }

  private get current(): Ambient | null {
    return this.ambient.getStore() ?? null;
  }

  private async run<R extends QueryResultRow>(
    sql: string | Prepared,
    params: readonly unknown[],
  ): Promise<QueryResult<R>> {
    try {
      return await this.send<R>(sql, params);
    } catch (error) {
      if (isDiskFull(error) && lateSource() === null) this.diskWasFull = true;
      throw error;
    }
  }

  private send<R extends QueryResultRow>(sql: string | Prepared, params: readonly unknown[]): Promise<QueryResult<R>> {
    const client = this.current?.client;
    if (typeof sql === 'string') return (client ?? this.lender).query<R>(sql, params as unknown[]);
    if (client !== undefined) return this.prepared.run<R>(client, sql, params);
    return lend(this.lender, (lent) => this.prepared.run<R>(lent, sql, params));
  }
}

/** The pool that a data source has opened. */
export function poolOf(source: DataSource): Pool {
  return (source.driver as unknown as { master: Pool }).master;
}

/** Like the pool for its own statements: a connection on which one failed is not reused. */
async function lend<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failed = true;
  try {
    const result = await work(client);
    failed = false;
    return result;
  } finally {
    client.release(failed);
  }
}

/**
 * SQL: whether a row exists, searched in an index with that order. For a plain `exists` the planner assumes that
 * matching rows are spread evenly over the table. If it expects many it reads the table from the start, but waiting
 * rows are at the end, behind all finished ones.
 */
export function hasRow(fromWhere: string, order: string): string {
  return `((select true ${fromWhere} order by ${order} limit 1) is not null)`;
}
