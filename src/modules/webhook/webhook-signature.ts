import { Injectable } from '@nestjs/common';
import { createHmac, randomBytes } from 'node:crypto';
import { newId } from '../../common/ids.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import type { SealedSecret } from './endpoints.repository.js';

const PREFIX = 'whsec_';

/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** A fresh secret of an endpoint: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * The `webhook-signature` header (Standard Webhooks 1.0.0): `v1,<base64>` once for each secret, separated by blanks, so
 * that a receiver that holds either the new or the old one finds its own.
 *
 * @param id the `webhook-id`, the same for every attempt.
 * @param timestampSeconds the `webhook-timestamp` of this attempt, whole seconds since the epoch.
 * @param body the very bytes that are sent.
 * @throws RangeError for a secret that is not `whsec_` and the base64 of 24 to 64 bytes, and where there is none.
 */
export function signDelivery(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string | Buffer,
): string {
  if (secrets.length === 0) throw new RangeError('a delivery is signed with at least one secret');
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestampSeconds}.`).update(body);
      return `v1,${hmac.digest('base64')}`;
    })
    .join(' ');
}

function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const key = Buffer.from(encoded, 'base64');
  // Buffer passes over what is not base64; a key that lost a part of itself would make signatures that no receiver can verify.
  if (key.length < 24 || key.length > 64 || key.toString('base64') !== encoded) {
    throw new RangeError('a webhook secret is whsec_ and the base64 of 24 to 64 bytes');
  }
  return key;
}

const COLUMN = { table: 'webhook_secret', column: 'ciphertext' };
const HINT_CHARACTERS = 4;

/** Signing secrets: made, sealed for their row, and opened for signing. */
@Injectable()
export class EndpointSecrets {
  constructor(
    private readonly box: SecretBox,
    rotation: SecretRotation,
  ) {
    rotation.add(COLUMN);
  }

  /** A new secret, plain for its one appearance and sealed for the database. */
  make(organizationId: string): { plain: string; sealed: SealedSecret } {
    const id = newId();
    const plain = newWebhookSecret();
    const ciphertext = this.box.seal(plain, { ...COLUMN, organizationId, rowId: id });
    return { plain, sealed: { id, ciphertext, hint: plain.slice(-HINT_CHARACTERS) } };
  }

  /**
   * @param sealed base64 of the stored bytes.
   * @throws Error where it cannot be opened: the key is missing, or the bytes belong to another row.
   */
  open(organizationId: string, id: string, sealed: string): string {
    return this.box.open(Buffer.from(sealed, 'base64'), { ...COLUMN, organizationId, rowId: id });
  }
}
