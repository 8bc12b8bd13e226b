import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { migrations } from '../../migrations/all.js';
import { requireDatabase } from '../bootstrap/database.js';
import { databaseClock } from '../common/clock.js';
import { describeError } from '../common/describe-error.js';
import { probeFolder } from '../common/folders.js';
import { within } from '../common/within.js';
import type { Config } from '../infrastructure/config/config.js';
import { sealingVersion } from '../infrastructure/config/encryption-keys.js';
import { ConfigError, loadConfig } from '../infrastructure/config/load-config.js';
import {
  differenceOf,
  measureClock,
  WRONG_CLOCK_MS,
  WRONG_CLOCKS,
  type WrongClock,
} from '../infrastructure/database/clock-watch.js';
import { RESERVED_CONNECTIONS } from '../infrastructure/database/database.js';
import { PROVE_SPACE, PROVE_WRITES } from '../infrastructure/operations/readiness.js';
import { closeNow } from '../infrastructure/database/lost-server.js';
import { isDiskFull } from '../infrastructure/database/database-faults.js';
import { sessionLink, setSession, startClient } from '../infrastructure/database/pooler.js';
import { LISTENER } from '../infrastructure/database/running-processes.js';
import { FOREIGN_SCHEMA, readSchemaState, type SchemaState } from '../infrastructure/database/schema-state.js';
import { type Holder, VACUUM_HORIZON } from '../infrastructure/operations/metrics/vacuum-horizon.js';
import { BLOCKED_ADVICE, CLAIMS_BLOCKED } from '../infrastructure/queue/claims-blocked.js';
import { QueueConnection } from '../infrastructure/queue/queue-connection.js';
import {
  checkGraphVersion,
  checkMarketing,
  checkNotifications,
  checkNumbers,
  checkContactBook,
  checkPayment,
  checkPlatform,
} from './doctor-platform.js';
import { checkFailover, checkStandbys } from './doctor-standbys.js';
import { fail, type Finding, ok, REACH_WITHIN_MS, type Result, warn } from './doctor-findings.js';
import { openDatabase } from './session.js';

/** Runs a check; an error becomes its finding. */
async function find(check: string, work: () => Result | Promise<Result>): Promise<Finding> {
  try {
    return { check, ...(await work()) };
  } catch (error) {
    return { check, ...fail(error instanceof Error && error.message !== '' ? error.message : String(error)) };
  }
}

const MIB = 1_024 * 1_024;
/** 32 random bytes have fewer than 16 different ones once in 10^9 keys. */
const MIN_DIFFERENT_BYTES = 16;
const MIN_VERSION = 15;
const CLOCK_FAIL_MS = 30_000;
const TRANSACTION_WARN_S = 300;
const WORKER_WARN_S = 30;
// A socket has no address.
const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
];

/** Runs every check in order; each runs whatever the others find. */
export async function examine(): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    const violations = error instanceof ConfigError ? error.violations : [describeError(error)];
    return violations.map((violation) => ({ check: 'settings', ...fail(violation) }));
  }
  const { storages } = config.media;
  const findings = [
    await find('settings', () => ok(`${config.process.environment}, all valid`)),
    await find('data folder', () => checkDataDir(config)),
    ...(storages.includes('folder') ? [await find('disk', () => checkDisk(config))] : []),
    ...(storages.includes('s3') ? [await find('bucket', () => checkBucket(config))] : []),
    await find('encryption keys', () => checkEncryptionKeys(config)),
    await find('billing', () => checkBilling(config)),
    await find('address', () => checkPublicUrl(config)),
    await find('Graph version', () => checkGraphVersion(config)),
  ];
  const platform = () => find('WhatsApp', () => checkPlatform(config));
  let session;
  try {
    session = await openDatabase(config);
  } catch (error) {
    return [...findings, { check: 'database', ...fail((error as Error).message) }, await platform()];
  }
  try {
    findings.push(...(await checkDatabase(session.config)));
    const queue = await find('queue', () => checkQueue(session.config));
    return [...findings, queue, await platform()];
  } finally {
    await session.close();
  }
}

function checkDataDir(config: Config): Result {
  const dataDir = resolve(config.process.dataDir);
  try {
    probeFolder(dataDir);
    return ok(`${dataDir} can be written`);
  } catch (error) {
    return fail(`${dataDir} can't be written: ${describeError(error)}`);
  }
}

function checkEncryptionKeys(config: Config): Result {
  const { encryptionKeys } = config.security;
  if (encryptionKeys.length === 0) return fail('there are none: set ENCRYPTION_KEYS');
  const text = `active key ${sealingVersion(config.security)}, ${encryptionKeys.length} loaded`;
  if (encryptionKeys.some(({ key }) => new Set(key).size < MIN_DIFFERENT_BYTES)) {
    return warn(`${text}; one of them is not random: make it with openssl rand -base64 32`);
  }
  return ok(text);
}

