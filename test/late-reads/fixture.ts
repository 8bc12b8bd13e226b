import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { InstalledPostgres, installedPostgres } from '../support/rig/installed-postgres.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const programs = installedPostgres();
if (programs === null) {
  process.stdout.write('test/late-reads: skipped, no PostgreSQL 15 or newer of Debian with pg_basebackup here\n');
}

/** Skipped where no server with a standby can be run. */
export const describeWithStandby = programs === null ? describe.skip : describe;

/** A mark of nothing: what is read with it comes from the primary. */
export const FROM_PRIMARY = { headers: { 'x-herald-read-after': 'from-the-primary' } };

/** How far a read was late at most, as its answer says; null: the primary answered. */
export function lagOf({ headers }: ApiResponse): number | null {
  const lag = headers.get('x-herald-lag');
  return lag === null ? null : Number(lag);
}

/** A primary and a standby that streams from it. */
export class Servers {
  private readonly clients: pg.Client[] = [];

  private constructor(
    readonly primary: InstalledPostgres,
    readonly standby: InstalledPostgres,
  ) {}

  static async start(): Promise<Servers> {
    const primary = await InstalledPostgres.start(programs ?? '');
    return new Servers(primary, await primary.startStandby());
  }

  async connect(server: InstalledPostgres): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    this.clients.push(client);
    return client;
  }

  async ask<R extends object>(server: InstalledPostgres, sql: string): Promise<R[]> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query<R>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** The standby gets later, until `replay`. */
  async hold(): Promise<void> {
    await this.replayed();
    await this.ask(this.standby, 'select pg_wal_replay_pause()');
    const isPaused = async () =>
      (await this.ask<{ state: string }>(this.standby, 'select pg_get_wal_replay_pause_state() as state'))[0]?.state;
    await waitFor(async () => (await isPaused()) === 'paused', { what: 'the standby to hold' });
  }

  async replay(): Promise<void> {
    await this.ask(this.standby, 'select pg_wal_replay_resume()');
    await this.replayed();
  }

  /** Waits until the standby has everything that is committed now. */
  async replayed(): Promise<void> {
    const [at] = await this.ask<{ lsn: string }>(this.primary, 'select pg_current_wal_flush_lsn()::text as lsn');
    const sql = `select pg_last_wal_replay_lsn() >= '${at?.lsn}' as done`;
    const isDone = async () => (await this.ask<{ done: boolean }>(this.standby, sql))[0]?.done;
    await waitFor(isDone, { what: 'the standby to replay' });
  }

  /** The primary's commits wait for these standbys; empty: for none. */
  async synchronous(names: string): Promise<void> {
    await this.ask(this.primary, `alter system set synchronous_standby_names = '${names}'`);
    await this.ask(this.primary, 'select pg_reload_conf()');
    const state =
      names === '' ? `count(*) filter (where sync_state <> 'async') = 0` : `bool_or(sync_state in ('sync', 'quorum'))`;
    const isSo = async () =>
      (await this.ask<{ yes: boolean }>(this.primary, `select ${state} as yes from pg_stat_replication`))[0]?.yes;
    await waitFor(isSo, { what: `commits that wait for '${names}'` });
  }

  /** Cancels the first commit that waits for a standby, as an operator may: it then succeeds, with a warning. */
  async cancelWait(): Promise<void> {
    const cancel = `select pg_cancel_backend(pid) as done from pg_stat_activity where wait_event = 'SyncRep'`;
    await waitFor(async () => (await this.ask<{ done: boolean }>(this.primary, cancel))[0]?.done, {
      what: 'a commit that waits for the standby',
    });
  }

  async remove(): Promise<void> {
    for (const client of this.clients) await client.end().catch(() => undefined);
    for (const server of [this.standby, this.primary]) {
      try {
        server.remove();
      } catch {
        // A test has stopped it.
      }
    }
  }
}

/** The application on both servers; `env` overrides. */
export function startLateApp(servers: Servers, env: Record<string, string> = {}): Promise<TestApp> {
  return startTestApp({
    env: {
      DATABASE_URL: servers.primary.url,
      DATABASE_READ_URL: servers.standby.url,
      DATABASE_MIGRATE: 'true',
      QUEUE_PREFIX: randomUUID(),
      // Not for the waits of other tests.
      DATABASE_CONNECT_TIMEOUT_MS: '5000',
      READ_LAG_MS: '600000',
      ...env,
    },
  });
}

/** Calls the API with a key of the workspace that writes nothing. */
export async function readerOf(test: TestApp, { workspace }: TestSender): Promise<ApiClient> {
  return test.api.as((await test.factories.apiKey({ organizationId: workspace.id })).text);
}

/** Waits until a read of this key comes from the standby. */
export async function waitUntilLate(reader: ApiClient, path = '/messages'): Promise<void> {
  await waitFor(async () => lagOf(await reader.get(path)) !== null, { what: `${path} of the standby` });
}
