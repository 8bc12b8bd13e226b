import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

const SEQUENCE = 0x30;
const ECDSA_SHA256 = tlv(SEQUENCE, oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
const COMMON_NAME = oid([0x55, 0x04, 0x03]);
const BASIC_CONSTRAINTS = oid([0x55, 0x1d, 0x13]);
const ALTERNATIVE_NAMES = oid([0x55, 0x1d, 0x11]);

/** A server's key and certificate (PEM). */
export interface Credentials {
  readonly key: string;
  readonly cert: string;
}

export interface LeafOptions {
  /** Host names and IPv4 addresses. */
  readonly names: readonly string[];
  /** Hours from now; negative ones have passed. */
  readonly fromHours?: number;
  readonly untilHours?: number;
}

/**
 * A certificate authority that lives as long as a test: every run makes its own keys, so none is kept among the sources
 * and nothing runs out one day.
 */
export class TestAuthority {
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  /** PEM. */
  readonly certificate: string;

  constructor(private readonly name = 'Herald tests') {
    this.certificate = issue({
      subject: name,
      issuer: name,
      publicKey: this.keys.publicKey,
      signer: this.keys.privateKey,
      from: -24,
      until: 24,
      extensions: [extension(BASIC_CONSTRAINTS, tlv(SEQUENCE, tlv(0x01, Buffer.from([0xff]))), true)],
    });
  }

  issue(options: LeafOptions): Credentials {
    return leaf(options, this.name, this.keys.privateKey);
  }
}

export function selfSigned(options: LeafOptions): Credentials {
  return leaf(options, options.names[0] ?? '', null);
}

function leaf(
  { names, fromHours = -24, untilHours = 24 }: LeafOptions,
  issuer: string,
  signer: KeyObject | null,
): Credentials {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const alternatives = names.map((name) =>
    isIPv4(name) ? tlv(0x87, Buffer.from(name.split('.').map(Number))) : tlv(0x82, Buffer.from(name)),
  );
  const cert = issue({
    subject: names[0] ?? '',
    issuer,
    publicKey,
    signer: signer ?? privateKey,
    from: fromHours,
    until: untilHours,
    extensions: [extension(ALTERNATIVE_NAMES, tlv(SEQUENCE, ...alternatives), false)],
  });
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

interface Certificate {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signer: KeyObject;
  from: number;
  until: number;
  extensions: Buffer[];
}

function issue(wanted: Certificate): string {
  const content = tlv(
    SEQUENCE,
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(wanted.issuer),
    tlv(SEQUENCE, utcTime(wanted.from), utcTime(wanted.until)),
    nameOf(wanted.subject),
    wanted.publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, tlv(SEQUENCE, ...wanted.extensions)),
  );
  const signature = tlv(0x03, Buffer.from([0]), sign('sha256', content, wanted.signer));
  const lines =
    tlv(SEQUENCE, content, ECDSA_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function nameOf(text: string): Buffer {
  return tlv(SEQUENCE, tlv(0x31, tlv(SEQUENCE, COMMON_NAME, tlv(0x0c, Buffer.from(text)))));
}

function extension(id: Buffer, value: Buffer, critical: boolean): Buffer {
  return tlv(SEQUENCE, id, ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value));
}

function oid(bytes: readonly number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes));
}

/** DER: tag, length, content. */
function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function utcTime(hoursFromNow: number): Buffer {
  const text = new Date(Date.now() + hoursFromNow * 3_600_000).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return tlv(0x17, Buffer.from(text.slice(2)));
}
