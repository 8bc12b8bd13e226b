import pg from 'pg';
import type { Config } from '../config/config.js';
import { KEEP_ALIVE } from './lost-server.js';

/**
 * What lends this process its connections: PostgreSQL itself (`none`), or a pooler such as PgBouncer that lends one for as long
 * as the client stays (`session`) or for each transaction (`transaction`).
 */
export type Pooling = Config['database']['pooling'];

export interface DatabaseLink {
  url: string;
  pooling: Pooling;
}

/** Where what needs a session goes: LISTEN, a lock over several transactions, a `search_path` of its own, migrations. */
export function sessionLink(database: Config['database']): DatabaseLink {
  const { url, pooling, directUrl, directPooling } = database;
  return directUrl === null ? { url: url ?? '', pooling } : { url: directUrl, pooling: directPooling };
}

/**
 * What texts of times, intervals, bytes and numbers look like, and how far transactions see each other, decides Herald: the
 * database, its role or the server may have another choice.
 */
const TRACKED = {
  datestyle: 'ISO,MDY',
  timezone: 'UTC',
  standard_conforming_strings: 'on',
};
/** A pooler does not keep these for a client that has no connection of its own. */
export const UNTRACKED = {
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
};
/** As those; nothing that a pool's statements read or write depends on them. */
const HARMLESS = {
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  // To compile a statement takes longer than to run it; a table without statistics makes one look as if it were worth it.
  jit: 'off',
};

type Settings = Readonly<Record<string, string | number>>;

/**
 * Options of a pool whose connections have Herald's settings of PostgreSQL, and these. Given as they connect; a pooler
 * refuses that, so the first statement sets them. For one transaction only those can be set that PgBouncer tracks for each
 * client; the role has the others.
 */
export function sessionPool({ url, pooling }: DatabaseLink, own: Settings = {}): pg.PoolConfig {
  if (pooling === 'transaction') return { connectionString: url, verify: setFirst(TRACKED) };
  const settings: Settings = { ...TRACKED, ...UNTRACKED, ...HARMLESS, ...own };
  if (pooling === 'session') return { connectionString: url, verify: setFirst(settings) };
  // In an address `options` wins over the pool's, so ours are added to what is there. The last one counts.
  const address = new URL(url);
  const given = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${String(value).replaceAll(/[\\ ]/g, String.raw`\$&`)}`,
  );
  const options = [address.searchParams.get('options'), ...given].filter(Boolean).join(' ');
  address.searchParams.delete('options');
  return { connectionString: address.href, options };
}

function setFirst(settings: Settings): pg.PoolConfig['verify'] {
  return (client, done) => client.query(statementOf(settings), (error: Error | null) => done(error ?? undefined));
}

function statementOf(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
}

/** Gives a client's session Herald's settings, where it was not opened with them. */
export async function setSession(client: pg.ClientBase): Promise<void> {
  await client.query(statementOf({ ...TRACKED, ...UNTRACKED, ...HARMLESS }));
}

/** By chance a busy pooler in transaction mode may lend the same connection several times; not this often to two clients. */
const ROUNDS = 8;
const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;

/**
 * A connection of the start or of a command. No setting but the name: a pooler refuses those that it does not know.
 *
 * @param answerMs how long a statement may take; 0: as long as it takes.
 */
export function startClient(url: string, answerMs = ANSWER_MS): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'herald-start',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    ...KEEP_ALIVE,
  });
  return client.on('error', () => undefined); // the statement that waits says so
}

/**
 * What stands behind an address. A pooler makes up the process id that it gives a client to cancel statements by, so another
 * answer of `pg_backend_pid()` shows one. It lends for a session where two clients that ask in turns each keep a server
 * process of their own.
 *
 * @param ask is given the connection that is open first.
 */
export async function poolingOf(url: string, ask: (client: pg.Client) => Promise<void>): Promise<Pooling> {
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    const client = startClient(url);
    clients.push(client);
    await client.connect();
    return client;
  };
  try {
    const first = await connect();
    await ask(first);
    if ((await serverOf(first)) === (first as unknown as { processID: number }).processID) return 'none';
    return (await keepServers(first, await connect())) ? 'session' : 'transaction';
  } finally {
    for (const client of clients) await client.end().catch(() => undefined);
  }
}

async function keepServers(first: pg.Client, second: pg.Client): Promise<boolean> {
  const own = [await serverOf(first), await serverOf(second)];
  if (own[0] === own[1]) return false;
  for (let round = 0; round < ROUNDS; round++) {
    // Each once first, once second: a pooler that lends its connections by turns has another one for each.
    if ((await serverOf(second)) !== own[1] || (await serverOf(first)) !== own[0]) return false;
    if ((await serverOf(first)) !== own[0] || (await serverOf(second)) !== own[1]) return false;
  }
  return true;
}

async function serverOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
