import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { assertSchemaCompatibility, LATEST_SCHEMA_VERSION, runMigrations, type QueueOptions } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import { describeError } from '../../common/describe-error.js';
import { Config } from '../config/config.js';
import { isUnreachable } from '../database/database-faults.js';
import { KEEP_ALIVE, leaveLostServer } from '../database/lost-server.js';
import { sessionLink, sessionPool, startClient } from '../database/pooler.js';

/** BullMQ's tables live beside ours, in a schema of their own. */
const SCHEMA = 'bullmq';
const QUERY_TIMEOUT_MS = 10_000;
/** For how long a worker on Redis waits for a job before it asks again. PostgreSQL notifies over a connection that stays. */
const REDIS_WAIT_SECONDS = 10;
/** Longer than that wait: a server that is lost and closes no connection answers no longer. */
const REDIS_SOCKET_TIMEOUT_MS = 2 * REDIS_WAIT_SECONDS * 1_000;
const LOST_REDIS =
  /Connection is closed|Socket timeout|Stream isn't writeable|read E|write E|connect E|ENOTFOUND|EAI_AGAIN/;

/**
 * The one connection of this process that all queues and workers share: a pool on PostgreSQL, or a client of Redis.
 * (With its defaults BullMQ opened 84 connections for four queues and four workers.)
 */
@Injectable()
export class QueueConnection implements OnApplicationShutdown {
  /** Why Redis could not be reached the last time; null where that never happened. */
  error: string | null = null;

  private constructor(
    private readonly client: pg.Pool | Redis | Cluster,
    private readonly prefix: string,
  ) {
    if (!(client instanceof pg.Pool)) client.on('error', (error: Error) => (this.error = describeError(error)));
  }

  /** Connects, and on PostgreSQL brings BullMQ's schema up to date. */
  static async open(config: Config): Promise<QueueConnection> {
    const { redisUrl, redisCluster, prefix } = config.queue;
    if (redisUrl !== null) {
      // Within a cluster all keys of a queue must be in one slot, which the braces say.
      return new QueueConnection(openRedis(redisUrl, redisCluster), redisCluster ? `{${prefix}}` : prefix);
    }
    const { database } = config;
    const { url } = sessionLink(database);
    if (database.migrate) await migrateQueue(url);
    else await requireQueueSchema(url, database.queryTimeoutMs + 1_000);
    return new QueueConnection(openPool(config), prefix);
  }

  get options(): QueueOptions {
    return { connection: this.client, prefix: this.prefix };
  }

  /** Connections that stay free for statements once each of `workers` holds one to listen on. */
  statementConnections(workers: number): number {
    return this.client instanceof pg.Pool ? (this.client.options.max ?? 10) - workers : Number.POSITIVE_INFINITY;
  }

  /** For how long a worker waits for a job, where that is limited; null: as its options say. */
  get waitSeconds(): number | null {
    return this.client instanceof pg.Pool ? null : REDIS_WAIT_SECONDS;
  }

  /** Whether an error of a queue or worker says only that Redis is away, which is logged once. */
  isLoss(error: Error): boolean {
    return !(this.client instanceof pg.Pool) && (this.isAway || LOST_REDIS.test(error.message));
  }

  /** Redis is not connected now. The pool of PostgreSQL connects when it is asked. */
  get isAway(): boolean {
    // A cluster that is connected calls it so.
    return !(this.client instanceof pg.Pool) && !['ready', 'connect'].includes(this.client.status);
  }

  /** Resolves where the queue's server answers and has BullMQ's tables, rejects where it does not. */
  async ping(): Promise<void> {
    await (this.client instanceof pg.Pool ? assertSchemaCompatibility(this.client, SCHEMA) : this.client.ping());
  }

  /** What is to be known of the Redis behind the queues; null where they are in PostgreSQL. */
  async redisFacts(): Promise<{ version: string; evicts: boolean } | null> {
    if (this.client instanceof pg.Pool) return null;
    const info = await this.client.info();
    const fact = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const evicts = fact('maxmemory') !== '0' && fact('maxmemory_policy') !== 'noeviction';
    return { version: fact('redis_version'), evicts };
  }

  /** Runs after the queues and workers have been closed: the module is before theirs in AppModule. */
  async onApplicationShutdown(): Promise<void> {
    if (this.client instanceof pg.Pool) await this.client.end();
    else this.client.disconnect();
  }
}

/** Brings BullMQ's schema up to date; of several processes at once one migrates and the others wait. */
export function migrateQueue(databaseUrl: string): Promise<void> {
  // Another process may migrate, which takes as long as it takes.
  return connected(startClient(databaseUrl, 0), async (client) => {
    const version = await assertSchemaCompatibility(client, SCHEMA).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'SchemaMigrationRequiredError') return 0;
      throw error;
    });
    // The migration locks its ledger even where nothing is left to do, so ask first.
    if (version < LATEST_SCHEMA_VERSION) await runMigrations(client, SCHEMA);
  });
}

/**
 * Workers on missing tables would fail again and again without end.
 *
 * @throws Error where BullMQ's schema is missing or another version's, or the database does not answer.
 */
function requireQueueSchema(databaseUrl: string, answerMs: number): Promise<void> {
  return connected(startClient(databaseUrl, answerMs), async (client) => {
    await assertSchemaCompatibility(client, SCHEMA).catch((cause: unknown) => {
      if (isUnreachable(cause)) throw cause;
      throw new Error("the queue's tables are missing or of another version: run `herald migrate`", { cause });
    });
  });
}

async function connected(client: pg.Client, work: (client: pg.Client) => Promise<void>): Promise<void> {
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function openPool(config: Config): pg.Pool {
  // Its workers listen, and its statements name no schema: both need a session.
  const pool = new pg.Pool({
    max: config.queue.poolSize,
    application_name: 'herald-queue',
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    ...KEEP_ALIVE,
    query_timeout: QUERY_TIMEOUT_MS + 1_000,
    ...sessionPool(sessionLink(config.database), {
      statement_timeout: QUERY_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 30_000,
      search_path: SCHEMA,
    }),
  });
  // Each queue and worker listens for errors of the pool; more than ten is no leak.
  pool.setMaxListeners(0);
  pool.on('error', () => undefined); // a broken idle connection is replaced; its statement reports the error
  leaveLostServer(pool);
  return pool;
}

function openRedis(redisUrl: string, cluster: boolean): Redis | Cluster {
  const logger = new Logger('Queue');
  const options = {
    // BullMQ's blocking reads must not be given up after some tries.
    maxRetriesPerRequest: null,
    connectTimeout: 5_000,
    socketTimeout: REDIS_SOCKET_TIMEOUT_MS,
    keepAlive: 10_000,
  };
  const client = cluster
    ? new Cluster([redisUrl], { redisOptions: { ...options, ...credentials(redisUrl) } })
    : new Redis(redisUrl, options);
  let failing = false;
  client.on('ready', () => {
    if (failing) logger.log('Redis answers again');
    failing = false;
  });
  client.on('error', (error: Error) => {
    if (!failing)
      logger.warn(`Redis cannot be reached; workers look for due rows in PostgreSQL once a second: ${error.message}`);
    failing = true;
  });
  return client;
}

/** Cluster nodes that are found later get these too; ioredis reads them from the URL for the first node only. */
function credentials(redisUrl: string): { username?: string; password?: string; tls?: object } {
  const url = new URL(redisUrl);
  return {
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
