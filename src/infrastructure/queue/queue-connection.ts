import { Injectable, Logger } from '@nestjs/common';
import { Queue, type QueueOptions } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { describeError } from '../../common/describe-error.js';
import type { Config } from '../config/config.js';

/** How long a worker waits for a job in one request. */
export const REDIS_WAIT_SECONDS = 10;
/** Longer than that wait: detects a server that is lost without closing its connections. */
const REDIS_SOCKET_TIMEOUT_MS = 2 * REDIS_WAIT_SECONDS * 1_000;
const LOST_REDIS =
  /Connection is closed|Socket timeout|Stream isn't writeable|read E|write E|connect E|ENOTFOUND|EAI_AGAIN/;

/**
 * The Redis client that all queues and workers of this process share, if `REDIS_URL` is set. Without it there are no
 * BullMQ queues: see `LaneWakes`.
 */
@Injectable()
export class QueueConnection {
  /** Why Redis was last unreachable; null where that never happened. */
  error: string | null = null;
  private readonly client: Redis | Cluster | null;
  private readonly prefix: string;
  private readonly queues = new Map<string, Queue>();

  constructor({ queue: { redisUrl, redisCluster, prefix } }: Config) {
    this.client = redisUrl === null ? null : openRedis(redisUrl, redisCluster);
    // In a cluster all keys of a queue must be in one slot, so the prefix is a hash tag.
    this.prefix = redisCluster ? `{${prefix}}` : prefix;
    this.client?.on('error', (error: Error) => (this.error = describeError(error)));
  }

  /** Whether the queues are on Redis. */
  get isUsed(): boolean {
    return this.client !== null;
  }

  /** False without Redis. */
  get isConnected(): boolean {
    // `connect` is the status of a connected cluster client.
    return this.client !== null && ['ready', 'connect'].includes(this.client.status);
  }

  /** Options of queues and workers; null without Redis. */
  get options(): QueueOptions | null {
    return this.client === null ? null : { connection: this.client, prefix: this.prefix };
  }

  /** Null without Redis. */
  queueOf<T>(name: string): Queue<T> | null {
    if (this.options === null) return null;
    let queue = this.queues.get(name);
    if (queue === undefined) {
      queue = new Queue(name, this.options);
      // Without a listener BullMQ writes errors to the console. The client's listener already reports that Redis is
      // away.
      queue.on('error', () => undefined);
      this.queues.set(name, queue);
    }
    return queue as Queue<T>;
  }

  /** Whether an error of a queue or worker means only that Redis is away, which is logged once. */
  isLoss(error: Error): boolean {
    return !this.isConnected || LOST_REDIS.test(error.message);
  }

  /** Resolves where Redis answers. */
  async ping(): Promise<void> {
    await this.client?.ping();
  }

  /** Facts about Redis for diagnosis; null without it. */
  async redisFacts(): Promise<{ version: string; evicts: boolean } | null> {
    if (this.client === null) return null;
    const info = await this.client.info();
    const fact = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const evicts = fact('maxmemory') !== '0' && fact('maxmemory_policy') !== 'noeviction';
    return { version: fact('redis_version'), evicts };
  }

  /** Call it after the workers have been closed. */
  async close(): Promise<void> {
    if (this.isConnected) await Promise.allSettled([...this.queues.values()].map((queue) => queue.close()));
    this.client?.disconnect();
  }
}

function openRedis(redisUrl: string, cluster: boolean): Redis | Cluster {
  const logger = new Logger('Queue');
  const options = {
    // BullMQ requires that blocking reads are never given up.
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
    if (!failing) logger.warn(`Redis cannot be reached; PostgreSQL notifies workers of due rows: ${error.message}`);
    failing = true;
  });
  return client;
}

/** Cluster nodes that are found later get these too; ioredis applies the URL's to the first node only. */
function credentials(redisUrl: string): { username?: string; password?: string; tls?: object } {
  const url = new URL(redisUrl);
  return {
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
