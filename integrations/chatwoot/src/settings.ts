import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Settings {
  heraldUrl: string;
  heraldKey: string;
  /** Null: the only number of the workspace. */
  connectionId: string | null;
  chatwootUrl: string;
  accountId: number;
  token: string;
  /** Null: what setup has stored. */
  inboxId: number | null;
  inboxName: string | null;
  /** Where Chatwoot reaches the bridge. Null: only setup needs it. */
  bridgeUrl: string | null;
  host: string;
  port: number;
  dataDir: string;
  /** Of one file, in both directions. */
  maxFileBytes: number;
  /** Origins that files of agents may be read from. */
  fileOrigins: ReadonlySet<string>;
}

/** What is wrong with the settings or the installations, in words for the operator. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const NUMBER = /^\d{1,9}$/;

/** @throws SetupError that names all that is wrong; never a secret's value */
export function settingsFrom(env: Environment): Settings {
  const faults: string[] = [];
  const given = (name: string): string | null => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? null : value;
  };
  const required = (name: string, what: string): string => {
    const value = given(name);
    if (value === null) faults.push(`${name} is missing: ${what}`);
    return value ?? '';
  };
  const address = (name: string, value: string | null): string => {
    if (value === null || value === '') return '';
    if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
      faults.push(`${name} is no http(s) address`);
      return '';
    }
    return value.replace(/\/+$/, '');
  };
  const whole = (name: string, value: string | null, fallback: number, most: number): number => {
    if (value === null) return fallback;
    const number = NUMBER.test(value) ? Number(value) : 0;
    if (number < 1 || number > most) faults.push(`${name} is no whole number from 1 to ${most}`);
    return number;
  };

  const heraldUrl = address('HERALD_URL', required('HERALD_URL', 'the address of Herald, such as http://herald:3000'));
  const heraldKey = required('HERALD_API_KEY', 'a key of Herald (hrld_live_...)');
  const chatwootUrl = address(
    'CHATWOOT_URL',
    required('CHATWOOT_URL', 'the address of Chatwoot, such as https://chat.example.com'),
  );
  const token = required(
    'CHATWOOT_TOKEN',
    'the access token of an administrator (Chatwoot, Profile Settings, Access Token)',
  );
  const account = required('CHATWOOT_ACCOUNT_ID', 'the number behind /app/accounts/ in the address of Chatwoot');
  const accountId = account === '' ? 0 : whole('CHATWOOT_ACCOUNT_ID', account, 0, 999_999_999);
  const inbox = given('CHATWOOT_INBOX_ID');
  const inboxId = inbox === null ? null : whole('CHATWOOT_INBOX_ID', inbox, 0, 999_999_999);
  const bridgeUrl = address('BRIDGE_URL', given('BRIDGE_URL')) || null;
  const port = whole('PORT', given('PORT'), 8090, 65_535);
  const maxFileMib = whole('MAX_FILE_MIB', given('MAX_FILE_MIB'), 40, 100);
  const origins = (given('CHATWOOT_FILE_ORIGINS') ?? '')
    .split(',')
    .map((origin) => address('CHATWOOT_FILE_ORIGINS', origin.trim()))
    .filter((origin) => origin !== '');
  if (faults.length > 0) throw new SetupError(`The settings are not complete:\n  ${faults.join('\n  ')}`);
  return {
    heraldUrl,
    heraldKey,
    connectionId: given('HERALD_CONNECTION_ID'),
    chatwootUrl,
    accountId,
    token,
    inboxId,
    inboxName: given('CHATWOOT_INBOX_NAME'),
    bridgeUrl,
    host: given('HOST') ?? '0.0.0.0',
    port,
    dataDir: given('DATA_DIR') ?? 'chatwoot-bridge',
    maxFileBytes: maxFileMib * 1024 ** 2,
    fileOrigins: new Set([chatwootUrl, ...origins].map((url) => new URL(url).origin)),
  };
}

/** What setup has found, for `start`. */
export interface Installed {
  inboxId: number;
  connectionId: string;
}

const FILE = 'setup.json';

export function storeInstalled({ dataDir }: Settings, installed: Installed): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(installed, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Null before the first setup. @throws SetupError where the file is damaged */
export function readInstalled({ dataDir }: Settings): Installed | null {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) return null;
  try {
    const { inboxId, connectionId } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Installed>;
    if (typeof inboxId === 'number' && typeof connectionId === 'string') return { inboxId, connectionId };
  } catch {
    // The same error as for a file with other fields.
  }
  throw new SetupError(`${path} is damaged: remove it, and run "herald-chatwoot setup" again.`);
}
