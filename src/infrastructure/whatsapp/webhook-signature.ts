import { createHmac, timingSafeEqual } from 'node:crypto';

/** `sha256=` and 64 hex digits. WhatsApp writes lower case; upper case means the same bytes. */
const HEADER = /^sha256=([0-9a-f]{64})$/i;

/**
 * Whether `X-Hub-Signature-256` is the HMAC of exactly these bytes under one of the app secrets. Takes the same time
 * whichever byte differs and whichever secret matches. An empty secret matches nothing.
 */
export function verifySignature(rawBody: Buffer, header: string | undefined, appSecrets: readonly string[]): boolean {
  const hex = header === undefined ? undefined : HEADER.exec(header)?.[1];
  if (hex === undefined) return false;
  const given = Buffer.from(hex, 'hex');
  let valid = false;
  for (const secret of appSecrets) {
    const fits = timingSafeEqual(digestOf(rawBody, secret), given);
    valid = (fits && secret !== '') || valid;
  }
  return valid;
}

/** The header's value for a body, in WhatsApp's form. */
export function signBody(rawBody: Buffer | string, appSecret: string): string {
  return `sha256=${digestOf(rawBody, appSecret).toString('hex')}`;
}

function digestOf(rawBody: Buffer | string, secret: string): Buffer {
  return createHmac('sha256', secret).update(rawBody).digest();
}
