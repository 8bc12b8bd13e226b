import * as fc from 'fast-check';
import { signBody, verifySignature } from './webhook-signature.js';

const SECRET = 'app-secret';
const BODY = Buffer.from('{"text":"\\u00e9 \\/ ok"}');

describe('the signature of a notification', () => {
  it('is the HMAC-SHA256 of the bytes', () => {
    // echo -n '{"a":1}' | openssl dgst -sha256 -hmac key
    expect(signBody('{"a":1}', 'key')).toBe('sha256=88a67f24bbcdaed0e6c997404bb79a743baf44c6bab2f4c27328e3009d22e342');
  });

  it('fits the body that was signed', () => {
    expect(verifySignature(BODY, signBody(BODY, SECRET), [SECRET])).toBe(true);
  });

  it('is taken in upper case, because it says the same bytes', () => {
    expect(verifySignature(BODY, signBody(BODY, SECRET).toUpperCase().replace('SHA256', 'sha256'), [SECRET])).toBe(
      true,
    );
  });

  it('is made over the bytes as they came, not over what they mean', () => {
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(BODY.toString())));
    expect(verifySignature(rewritten, signBody(BODY, SECRET), [SECRET])).toBe(false);
  });

  it('may be of any of the secrets', () => {
    expect(verifySignature(BODY, signBody(BODY, 'old'), ['new', 'old', 'older'])).toBe(true);
    expect(verifySignature(BODY, signBody(BODY, 'other'), ['new', 'old'])).toBe(false);
  });

  it('of an empty secret, or of no secret, is none', () => {
    expect(verifySignature(BODY, signBody(BODY, ''), [''])).toBe(false);
    expect(verifySignature(BODY, signBody(BODY, ''), [])).toBe(false);
    expect(verifySignature(BODY, signBody(BODY, SECRET), ['', SECRET])).toBe(true);
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['bare hex', signBody(BODY, SECRET).slice(7)],
    ['sha1', signBody(BODY, SECRET).replace('sha256', 'sha1')],
    ['one digit less', signBody(BODY, SECRET).slice(0, -1)],
    ['one digit more', `${signBody(BODY, SECRET)}0`],
    ['two of them', `${signBody(BODY, SECRET)},${signBody(BODY, SECRET)}`],
    ['a line break', `${signBody(BODY, SECRET)}\n`],
    ['no hex', `sha256=${'z'.repeat(64)}`],
  ])('is not %s', (_name, header) => {
    expect(verifySignature(BODY, header, [SECRET])).toBe(false);
  });

  it('does not survive one changed bit, in body, header or secret', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.string({ minLength: 1 }), fc.nat(), (bytes, secret, at) => {
        const body = Buffer.from(bytes);
        const header = signBody(body, secret);
        expect(verifySignature(body, header, [secret])).toBe(true);
        const changed = Buffer.from(body);
        changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ (1 << (at % 8));
        expect(verifySignature(changed, header, [secret])).toBe(false);
        expect(verifySignature(body, header, [`${secret}x`])).toBe(false);
      }),
    );
  });
});
