import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import pg from 'pg';
import { Config } from '../config/config.js';
import { Database } from './database.js';
import { closeNow, KEEP_ALIVE } from './lost-server.js';
import { sessionLink } from './pooler.js';
import { listenerName } from './running-processes.js';

const CHANNEL = 'herald_cache';
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/** Forgets what is cached for `id`; null: everything of that kind. */
export type Forget = (id: string | null) => void;

/**
 * Notifies every process of a change, so that no cache is outdated for more than a moment. Each process has one
 * connection that listens. Notices can be missed while it is down, so all caches are emptied after each connect; each
 * cache must also have entries that expire.
 */
@Injectable()
export class PgNotifier implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(PgNotifier.name);
  private readonly handlers = new Map<string, Forget[]>();
  private client: pg.Client | null = null;
  /** Closes the connection that listens. */
  private leave: () => void = () => undefined;
  private retry: NodeJS.Timeout | null = null;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** Calls `forget` whenever a process publishes a change of this kind. Register while the application starts. */
  on(kind: string, forget: Forget): void {
    this.handlers.set(kind, [...(this.handlers.get(kind) ?? []), forget]);
  }

  /**
   * Announces a change to every process, including this one, when the ambient transaction commits; without one at once.
   * Not for hot paths: PostgreSQL commits transactions with notifications one after the other.
   */
  async publish(kind: string, id: string): Promise<void> {
    await this.database.execute('select pg_notify($1, $2)', [CHANNEL, `${kind} ${id}`]);
  }

  async onApplicationBootstrap(): Promise<void> {
    // The old server sends no more notices.
    this.database.onServerLost(() => this.leave());
    await this.listen(FIRST_RETRY_MS);
  }

  onModuleDestroy(): void {
    this.stopped = true;
    if (this.retry !== null) clearTimeout(this.retry);
    this.leave();
  }

  /** Whether notices arrive. */
  get connected(): boolean {
    return this.client !== null;
  }

  private async listen(retryMs: number): Promise<void> {
    const { database } = this.config;
    const client = new pg.Client({
      connectionString: sessionLink(database).url,
      application_name: listenerName(),
      connectionTimeoutMillis: 5_000,
      query_timeout: database.queryTimeoutMs + 1_000,
      ...KEEP_ALIVE,
    });
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      if (this.client === client) this.client = null;
      closeNow(client);
      if (this.stopped) return;
      this.retry = setTimeout(() => void this.listen(Math.min(retryMs * 2, LAST_RETRY_MS)), retryMs);
      this.retry.unref();
    };
    client.on('error', end);
    client.on('end', end);
    client.on('notification', ({ payload }) => this.receive(payload ?? ''));
    try {
      this.leave = end;
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      this.logger.warn(`cannot listen for changes, retrying: ${error instanceof Error ? error.message : ''}`);
      end();
      return;
    }
    if (ended) return;
    this.client = client;
    retryMs = FIRST_RETRY_MS;
    for (const kind of this.handlers.keys()) this.forget(kind, null);
  }

  private receive(payload: string): void {
    const space = payload.indexOf(' ');
    this.forget(payload.slice(0, space), payload.slice(space + 1));
  }

  private forget(kind: string, id: string | null): void {
    for (const handler of this.handlers.get(kind) ?? []) handler(id);
  }
}
