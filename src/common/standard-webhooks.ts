// Signatures of Standard Webhooks. A file without Nest, because the command line uses it too.
import { createHmac, randomBytes } from 'node:crypto';
import { databaseClock } from './clock.js';

const PREFIX = 'whsec_';

/** Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;

/** A fresh secret of an endpoint: `whsec_` and the base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * The `webhook-signature` header (Standard Webhooks 1.0.0): `v1,<base64>` once for each secret, separated by blanks, so
 * that a receiver with either the new or the old secret finds its signature.
 *
 * @param id the `webhook-id`, the same for every attempt.
 * @param timestampSeconds the `webhook-timestamp` of this attempt, whole seconds since the epoch.
 * @param body the exact bytes that are sent.
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

/** `whsec_` and the base64 of 24 to 64 bytes, in canonical form: unused trailing bits are zero. */
export const SECRET_PATTERN =
  '^whsec_(?:[A-Za-z0-9+/]{4}){8,20}' +
  '(?:[A-Za-z0-9+/]{4}(?:[A-Za-z0-9+/][AQgw]==)?|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$';

function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const key = Buffer.from(encoded, 'base64');
  // Buffer skips characters that are not base64; a truncated key would make signatures that no receiver can verify.
  if (key.length < 24 || key.length > 64 || key.toString('base64') !== encoded) {
    throw new RangeError('a webhook secret is whsec_ and the base64 of 24 to 64 bytes');
  }
  return key;
}

/**
 * The headers of one attempt, signed with each secret over id, time of this attempt and body.
 *
 * A receiver compares the time with its own clock, within minutes. The time comes from the database's clock, which is
 * most likely right. A process on a host with a wrong clock would otherwise have all its deliveries refused.
 */
export function signatureHeaders(secrets: readonly string[], id: string, body: string): Record<string, string> {
  const timestampSeconds = Math.floor(databaseClock.now() / 1_000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signDelivery(secrets, id, timestampSeconds, body),
  };
}
