import { randomUUID } from 'node:crypto';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { OtpSenderService } from '../../src/modules/otp/otp-sender.service.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { envelope, notify, statusOf } from '../inbound/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { codesSentTo, mobile, otpApp, setSender, type OtpApp } from './fixture.js';

describe('one-time codes over WhatsApp', () => {
  let test: TestApp;
  let shop: OtpApp;
  let sender: Awaited<ReturnType<typeof setSender>>;

  beforeAll(async () => {
    test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
    sender = await setSender(test);
    shop = await otpApp(test, 'live', { packages: { DE: 1_000, US: 100 } });
  });
  afterAll(async () => test?.stop());

  const packageOf = async (app: OtpApp = shop, country = 'DE') => {
    const { organizationId, id } = app.project;
    const found = await test.app.get(OtpPackagesService).list(organizationId, id);
    const { reserved = 0, used = 0 } = found.find((each) => each.country === country) ?? {};
    return { reserved, used };
  };
  /** A number on which the simulator plays the scenario of these last digits. */
  let ordinal = 0;
  const scenario = (digits: string) => `+491511${String(++ordinal).padStart(3, '0')}${digits}`;

  it('goes out at once, arrives, and is verified', async () => {
    const to = mobile();
    const { status, body } = await shop.send(to);
    expect(status).toBe(202);
    expect(body.data).toMatchObject({ mode: 'live', status: 'queued', sent_at: null });
    expect(body.data).not.toHaveProperty('test_code');
    await shop.reaches(body.data.id, 'read');
    // Notifications may overtake one another: `read` may be known before `delivered`.
    const read = await waitFor(async () => {
      const challenge = await shop.challenge(body.data.id);
      return challenge.delivered_at !== null && challenge;
    });
    expect(read).toMatchObject({ status: 'read', error: null, sent_at: expect.any(String) });

    const [sent, ...more] = await codesSentTo(test, to.slice(1));
    expect(more).toEqual([]);
    const verified = await shop.verify(body.data.id, sent?.code ?? '');
    expect([verified.status, verified.body.data.status]).toEqual([200, 'verified']);
    expect(shop.key).toMatch(/^hrld_live_/);
  });

  it('goes to the number as it was given, whatever it is counted by', async () => {
    const abroad = await otpApp(test, 'live', { packages: { AR: 10 } });
    const { body } = await abroad.send('+5491123456789');
    await abroad.reaches(body.data.id, 'sent', 'delivered', 'read');
    expect(await codesSentTo(test, '5491123456789')).toHaveLength(1);
    expect(await codesSentTo(test, '541123456789')).toHaveLength(0);
  });

  it('keeps the plain code nowhere once it is sent', async () => {
    const to = mobile();
    const { body } = await shop.send(to);
    await shop.reaches(body.data.id, 'sent', 'delivered', 'read');
    const rows = await test.database.query<{ code_ciphertext: Buffer | null }>(
      'select code_ciphertext from otp_challenge where id = $1',
      [body.data.id],
    );
    expect(rows).toEqual([{ code_ciphertext: null }]);
  });

  it('counts a send as reserved, then as used', async () => {
    const before = await packageOf();
    const { body } = await shop.send(mobile());
    await shop.reaches(body.data.id, 'read');
    const after = await packageOf();
    expect(after).toEqual({ reserved: before.reserved, used: before.used + 1 });
  });

  it('a send that the platform refuses has failed, and is given back', async () => {
    const before = await packageOf();
    const { body } = await shop.send(scenario('0003'));
    const failed = await shop.reaches(body.data.id, 'failed');
    expect(failed.error).toBe('invalid_content');
    expect(await packageOf()).toEqual(before);
    const verify = await shop.verify(body.data.id, '000000');
    expect(verify.body.error.code).toBe('OTP_CODE_EXPIRED');
  });

  it('a failure that is notified later is given back, once', async () => {
    const before = await packageOf();
    const { body } = await shop.send(scenario('0002'));
    const failed = await shop.reaches(body.data.id, 'failed');
    expect(failed.error).toBe('recipient_unreachable');
    expect(await packageOf()).toEqual(before);
  });

  it('tries again within five seconds where the number was too fast', async () => {
    const { body } = await shop.send(scenario('0004'));
    expect((await shop.reaches(body.data.id, 'read')).error).toBeNull();
  });

  it('never sends again what may have been sent; a notification settles it', async () => {
    const to = scenario('0005');
    const before = await packageOf();
    const { body } = await shop.send(to);
    await shop.reaches(body.data.id, 'outcome_unknown', 'sent', 'delivered', 'read');
    const [first] = await waitFor(async () => {
      const taken = await codesSentTo(test, to.slice(1));
      return taken.length > 0 && taken;
    });
    const settled = await shop.reaches(body.data.id, 'read');
    expect(settled.status).toBe('read');
    expect(await codesSentTo(test, to.slice(1))).toHaveLength(1);
    expect((await shop.verify(body.data.id, first?.code ?? '')).status).toBe(200);
    expect(await packageOf()).toEqual({ reserved: before.reserved, used: before.used + 1 });
  });

  it('an outcome that stays unknown stays reserved', async () => {
    const before = await packageOf();
    const { body } = await shop.send(scenario('0006'));
    await shop.reaches(body.data.id, 'outcome_unknown');
    expect(await packageOf()).toEqual({ reserved: before.reserved + 1, used: before.used });
  });

  it('the lost lease of a sender that died makes it unknown, and it is not sent again', async () => {
    const to = mobile();
    // A late notification would settle it.
    test.simulator.applyFaults({ statuses: 'off' });
    const { body } = await shop.send(to);
    await shop.reaches(body.data.id, 'sent');
    test.simulator.applyFaults({ statuses: 'on' });
    await test.database.execute(
      `update otp_challenge set status = 'sending', lease_until = clock_timestamp() - interval '1 second' where id = $1`,
      [body.data.id],
    );
    await test.app.get(Sweeps).runNow('otp_leases');
    expect((await shop.challenge(body.data.id)).status).toBe('outcome_unknown');
    expect(await codesSentTo(test, to.slice(1))).toHaveLength(1);
  });

  it('needs a package for the country', async () => {
    const { status, body } = await shop.send('+33612345678');
    expect([status, body.error.code, body.error.country]).toEqual([402, 'OTP_PACKAGE_REQUIRED', 'FR']);
  });

  it('a used up package refuses, a raised one counts at once, and the refused key is still free', async () => {
    const small = await otpApp(test, 'live', { packages: { DE: 1 } });
    expect((await small.send(mobile())).status).toBe(202);
    const key = randomUUID();
    const to = mobile();
    const refused = await small.send(to, { key });
    expect([refused.status, refused.body.error.code]).toEqual([402, 'OTP_PACKAGE_EXHAUSTED']);
    await test.app.get(OtpPackagesService).grant(small.project.organizationId, small.project.id, 'DE', 2);
    expect((await small.send(to, { key })).status).toBe(202);
    expect((await small.send(mobile())).status).toBe(402);
    // The first answer of a key stands, whatever the package says by then.
    expect((await small.send(to, { key })).status).toBe(200);
  });

  it('a new month begins a new package', async () => {
    const small = await otpApp(test, 'live', { packages: { DE: 1 } });
    await small.send(mobile());
    await test.database.execute(
      `update otp_package set month = (month - interval '1 month')::date where project_id = $1`,
      [small.project.id],
    );
    expect((await small.send(mobile())).status).toBe(202);
  });

  it('a code that was superseded before it was sent is given back and not sent', async () => {
    await waitFor(async () => (await test.app.get(OtpSenderService).find())?.status === 'connected');
    const app = await otpApp(test, 'live', { packages: { DE: 10 } });
    const to = mobile();
    await pauseLane();
    const older = await app.send(to);
    await test.database.execute(
      `update otp_recipient set last_sent_at = last_sent_at - interval '1 minute' where project_id = $1`,
      [app.project.id],
    );
    const newer = await app.send(to);
    expect(await packageOf(app)).toEqual({ reserved: 1, used: 0 });
    await resumeLane();
    await app.reaches(newer.body.data.id, 'read');
    expect((await app.challenge(older.body.data.id)).status).toBe('expired');
    expect(await codesSentTo(test, to.slice(1))).toHaveLength(1);
  });

  it('a code that waited half a minute is given up and given back', async () => {
    const app = await otpApp(test, 'live', { packages: { DE: 10 } });
    await pauseLane();
    const { body } = await app.send(mobile());
    await test.database.execute(
      `update otp_challenge set created_at = created_at - interval '31 seconds' where id = $1`,
      [body.data.id],
    );
    await test.app.get(Sweeps).runNow('otp_overdue');
    expect(await app.challenge(body.data.id)).toMatchObject({ status: 'failed', error: 'platform_unavailable' });
    expect(await packageOf(app)).toEqual({ reserved: 0, used: 0 });
    await resumeLane();
  });

  it('a status moves a code only where it comes from a number that sends codes', async () => {
    const to = scenario('0001');
    const { body } = await shop.send(to);
    const id = body.data.id as string;
    await shop.reaches(id, 'sent');
    const [code] = await codesSentTo(test, to.slice(1));
    const delivered = (metaMessageId: string) =>
      statusOf({ id, attemptId: null, metaMessageId }, 'delivered', { biz_opaque_callback_data: code?.callback });
    const stranger = await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
    await notify(test, envelope(stranger, { statuses: [delivered('wamid.stranger')] }));
    expect(await shop.challenge(id)).toMatchObject({ status: 'sent', delivered_at: null });
    await notify(test, envelope({ ...stranger, ...sender }, { statuses: [delivered('wamid.sender')] }));
    await shop.reaches(id, 'delivered');
  });

  it('expired codes are marked by the sweep, and late reports set times only', async () => {
    const { body } = await shop.send(scenario('0001'));
    const id = body.data.id as string;
    await shop.reaches(id, 'sent');
    await test.database.execute(
      `update otp_challenge set expires_at = clock_timestamp() - interval '1 millisecond' where id = $1`,
      [id],
    );
    await test.app.get(Sweeps).runNow('otp_overdue');
    const stored = await test.database.query('select status from otp_challenge where id = $1', [id]);
    expect(stored).toEqual([{ status: 'expired' }]);
  });

  it('without a connected sender live codes are refused, sandboxes go on', async () => {
    await test.database.execute(`update otp_sender set status = 'disconnected'`);
    try {
      await waitFor(async () => (await test.app.get(OtpSenderService).find())?.status === 'disconnected');
      const live = await shop.send(mobile());
      expect([live.status, live.body.error.code]).toEqual([409, 'OTP_SENDER_NOT_READY']);
      const sandbox = await otpApp(test, 'sandbox');
      expect((await sandbox.send(mobile())).status).toBe(202);
    } finally {
      await test.database.execute(`update otp_sender set status = 'connected'`);
    }
  });

  async function pauseLane(): Promise<void> {
    await test.database.execute(
      `insert into lane (key, paused_until, pause_count) values ('otp', clock_timestamp() + interval '1 hour', 1)
       on conflict (key) do update set paused_until = excluded.paused_until, pause_count = 1`,
    );
  }

  async function resumeLane(): Promise<void> {
    await test.database.execute(`update lane set paused_until = null, pause_count = 0 where key = 'otp'`);
  }
});
