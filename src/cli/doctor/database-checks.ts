import { describeError } from '../../common/describe-error.js';
import pg from 'pg';
import { requireDatabase } from '../../bootstrap/database.js';
import { migrations } from '../../../migrations/all.js';
import type { Config } from '../../infrastructure/config/config.js';
import { sealingVersion } from '../../infrastructure/config/encryption-keys.js';
import { HELD_ADVICE, LANES_HELD } from '../../infrastructure/lanes/database-identity.js';
import { RESERVED_CONNECTIONS } from '../../infrastructure/database/database.js';
import { VACUUM_HORIZON, type Holder } from '../../infrastructure/database/vacuum-horizon.js';
import { sessionLink } from '../../infrastructure/database/pooler.js';
import { compareSchema } from '../../infrastructure/database/schema-version.js';

/** What one check found. `warn`: works, but needs attention. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail });
export const warn = (check: string, detail: string): Finding => ({ check, status: 'warn', detail });
export const fail = (check: string, detail: string): Finding => ({ check, status: 'fail', detail });

/** Runs a check; what it throws is its finding. */
export async function guarded(check: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work();
  } catch (error) {
    return fail(check, error instanceof Error && error.message !== '' ? error.message : String(error));
  }
}

const LEAST_VERSION = 15;
const CLOCK_WARN_MS = 1_000;
const CLOCK_FAIL_MS = 30_000;
const TRANSACTION_WARN_S = 300;
const WORKER_WARN_S = 30;
// A socket has no address at all.
const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
];

/** All checks that need the database; one finding where it can't be reached. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const client = new pg.Client({
    connectionString: sessionLink(config.database).url,
    application_name: 'herald-doctor',
    connectionTimeoutMillis: 5_000,
  });
  try {
    await client.connect();
  } catch (error) {
    const setting = config.database.directUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    return [fail('database', `can't be reached: ${describeError(error)}. Is it running, and is ${setting} right?`)];
  }
  try {
    const findings = await checkPooler(config);
    for (const [name, check] of CHECKS) findings.push(await guarded(name, () => check(client, config)));
    return findings;
  } finally {
    await client.end();
  }
}

type Check = (client: pg.Client, config: Config) => Promise<Finding>;

const CHECKS: readonly (readonly [string, Check])[] = [
  ['database', checkVersion],
  ['migrations', checkMigrations],
  ['connections', checkConnections],
  ['durability', checkDurability],
  ['clock', checkClock],
  ['transactions', checkTransactions],
  ['stored tokens', checkTokens],
  ['numbers', checkNumbers],
  ['workers', checkWorkers],
  ['lanes', checkLanes],
];

async function checkVersion(client: pg.Client, { process }: Config): Promise<Finding> {
  const version = Number(await setting(client, 'server_version_num')) / 10_000;
  const text = `PostgreSQL ${await setting(client, 'server_version')}`;
  if (version < LEAST_VERSION) return fail('database', `${text}, but Herald needs ${LEAST_VERSION} or newer`);
  const { rows } = await client.query<{ superuser: boolean; exposed: boolean | null }>(
    `select rolsuper as superuser, not ssl and not inet_server_addr() <<= any($1::inet[]) as exposed
     from pg_roles, pg_stat_ssl where rolname = current_user and pid = pg_backend_pid()`,
    [PRIVATE_NETWORKS],
  );
  if (process.production && rows[0]?.superuser === true) {
    return warn('database', `${text}; Herald's role is a superuser: give it one that only owns its database`);
  }
  if (rows[0]?.exposed === true) {
    return warn('database', `${text} on a public address, without TLS: add sslmode=verify-full to DATABASE_URL`);
  }
  return ok('database', text);
}

/** Not a fault: it is how a production begins. */
export const EMPTY_DATABASE = 'the database is empty: herald migrate makes the tables';

async function checkMigrations(client: pg.Client): Promise<Finding> {
  const { empty, missing, foreign } = await compareSchema(client);
  if (empty) return warn('migrations', EMPTY_DATABASE);
  if (missing.length > 0) return fail('migrations', `${missing.length} did not run: herald migrate`);
  if (foreign.length > 0) return warn('migrations', `the schema is newer than this Herald: ${foreign.join(', ')}`);
  return ok('migrations', `all ${migrations.length} ran`);
}

