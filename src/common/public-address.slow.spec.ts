import { EDGES, isPublicNumber, write4, write6 } from '../../test/webhook-net/address-oracle.js';
import { isPublicAddress } from './public-address.js';

/** A longer run: `RANDOM_ADDRESSES=1000000`. */
const RANDOM_ADDRESSES = Number(process.env.RANDOM_ADDRESSES ?? 50_000);

describe('isPublicAddress', () => {
  it(`agrees with the registries on ${RANDOM_ADDRESSES} addresses, half of them at an edge`, () => {
    const random = generator(20_261_121);
    const counts = { open: 0, closed: 0 };
    const wrong: string[] = [];
    for (let index = 0; index < RANDOM_ADDRESSES; index += 1) {
      const { bits, value } = pick(random, index);
      const address = bits === 32 ? write4(value) : write6(value, index >> 1);
      const expected = isPublicNumber(bits, value);
      counts[expected ? 'open' : 'closed'] += 1;
      if (isPublicAddress(address) !== expected && wrong.length < 20) {
        wrong.push(`${address} is ${expected ? 'public' : 'not public'}`);
      }
    }
    expect(wrong).toEqual([]);
    // Both kinds came up often enough to say something.
    expect(Math.min(counts.open, counts.closed)).toBeGreaterThan(RANDOM_ADDRESSES / 10);
  });
});

/** Half of all addresses lie within two of a range's first or last; the rest anywhere, or anywhere in a range. */
function pick(random: () => number, index: number): { bits: 32 | 128; value: bigint } {
  const range = EDGES[Math.floor(random() * EDGES.length)];
  const bits = index % 4 === 3 ? (index % 8 === 3 ? 32 : 128) : (range?.bits ?? 32);
  const size = 1n << BigInt(bits);
  if (range === undefined || index % 4 === 3) {
    // Half of IPv6 inside 2000::/3, which is an eighth of all.
    const value = number(random, size);
    return { bits, value: bits === 128 && index % 16 === 7 ? (1n << 125n) + (value >> 3n) : value };
  }
  if (index % 4 === 2) {
    return { bits, value: range.first + number(random, range.last - range.first + 1n) };
  }
  const step = BigInt(Math.floor(random() * 5)) - 2n;
  const value = (random() < 0.5 ? range.first : range.last) + step;
  return { bits, value: (value + size) % size };
}

function number(random: () => number, below: bigint): bigint {
  let value = 0n;
  for (let index = 0; index < 5; index += 1) {
    value = (value << 30n) + BigInt(Math.floor(random() * 2 ** 30));
  }
  return value % below;
}

/** Mulberry32: the same addresses on every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
