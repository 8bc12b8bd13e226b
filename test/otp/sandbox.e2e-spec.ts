import { randomUUID } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { mobile, otpApp, type OtpApp } from './fixture.js';

describe('one-time codes in a sandbox', () => {
  let test: TestApp;
  let shop: OtpApp;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'worker'] });
    shop = await otpApp(test, 'sandbox');
  });
  afterAll(async () => test?.stop());

  const sent = async (to = mobile()) => {
    const { status, body } = await shop.send(to);
    expect(status).toBe(202);
    return body.data as { id: string; test_code: string };
  };
  /** A code that is definitely not the right one. */
  const wrongFor = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  const ageRecipients = () =>
    test.database.execute(`update otp_recipient set last_sent_at = last_sent_at - interval '2 minutes', tokens = 5`);

  it('gives the code in the first answer, and verifies it once', async () => {
    const to = mobile();
    const { status, body, headers } = await shop.send(to);
    expect(status).toBe(202);
    expect(headers.get('x-herald-api-version')).toBe('v1');
    expect(body.data).toEqual({
      id: expect.any(String),
      channel: 'whatsapp',
      mode: 'sandbox',
      recipient: to.slice(1),
      status: 'sent',
      attempts_remaining: 5,
      error: null,
      test_code: expect.stringMatching(/^\d{6}$/),
      created_at: expect.any(String),
      expires_at: expect.any(String),
      sent_at: expect.any(String),
      delivered_at: null,
      read_at: null,
      verified_at: null,
    });
    expect(Date.parse(body.data.expires_at) - Date.parse(body.data.created_at)).toBe(300_000);

    const verified = await shop.verify(body.data.id, body.data.test_code);
    expect([verified.status, verified.body.data.status]).toEqual([200, 'verified']);
    expect(verified.body.data).not.toHaveProperty('test_code');
    const again = await shop.verify(body.data.id, body.data.test_code);
    expect([again.status, again.body.error.code]).toEqual([400, 'OTP_CODE_ALREADY_USED']);
    expect((await shop.challenge(body.data.id)).verified_at).toEqual(expect.any(String));
  });

  it('a repeat answers 200 with the same challenge and without its code; other parameters are a conflict', async () => {
    const to = mobile();
    const key = `login ${randomUUID()}`.replace(' ', '-');
    const first = await shop.send(to, { key });
    const repeat = await shop.send(to.replace('+49', '+49 '), { key });
    expect([first.status, repeat.status]).toEqual([202, 200]);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(repeat.body.data.id).toBe(first.body.data.id);
    expect(repeat.body.data).not.toHaveProperty('test_code');
    const other = await shop.send(to, { key, ttl: 60 });
    expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('takes a key with inner spaces', async () => {
    const to = mobile();
    const key = `login 4711 ${to}`;
    const answers = [await shop.send(to, { key }), await shop.send(to, { key })];
    expect(answers.map(({ status }) => status)).toEqual([202, 200]);
  });

  it('twenty requests with one key at once make one challenge', async () => {
    const to = mobile();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.send(to, { key })));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
  });

  it.each([
    ['no key', undefined, 'IDEMPOTENCY_KEY_REQUIRED'],
    ['a short key', '1234567', 'IDEMPOTENCY_KEY_INVALID'],
    ['a long key', 'k'.repeat(129), 'IDEMPOTENCY_KEY_INVALID'],
    ['a key with a letter beyond ASCII', 'login-47é11', 'IDEMPOTENCY_KEY_INVALID'],
    ['a key with a tab', 'login\t4711', 'IDEMPOTENCY_KEY_INVALID'],
  ])('refuses %s', async (_name, key, code) => {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const { status, body } = await shop.api.post('/otp/send', { to: mobile() }, { headers });
    expect([status, body.error.code]).toEqual([400, code]);
    expect(body.error.message).toContain('8 to 128 printable ASCII characters');
  });

  it.each([
    [{ to: '+4915112345679', ttl: 59 }, 'ttl'],
    [{ to: '+4915112345679', ttl: 601 }, 'ttl'],
    [{ to: '+4915112345679', ttl: 90.5 }, 'ttl'],
    [{ to: '+4915112345679', ttl: null }, 'ttl'],
    [{ to: '+4915112345679', channel: 'sms' }, 'channel'],
    [{ to: '+4915112345679', text: 'hello' }, 'text'],
    [{ to: 4915112345679 }, 'to'],
    [{}, 'to'],
  ])('refuses %j, naming %s', async (request, field) => {
    const { status, body } = await shop.api.post('/otp/send', request, {
      headers: { 'idempotency-key': randomUUID() },
    });
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  it.each([['+49'], ['12345'], ['+999123456789'], ['+18005551234'], ['not a number'], ['']])(
    'sends no code to %p',
    async (to) => {
      const { status, body } = await shop.send(to);
      expect([status, body.error.code]).toEqual([400, 'OTP_RECIPIENT_INVALID']);
    },
  );

  it('takes a number of an unknown kind', async () => {
    expect((await shop.send('+15550100001')).status).toBe(202);
  });

  it('sends another code to a number after sixty seconds only, however the number is written', async () => {
    const to = mobile();
    await sent(to);
    const soon = await shop.send(`${to.slice(0, 3)} (0)${to.slice(3)}`.replace('(0)', ''));
    expect([soon.status, soon.body.error.code]).toEqual([429, 'OTP_RESEND_TOO_SOON']);
    const seconds = soon.body.error.retry_after_seconds as number;
    expect(seconds).toBeGreaterThan(50);
    expect(soon.headers.get('retry-after')).toBe(String(seconds));
    expect(soon.body.error.details).toMatchObject([{ field: 'to', rule: 'resend_interval' }]);
  });

  it.each([
    ['Argentina', '+5491123456789', '+541123456789'],
    ['Brazil', '+5511912345678', '+551112345678'],
    ['Mexico', '+5215512345678', '+525512345678'],
  ])('%s: both ways to write a number are one WhatsApp account', async (_country, long, short) => {
    for (const [first, second] of [
      [long, short],
      [short, long],
    ] as const) {
      await test.database.execute('delete from otp_recipient');
      const older = await sent(first);
      expect((await shop.challenge(older.id)).recipient).toBe(first.replaceAll(/\D/g, ''));
      const soon = await shop.send(second);
      expect([soon.status, soon.body.error.code]).toEqual([429, 'OTP_RESEND_TOO_SOON']);
      // The newer code ends the older one, and the wrong codes of both count together.
      await shop.verify(older.id, wrongFor(older.test_code));
      await ageRecipients();
      const newer = await sent(second);
      await shop.verify(newer.id, wrongFor(newer.test_code));
      expect((await shop.challenge(older.id)).status).toBe('expired');
      const [counted] = await test.database.query('select failures from otp_recipient');
      expect(counted).toEqual({ failures: 2 });
      const right = await shop.verify(newer.id, newer.test_code);
      expect([right.status, right.body.data?.recipient]).toEqual([200, second.replaceAll(/\D/g, '')]);
    }
    expect(await test.database.query('select 1 from otp_recipient')).toHaveLength(1);
  });

  it('a newer code ends the older one', async () => {
    const to = mobile();
    const older = await sent(to);
    await ageRecipients();
    const newer = await sent(to);
    const late = await shop.verify(older.id, older.test_code);
    expect([late.status, late.body.error.code]).toEqual([400, 'OTP_CODE_EXPIRED']);
    expect((await shop.challenge(older.id)).status).toBe('expired');
    expect((await shop.verify(newer.id, newer.test_code)).status).toBe(200);
  });

  it('five wrong codes end it, the right one then too', async () => {
    const { id, test_code: code } = await sent();
    for (let left = 4; left >= 0; left--) {
      const wrong = await shop.verify(id, wrongFor(code));
      expect([wrong.status, wrong.body.error.code]).toEqual([400, 'OTP_CODE_INCORRECT']);
      expect((await shop.challenge(id)).attempts_remaining).toBe(left);
    }
    expect((await shop.challenge(id)).status).toBe('expired');
    const right = await shop.verify(id, code);
    expect([right.status, right.body.error.code]).toEqual([400, 'OTP_ATTEMPTS_EXHAUSTED']);
    expect(right.body.error.details).toMatchObject([{ field: 'code', rule: 'too_many_attempts' }]);
    expect(right.body.error.message).toMatch(/Send a new code/);
  });

  it('a test number gets a code as often as it is asked, whatever was tried before', async () => {
    const to = '+1 555 010 0007';
    for (let round = 0; round < 8; round++) {
      const { id, test_code: code } = await sent(to);
      for (let i = 0; i < 5; i++) await shop.verify(id, wrongFor(code));
      expect((await shop.verify(id, code)).body.error.details).toMatchObject([{ rule: 'too_many_attempts' }]);
    }
    const older = await sent(to);
    const newer = await sent(to);
    expect((await shop.verify(older.id, older.test_code)).body.error.code).toBe('OTP_CODE_EXPIRED');
    expect((await shop.verify(newer.id, newer.test_code)).status).toBe(200);
    // Ten numbers are so, and those beside them are not.
    for (const other of ['+15550100010', '+15550100099']) {
      await sent(other);
      expect((await shop.send(other)).body.error.code).toBe('OTP_RESEND_TOO_SOON');
    }
  });

  it('twenty wrong codes for a number stop it for a day, whatever the number of challenges', async () => {
    const to = mobile();
    for (let round = 0; round < 4; round++) {
      const { id, test_code: code } = await sent(to);
      for (let i = 0; i < 5; i++) await shop.verify(id, wrongFor(code));
      await ageRecipients();
    }
    const over = await shop.send(to);
    expect([over.status, over.body.error.code]).toEqual([429, 'OTP_RESEND_TOO_SOON']);
    expect(over.body.error.retry_after_seconds).toBeGreaterThan(86_000);
    expect(over.body.error.details).toMatchObject([{ field: 'to', rule: 'too_many_wrong_codes' }]);
    expect(over.body.error.message).toMatch(/20 wrong codes/);
    expect(over.body.error.message).not.toMatch(/just now/);
    // A code that was made before is not taken either, and the refusal says that a new one would not help.
    const [open] = await test.database.query<{ id: string }>(
      `update otp_challenge set status = 'sent', attempts = 0, expires_at = clock_timestamp() + interval '1 minute'
       where recipient = $1 and id = (select id from otp_challenge where recipient = $1 order by created_at desc limit 1)
       returning id`,
      [to.slice(1)],
    );
    const spent = await shop.verify(open?.id ?? '', '000000');
    expect([spent.status, spent.body.error.code]).toEqual([400, 'OTP_ATTEMPTS_EXHAUSTED']);
    expect(spent.body.error.details).toMatchObject([{ field: 'code', rule: 'too_many_wrong_codes' }]);
    await test.database.execute(
      `update otp_recipient set failures_since = failures_since - interval '24 hours' where recipient = $1`,
      [to.slice(1)],
    );
    expect((await shop.send(to)).status).toBe(202);
  });

  it('a code whose time is over reads expired, whether or not a sweep has run', async () => {
    const { id, test_code: code } = await sent();
    await test.database.execute(
      `update otp_challenge set expires_at = clock_timestamp() - interval '1 millisecond' where id = $1`,
      [id],
    );
    expect((await shop.challenge(id)).status).toBe('expired');
    const late = await shop.verify(id, code);
    expect([late.status, late.body.error.code]).toEqual([400, 'OTP_CODE_EXPIRED']);
  });

  it('answers unknown, foreign and wrong alike, but for the request id', async () => {
    const other = await otpApp(test, 'sandbox', { organizationId: shop.project.organizationId });
    const { id, test_code: code } = await sent();
    const answers = [
      await shop.verify(id, wrongFor(code)),
      await shop.verify(newId(), code),
      await other.verify(id, code),
    ];
    for (const { body } of answers) body.error.request_id = '';
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect((await shop.verify(id, code)).status).toBe(200);
  });

  it('a foreign id, an unknown id and one that is none are not found', async () => {
    const other = await otpApp(test, 'sandbox');
    const { id } = await sent();
    const answers = [
      await other.api.get(`/otp/${id}`),
      await other.api.get(`/otp/${newId()}`),
      await other.api.get('/otp/1'),
    ];
    for (const { body } of answers) body.error.request_id = '';
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('refuses a malformed id or code, naming it', async () => {
    const { status, body } = await shop.api.post('/otp/verify', { id: 'x', code: '12345', extra: 1 });
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error.details?.map(({ field }) => field).sort()).toEqual(['code', 'extra', 'id']);
  });

  it('answers a key of the workspace that codes need one of an OTP project', async () => {
    const { id: organizationId } = await test.factories.workspace();
    const { text } = await test.factories.apiKey({ organizationId });
    const { status, body } = await test.api.as(text).get(`/otp/${newId()}`);
    expect([status, body.error.code, body.error.required_scope]).toEqual([403, 'SCOPE_REQUIRED', 'otp:read']);
    expect(body.error.message).toContain('herald key create --otp-project');
    const { body: reversed } = await shop.api.get('/messages');
    expect(reversed.error.message).toContain('use a key of the workspace with the scope messages:read');
  });

  it('needs a key of a project', async () => {
    const { key: text } = await workspaceKey();
    const { status, body } = await test.api.as(text).get(`/otp/${newId()}`);
    expect([status, body.error.code]).toEqual([403, 'OTP_PROJECT_REQUIRED']);
  });

  it('sends only where the project allows', async () => {
    const local = await otpApp(test, 'sandbox', { allowedCountries: ['DE'] });
    expect((await local.send(mobile())).status).toBe(202);
    const abroad = await local.send('+33612345678');
    expect([abroad.status, abroad.body.error.code]).toEqual([400, 'OTP_RECIPIENT_INVALID']);
  });

  it('its keys say that they are for tests', () => {
    expect(shop.key).toMatch(/^hrld_test_/);
  });

  /** A key with a scope of OTP that belongs to no project: only a row made by hand can be so. */
  async function workspaceKey(): Promise<{ key: string }> {
    const { id: organizationId } = await test.factories.workspace();
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['otp:read'] });
    return { key: text };
  }
});
