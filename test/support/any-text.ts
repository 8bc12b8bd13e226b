import fc from 'fast-check';

/**
 * Texts of any characters whatever, half of them ASCII. As `fc.string({ unit: 'binary' })`, which takes seconds to be made
 * on a busy machine.
 */
export function anyText({ minLength = 0, maxLength = 10 }: { minLength?: number; maxLength?: number } = {}) {
  const character = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    fc.integer({ min: 0x80, max: 0x2fff }),
    fc.integer({ min: 0x3000, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
  );
  return fc.array(character, { minLength, maxLength }).map((points) => String.fromCodePoint(...points));
}
