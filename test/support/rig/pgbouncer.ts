import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { temporaryFolder } from './folder.js';
import { freePort } from './free-port.js';
import { endProcess, isInstalled } from './programs.js';
import type { Scope } from './scope.js';

/** Whether `pgbouncer` is installed. */
export function hasPgBouncer(): Promise<boolean> {
  return isInstalled('pgbouncer');
}

/** What the role of a real database brings, and Herald asks for behind a pooler in transaction mode. */
export const SERVER_LIMITS = "set statement_timeout = '10s'; set idle_in_transaction_session_timeout = '30s'";

export interface PgBouncerOptions {
  /** Default: transaction. */
  mode?: 'transaction' | 'session';
  /** Connections to each database. Default: 20, as PgBouncer's own. */
  poolSize?: number;
  /** The one database that it serves. Default: every one of the server. */
  database?: string;
  /** What it says to each connection to the server as it is made. */
  connectQuery?: string;
  /** More lines of its configuration, which win. */
  settings?: Record<string, string>;
}

/** PgBouncer before every database of a server; stopped when the scope closes. */
export class PgBouncer {
  private constructor(
    readonly port: number,
    private readonly file: string,
    private server: ChildProcess,
  ) {}

  static async start(scope: Scope, serverUrl: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
    const { hostname, port: serverPort, username, password } = new URL(serverUrl);
    const port = await freePort();
    const folder = temporaryFolder(scope, 'pgbouncer');
    // Under root it runs as another user.
    chmodSync(folder, 0o755);
    const file = join(folder, 'pgbouncer.ini');
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: options.mode ?? 'transaction',
      default_pool_size: String(options.poolSize ?? 20),
      max_client_conn: '500',
      ...options.settings,
    };
    const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
    const target = `host=${hostname} port=${serverPort || '5432'} user=${decodeURIComponent(username)}${secret}`;
    const query =
      options.connectQuery === undefined ? '' : ` connect_query='${options.connectQuery.replaceAll("'", "''")}'`;
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(
      file,
      ['[databases]', `${options.database ?? '*'} = ${target}${query}`, '[pgbouncer]', ...lines, ''].join('\n'),
    );
    const pooler = new PgBouncer(port, file, await launch(file));
    scope.defer(() => endProcess(pooler.server, 'SIGINT'));
    return pooler;
  }

  /**
   * PgBouncer with deploy/pgbouncer/herald.ini before one database, which gets the limits that deploy/postgres/herald.sh gives its
   * role. Only addresses and names are others.
   */
  static async ofDeploy(scope: Scope, databaseUrl: string): Promise<PgBouncer> {
    const { username, password, pathname } = new URL(databaseUrl);
    const name = pathname.slice(1);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const limits = readFileSync('deploy/postgres/herald.sh', 'utf8').matchAll(/^ALTER ROLE herald (SET .*);$/gm);
      for (const [, limit] of limits) await client.query(`alter database ${name} ${limit}`);
    } finally {
      await client.end();
    }
    const { file, users, port } = await deployed(scope, databaseUrl);
    writeFileSync(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
    const pooler = new PgBouncer(port, file, await launch(file));
    scope.defer(() => endProcess(pooler.server, 'SIGINT'));
    return pooler;
  }

  /** The address of a database of the server, through this. */
  through(url: string): string {
    const pooled = new URL(url);
    pooled.hostname = '127.0.0.1';
    pooled.port = String(this.port);
    return pooled.href;
  }

  /** kill -9. */
  kill(): Promise<void> {
    return endProcess(this.server, 'SIGKILL');
  }

  /** Ends without waiting for transactions, as a restart of the service does. */
  stop(): Promise<void> {
    return endProcess(this.server, 'SIGTERM');
  }

  /** Starts it again on the same port. */
  async restart(): Promise<void> {
    this.server = await launch(this.file);
  }
}

/** The value of a setting in deploy/pgbouncer/herald.ini. @throws Error where it is not there */
export function deployedSetting(name: string): string {
  const value = new RegExp(`^${name} = (.+)$`, 'm').exec(readFileSync('deploy/pgbouncer/herald.ini', 'utf8'))?.[1];
  if (value === undefined) throw new Error(`deploy/pgbouncer/herald.ini has no ${name}`);
  return value;
}

/** deploy/pgbouncer/herald.ini for this database, on a port of 127.0.0.1; the file of its users is yet to be written. */
export async function deployed(
  scope: Scope,
  databaseUrl: string,
): Promise<{ file: string; users: string; port: number }> {
  const { hostname, port: serverPort, pathname } = new URL(databaseUrl);
  const name = pathname.slice(1);
  const port = await freePort();
  const folder = temporaryFolder(scope, 'pgbouncer');
  chmodSync(folder, 0o755);
  const [file, users] = [join(folder, 'herald.ini'), join(folder, 'userlist.txt')];
  const changes = [
    ['herald = host=postgres port=5432 dbname=herald', `${name} = host=${hostname} port=${serverPort} dbname=${name}`],
    ['listen_addr = 0.0.0.0', 'listen_addr = 127.0.0.1'],
    ['listen_port = 6432', `listen_port = ${port}`],
    ['/tmp/userlist.txt', users],
  ] as const;
  let text = readFileSync('deploy/pgbouncer/herald.ini', 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`deploy/pgbouncer/herald.ini has no "${from}"`);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
  return { file, users, port };
}

async function launch(file: string): Promise<ChildProcess> {
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  const server = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      output += String(chunk);
      // Before it is cut: clients that waited for it fill more than is kept.
      if (output.includes('process up')) resolve();
      output = output.slice(-2_000);
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`pgbouncer ended:\n${output}`)));
  });
  return server;
}