/** Notes in the settings what lends the connections; silent where that is PostgreSQL itself. */
async function checkPooler({ database }: Config): Promise<Finding[]> {
  const finding = await guarded('pooler', async () => {
    await requireDatabase(database);
    const mode = `DATABASE_URL is a pooler in ${database.pooling} mode`;
    return ok('pooler', database.directUrl === null ? mode : `${mode}, sessions go by DATABASE_DIRECT_URL`);
  });
  return finding.status === 'ok' && database.pooling === 'none' ? [] : [finding];
}

async function checkConnections(client: pg.Client, config: Config): Promise<Finding> {
  const limit =
    Number(await setting(client, 'max_connections')) - Number(await setting(client, 'superuser_reserved_connections'));
  const queuePool = config.queue.redisUrl === null ? config.queue.poolSize : 0;
  const isPooled = config.database.pooling === 'transaction';
  // One more listens for changes.
  const needed = (isPooled ? 0 : config.database.poolSize + RESERVED_CONNECTIONS) + queuePool + 1;
  const { rows } = await client.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where backend_type = 'client backend' and application_name not like 'herald%'`,
  );
  const free = limit - (rows[0]?.others ?? 0);
  const text = `a process opens up to ${needed}${isPooled ? " besides the pooler's" : ''}; the server has ${free} of ${limit} for Herald`;
  if (needed > free) return fail('connections', `${text}: lower the pools, or raise max_connections`);
  return ok('connections', `${text}, so ${Math.floor(free / needed)} processes`);
}

async function checkDurability(client: pg.Client): Promise<Finding> {
  const off: string[] = [];
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    if ((await setting(client, name)) === 'off') off.push(name);
  }
  if (off.length > 0)
    return warn('durability', `${off.join(' and ')} off: accepted messages may be lost in a power failure`);
  return ok('durability', 'commits are durable');
}

/** Times that are stored are the database's; this process's clock decides about windows and keys that it has cached. */
async function checkClock(client: pg.Client): Promise<Finding> {
  const before = Date.now();
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
  const middle = (before + Date.now()) / 2;
  const differenceMs = Math.round(Math.abs((rows[0]?.now.getTime() ?? 0) - middle));
  const text = `${differenceMs} ms from the database's`;
  if (differenceMs > CLOCK_FAIL_MS) return fail('clock', `${text}: synchronise both`);
  return differenceMs > CLOCK_WARN_MS ? warn('clock', `${text}: synchronise both`) : ok('clock', text);
}

/** Rows that a transaction anywhere on the server may still see can't be cleared away: hot tables grow and slow down. */
async function checkTransactions(client: pg.Client): Promise<Finding> {
  const { rows } = await client.query<Holder>(VACUUM_HORIZON);
  const long = rows.find(({ seconds }) => (seconds ?? 0) >= TRANSACTION_WARN_S);
  if (long !== undefined) {
    const minutes = Math.round((long.seconds ?? 0) / 60);
    const text = `"${long.name}"${long.pid === null ? '' : ` (process ${long.pid})`} has been open for ${minutes} min`;
    if (long.kind === 'session') return warn('transactions', `one of ${text}: end it`);
    return warn('transactions', `the prepared one ${text}: commit prepared or rollback prepared ends it`);
  }
  const slot = rows.find(({ kind, pid }) => kind === 'slot' && pid === null);
  if (slot !== undefined) {
    return warn(
      'transactions',
      `the replication slot "${slot.name}" is not in use and keeps rows and WAL: start its standby, or pg_drop_replication_slot`,
    );
  }
  return ok('transactions', 'none is long');
}

/** Where secrets are stored; `herald secrets rotate` encrypts them again. */
const SECRETS = [
  ['connection', 'token_ciphertext'],
  ['webhook_secret', 'ciphertext'],
  ['webhook_endpoint', 'headers_ciphertext'],
  ['otp_sender', 'token_ciphertext'],
] as const;

