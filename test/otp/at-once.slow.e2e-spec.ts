import { Counters } from '../../src/infrastructure/operations/counters.js';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { OtpService } from '../../src/modules/otp/otp.service.js';
import { FUZZ_SCALE } from '../support/runs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { otpApp, setSender, type OtpApp } from './fixture.js';

// FUZZ_SCALE=10: the full sizes, some minutes.
const LONG = FUZZ_SCALE >= 10;
const SIZES = LONG
  ? { challenges: 1_000, guesses: 200, sends: 10_000, limit: 1_000, failures: 300 }
  : { challenges: 8, guesses: 40, sends: 300, limit: 100, failures: 30 };
const AT_ONCE = LONG ? 200 : 64;

describe('codes that many ask for at once', () => {
  let first: TestApp;
  let second: TestApp;

  beforeAll(async () => {
    // No worker: a code that waited for half a minute, as it may on a busy machine, is given up there and given back.
    first = await startTestApp({ roles: ['api', 'simulator'], env: { DATABASE_POOL_SIZE: '10' } });
    second = await startTestApp({ roles: ['api'], shareWith: first, env: { DATABASE_POOL_SIZE: '10' } });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
  });

  let phones = 0;
  const phone = () => `+49151${10_000_000 + ++phones}`;

  /** Runs `count` tasks, at most `AT_ONCE` of them at a time. */
  async function eachAtOnce(count: number, task: (n: number) => Promise<void>): Promise<void> {
    let next = 0;
    const lane = async () => {
      while (next < count) await task(next++);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, lane));
  }

  const guessesOf = (app: OtpApp, elsewhere: OtpApp, n: number) => (n % 2 === 0 ? app : elsewhere);

  it('of guesses at once five are looked at, and one right one among them succeeds', async () => {
    const shop = await otpApp(first, 'sandbox');
    const elsewhere: OtpApp = {
      ...shop,
      api: second.api.as(shop.key),
      verify: (id, code) => second.api.as(shop.key).post('/otp/verify', { id, code }),
    };
    const made: { id: string; code: string }[] = [];
    await eachAtOnce(SIZES.challenges, async () => {
      const { status, body } = await shop.send(phone());
      expect(status).toBe(202);
      made.push({ id: body.data.id, code: body.data.test_code });
    });
    const seen = new Map<string, number>();
    const successes = new Map<string, number>();
    // Every third guess is right, so that a right one is always among the first five of some, and never of others.
    const right = (challenge: number, guess: number) => (challenge % 2 === 0 ? guess % 3 === 0 : false);
    await eachAtOnce(SIZES.challenges * SIZES.guesses, async (n) => {
      const [at, guess] = [n % SIZES.challenges, Math.floor(n / SIZES.challenges)];
      const { id, code } = made[at] ?? { id: '', code: '' };
      const wrong = String((Number(code) + 1 + guess) % 1_000_000).padStart(6, '0');
      const answer = await guessesOf(shop, elsewhere, n).verify(id, right(at, guess) ? code : wrong);
      if (answer.status === 200) successes.set(id, (successes.get(id) ?? 0) + 1);
      else seen.set(`${id} ${answer.body.error.code}`, (seen.get(`${id} ${answer.body.error.code}`) ?? 0) + 1);
    });
    const rows = await first.database.query<{ id: string; attempts: number; wrong_attempts: number; status: string }>(
      'select id, attempts, wrong_attempts, status from otp_challenge where project_id = $1',
      [shop.project.id],
    );
    expect(rows).toHaveLength(SIZES.challenges);
    for (const { id, attempts, wrong_attempts: wrong, status } of rows) {
      const succeeded = successes.get(id) ?? 0;
      expect(attempts).toBeLessThanOrEqual(5);
      expect(succeeded).toBeLessThanOrEqual(1);
      // Looked at: each success, and each answer "incorrect".
      const looked = succeeded + (seen.get(`${id} OTP_CODE_INCORRECT`) ?? 0);
      expect(looked).toBeLessThanOrEqual(5);
      expect([status, succeeded]).toEqual(wrong === 5 ? ['expired', 0] : ['verified', 1]);
    }
    for (const [index, { id }] of made.entries()) {
      if (index % 2 === 1) expect(successes.get(id) ?? 0).toBe(0);
    }
  });

  it('a package gives exactly what it has, and what is given back can be sent again', async () => {
    await setSender(first);
    // No sender runs: what is accepted stays reserved until it is reported as failed.
    const shop = await otpApp(first, 'live', { packages: { DE: SIZES.limit } });
    const send = (n: number, to: string) =>
      (n % 2 === 0 ? first : second).api
        .as(shop.key)
        .post('/otp/send', { to, ttl: 600 }, { headers: { 'idempotency-key': `send-${to}` } });
    const accepted: string[] = [];
    const statuses = new Map<number, number>();
    const count = async (n: number) => {
      const to = phone();
      // As a caller does where the service has too much to do: again after a while, with the same key.
      const { status, body } = await waitFor(
        async () => {
          const answer = await send(n, to);
          return answer.status === 503 ? null : answer;
        },
        { everyMs: 500 },
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 202) accepted.push(body.data.id);
    };
    await eachAtOnce(SIZES.sends, count);
    expect(Object.fromEntries(statuses)).toEqual({ 202: SIZES.limit, 402: SIZES.sends - SIZES.limit });

    const reports = first.app.get(OtpService);
    const failing = accepted.slice(0, SIZES.failures);
    await first.database.execute(
      `update otp_challenge set status = 'sending', lease_until = clock_timestamp() + interval '10 minutes'
       where id = any($1::uuid[])`,
      [failing],
    );
    const attempts = await first.database.query<{ attempt_id: string }>(
      'select attempt_id from otp_challenge where id = any($1::uuid[])',
      [failing],
    );
    // Each failure is reported three times, as a platform that retries does.
    await eachAtOnce(attempts.length * 3, async (n) => {
      const report = {
        status: 'failed' as const,
        metaMessageId: `wamid.${n % attempts.length}`,
        callbackData: attempts[n % attempts.length]?.attempt_id ?? null,
        occurredAt: new Date(),
        error: { code: 131026 },
      };
      expect((await first.database.transaction(() => reports.applyReports([report]))).has(report)).toBe(true);
    });
    statuses.clear();
    await eachAtOnce(SIZES.failures * 2, count);
    expect(Object.fromEntries(statuses)).toEqual({ 202: SIZES.failures, 402: SIZES.failures });
    const [package_] = await first.app.get(OtpPackagesService).list(shop.project.organizationId, shop.project.id);
    expect(package_).toMatchObject({ reserved: SIZES.limit, used: 0 });
  });

  it('raises an alarm where a hundred codes are wrong, also with right ones in between', async () => {
    const shop = await otpApp(first, 'sandbox');
    const before = first.app.get(Counters).snapshot().otp_guessing_alarms ?? 0;
    await eachAtOnce(20, async (n) => {
      // The guesser has a number too: a right code for it ends nothing.
      if (n % 4 === 3) {
        const { id, test_code: own } = (await shop.send(phone())).body.data as { id: string; test_code: string };
        expect((await shop.verify(id, own)).status).toBe(200);
      }
      const { body } = await shop.send(phone());
      const { id, test_code: code } = body.data as { id: string; test_code: string };
      const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
      for (let guess = 0; guess < 5; guess++) await shop.verify(id, wrong);
    });
    expect(first.app.get(Counters).snapshot().otp_guessing_alarms).toBe(before + 1);
  });
});
