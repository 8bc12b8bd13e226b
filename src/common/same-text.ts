import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether the given text equals the secret. Compares digests in constant time; digests have one length, whatever was
 * given.
 */
export function isSameText(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}
