import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { type EncryptionKey, sealingVersion } from '../config/encryption-keys.js';

/** Where a secret is stored. A ciphertext copied to another row or workspace cannot be decrypted there. */
export interface SecretPlace {
  table: string;
  column: string;
  organizationId: string;
  rowId: string;
}

const ALGORITHM = 'aes-256-gcm';
const VERSION_BYTES = 4;
const IV_BYTES = 12;
// Node 20 accepts truncated tags unless the length is stated.
const TAG_BYTES = 16;

/**
 * Encrypts stored secrets with AES-256-GCM. Layout: key version (4 bytes, big-endian), IV (12), tag (16), ciphertext.
 * The place and the key version are authenticated too.
 */
@Injectable()
export class SecretBox {
  private readonly keys: Map<number, EncryptionKey>;
  private readonly current: EncryptionKey;

  constructor(config: Config) {
    this.keys = new Map(config.security.encryptionKeys.map((key) => [key.version, key]));
    const current = this.keys.get(sealingVersion(config.security));
    if (current === undefined) throw new Error('ENCRYPTION_KEYS does not have the key that encrypts');
    this.current = current;
  }

  /** The version of the active key. */
  get version(): number {
    return this.current.version;
  }

  seal(plain: string, place: SecretPlace): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.current.key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(place, this.current.version));
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    const version = Buffer.alloc(VERSION_BYTES);
    version.writeUInt32BE(this.current.version);
    return Buffer.concat([version, iv, cipher.getAuthTag(), body]);
  }

  /** @throws Error when the key version is unknown, or the bytes were changed or belong to another place. */
  open(sealed: Buffer, place: SecretPlace): string {
    if (sealed.length < VERSION_BYTES + IV_BYTES + TAG_BYTES) throw new Error('the stored secret is truncated');
    const version = sealed.readUInt32BE(0);
    const key = this.keys.get(version);
    if (key === undefined) throw new Error(`ENCRYPTION_KEYS has no version ${version}`);
    const iv = sealed.subarray(VERSION_BYTES, VERSION_BYTES + IV_BYTES);
    const tag = sealed.subarray(VERSION_BYTES + IV_BYTES, VERSION_BYTES + IV_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key.key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedData(place, version));
    decipher.setAuthTag(tag);
    const body = sealed.subarray(VERSION_BYTES + IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  }
}

function associatedData(place: SecretPlace, version: number): Buffer {
  return Buffer.from(JSON.stringify([place.table, place.column, place.organizationId, place.rowId, version]));
}
