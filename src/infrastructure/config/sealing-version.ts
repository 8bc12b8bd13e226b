import type { Config } from './config.js';

/** Version of the key that encrypts and signs: ENCRYPTION_KEY_VERSION, else the highest there is. */
export function sealingVersion({ encryptionKeys, encryptionKeyVersion }: Config['security']): number {
  return encryptionKeyVersion ?? Math.max(...encryptionKeys.map(({ version }) => version));
}
