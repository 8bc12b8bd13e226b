import { randomUUID } from 'node:crypto';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { OtpSenderService } from '../../src/modules/otp/otp-sender.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { codesSentTo, mobile, otpApp, setSender, TEMPLATE, type OtpApp } from './fixture.js';

describe('the number that sends the codes', () => {
  let test: TestApp;
  let shop: OtpApp;

  beforeAll(async () => {
    test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
  });
  afterAll(async () => test?.stop());

  beforeEach(async () => {
    shop = await otpApp(test, 'live', { packages: { DE: 100 } });
  });

  const control = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${test.simulatorUrl}/_simulator/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  };
  const countsOf = async ({ project }: OtpApp) => {
    const [found] = await test.app.get(OtpPackagesService).list(project.organizationId, project.id);
    return { reserved: found?.reserved, used: found?.used };
  };
  const again = (phoneNumberId: string, token: string) =>
    test.app
      .get(OtpSenderService)
      .set({ phoneNumberId, phoneNumber: null, templateName: TEMPLATE, throughputPerSecond: 1_000, token });

  it('stops when its token is refused: that code is given back, the next is a conflict, until it is set again', async () => {
    const { phoneNumberId } = await setSender(test);
    const token = `token-${randomUUID()}`;
    await again(phoneNumberId, token);
    await control('tokens', { token, valid: false });

    const { body } = await shop.send(mobile());
    const failed = await shop.reaches(body.data.id, 'failed');
    expect(failed.error).toBe('authentication');
    await waitFor(async () => (await test.app.get(OtpSenderService).find())?.status === 'disconnected');
    expect(await countsOf(shop)).toEqual({ reserved: 0, used: 0 });
    const [to, key] = [mobile(), randomUUID()];
    const refused = await shop.send(to, { key });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'OTP_SENDER_NOT_READY']);
    expect(await countsOf(shop)).toEqual({ reserved: 0, used: 0 });
    // A missing package is reported first.
    const abroad = await shop.send('+33612345678');
    expect([abroad.status, abroad.body.error.code]).toEqual([402, 'OTP_PACKAGE_REQUIRED']);

    await again(phoneNumberId, 'another-token');
    const sent = await shop.send(to, { key });
    expect(sent.status).toBe(202);
    await shop.reaches(sent.body.data.id, 'read');
  });

  it('may be another one while codes wait and while reports are on their way', async () => {
    const first = await setSender(test);
    const early = await shop.send('+4915115550001'); // sent, and then nothing
    await shop.reaches(early.body.data.id, 'sent');
    await pauseLane();
    const to = mobile();
    const waiting = await shop.send(to);
    const second = await setSender(test);
    await waitFor(async () => (await test.app.get(OtpSenderService).find())?.phoneNumberId === second.phoneNumberId);
    const sent = await shop.reaches(waiting.body.data.id, 'sent', 'delivered', 'read');
    expect(sent.error).toBeNull();
    const [taken] = await test.database.query<{ meta_message_id: string; attempt_id: string }>(
      'select meta_message_id, attempt_id from otp_challenge where id = $1',
      [early.body.data.id],
    );
    expect(await codesSentTo(test, to.slice(1))).toHaveLength(1);

    // The platform still reports about the former number; no report is lost.
    await control('notify', {
      waba_id: first.wabaId,
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '1', phone_number_id: first.phoneNumberId },
        statuses: [
          {
            id: taken?.meta_message_id,
            status: 'failed',
            timestamp: String(Math.floor(Date.now() / 1_000)),
            recipient_id: '4915115550001',
            biz_opaque_callback_data: taken?.attempt_id,
            errors: [{ code: 131026, title: 'Message undeliverable' }],
          },
        ],
      },
    });
    const failed = await shop.reaches(early.body.data.id, 'failed');
    expect(failed.error).toBe('recipient_unreachable');
    await shop.reaches(waiting.body.data.id, 'read');
    expect(await countsOf(shop)).toEqual({ reserved: 0, used: 1 });
  });

  it('is no number of a workspace', async () => {
    const { connection } = await test.sender();
    await expect(again(connection.phoneNumberId, 'token')).rejects.toThrow('belongs to the workspace');
  });

  it('that belongs to a workspace costs it nothing that its customers write', async () => {
    const { phoneNumberId } = await setSender(test);
    const { connection, api } = await test.sender();
    await test.database.execute('update otp_sender set phone_number_id = $1', [connection.phoneNumberId]);
    await waitFor(
      async () => (await test.app.get(OtpSenderService).find())?.phoneNumberId === connection.phoneNumberId,
    );
    await control('inbound', {
      phone_number_id: connection.phoneNumberId,
      from: '4915119990009',
      message: { type: 'text', text: { body: 'Where is my order?' } },
    });
    await waitFor(async () => {
      const { body } = await api.get('/messages?status=received');
      return (body.data as { body: string }[]).some((message) => message.body === 'Where is my order?');
    });
    await again(phoneNumberId, 'token');
  });

  /** Until it is set again, which ends a pause. */
  async function pauseLane(): Promise<void> {
    await test.database.execute(
      `insert into lane (key, paused_until, pause_count) values ('otp', clock_timestamp() + interval '1 hour', 1)
       on conflict (key) do update set paused_until = excluded.paused_until, pause_count = 1`,
    );
  }
});
