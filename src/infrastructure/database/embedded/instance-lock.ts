import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedPostgresInUseError, errorCode, errorText } from './embedded-postgres.errors.js';
import { isAlive } from './postmaster.js';

/** Two arbitrary numbers; the lock lives in database `postgres`, where nobody else takes any. */
const LOCK = [0x4845_5241, 0x4c44] as const;
const RETRY_MS = 1_000;
const CONNECT_TIMEOUT_MS = 15_000;
/** Time the server needs at most to see that the connection of a killed holder is gone. */
const GRACE_MS = 3_000;
const HOLDER = /^herald:(\d+)$/;

const HOLDER_SQL = `
  select a.application_name
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'advisory' and l.granted and l.classid = $1::oid and l.objid = $2::oid and l.objsubid = 2`;

export interface InstanceLockOptions {
  /** Of the server's database `postgres`. */
  url: string;
  dataDir: string;
  /** What the error names for others to connect to. */
  publicUrl: string;
  log: (line: string) => void;
}

/**
 * Says that this process is the one Herald of a data folder, by an advisory lock on a connection of its own. When the
 * connection breaks it is made again, for without the lock another Herald would take the server over, and stop it.
 */
export class InstanceLock {
  private closed = false;

  private constructor(
    private readonly options: InstanceLockOptions,
    private client: pg.Client,
  ) {
    this.watch(client);
  }

  /**
   * Takes the lock.
   * @throws EmbeddedPostgresInUseError where another live process holds it; pg's errors where the server refuses us
   */
  static async take(options: InstanceLockOptions): Promise<InstanceLock> {
    const client = await connect(options.url);
    try {
      await lock(client, options);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return new InstanceLock(options, client);
  }

  /** Runs a statement on the lock's connection, in database `postgres`. */
  async query<R extends pg.QueryResultRow>(sql: string, params: unknown[] = []): Promise<R[]> {
    return (await this.client.query<R>(sql, params)).rows;
  }

  /** From now on the connection does not keep the process from ending. */
  unref(): void {
    letGo(this.client);
  }

  /** From now on a broken connection is expected: the server is being stopped, or is gone. */
  expectEnd(): void {
    this.closed = true;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.client.end().catch(() => undefined);
  }

  private watch(client: pg.Client): void {
    let lost = false;
    const onLoss = (error?: Error): void => {
      if (lost || this.closed) return;
      lost = true;
      this.options.log(`lost the connection that holds the lock${error ? `: ${error.message}` : ''}; taking it again`);
      void this.retake();
    };
    client.on('error', onLoss);
    client.on('end', () => onLoss());
  }

  private async retake(): Promise<void> {
    let complaint = '';
    while (!this.closed) {
      await wait(RETRY_MS, undefined, { ref: false });
      try {
        const client = await connect(this.options.url);
        try {
          await lock(client, this.options);
        } catch (error) {
          await client.end().catch(() => undefined);
          throw error;
        }
        this.client = client;
        this.watch(client);
        letGo(client);
        this.options.log('holds the lock again');
        if (this.closed) await client.end();
        return;
      } catch (error) {
        // The same trouble every second is said once.
        if (errorText(error) !== complaint && !this.closed) this.options.log(`lock not taken: ${errorText(error)}`);
        complaint = errorText(error);
      }
    }
  }
}

/** Lets the process end although this connection is open; pg has the method, its types do not. */
function letGo(client: pg.Client): void {
  (client as pg.Client & { unref(): void }).unref();
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    ssl: false,
    application_name: `herald:${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A loss while nobody watches yet shows in the next statement.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function lock(client: pg.Client, { dataDir, publicUrl }: InstanceLockOptions): Promise<void> {
  const until = performance.now() + GRACE_MS;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1, $2) as taken', [...LOCK]);
    if (rows[0]?.taken === true) return;
    const holder = await client.query<{ application_name: string }>(HOLDER_SQL, [...LOCK]);
    const name = holder.rows[0]?.application_name;
    const pid = name === undefined ? undefined : Number(HOLDER.exec(name)?.[1]);
    const known = pid !== undefined && Number.isInteger(pid) ? pid : undefined;
    const lives = known !== undefined && (await isAlive(known));
    if (lives || performance.now() > until) {
      throw new EmbeddedPostgresInUseError(
        `Another Herald${known === undefined ? '' : ` (process ${known})`} is running in ${dataDir}; stop it first, or choose another DATA_DIR.`,
        publicUrl,
        known,
      );
    }
    await wait(20);
  }
}

/** Whether a failed connection may succeed a moment later: the server is starting, stopping, or not listening yet. */
export function isPassing(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined) return ['57P03', '57P01', 'ECONNREFUSED', 'ECONNRESET'].includes(code);
  // pg gives no code to a connection that ends in the middle.
  return /^Connection terminated|timeout expired/.test(errorText(error));
}
