import { spawnSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

/** The user `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const DEBIAN = '/usr/lib/postgresql';

/**
 * The programs of the newest PostgreSQL from Debian's packages, 15 at least, or of this version; null where there is
 * none, or no way to run it.
 */
export function installedPostgres(version?: number): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : [];
  const newest = version ?? Math.max(...versions.filter((each) => each >= 15));
  const folder = join(DEBIAN, String(newest), 'bin');
  if (!existsSync(join(folder, 'pg_basebackup'))) return null;
  const canBecomeOther = process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).status === 0;
  return canBecomeOther ? folder : null;
}

/** A server with the tools that the embedded one lacks: base backups, and standbys that are promoted. */
export class InstalledPostgres {
  private readonly folder = mkdtempSync(join(tmpdir(), 'herald-postgres-'));
  private data = 'primary';

  private constructor(
    private readonly programs: string,
    private readonly port: number,
  ) {}

  static async start(programs: string): Promise<InstalledPostgres> {
    const server = await InstalledPostgres.empty(programs);
    server.run('initdb', ['--pgdata', server.path, '--username=herald', '--auth=trust', '--no-sync']);
    const settings = `listen_addresses = '127.0.0.1'\nport = ${server.port}\nunix_socket_directories = ''\nfsync = off\n`;
    appendFileSync(join(server.path, 'postgresql.conf'), settings);
    server.begin();
    return server;
  }

  private static async empty(programs: string): Promise<InstalledPostgres> {
    const server = new InstalledPostgres(programs, await freePort());
    if (process.getuid?.() === 0) chownSync(server.folder, NOBODY, NOBODY);
    return server;
  }

  /** A second server that replays this one's log as it comes. `remove` it, too. */
  async startStandby(): Promise<InstalledPostgres> {
    const standby = await InstalledPostgres.empty(this.programs);
    const place = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'herald', '-c', 'fast', '-D', standby.path];
    standby.run('pg_basebackup', [...place, '--write-recovery-conf', '--wal-method=stream']);
    // The last one counts.
    appendFileSync(join(standby.path, 'postgresql.conf'), `port = ${standby.port}\n`);
    standby.begin();
    return standby;
  }

  /** It is lost at once, with its connections. */
  crash(): void {
    this.control('stop', '-m', 'immediate');
  }

  /** It ends in order. */
  end(): void {
    this.control('stop', '-m', 'fast');
  }

  /** Again, after `crash` or `end`. */
  begin(): void {
    this.control('start', '-l', join(this.folder, 'log'));
  }

  /** A standby becomes a primary. */
  becomePrimary(): void {
    this.control('promote');
  }

  get url(): string {
    return `postgresql://herald@127.0.0.1:${this.port}/postgres`;
  }

  /** Copies the running server, as a standby that gets nothing more. */
  backUp(): void {
    this.run('pg_basebackup', [
      '-h',
      '127.0.0.1',
      '-p',
      String(this.port),
      '-U',
      'herald',
      '-c',
      'fast',
      '-D',
      this.standby,
    ]);
  }

  /** The server is lost with all that came after the backup, and the standby takes its place. */
  failOver(): void {
    this.control('stop', '-m', 'immediate');
    this.data = 'standby';
    this.promote();
  }

  /** A switch-over without loss. */
  switchOver(): void {
    this.end();
    this.promote();
  }

  remove(): void {
    try {
      this.control('stop', '-m', 'immediate');
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  private promote(): void {
    writeFileSync(join(this.path, 'standby.signal'), '');
    this.begin();
    this.becomePrimary();
  }

  private get path(): string {
    return join(this.folder, this.data);
  }

  private get standby(): string {
    return join(this.folder, 'standby');
  }

  private control(...args: string[]): void {
    this.run('pg_ctl', [...args, '-w', '-t', '60', '-D', this.path]);
  }

  private run(program: string, args: readonly string[]): void {
    const asOther = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    const prefix = process.getuid?.() === 0 ? asOther : [];
    const [file = '', ...rest] = [...prefix, join(this.programs, program), ...args];
    // Without pipes: the server keeps those of the program that starts it.
    const { status, error } = spawnSync(file, rest, { cwd: '/', stdio: 'ignore', timeout: 90_000 });
    if (status !== 0)
      throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`);
  }
}