function checkBilling({ limits }: Config): Result {
  return limits.billing === 'off'
    ? ok('off: no workspace needs a subscription, no live project a package of codes')
    : ok('on: sending needs a subscription, a live code a package; BILLING=off asks for neither');
}

/** Uploads are refused below MEDIA_MIN_FREE_MIB; an embedded database stops when nothing is left. */
function checkDisk(config: Config): Result {
  const { dir, minFreeBytes } = config.media;
  probeFolder(dir);
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MIB)} MiB free where media files lie (${resolve(dir)})`;
  if (free < minFreeBytes) return fail(`${text}: uploads are refused below ${minFreeBytes / MIB} MiB`);
  return free < minFreeBytes * 4 ? warn(`${text}: uploads will be refused soon`) : ok(text);
}

/** Writes, reads, lists and removes one object, like the service does with files. */
async function checkBucket(config: Config): Promise<Result> {
  const { S3Storage } = await import('../infrastructure/storage/s3-storage.js');
  const { bucket, endpoint, prefix } = config.s3;
  const where = `${bucket}${prefix === '' ? '' : `/${prefix}`} at ${endpoint ?? 'Amazon S3'}`;
  const storage = new S3Storage(config);
  // The finding reports a failure; log lines would mix with the output.
  Logger.overrideLogger(false);
  try {
    const note = await storage.probe();
    const text = `${where}: an object was written, read, listed and removed`;
    return note === null ? ok(text) : warn(`${text}; ${note}`);
  } catch (error) {
    return fail(`${where}: ${describeError(error)}`);
  } finally {
    await storage.close();
  }
}

/** Checks Redis if it is configured; without it PostgreSQL wakes the workers. */
async function checkQueue(config: Config): Promise<Result> {
  const connection = new QueueConnection(config);
  if (!connection.isUsed) return ok('PostgreSQL notifies the workers');
  try {
    const answered = connection.ping().then(() => true);
    if ((await within(REACH_WITHIN_MS, answered)) === null) {
      const reason = connection.error === null ? '' : ` (${connection.error})`;
      throw new Error(`Redis did not answer within 5 s${reason}: check REDIS_URL`);
    }
    const redis = await connection.redisFacts();
    const text = `Redis ${redis?.version} answers`;
    if (redis?.evicts === true) return warn(`${text}, but may evict keys: set maxmemory-policy noeviction`);
    return ok(text);
  } finally {
    await connection.close();
  }
}

/** The service's address for callers, in links to files and error codes. */
function checkPublicUrl({ process }: Config): Result {
  const { publicUrl, production } = process;
  if (publicUrl !== null) {
    const { protocol, hostname } = new URL(publicUrl);
    const isOpen = protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname);
    if (!production || !isOpen) return ok(publicUrl);
    return warn(
      `PUBLIC_URL ${publicUrl} is without TLS, so a network observer can open the links to files: set the https address`,
    );
  }
  const text = 'PUBLIC_URL is not set: links to files and to error codes lead to this machine';
  return production ? warn(`${text}; set the https address that callers use`) : ok(text);
}

/** All checks that need the database; one finding where it can't be reached. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const client = startClient(sessionLink(config.database).url, config.database.queryTimeoutMs + 1_000);
  try {
    await client.connect();
    await setSession(client);
  } catch (error) {
    const setting = config.database.directUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    const detail = `can't be reached: ${describeError(error)}. Is it running, and is ${setting} right?`;
    closeNow(client);
    return [{ check: 'database', ...fail(detail) }];
  }
  try {
    const findings = await checkPooler(config);
    const run = async (checks: typeof SERVER_CHECKS): Promise<void> => {
      for (const [name, check] of checks) findings.push(await find(name, () => check(client, config)));
    };
    await run(SERVER_CHECKS);
    // If this query fails, so do the others, and report why.
    const readable = await schemaOf(client).then(isOwn, () => true);
    if (readable) await run(TABLE_CHECKS);
    if (readable) findings.push(...(await checkStandbys(client, config)), ...(await checkFailover(client, config)));
    return findings;
  } finally {
    await client.end();
  }
}

type Check = (client: pg.Client, config: Config) => Promise<Result>;

const SERVER_CHECKS: readonly (readonly [string, Check])[] = [
  ['database', checkVersion],
  ['migrations', checkMigrations],
  ['connections', checkConnections],
  ['durability', checkDurability],
  ['clock', checkClock],
  ['transactions', checkTransactions],
];

