/*
 * Idempotency keys. A message that n8n sends again after an error, by "Retry On Fail", has to come with the key of the first try,
 * or the customer may get it twice. So the key is made of what is the same then: execution, node, run, item and message.
 */

/** FNV-1a of 32 bits, begun at a seed. */
function hash32(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 16_777_619);
  }
  // Mixed once more: FNV spreads the last characters badly.
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2_246_822_507);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** A UUID (version 8) that is the same for the same parts. */
export function keyOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts);
  const hex = [2_166_136_261, 40_503, 2_654_435_769, 97]
    .map((seed) => hash32(text, seed).toString(16).padStart(8, '0'))
    .join('');
  const variant = ((parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
