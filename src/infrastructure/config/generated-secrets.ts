import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../common/folders.js';

/**
 * Secrets for a laptop: made once, stored in `DATA_DIR/secrets.json` (mode 0600). If the file is lost, the stored
 * provider tokens can no longer be decrypted, so production must set its own.
 */
export function generatedSecrets(dataDir: string, persist: boolean) {
  const stored = persist ? readOrCreate(dataDir) : fresh();
  return {
    encryptionKeys: [{ version: 1, key: Buffer.from(stored.encryption_key, 'base64') }],
    appSecret: stored.app_secret,
    verifyToken: stored.verify_token,
  };
}

function fresh() {
  return {
    encryption_key: randomBytes(32).toString('base64'),
    app_secret: randomBytes(16).toString('hex'),
    verify_token: randomBytes(16).toString('hex'),
  };
}

function readOrCreate(dataDir: string): ReturnType<typeof fresh> {
  const file = join(dataDir, 'secrets.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof fresh>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new Error(`${file} cannot be read; restore it, for stored tokens need it`, { cause: error });
    }
  }
  makeFolder(dataDir);
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(fresh(), null, 2)}\n`, { mode: 0o600 });
  try {
    // A link fails if the file exists: of two concurrent first starts, one makes the secrets and both read them.
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof fresh>;
}