/** Checks of stored data, in tables of this build. */
const TABLE_CHECKS: typeof SERVER_CHECKS = [
  ['stored tokens', checkTokens],
  ['numbers', checkNumbers],
  ['payment', checkPayment],
  ['contact book', checkContactBook],
  ['marketing', checkMarketing],
  ['notifications', checkNotifications],
  ['workers', checkWorkers],
  ['lanes', checkLanes],
];

async function checkVersion(client: pg.Client, { process }: Config): Promise<Result> {
  const version = Number(await setting(client, 'server_version_num')) / 10_000;
  const text = `PostgreSQL ${await setting(client, 'server_version')}`;
  if (version < MIN_VERSION) return fail(`${text}, but Herald needs ${MIN_VERSION} or newer`);
  if ((await setting(client, 'transaction_read_only')) === 'on') {
    return fail(
      `${text} is read-only, so nothing is accepted or sent: a full disk, a standby, or default_transaction_read_only`,
    );
  }
  if (isOwn(await schemaOf(client))) await client.query(PROVE_WRITES);
  await client.query(PROVE_SPACE).catch((error: unknown) => {
    if (isDiskFull(error)) throw new Error(`${text} is full: a file cannot grow`, { cause: error });
  });
  const { rows } = await client.query<{ superuser: boolean; exposed: boolean | null }>(
    `select rolsuper as superuser, not ssl and not inet_server_addr() <<= any($1::inet[]) as exposed
     from pg_roles, pg_stat_ssl where rolname = current_user and pid = pg_backend_pid()`,
    [PRIVATE_NETWORKS],
  );
  if (process.production && rows[0]?.superuser === true) {
    return warn(`${text}; Herald's role is a superuser: give it one that only owns its database`);
  }
  if (rows[0]?.exposed === true) {
    return warn(`${text} on a public address, without TLS: add sslmode=verify-full to DATABASE_URL`);
  }
  return ok(text);
}

/** Not a fault: every new production database starts this way. */

async function checkMigrations(client: pg.Client): Promise<Result> {
  const { empty, foreign, missing, newer } = await schemaOf(client);
  if (foreign) return fail(`${FOREIGN_SCHEMA}. ${UNREAD}`);
  if (empty) return warn('the database is empty: herald migrate makes the tables');
  if (missing.length > 0) return fail(`${missing.length} did not run: herald migrate. ${UNREAD}`);
  if (newer.length > 0) return warn(`the schema is newer than this Herald: ${newer.join(', ')}`);
  return ok(`all ${migrations.length} ran`);
}

const UNREAD = 'What is stored was not checked';

function schemaOf(client: pg.Client): Promise<SchemaState> {
  return readSchemaState(async (sql) => (await client.query(sql)).rows);
}

/** A newer schema has everything that this build reads. */
function isOwn({ foreign, missing }: SchemaState): boolean {
  return !foreign && missing.length === 0;
}

/** Stores in the settings whether a pooler lends the connections; no finding without one. */
async function checkPooler({ database }: Config): Promise<Finding[]> {
  const finding = await find('pooler', async () => {
    await requireDatabase(database);
    const mode = `DATABASE_URL is a pooler in ${database.pooling} mode`;
    return ok(database.directUrl === null ? mode : `${mode}, sessions go by DATABASE_DIRECT_URL`);
  });
  return finding.status === 'ok' && database.pooling === 'none' ? [] : [finding];
}

async function checkConnections(client: pg.Client, config: Config): Promise<Result> {
  const limit =
    Number(await setting(client, 'max_connections')) - Number(await setting(client, 'superuser_reserved_connections'));
  const isPooled = config.database.pooling === 'transaction';
  // One more connection listens for changes.
  const needed = (isPooled ? 0 : config.database.poolSize + RESERVED_CONNECTIONS) + 1;
  const { rows } = await client.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where backend_type = 'client backend' and application_name not like 'herald%'`,
  );
  const free = limit - (rows[0]?.others ?? 0);
  const text = `a process opens up to ${needed}${isPooled ? " besides the pooler's" : ''}; the server has ${free} of ${limit} for Herald`;
  if (needed > free) return fail(`${text}: lower the pools, or raise max_connections`);
  return ok(`${text}, so ${Math.floor(free / needed)} processes`);
}

async function checkDurability(client: pg.Client): Promise<Result> {
  const off: string[] = [];
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    if ((await setting(client, name)) === 'off') off.push(name);
  }
  if (off.length > 0) return warn(`${off.join(' and ')} off: accepted messages may be lost in a power failure`);
  return ok('commits are durable');
}

/**
 * Checks the clocks of this machine, and of those whose processes reported a wrong one: Herald uses the database's
 * clock, but logs do not.
 */
async function checkClock(client: pg.Client): Promise<Result> {
  await measureClock(async (sql) => (await client.query<{ now: string }>(sql)).rows);
  const own = databaseClock.hostAheadMs;
  const others = isOwn(await schemaOf(client)) ? (await client.query<WrongClock>(WRONG_CLOCKS)).rows : [];
  const texts = [
    ...(Math.abs(own) > WRONG_CLOCK_MS ? [differenceOf(own / 1_000)] : []),
    ...others.map(({ process, aheadSeconds }) => differenceOf(aheadSeconds, process)),
  ];
  if (texts.length === 0) return ok(`${Math.round(Math.abs(own))} ms from the database's`);
  const worst = Math.max(Math.abs(own), ...others.map(({ aheadSeconds }) => Math.abs(aheadSeconds) * 1_000));
  return (worst > CLOCK_FAIL_MS ? fail : warn)(`${texts.join('; ')}: synchronise both`);
}

