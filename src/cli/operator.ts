import type { HeraldAdmin } from '../../clients/typescript/src/admin.js';
import type { components } from '../../clients/typescript/src/admin-schema.js';
import { HeraldConnectionError, HeraldError } from '../../clients/typescript/src/errors.js';
import type { Services } from '../bootstrap/services.js';
import { describeError } from '../common/describe-error.js';
import { heraldVersion } from '../common/version.js';
import { loadClientConfig } from '../infrastructure/config/load-config.js';
import { addressOf, refusalText, ApiError } from './api/client.js';
import { readStandardInput } from './arguments.js';
import { paint } from './output.js';
import { openSession } from './session.js';

/** Options of every command that works over the admin API. */
export interface OperatorOptions {
  url?: string;
  keyStdin?: true;
}

/** The admin API, that of this process or of a service elsewhere: a command does not know which. */
export interface Operator {
  admin: HeraldAdmin;
  /** The services of this machine; null with an address. */
  services: Services | null;
}

/** What the admin API takes and answers. */
export type Schemas = components['schemas'];

/** Rows a request; the most that the admin API gives. */
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

/** @param what such as `--dry-run`. @throws Error with an address, which says why it is for the server. */
export function onServer({ services }: Operator, what: string, why: string): Services {
  if (services !== null) return services;
  throw new Error(`${what} works on the server only: ${why}. Run the command there, without --url`);
}

/** One call to the platform may take long; what it calls has shorter limits. */
const TIMEOUT_MS = 60_000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Runs the work, over HTTP where an address is given, and closes what it needed whatever happens. */
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
  const admin = createHeraldAdmin({ baseUrl: url, operatorKey, timeoutMs: TIMEOUT_MS });
  let there: string | undefined;
  try {
    // What is wrong with address, certificate or key is known before anything is changed.
    there = (await admin.operatorKey.get()).version;
    if (there !== heraldVersion()) process.stderr.write(`${paint.doubtful('herald:')} ${mismatch(url, there)}\n`);
    return await work({ admin, services: null });
  } catch (error) {
    throw explained(error, url, there);
  }
}

/** Opens the application of this machine, and closes it whatever happens. */
export async function withSession<T>(
  work: (session: Awaited<ReturnType<typeof openSession>>) => Promise<T>,
): Promise<T> {
  const session = await openSession();
  // An interrupt must not leave behind an embedded database that was started for this command.
  const interrupt = (): void => {
    void session.close().finally(() => process.exit(INTERRUPTED));
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    return await work(session);
  } catch (error) {
    throw error instanceof HeraldError ? refusal(error) : error;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await session.close();
  }
}

/** As the shell counts a command that Ctrl-C ended. */
export const INTERRUPTED = 130;

/** @throws Error where the key would cross a network as plain text. */
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

/** What the service says, or why none answered, as a sentence that says what to do. */
function explained(error: unknown, url: string, there: string | undefined): unknown {
  if (error instanceof HeraldConnectionError) return new Error(unreachable(error, url), { cause: error });
  if (!(error instanceof HeraldError)) return error;
  if (error.code !== 'ROUTE_NOT_FOUND') return refusal(error, url);
  const why =
    there === undefined
      ? `${url} has no admin API: it is an older Herald, or runs with ADMIN_API=false`
      : `the service at ${url} is Herald ${there} and does not know this call of herald ${heraldVersion()}`;
  return new ApiError(error.status, error.code, `${why}. Upgrade the service, or run the command on the server.`);
}

function refusal({ status, code, text, details, fields, docUrl }: HeraldError, url = ''): ApiError {
  // Not an answer of Herald: a proxy's, or another program's.
  if (docUrl === '') return new ApiError(status, 'UNEXPECTED_ANSWER', `${url} answered ${status}: is it a Herald?`);
  const { code: _code, message: _message, ...extra } = fields;
  return new ApiError(status, code, IN_WORDS_OF_COMMANDS[code] ?? refusalText(text, details), extra);
}

/** The API names its routes there. */
const IN_WORDS_OF_COMMANDS: Readonly<Record<string, string>> = {
  WORKSPACE_NOT_FOUND: 'There is no such workspace, or the operator key may not see it: herald workspace list.',
  OTP_SENDER_NOT_SET: 'No number is set: herald otp-sender set.',
};

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS|ERR_SSL/;

function unreachable({ cause }: HeraldConnectionError, url: string): string {
  const root = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  const code = (root as { code?: unknown } | undefined)?.code;
  const why = typeof code === 'string' ? code : describeError(root);
  if (UNTRUSTED.test(why)) {
    return `the certificate of ${url} is not trusted here (${why}): give the name that it was issued for, or the certificate of its issuer with NODE_EXTRA_CA_CERTS=<file>`;
  }
  return `Herald does not answer at ${url} (${why}): is it running, and is the address right?`;
}
