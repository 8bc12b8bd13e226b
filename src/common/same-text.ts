import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a secret was given. Compares digests, which are of one length whatever was given, in constant time. */
export function isSameText(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}