/** Rows that any transaction on the server may still see can't be vacuumed: hot tables grow and slow down. */
async function checkTransactions(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<Holder>(VACUUM_HORIZON);
  const long = rows.find(({ seconds }) => (seconds ?? 0) >= TRANSACTION_WARN_S);
  if (long !== undefined) {
    const minutes = Math.round((long.seconds ?? 0) / 60);
    const text = `"${long.name}"${long.pid === null ? '' : ` (process ${long.pid})`} has been open for ${minutes} min`;
    if (long.kind === 'session') return warn(`one of ${text}: end it`);
    return warn(`the prepared one ${text}: commit prepared or rollback prepared ends it`);
  }
  const slot = rows.find(({ kind, pid }) => kind === 'slot' && pid === null);
  if (slot !== undefined) {
    return warn(
      `the replication slot "${slot.name}" is not in use and keeps rows and WAL: start its standby, or pg_drop_replication_slot`,
    );
  }
  return ok('none is long');
}

/** Columns with stored secrets; `herald secrets rotate` encrypts them again. */
export const SECRETS = [
  ['connection', 'token_ciphertext'],
  ['webhook_secret', 'ciphertext'],
  ['webhook_endpoint', 'headers_ciphertext'],
  ['otp_sender', 'token_ciphertext'],
  ['event_destination', 'secrets_ciphertext'],
  ['setup_link', 'access_token_ciphertext'],
  ['number_pin', 'pin_ciphertext'],
  ['person_grant', 'grant_ciphertext'],
] as const;

/** The first four bytes of a secret are the version of its key. */
async function checkTokens(client: pg.Client, config: Config): Promise<Result> {
  const counts = new Map<number, number>();
  for (const [table, column] of SECRETS) {
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
    return fail(`encrypted with key version ${versions}, which is not in ENCRYPTION_KEYS`);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const older = total - (counts.get(sealingVersion(config.security)) ?? 0);
  const hint = older === 0 ? '' : `, ${older} of them an older one: herald secrets rotate`;
  return ok(`${total}, all encrypted with loaded keys${hint}`);
}

/** Sweeps run in workers, the most frequent once a second. */
async function checkWorkers(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<{ name: string; seconds: number; every: number | null; running: boolean }>(
    SWEEPS,
  );
  const [last] = rows;
  if (last === undefined) return warn('none has run on this database yet: start one with ROLES=worker');
  const ago = `${Math.round(last.seconds)} s ago`;
  if (last.seconds > WORKER_WARN_S) {
    const text = `none at work; the last one was ${ago}. Nothing is sent`;
    return last.running ? fail(`${text}, although processes are connected: see the log of the workers`) : warn(text);
  }
  // The same limit as in readiness: three rounds.
  const silent = rows.filter(({ seconds, every }) => every !== null && seconds > Math.max(WORKER_WARN_S, every * 3));
  if (silent.length === 0) return ok(`at work ${ago}`);
  const list = silent.map(({ name, seconds }) => `${name} ${Math.round(seconds)} s`);
  return fail(`sweeps without a success for too long: ${list.join(', ')}. See the log of the workers`);
}

// Every process of the service listens while it runs.
const SWEEPS = `
select substr(name, 7) as name, extract(epoch from clock_timestamp() - beat_at)::float8 as seconds,
  every_seconds as every,
  exists (select from pg_stat_activity where datname = current_database()
    and application_name like '${LISTENER}%') as running
from heartbeat where name like 'sweep:%' order by beat_at desc`;

/** Another server or history than last time: waiting messages may have been sent. */
async function checkLanes(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<{ held: boolean }>(`select ${CLAIMS_BLOCKED} as held`);
  if (rows[0]?.held === false) return ok('not blocked: the database is the one that was confirmed last');
  return fail(`claims are blocked, nothing is sent, because the database changed its identity: ${BLOCKED_ADVICE}`);
}

async function setting(client: pg.Client, name: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [name]);
  return rows[0]?.value ?? '';
}
