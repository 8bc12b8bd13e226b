import { EDGES, isPublicNumber, write4, write6 } from '../../test/webhook-net/address-oracle.js';
import { isPublicAddress, isSameAddress, originOf } from './public-address.js';

/** A longer run: `RANDOM_ADDRESSES=1000000`. */
const RANDOM_ADDRESSES = Number(process.env.RANDOM_ADDRESSES ?? 50_000);

const PUBLIC = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 1.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255
  192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255
  192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255
  198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 52.95.110.1 140.82.112.3 157.240.1.35 25.0.0.1
  2000:: 2000::1 2001:200:: 2001:200::1 2001:4860:4860::8888 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
  2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: 2400:cb00::1 2600:1f18::1 2606:4700:4700::1111
  2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 2620:fe::fe 2a00:1450:4009:81f::200e 2a03:2880:f12f::1
  2c0f:fb50:4003::1 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:4860:4860:0:0:0:0:8844 2001:4860:4860::8.8.8.8 2A00:1450:4009:81F::200E
`;

const FORBIDDEN = `
  0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.0.0.1 10.1.2.3 10.255.255.255 100.64.0.0 100.64.0.1 100.100.100.200
  100.127.255.255 127.0.0.0 127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.255 168.63.129.16 169.254.0.0 169.254.0.1
  169.254.169.253 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.16.0.1 172.17.0.1 172.20.10.1
  172.31.255.255 192.0.0.0 192.0.0.1 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.171 192.0.0.192 192.0.0.255
  192.0.2.0 192.0.2.1 192.0.2.255 192.31.196.0 192.31.196.255 192.52.193.0 192.52.193.255 192.88.99.0 192.88.99.1
  192.88.99.2 192.88.99.255 192.168.0.0 192.168.0.1 192.168.1.1 192.168.255.255 192.175.48.0 192.175.48.1
  192.175.48.255 198.18.0.0 198.18.0.1 198.19.255.255 198.51.100.0 198.51.100.1 198.51.100.255 203.0.113.0
  203.0.113.1 203.0.113.255 224.0.0.0 224.0.0.1 239.255.255.250 239.255.255.255 240.0.0.0 240.0.0.1 250.1.2.3
  255.255.255.254 255.255.255.255
  :: ::1 ::2 ::127.0.0.1 ::7f00:1 ::10.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a00:1
  ::ffff:8.8.8.8 ::ffff:808:808 ::ffff:169.254.169.254 ::FFFF:169.254.169.254 0:0:0:0:0:ffff:7f00:1
  0000:0000:0000:0000:0000:ffff:127.0.0.1 ::ffff:0:127.0.0.1 ::ffff:0:7f00:1 ::fffe:7f00:1 1::1 64:ff9b::
  64:ff9b::7f00:1 64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1:ffff::10.0.0.1 100:: 100::1
  100:0:0:1::1 200::1 400::1 1000::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:: 2001::1 2001:0:4136:e378::1
  2001:0:7f00:1::7f00:1 2001:1::1 2001:1::2 2001:2::1 2001:3::1 2001:4:112::1 2001:5::1 2001:10::1 2001:1f:: 2001:20::1
  2001:2f::1 2001:30::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8::1 2001:0DB8::1
  2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:7f00:1:: 2002:7f00:0001::1 2002:a00:1::1 2002:c0a8:101::1
  2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2620:4f:8000:: 2620:4f:8000::1
  2620:4f:8000:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: 4000::1 5f00::1
  5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff 6000::1 8000::1 c000::1 e000::1 f000::1 fb00::1 fc00:: fc00::1 fd00::1
  fd00:ec2::254 fd12:3456:789a::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00::1 fe80:: fe80::1 fe80::a9fe:a9fe
  febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0::1 feff::1 ff00::1 ff01::1 ff02::1 ff02::fb ff0e::1
  ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80::1%eth0 fe80::1%1 ::1%lo 2001:4860:4860::8888%eth0 2606:4700::1111%25eth0
`;

/** What some parsers take for an address of their own choice. */
const NO_ADDRESS = [
  '',
  ' ',
  '1',
  '1.1',
  '1.1.1',
  '1.1.1.',
  '.1.1.1.1',
  '1.1.1.1.',
  '1.1.1.1 ',
  ' 1.1.1.1',
  '1.1.1.1\n',
  '1.1.1.1\u0000',
  '1.1.1.1.1',
  '01.1.1.1',
  '08.8.8.8',
  '010.8.8.8',
  '0x8.8.8.8',
  '0x08080808',
  '134744072',
  '8.8.2056',
  '8.526344',
  '256.1.1.1',
  '1.1.1.256',
  '1.1.1.-1',
  '1.1.1.1e0',
  '+1.1.1.1',
  '1.1.1.1/32',
  '1.1.1.1:443',
  '８.8.8.8',
  '8。8。8。8',
  '①.1.1.1',
  'localhost',
  'example.com',
  '[2606:4700:4700::1111]',
  '2606:4700:4700::1111/128',
  '2606:4700:4700:::1111',
  '2606::4700::1111',
  '2606:4700:4700:0:0:0:0:0:1111',
  '2606:4700:4700:0:0:0:1111',
  '12606::1',
  '2606:4700::g',
  ':2606::1',
  '2606::1:',
  '2606:4700::1.1.1',
  '2606:4700::1.1.1.256',
  '2606:4700::01.1.1.1',
  '%',
  '%eth0',
  '::ffff:',
  'null',
  'undefined',
];

const words = (text: string): string[] => text.trim().split(/\s+/);

describe('isPublicAddress', () => {
  it('takes what is public', () => {
    expect(words(PUBLIC).filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  it('refuses what is not', () => {
    expect(words(FORBIDDEN).filter(isPublicAddress)).toEqual([]);
  });

  it('refuses what is no address', () => {
    expect(NO_ADDRESS.filter(isPublicAddress)).toEqual([]);
  });

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

describe('originOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['1::4:5:6:7:8', '1:0:0:4::/64'],
    ['', ''],
  ])('%s counts as %s', (address, origin) => {
    expect(originOf(address)).toBe(origin);
  });
});

describe('isSameAddress', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4', true],
    ['::ffff:1.2.3.4', '1.2.3.4', true],
    ['2606:4700::1', '2606:4700:0:0:0:0:0:1', true],
    ['2606:4700::A', '2606:4700::a', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['::1', '127.0.0.1', false],
    ['1.2.3.4', 'no address', false],
  ])('%s and %s: %s', (one, other, same) => {
    expect(isSameAddress(one, other)).toBe(same);
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
