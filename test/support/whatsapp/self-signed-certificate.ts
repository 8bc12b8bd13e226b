import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const SEQUENCE = 0x30;
const SET = 0x31;
const ED25519 = tlv(SEQUENCE, tlv(0x06, Buffer.from([0x2b, 0x65, 0x70])));

/**
 * A fresh self-signed certificate for a name and IPv4 addresses (PEM), so that no private key is kept among the sources.
 * It is valid for the hours given, counted from now; with negative hours it has expired.
 */
export function selfSignedCertificate(
  name = 'localhost',
  validHours = 24,
  addresses: number[][] = [[127, 0, 0, 1]],
): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const subject = tlv(
    SEQUENCE,
    tlv(SET, tlv(SEQUENCE, tlv(0x06, Buffer.from([0x55, 0x04, 0x03])), tlv(0x0c, Buffer.from(name)))),
  );
  const alternativeNames = tlv(
    SEQUENCE,
    tlv(0x82, Buffer.from(name)),
    ...addresses.map((address) => tlv(0x87, Buffer.from(address))),
  );
  const signed = tlv(
    SEQUENCE,
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ED25519,
    subject,
    tlv(SEQUENCE, utcTime(Math.min(validHours, 0) - 24), utcTime(validHours)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, tlv(SEQUENCE, tlv(SEQUENCE, tlv(0x06, Buffer.from([0x55, 0x1d, 0x11])), tlv(0x04, alternativeNames)))),
  );
  const certificate = tlv(SEQUENCE, signed, ED25519, tlv(0x03, Buffer.from([0]), sign(null, signed, privateKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  };
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
