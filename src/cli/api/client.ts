import { createHeraldClient, type HeraldClient } from '../../../clients/typescript/src/client.js';
import type { HeraldError } from '../../../clients/typescript/src/errors.js';
import { type DemoFile, readDemoFile } from '../../bootstrap/demo-file.js';
import { describeError } from '../../common/describe-error.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { CLIENT_SETTINGS } from '../../infrastructure/config/settings.js';
import { secretArgument } from '../arguments.js';

/** The text for a refusal: the code, its message, and the other fields of the answer. */
export function refusalOf({ status, code, text, details, docUrl, fields }: HeraldError) {
  // The answer is not Herald's, but from a proxy or another program.
  if (docUrl === '') {
    return { code: 'UNEXPECTED_ANSWER', message: `the answer was ${status}: is this address a Herald?`, extra: {} };
  }
  const { code: _code, message: _message, ...extra } = fields;
  return { code, message: IN_WORDS_OF_COMMANDS[code] ?? refusalText(text, details), extra };
}

/** The API's texts name routes; these are the commands. */
const IN_WORDS_OF_COMMANDS: Readonly<Record<string, string>> = {
  WORKSPACE_NOT_FOUND: 'There is no such workspace, or the operator key may not see it: herald workspace list.',
  OTP_SENDER_NOT_SET: 'No number is set: herald otp-sender set.',
};

/** Message and details, each text once: for a single invalid field the message equals its detail. */
export function refusalText(message: string, details: readonly { message: string }[] = []): string {
  return [...new Set([message, ...details.map((detail) => detail.message)])].join(' ');
}

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS|ERR_SSL/;
const TO_START = 'start it with "npm start" in another terminal, or name it with --url';

/** A `fetch` that explains why no answer came, and what to do. */
export function fetchFrom(base: string, advice = TO_START): typeof fetch {
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      const { code } = cause as { code?: unknown };
      const why = typeof code === 'string' ? code : describeError(cause);
      const text = UNTRUSTED.test(why)
        ? `the certificate of ${base} is not trusted here (${why}): give the name that it was issued for, or the certificate of its issuer with NODE_EXTRA_CA_CERTS=<file>`
        : `Herald does not answer at ${base} (${why}): ${advice}`;
      throw new Error(text, { cause: error });
    }
  };
}

/** Options of every command that calls the API. */
export interface TargetOptions {
  url?: string;
  key?: string;
}

export interface Target {
  api: HeraldClient;
  url: string;
  key: string;
  /** The demo workspace's data if its key is used; otherwise empty. */
  demo: Partial<DemoFile>;
}

const TIMEOUT_MS = 30_000;

/** A client of the API; the signal aborts its calls. */
export function apiAt(url: string, key: string, signal?: AbortSignal): HeraldClient {
  return createHeraldClient({ baseUrl: url, apiKey: key, timeoutMs: TIMEOUT_MS, fetch: fetchFrom(url), signal });
}

/** Reads the same form as HERALD_URL. */
export function addressOf(option: string | undefined): string | null {
  if (option === undefined) return null;
  try {
    return CLIENT_SETTINGS.url.read(option, { production: false });
  } catch (error) {
    throw new Error(`--url ${describeError(error)}`, { cause: error });
  }
}

/**
 * The address and the key to use: from options first, then settings, then the demo's file. The demo's key is sent only
 * to the demo's address.
 *
 * @throws Error without a key; says how to give one.
 */
export async function targetOf(options: TargetOptions, signal?: AbortSignal): Promise<Target> {
  const config = loadClientConfig();
  const demo = readDemoFile(config.dataDir);
  const url = addressOf(options.url) ?? config.url ?? demo.base_url ?? `http://127.0.0.1:${config.port}`;
  const ofDemo = url === demo.base_url ? demo.api_key : undefined;
  const key = (options.key === undefined ? config.apiKey : await secretArgument(options.key)) ?? ofDemo;
  if (key !== undefined) return { api: apiAt(url, key, signal), url, key, demo: key === ofDemo ? demo : {} };
  throw new Error(
    demo.api_key === undefined
      ? 'no API key: give --key or HERALD_API_KEY (herald key create makes one), or start the demo with "npm start"'
      : `no API key for ${url}: give --key or HERALD_API_KEY; the demo's is good for ${demo.base_url} only`,
  );
}
