import { jest } from '@jest/globals';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { OtpSenderService } from '../../src/modules/otp/otp-sender.service.js';
import { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { codesIn, dumpDatabase, noteLogs, placesOf, readFiles, type Written } from './canary-search.js';
import { codesSentTo, mobile, otpApp, setSender, TEMPLATE, type OtpApp } from './fixture.js';

/** Eight of each: a way that leaks shows several codes, and chance one at the most. */
const EACH = 8;
/** Arrives; sent only; failed later; refused; 429 twice; cut; 500; out of order; no "delivered". */
const SCENARIOS = ['9999', '0001', '0002', '0003', '0004', '0005', '0006', '0008', '0009'];
const BY_CHANCE = 2;

describe('codes and secrets of one-time codes', () => {
  let test: TestApp;
  const logs: Written[] = [];
  const answers: Written[] = [];
  /** Of live codes: each that was opened for sending, whether or not the platform took it. */
  const opened = new Set<string>();
  const senderToken = `sender-${randomBytes(24).toString('hex')}`;

  beforeAll(async () => {
    noteLogs(logs);
    test = await startTestApp({ env: { LOG_LEVEL: 'trace' } });
    const { phoneNumberId } = await setSender(test);
    await test.app.get(OtpSenderService).set({
      phoneNumberId,
      phoneNumber: null,
      templateName: TEMPLATE,
      token: senderToken,
      throughputPerSecond: 1_000,
    });
    const secrets = test.app.get(SecretBox);
    const open = secrets.open.bind(secrets);
    jest.spyOn(secrets, 'open').mockImplementation((sealed, place) => {
      const plain = open(sealed, place);
      if (place.column === 'code') opened.add(plain);
      return plain;
    });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await test?.stop();
  });

  const note = <T extends { body: unknown; headers: Headers }>(answer: T): T => {
    answers.push({ place: 'answers', text: JSON.stringify(answer.body) });
    answers.push({ place: 'headers', text: JSON.stringify([...answer.headers]) });
    return answer;
  };

  it('stand nowhere that anything is written', async () => {
    const live = await otpApp(test, 'live', { packages: { DE: 1_000 } });
    const sandbox = await otpApp(test, 'sandbox');
    const taken = await sendLive(live);
    const shown = await playSandbox(sandbox);
    await verifyLive(live, taken);
    for (const code of [...taken.map((each) => each.code), ...shown].slice(0, 5 * EACH)) await misuse(live, code);
    await misuseWithRealIds(live, taken);

    // The code that waits is the one that may be found, and only encrypted.
    await test.database.execute(
      `update lane set paused_until = clock_timestamp() + interval '1 hour' where key = 'otp'`,
    );
    const waiting = note(await live.send(mobile()));
    const [row] = await test.database.query<{ code_ciphertext: Buffer | null }>(
      'select code_ciphertext from otp_challenge where id = $1',
      [waiting.body.data.id],
    );
    const place = { table: 'otp_challenge', column: 'code', rowId: waiting.body.data.id as string };
    test.app
      .get(SecretBox)
      .open(row?.code_ciphertext ?? Buffer.alloc(0), { ...place, organizationId: live.project.organizationId });

    const codes = new Set([...opened, ...shown]);
    expect(codes.size).toBeGreaterThan(90);
    for (const { code } of taken) expect(opened).toContain(code);
    const simulatorState = join(test.dataDir, 'simulator');
    const written = [
      ...logs,
      ...answers,
      ...(await dumpDatabase(test.database)),
      // What the simulator was sent it may keep: it is the other side of the wire.
      ...readFiles(test.dataDir, [simulatorState]),
    ];
    for (const table of [
      'public.otp_challenge',
      'public.otp_sender',
      'public.api_key',
      'public.platform_notification',
      'logs',
    ]) {
      expect([table, written.some((each) => each.place === table)]).toEqual([table, true]);
    }
    // The search finds what is there: the simulator's own record.
    const record = taken.map(({ code }) => ({ place: 'record', text: JSON.stringify({ text: code }) }));
    expect(codesIn(record, codes).size).toBe(new Set(taken.map(({ code }) => code)).size);

    const control = new Set(Array.from({ length: codes.size }, () => String(randomInt(10 ** 6)).padStart(6, '0')));
    for (const code of codes) control.delete(code);
    const byChance = codesIn(written, control).size;
    const found = codesIn(written, codes);
    if (found.size > byChance + BY_CHANCE) expect([...found.values()]).toEqual([]);
    const keySecret = (key: string) => key.split('_')[3]?.slice(0, 32) ?? '';
    for (const secret of [senderToken, keySecret(live.key), keySecret(sandbox.key)]) {
      expect(secret.length).toBeGreaterThanOrEqual(32);
      expect(placesOf(secret, written)).toEqual([]);
    }
  }, 240_000);

  /** All outcomes; returns those that the platform took. */
  async function sendLive(live: OtpApp): Promise<{ id: string; code: string }[]> {
    const sent = await Promise.all(
      SCENARIOS.flatMap((digits, scenario) =>
        Array.from({ length: EACH }, async (_each, ordinal) => {
          const to = `+49151${scenario}${String(ordinal).padStart(3, '0')}${digits}`;
          return { to, id: note(await live.send(to)).body.data.id as string };
        }),
      ),
    );
    await waitFor(
      async () => {
        const open = await test.database.query(
          `select 1 from otp_challenge where status in ('queued', 'sending') limit 1`,
        );
        return open.length === 0;
      },
      { what: 'every code to have an outcome' },
    );
    const taken = await Promise.all(
      sent.map(async ({ to, id }) => (await codesSentTo(test, to.slice(1))).map(({ code }) => ({ id, code }))),
    );
    return taken.flat();
  }

  async function verifyLive(live: OtpApp, taken: { id: string; code: string }[]): Promise<void> {
    for (const [index, { id, code }] of taken.entries()) {
      const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
      if (index % 2 === 0) note(await live.verify(id, wrong));
      if (index % 4 < 2) note(await live.verify(id, code));
      note(await live.api.get(`/otp/${id}`));
    }
  }

  /** Returns the codes; the answers that are meant to show them are not noted. */
  async function playSandbox(sandbox: OtpApp): Promise<string[]> {
    const codes: string[] = [];
    for (let i = 0; i < 3 * EACH; i++) {
      const [to, key] = [mobile(), randomUUID()];
      const { body } = await sandbox.send(to, { key });
      const { id, test_code: code } = body.data as { id: string; test_code: string };
      codes.push(code);
      note(await sandbox.send(to, { key }));
      if (i % 2 === 0) note(await sandbox.verify(id, code));
      note(await sandbox.api.get(`/otp/${id}`));
    }
    return codes;
  }

  /** Requests that are wrong in all ways in which a code may be in them. */
  async function misuse(live: OtpApp, code: string): Promise<void> {
    const id = randomUUID();
    const bodies: unknown[] = [
      { id, code: Number(code) },
      { id, code: `${code} ` },
      { id, code: [code] },
      { id, code, extra: code },
      { id: code, code },
      { code },
      `{"id": "${id}", "code": "${code}"`,
      `{"id": "${id}", "code": ${code},}`,
      `id=${id}&code=${code}`,
      `"${code}"`,
      { id, code },
    ];
    for (const body of bodies) note(await live.api.post('/otp/verify', body));
    note(await live.api.post('/otp/verify', `code=${code}`, { headers: { 'content-type': 'text/plain' } }));
    note(await live.api.get(`/otp/${code}`));
    note(await live.api.post(`/otp/verify?code=${code}`, { id }));
    note(await live.api.as(`hrld_live_${code}`).post('/otp/verify', { id, code }));
    note(await live.api.as(null).post('/otp/verify', { id, code }));
    note(await live.api.post('/otp/send', { to: code, code }, { headers: { 'idempotency-key': randomUUID() } }));
  }

  async function misuseWithRealIds(live: OtpApp, taken: { id: string; code: string }[]): Promise<void> {
    for (const { id, code } of taken.slice(-EACH)) {
      note(await live.api.post('/otp/verify', { id, code, extra: true }));
      note(await live.api.post('/otp/verify', `{"id":"${id}","code":"${code}"`));
    }
  }
});
