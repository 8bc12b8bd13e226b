import pg from 'pg';
import type { Config } from '../config/config.js';
import { KEEP_ALIVE } from './lost-server.js';

/**
 * How this process gets its connections: from PostgreSQL itself (`none`), or from a pooler such as PgBouncer that lends
 * a server connection for as long as the client stays (`session`) or for each transaction (`transaction`).
 */
export type Pooling = Config['database']['pooling'];

export interface DatabaseLink {
  url: string;
  pooling: Pooling;
}

/** The address for work that needs a session: LISTEN, a lock over several transactions, a `search_path`, migrations. */
export function sessionLink(database: Config['database']): DatabaseLink {
  const { url, pooling, directUrl, directPooling } = database;
  return directUrl === null ? { url: url ?? '', pooling } : { url: directUrl, pooling: directPooling };
}

/**
 * In this object and the next two Herald sets the text format of times, intervals, bytes and numbers, and the isolation
 * level: the database, its role or the server may have other defaults. PgBouncer tracks the settings of this object for
 * each client.
 */
const TRACKED = {
  datestyle: 'ISO,MDY',
  timezone: 'UTC',
  standard_conforming_strings: 'on',
};
/** A pooler in transaction mode does not keep these settings for a client. */
export const UNTRACKED = {
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
};
/** Like `UNTRACKED`, but no statement of a pool depends on these. */
const HARMLESS = {
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  // Compiling a statement takes longer than running it, and for a table without statistics the planner would choose it.
  jit: 'off',
};

type Settings = Readonly<Record<string, string | number>>;

/**
 * Options of a pool whose connections have Herald's settings of PostgreSQL, and the given ones. They are connection
 * options; a pooler refuses those, so there the first statement sets them. In transaction mode only settings that
 * PgBouncer tracks for each client can be set; the role must have the others.
 */
export function sessionPool({ url, pooling }: DatabaseLink, own: Settings = {}): pg.PoolConfig {
  if (pooling === 'transaction') return { connectionString: url, verify: setFirst(TRACKED) };
  const settings: Settings = { ...TRACKED, ...UNTRACKED, ...HARMLESS, ...own };
  if (pooling === 'session') return { connectionString: url, verify: setFirst(settings) };
  // `options` in the address take precedence over the pool's, so ours are appended to them. The last one of a setting
  // counts.
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

/** Applies Herald's settings to a session that was opened without them. */
export async function setSession(client: pg.ClientBase): Promise<void> {
  await client.query(statementOf({ ...TRACKED, ...UNTRACKED, ...HARMLESS }));
}

/**
 * A busy pooler in transaction mode may lend the same connection several times by chance, but not this often to two
 * clients.
 */
const ROUNDS = 8;
const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;

/**
 * A connection for the start or for a command. It sets only the name, because a pooler refuses unknown settings.
 *
 * @param answerMs time limit of a statement; 0: none.
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
 * Detects what is behind an address. A pooler invents the process id for canceling statements, so a different answer of
 * `pg_backend_pid()` reveals it. It pools by session if two clients, asking alternately, each keep one server process.
 *
 * @param ask is called with the first open connection.
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
    // Alternates the order: a pooler that lends its connections in turn gives each client another one.
    if ((await serverOf(second)) !== own[1] || (await serverOf(first)) !== own[0]) return false;
    if ((await serverOf(first)) !== own[0] || (await serverOf(second)) !== own[1]) return false;
  }
  return true;
}

async function serverOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
