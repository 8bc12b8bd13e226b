import { InvalidSetting, type Surroundings, words } from './setting.js';

/** A random key has fewer different bytes once in 10^30. */
const MIN_DIFFERENT_BYTES = 9;

export interface EncryptionKey {
  version: number;
  /** 32 bytes. */
  key: Buffer;
}

export function encryptionKeys(value: string, { production }: Surroundings): EncryptionKey[] {
  const keys = words(value).map((item) => {
    const [, version, key] = /^(\d{1,6}):([A-Za-z0-9+/]{43}=)$/.exec(item) ?? [];
    if (version === undefined || key === undefined) {
      throw new InvalidSetting('must be made of version:base64 of 32 bytes, such as 1:<openssl rand -base64 32>');
    }
    return { version: Number(version), key: Buffer.from(key, 'base64') };
  });
  if (new Set(keys.map((key) => key.version)).size !== keys.length) {
    throw new InvalidSetting('must not name a version twice');
  }
  const weak = production ? keys.find(({ key }) => !isRandom(key)) : undefined;
  if (weak === undefined) return keys;
  throw new InvalidSetting(`must be random; make the one of version ${weak.version} with openssl rand -base64 32`);
}

/** The key that encrypts and signs: ENCRYPTION_KEY_VERSION, otherwise the highest version. */
export function sealingVersion(settings: {
  encryptionKeys: readonly EncryptionKey[];
  encryptionKeyVersion: number | null;
}): number {
  return settings.encryptionKeyVersion ?? Math.max(...settings.encryptionKeys.map(({ version }) => version));
}

/** Rejects a repeated byte, a sequence of numbers, and a repeated short word. */
function isRandom(key: Buffer): boolean {
  const steps = key.map((byte, index) => byte - (key[index - 1] ?? 0));
  return [key, steps].every((bytes) => new Set(bytes).size >= MIN_DIFFERENT_BYTES);
}
