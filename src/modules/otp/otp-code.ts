import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { sealingVersion } from '../../infrastructure/config/encryption-keys.js';
import type { SecretPlace } from '../../infrastructure/secrets/secret-box.js';
import type { ChallengeRef } from './otp.types.js';

/** What is in the database for a code. */
export interface CodeHash {
  /** HMAC-SHA-256, 32 bytes. */
  hash: Buffer;
  /** Version of the key in ENCRYPTION_KEYS from which the HMAC's own key was derived. */
  keyVersion: number;
}

/** The challenge and project to which a code is bound. */
type CodeOwner = Pick<ChallengeRef, 'id' | 'projectId'>;

const DIGITS = 6;

/** Where a plain code lies encrypted until it is sent. */
export function codePlace(organizationId: string, challengeId: string): SecretPlace {
  return { table: 'otp_challenge', column: 'code', organizationId, rowId: challengeId };
}

/**
 * Makes and checks codes. A hash alone would be found out in a second, because there are a million codes: it is keyed by a
 * secret outside the database, and bound to its challenge and project.
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

  /** Six digits, each of the million equally likely. */
  newCode(): string {
    return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
  }

  hash(code: string, owner: CodeOwner): CodeHash {
    return { hash: this.digest(code, owner, this.newest), keyVersion: this.newest };
  }

  /** In constant time. False also where the key's version is gone. */
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
