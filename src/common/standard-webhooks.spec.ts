import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, SECRET_PATTERN, signDelivery } from './standard-webhooks.js';

/** The vector of the Standard Webhooks specification. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const TIMESTAMP = 1_614_265_330;
const BODY = '{"test": 2432232314}';
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

const now = (): number => Math.floor(Date.now() / 1_000);

function headersOf(secrets: readonly string[], body: string | Buffer, timestamp = now()): Record<string, string> {
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signDelivery(secrets, ID, timestamp, body),
  };
}

describe('signDelivery', () => {
  it('makes the signature of the specification', () => {
    expect(signDelivery([SECRET], ID, TIMESTAMP, BODY)).toBe(SIGNATURE);
    expect(signDelivery([SECRET], ID, TIMESTAMP, Buffer.from(BODY))).toBe(SIGNATURE);
  });

  it.each(['{"a":1}', '{"text":"Olá, 世界 👋"}', '{"a":"\\u0000"}', JSON.stringify({ a: 'x'.repeat(100_000) })])(
    'is verified by the published library: %.40s',
    (body) => {
      const secret = newWebhookSecret();
      expect(new Webhook(secret).verify(body, headersOf([secret], Buffer.from(body)))).toEqual(JSON.parse(body));
    },
  );

  it('is verified by holders of the old and of the new secret while both sign', () => {
    const [old, fresh, strange] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
    const headers = headersOf([fresh, old], BODY);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    expect(new Webhook(fresh).verify(BODY, headers)).toBeTruthy();
    expect(new Webhook(old).verify(BODY, headers)).toBeTruthy();
    expect(() => new Webhook(strange).verify(BODY, headers)).toThrow('No matching signature found');
  });

  it('covers id, time and body', () => {
    const changed = [
      signDelivery([SECRET], `${ID}x`, TIMESTAMP, BODY),
      signDelivery([SECRET], ID, TIMESTAMP + 1, BODY),
      signDelivery([SECRET], ID, TIMESTAMP, `${BODY} `),
    ];
    expect(new Set([...changed, SIGNATURE]).size).toBe(4);
  });

  it.each([
    '',
    'whsec_',
    'whsec_c2hvcnQ=',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
  ])('refuses to sign with %j', (secret) => {
    expect(() => signDelivery([secret], ID, TIMESTAMP, BODY)).toThrow(RangeError);
  });

  it('refuses to sign with nothing', () => {
    expect(() => signDelivery([], ID, TIMESTAMP, BODY)).toThrow(RangeError);
  });
});

describe('newWebhookSecret', () => {
  it('is whsec_ and 32 random bytes', () => {
    const secrets = Array.from({ length: 100 }, newWebhookSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    }
  });
});

it('the pattern of a secret takes what signs, and nothing else', () => {
  const isTaken = (secret: string): boolean => new RegExp(SECRET_PATTERN).test(secret);
  for (let length = 20; length <= 70; length++) {
    const secret = `whsec_${randomBytes(length).toString('base64')}`;
    expect([length, isTaken(secret)]).toEqual([length, length >= 24 && length <= 64]);
    if (isTaken(secret)) expect(() => signDelivery([secret], ID, TIMESTAMP, BODY)).not.toThrow();
  }
  const padded = `whsec_${Buffer.alloc(25).toString('base64')}`;
  expect(isTaken(padded)).toBe(true);
  // Bits that no byte has.
  expect(isTaken(padded.replace('A==', 'B=='))).toBe(false);
});
