import { codesSentTo, mobile, otpApp, setSender } from '../otp/fixture.js';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

const UNPAID = `update organization set api_paid_until = null where id = $1`;

/** Everything for which payment is asked; resolves to the statuses and codes of the answers. */
async function everyPaidCall(test: TestApp, workspace: SendingWorkspace): Promise<[number, string | undefined][]> {
  const { connection, organizationId } = workspace;
  await test.database.execute(UNPAID, [organizationId]);
  const to = await workspace.contact();
  const failed = await test.factories.message({
    connection,
    recipient: to,
    status: 'failed',
    failureCategory: 'rate_limited',
  });
  const { id: inbound, metaMessageId } = await test.factories.message({
    connection,
    recipient: to,
    status: 'received',
  });
  const { phoneNumberId } = connection;
  test.simulator.inboundLog.add({ id: metaMessageId ?? '', phoneNumberId, party: to, writtenAt: Date.now() });
  const template = { name: 'order_update', language: { code: 'en_US' }, components: BODY };
  const answers = [
    await workspace.send(`+${to}`),
    await workspace.send(`+${to}`, { body: { text: undefined, type: 'template', template } }),
    await workspace.api.post(`/messages/${failed.id}/retry`, {}, { headers: { 'idempotency-key': newId() } }),
    await workspace.api.post(`/messages/${inbound}/read`),
  ];
  return answers.map(({ status, body }) => [status, body.error?.code]);
}

const BODY = [{ type: 'body', parameters: ['Ana', '4711'].map((text) => ({ type: 'text', text })) }];

describe.each(['on', 'off'])('BILLING=%s', (billing) => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({ env: { BILLING: billing } });
    await setSender(test);
  });
  afterAll(() => test?.stop());

  it('a workspace without a subscription', async () => {
    const answers = await everyPaidCall(test, await sendingWorkspace(test));
    const refused = Array.from({ length: 4 }, () => [402, 'SUBSCRIPTION_REQUIRED']);
    const granted = [202, 202, 202, 200].map((status) => [status, undefined]);
    expect(answers).toEqual(billing === 'on' ? refused : granted);
  });

  it('a live project without a package', async () => {
    const app = await otpApp(test, 'live');
    const to = mobile();
    const { status, body } = await app.send(to);
    if (billing === 'on') {
      expect([status, body.error?.code]).toEqual([402, 'OTP_PACKAGE_REQUIRED']);
      return;
    }
    expect([status, body.error]).toEqual([202, undefined]);
    const { id } = body.data as { id: string };
    await app.reaches(id, 'sent', 'delivered', 'read');
    const [sent] = await codesSentTo(test, to.slice(1));
    expect((await app.verify(id, sent?.code ?? '')).body.data).toMatchObject({ status: 'verified' });
    // What fails, or is replaced, has nothing to give back.
    const second = mobile();
    const first = await app.send(second);
    await test.database.execute(`delete from otp_recipient where recipient = $1`, [second.slice(1)]);
    expect([first.status, (await app.send(second)).status]).toEqual([202, 202]);
    const { organizationId, id: projectId } = app.project;
    expect(await test.app.get(OtpPackagesService).list(organizationId, projectId)).toEqual([]);
  });
});
