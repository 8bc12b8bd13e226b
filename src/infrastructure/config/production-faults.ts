import { parseUrl } from '../../common/parse-url.js';
import type { EncryptionKey } from './config.js';
import type { Setting } from './setting.js';

/** Of SEND_LEASE_MS: a shorter one may end while a process pauses, and makes doubts of messages that were never written. */
const LEAST_LEASE_MS = 10_000;
/** Random texts and keys have fewer once in 10^5 and in 10^30 times. */
const LEAST_DIFFERENT_CHARACTERS = 3;
const LEAST_DIFFERENT_BYTES = 9;

/** What the settings say, as `loadConfig` has read them. */
export interface SettingReader {
  text: (name: string) => string | null;
  list: (name: string) => string[] | null;
}

/** What may be started on a laptop and not in production. Names settings, never a secret's value. */
export function productionFaults(
  { text, list }: SettingReader,
  settings: readonly Setting[],
  env: NodeJS.Dict<string>,
): string[] {
  const faults = settings.flatMap((setting) => weakSecretFaults(setting, text(setting.name)));
  const refuse = (isFault: boolean, fault: string): void => {
    if (isFault) faults.push(fault);
  };
  for (const name of ['DEMO', 'WEBHOOK_ALLOW_PRIVATE_TARGETS']) {
    refuse(text(name) === 'true', `${name} must not be true in production`);
  }
  refuse(list('ROLES')?.includes('simulator') === true, 'ROLES must not contain simulator in production');
  refuse(
    Number(text('SEND_LEASE_MS')) < LEAST_LEASE_MS,
    `SEND_LEASE_MS must be at least ${LEAST_LEASE_MS} in production; shorter ones are for tests`,
  );
  const platform = parseUrl(text('WHATSAPP_API_URL') ?? '');
  refuse(
    platform !== null && platform.protocol !== 'https:',
    'WHATSAPP_API_URL must begin with https:// in production, for access tokens go there',
  );
  refuse(
    env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
    'NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in production: name a certificate authority of your own in NODE_EXTRA_CA_CERTS',
  );
  return faults;
}

export function weakKeyFaults(keys: readonly EncryptionKey[]): string[] {
  return keys
    .filter(({ key }) => !isRandom(key))
    .map(
      ({ version }) =>
        `ENCRYPTION_KEYS must be random; make the one of version ${version} with openssl rand -base64 32`,
    );
}

function weakSecretFaults({ name, type, leastLength }: Setting, value: string | null): string[] {
  if (leastLength === undefined || value === null) return [];
  const words = type === 'list' ? value.split(',').map((word) => word.trim()) : [value];
  const isWeak = (word: string) => word.length < leastLength || new Set(word).size < LEAST_DIFFERENT_CHARACTERS;
  if (!words.some(isWeak)) return [];
  return [
    `${name} must be at least ${leastLength} random characters in production, such as openssl rand -hex 24 makes`,
  ];
}

/** No byte over and over, no row of numbers, no short word repeated. */
function isRandom(key: Buffer): boolean {
  const steps = key.map((byte, index) => byte - (key[index - 1] ?? 0));
  return [key, steps].every((bytes) => new Set(bytes).size >= LEAST_DIFFERENT_BYTES);
}
