import { waitFor } from '../support/wait-for.js';
import { randomUUID } from 'node:crypto';
import { newId, lowestIdSince } from '../../src/common/ids.js';
import { signatureHeaders, newWebhookSecret } from '../../src/common/standard-webhooks.js';
import { Counters } from '../../src/infrastructure/operations/counters.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { ApiKeysService } from '../../src/modules/keys/keys.service.js';
import { MediaLinks } from '../../src/modules/media/link/content.service.js';
import { periodOf } from '../../src/modules/usage/dto/usage.dto.js';
import { mobile, otpApp } from '../otp/fixture.js';
import { withHostClock } from '../support/host-clock.js';
import { never } from '../support/never.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { insertEvents, OPEN_TARGETS, subscriber } from '../webhook/fixture.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe.each([
  ['ahead', 400],
  ['behind', -400],
])('on a host whose clock is 400 days %s', (_name, days) => {
  let test: TestApp;
  let sender: TestSender;
  const onWrongHost = <T>(work: () => Promise<T>): Promise<T> => withHostClock(days * DAY_MS, work);
  const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
  const hoursFromNow = (time: number): number => Math.round((time - Date.now()) / HOUR_MS) + 0;

  beforeAll(async () => {
    // No worker: sweeps run when a test says so.
    test = await startTestApp({ roles: ['api'], env: { ...OPEN_TARGETS, WEBHOOK_RETENTION_DAYS: '30' } });
    sender = await test.sender();
  });
  afterAll(async () => test?.stop());

  const send = (to: string, body: Record<string, unknown> = {}) =>
    sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to, type: 'text', text: { body: 'hello' }, ...body },
      { headers: { 'idempotency-key': randomUUID() } },
    );

  it('a message is taken while the window is open and has an id of today, and none once it has closed', async () => {
    const { phone } = await test.openWindow(sender);
    const lastInboundAt = new Date(Date.now() - 25 * HOUR_MS);
    const { phone: late } = await test.factories.conversation({ connection: sender.connection, lastInboundAt });
    const [taken, check, refused] = await onWrongHost(async () => [
      await send(phone),
      await sender.api.post('/messages/check', {
        connection_id: sender.connection.id,
        to: phone,
        type: 'text',
        text: { body: 'hello' },
      }),
      await send(late),
    ]);
    expect(taken.status).toBe(202);
    expect(check.body.data.window.open).toBe(true);
    expect(refused.body.error.code).toBe('SERVICE_WINDOW_CLOSED');
    const id = taken.body.data.id as string;
    expect(id > lowestIdSince(new Date(Date.now() - HOUR_MS))).toBe(true);
    expect(id < lowestIdSince(new Date(Date.now() + HOUR_MS))).toBe(true);
  });

  it('times of messages that are scheduled are ahead or passed by the true time', async () => {
    const { phone } = await test.openWindow(sender);
    const sendAt = [inMs(HOUR_MS), inMs(36 * DAY_MS), inMs(-HOUR_MS)];
    const answers = await onWrongHost(() => Promise.all(sendAt.map((send_at) => send(phone, { send_at }))));
    expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual([
      [202, undefined],
      [422, 'VALIDATION_FAILED'],
      [422, 'SEND_AT_PASSED'],
    ]);
    const [, , passed = never()] = answers;
    const { earliest_send_at: earliest } = passed.body.error as unknown as { earliest_send_at: string };
    expect(hoursFromNow(Date.parse(earliest))).toBe(0);
  });

  it('access that is paid for and a key go by the true time', async () => {
    const paid = await test.factories.workspace();
    const unpaid = await test.factories.workspace({ paidUntil: new Date(Date.now() - HOUR_MS) });
    const keys = test.app.get(ApiKeysService);
    const made = async (organizationId: string, expiresAt: Date) =>
      (await keys.create({ organizationId, name: 'Key', scopes: ['messages:write'], expiresAt })).key;
    const good = await made(paid.id, new Date(Date.now() + HOUR_MS));
    const unpaidKey = await made(unpaid.id, new Date(Date.now() + HOUR_MS));
    const { text: ended } = await test.factories.apiKey({
      organizationId: paid.id,
      expiresAt: new Date(Date.now() - HOUR_MS),
    });
    const body = { connection_id: newId(), to: '4915112345678', type: 'text', text: { body: 'hello' } };
    const options = { headers: { 'idempotency-key': randomUUID() } };
    const answers = await onWrongHost(() =>
      Promise.all([good, unpaidKey, ended].map((key) => test.api.as(key).post('/messages', body, options))),
    );
    expect(answers.map(({ body: answer }) => answer.error.code)).toEqual([
      'CONNECTION_NOT_FOUND',
      'SUBSCRIPTION_REQUIRED',
      'API_KEY_EXPIRED',
    ]);
  });

  it('a code is verified in its time, and not after it', async () => {
    const shop = await otpApp(test, 'sandbox');
    const verify = (age: string) =>
      onWrongHost(async () => {
        const { id, test_code: code } = (await shop.send(mobile())).body.data as { id: string; test_code: string };
        await test.database.execute(`update otp_challenge set expires_at = expires_at - $2::interval where id = $1`, [
          id,
          age,
        ]);
        const { status, body } = await shop.verify(id, code);
        return [status, body.error?.code];
      });
    expect(await verify('0')).toEqual([200, undefined]);
    expect(await verify('1 hour')).toEqual([400, 'OTP_CODE_EXPIRED']);
  });

  it('events wait for a webhook that rests, until their own time is over; that is counted', async () => {
    const { organizationId, configure } = await subscriber(test);
    await configure({ url: 'http://127.0.0.1:9/away', active: false });
    const waiting = async () =>
      (
        await test.database.query<{ id: string }>(
          'select event_id as id from webhook_queue where organization_id = $1',
          [organizationId],
        )
      ).map(({ id }) => id);
    const purge = () => onWrongHost(() => test.app.get(Sweeps).runNow('webhook_purge'));
    const dropped = () => test.app.get(Counters).snapshot().webhook_events_dropped ?? 0;
    const before = dropped();
    const ids = await insertEvents(test.database, [{ organizationId, count: 80 }]);
    await purge();
    expect((await waiting()).sort()).toEqual(ids.toSorted());
    expect(dropped()).toBe(before);
    const [old = never()] = ids;
    await test.database.execute('update webhook_queue set event_id = $2 where event_id = $1', [
      old,
      lowestIdSince(new Date(Date.now() - 31 * DAY_MS)),
    ]);
    await purge();
    expect((await waiting()).sort()).toEqual(ids.slice(1).toSorted());
    expect(dropped()).toBe(before + 1);
  });

  it('a cursor is good for as long as events are kept', async () => {
    const { organizationId, api } = await subscriber(test);
    await api.get('/events');
    const [id = never()] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    // An event is shown once no transaction from before it is open, on this server of many tests.
    const cursorOf = async () =>
      (await waitFor(async () => (await api.get('/events')).body.data[0], { what: 'the event' })).cursor as string;
    const young = await cursorOf();
    await test.database.execute('update webhook_event set id = $2 where id = $1', [
      id,
      lowestIdSince(new Date(Date.now() - 31 * DAY_MS)),
    ]);
    const old = await cursorOf();
    const statuses = await onWrongHost(() =>
      Promise.all([young, old].map(async (after) => (await api.get(`/events?after=${after}`)).status)),
    );
    expect(statuses).toEqual([200, 410]);
  });

  it('links to files, replays and usage begin and end by the true time', async () => {
    const { organizationId, api, configure } = await subscriber(test);
    await configure({ url: 'http://127.0.0.1:9/away', active: false });
    const links = test.app.get(MediaLinks, { strict: false });
    const media = { organizationId, id: newId() };
    const passed = links.make(media, { now: Date.now() - HOUR_MS });
    const search = ({ url }: { url: string }): string => url.slice(url.indexOf('?') + 1);
    const since = inMs(-HOUR_MS);
    const { link, replay, usage } = await onWrongHost(async () => ({
      link: links.make(media),
      replay: await api.post('/webhook/replay', { since }),
      usage: periodOf(organizationId, {}),
    }));
    expect(hoursFromNow(link.expiresAt.getTime())).toBe(0);
    await onWrongHost(async () => {
      expect(links.verify(media.id, search(link))).toMatchObject(media);
      expect(() => links.verify(media.id, search(passed))).toThrow(
        expect.objectContaining({ code: 'MEDIA_LINK_EXPIRED' }),
      );
    });
    expect(replay.status).toBe(202);
    expect(hoursFromNow(usage.until.getTime())).toBe(0);
  });

  it('a receiver finds the time of a signature true', async () => {
    const headers = await onWrongHost(async () => signatureHeaders([newWebhookSecret()], newId(), '{}'));
    expect(hoursFromNow(Number(headers['webhook-timestamp']) * 1_000)).toBe(0);
  });
});
