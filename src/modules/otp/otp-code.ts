import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { sealingVersion } from '../../infrastructure/config/encryption-keys.js';
import type { SecretPlace } from '../../infrastructure/secrets/secret-box.js';
import type { ChallengeRef } from './otp.types.js';

/** The stored form of a code. */
export interface CodeHash {
  /** HMAC-SHA-256, 32 bytes. */
  hash: Buffer;
  /** Version of the key in ENCRYPTION_KEYS from which the HMAC key was derived. */
  keyVersion: number;
}

/** The challenge and project to which a code is bound. */
type CodeOwner = Pick<ChallengeRef, 'id' | 'projectId'>;

const DIGITS = 6;

/** The place of an encrypted plain code, until it is sent. */
export function codePlace(organizationId: string, challengeId: string): SecretPlace {
  return { table: 'otp_challenge', column: 'code', organizationId, rowId: challengeId };
}

/**
 * Creates and checks codes. A plain hash could be reversed in a second, since there are only a million codes. So it is
 * an HMAC with a key outside the database, bound to challenge and project.
 */
@Injectable()
export class OtpCodes {
  private readonly keys: ReadonlyMap<number, Buffer>;
  private readonly newest: number;

  constructor(config: Config) {
    const derived = config.security.encryptionKeys.map(
      ({ version, key }) => [version, Buffer.from(hkdfSync('sha256', key, '', 'herald otp code', 32))] as const,
    );
    this.keys = new Map(derived);
    this.newest = sealingVersion(config.security);
  }

  /** Six digits, uniformly random. */
  newCode(): string {
    return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
  }

  hash(code: string, owner: CodeOwner): CodeHash {
    return { hash: this.digest(code, owner, this.newest), keyVersion: this.newest };
  }

  /** In constant time. False also if the key's version is gone. */
  matches(code: string, owner: CodeOwner, stored: CodeHash): boolean {
    if (!this.keys.has(stored.keyVersion)) return false;
    const digest = this.digest(code, owner, stored.keyVersion);
    return stored.hash.length === digest.length && timingSafeEqual(digest, stored.hash);
  }

  private digest(code: string, { id, projectId }: CodeOwner, keyVersion: number): Buffer {
    const key = this.keys.get(keyVersion);
    if (key === undefined) throw new Error(`ENCRYPTION_KEYS has no version ${keyVersion}`);
    return createHmac('sha256', key).update(`${id}|${projectId}|${code}`).digest();
  }
}
