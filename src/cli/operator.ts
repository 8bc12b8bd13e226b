import type { HeraldAdmin } from '../../clients/typescript/src/admin.js';
import type { components } from '../../clients/typescript/src/admin-schema.js';
import { HeraldError } from '../../clients/typescript/src/errors.js';
import type { Services } from '../bootstrap/services.js';
import { heraldVersion } from '../common/version.js';
import { loadClientConfig } from '../infrastructure/config/load-config.js';
import { addressOf, fetchFrom } from './api/client.js';
import { readStandardInput } from './arguments.js';
import { paint } from './output.js';
import { openSession, type Session } from './session.js';

/** Options of every command that uses the admin API. */
export interface OperatorOptions {
  url?: string;
  keyStdin?: true;
}

/** The admin API of this process, or of a service elsewhere: commands do not distinguish them. */
export interface Operator {
  admin: HeraldAdmin;
  /** The services of this machine; null when an address is given. */
  services: Services | null;
}

/** The types of the admin API. */
export type Schemas = components['schemas'];

/** Rows per request, the limit of the admin API. */
export const PAGE = 100;

/** The rows of a list, whose pages are read one after the other. */
export async function rowsOf<Row>(list: AsyncIterable<Row>, most = Infinity): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) {
    rows.push(row);
    if (rows.length >= most) break;
  }
  return rows;
}

/**
 * @param what such as `--dry-run`. @throws Error when an address is given; says why the option works only on the
 * server.
 */
export function onServer({ services }: Operator, what: string, why: string): Services {
  if (services !== null) return services;
  throw new Error(`${what} works on the server only: ${why}. Run the command there, without --url`);
}

/** A call to WhatsApp may take long, and has shorter limits of its own. */
const TIMEOUT_MS = 60_000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Runs the work, over HTTP if an address is given, and always closes what it opened. */
export async function withOperator<T>(options: OperatorOptions, work: (operator: Operator) => Promise<T>): Promise<T> {
  const { createHeraldAdmin } = await import('../../clients/typescript/src/admin.js');
  const config = loadClientConfig();
  const isRemote = options.url !== undefined || options.keyStdin === true || config.operatorKey !== null;
  const url = isRemote ? (addressOf(options.url) ?? config.url) : null;
  if (url === null) {
    if (options.keyStdin === true) throw new Error('--key-stdin needs --url, or HERALD_URL');
    return withSession(async ({ services, fetch }) => {
      const given = { baseUrl: 'http://localhost', operatorKey: 'none is asked for', fetch, maxAttempts: 1 };
      return work({ services, admin: createHeraldAdmin({ ...given, timeoutMs: TIMEOUT_MS }) });
    });
  }
  requirePrivate(url);
  const operatorKey = options.keyStdin === true ? (await readStandardInput()).trim() : (config.operatorKey ?? '');
  if (operatorKey === '') {
    throw new Error(
      `no operator key for ${url}: set HERALD_OPERATOR_KEY, or give the key on standard input with --key-stdin; herald operator-key create makes one, on the server`,
    );
  }
  const fetch = fetchFrom(url, 'is it running, and is the address right?');
  const admin = createHeraldAdmin({ baseUrl: url, operatorKey, fetch, timeoutMs: TIMEOUT_MS });
  let there: string | undefined;
  try {
    // A wrong address, certificate or key shows before anything is changed.
    there = (await admin.operatorKey.get()).version;
    if (there !== heraldVersion()) process.stderr.write(`${paint.doubtful('herald:')} ${mismatch(url, there)}\n`);
    return await work({ admin, services: null });
  } catch (error) {
    throw error instanceof HeraldError && error.code === 'ROUTE_NOT_FOUND' ? unknownRoute(error, url, there) : error;
  }
}

/** Opens the application of this machine, and always closes it. */
export async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession();
  // An interrupt must also stop an embedded database that this command started.
  const interrupt = (): void => {
    void session.close().finally(() => process.exit(INTERRUPTED));
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    return await work(session);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await session.close();
  }
}

/** The shell's exit code after Ctrl-C. */
export const INTERRUPTED = 130;

/** @throws Error where the key would cross a network in plain text. */
function requirePrivate(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return;
  throw new Error(
    `${url} is not encrypted, and the operator key would be sent as plain text: give its https address, or run the command on the server`,
  );
}

function mismatch(url: string, there: string): string {
  return `the service at ${url} is Herald ${there}, this command is ${heraldVersion()}: use the command of that release where they disagree`;
}

/** The service runs another release. */
function unknownRoute(cause: unknown, url: string, there: string | undefined): Error {
  const why =
    there === undefined
      ? `${url} has no admin API: it is an older Herald, or runs with ADMIN_API=false`
      : `the service at ${url} is Herald ${there} and does not know this call of herald ${heraldVersion()}`;
  return new Error(`${why}. Upgrade the service, or run the command on the server`, { cause });
}