/** The version of the key that encrypted a secret is its first four bytes. */
async function checkTokens(client: pg.Client, config: Config): Promise<Finding> {
  const counts = new Map<number, number>();
  for (const [table, column] of SECRETS) {
    if (!(await hasColumn(client, table, column))) continue;
    const { rows } = await client.query<{ version: number; count: number }>(
      `select ('x' || encode(substring(${column} from 1 for 4), 'hex'))::bit(32)::int as version,
         count(*)::int as count
       from ${table} where ${column} is not null group by 1`,
    );
    for (const { version, count } of rows) counts.set(version, (counts.get(version) ?? 0) + count);
  }
  const keys = new Set(config.security.encryptionKeys.map((key) => key.version));
  const locked = [...counts.keys()].filter((version) => !keys.has(version)).sort((a, b) => a - b);
  if (locked.length > 0) {
    const versions = locked.join(', ');
    return fail('stored tokens', `encrypted with key version ${versions}, which is not in ENCRYPTION_KEYS`);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const older = total - (counts.get(sealingVersion(config.security)) ?? 0);
  const hint = older === 0 ? '' : `, ${older} of them an older one: herald secrets rotate`;
  return ok('stored tokens', `${total}, all encrypted with loaded keys${hint}`);
}

/** Most numbers that one line names. */
const MOST_NUMBERS = 5;

/** Numbers that send less than they should, or nothing. */
async function checkNumbers(client: pg.Client): Promise<Finding> {
  if (!(await hasTable(client, 'connection'))) return ok('numbers', 'none yet');
  const { rows } = await client.query<{ id: string; status: string; count: number; affected: number }>(
    `select id, status, count(*) over ()::int as count, count(*) filter (where status <> 'connected') over ()::int as affected
     from connection order by status = 'connected', id limit $1`,
    [MOST_NUMBERS],
  );
  const [first] = rows;
  if (first === undefined) return ok('numbers', 'none yet: herald connection add');
  if (first.affected === 0) return ok('numbers', `${first.count}, all connected`);
  const named = rows.filter(({ status }) => status !== 'connected').map(({ id, status }) => `${id} ${status}`);
  const more = first.affected > named.length ? `, and ${first.affected - named.length} more` : '';
  return warn('numbers', `${first.affected} of ${first.count}: ${named.join(', ')}${more}. See herald connection list`);
}

/** Sweeps run in workers, the quickest once a second. */
async function checkWorkers(client: pg.Client): Promise<Finding> {
  if (!(await hasTable(client, 'heartbeat'))) return warn('workers', 'none has run on this database yet');
  const { rows } = await client.query<{ seconds: number | null }>(
    `select extract(epoch from clock_timestamp() - max(beat_at))::float8 as seconds
     from heartbeat where name like 'sweep:%'`,
  );
  const seconds = rows[0]?.seconds ?? null;
  if (seconds === null) return warn('workers', 'none has run on this database yet: start one with ROLES=worker');
  const ago = `${Math.round(seconds)} s ago`;
  if (seconds > WORKER_WARN_S) return warn('workers', `none at work; the last one was ${ago}. Nothing is sent`);
  return ok('workers', `at work ${ago}`);
}

/** Another server or history than last time: what waits may have been sent. */
async function checkLanes(client: pg.Client): Promise<Finding> {
  if (!(await hasTable(client, 'database_identity')))
    return warn('lanes', 'not known before the migrations: herald migrate');
  const { rows } = await client.query<{ held: boolean }>(`select ${LANES_HELD} as held`);
  if (rows[0]?.held === false) return ok('lanes', 'free: the database is the one that was confirmed last');
  return fail('lanes', `held, nothing is sent, because the database changed its identity: ${HELD_ADVICE}`);
}

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [name]);
  return rows[0]?.found === true;
}

/** False also where there is no such table. */
async function hasColumn(client: pg.Client, table: string, column: string): Promise<boolean> {
  const { rows } = await client.query(
    'select from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped',
    [table, column],
  );
  return rows.length > 0;
}

async function setting(client: pg.Client, name: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [name]);
  return rows[0]?.value ?? '';
}
