import { getEventListeners, getMaxListeners } from 'node:events';
import { createServer } from 'node:net';
import {
  PHONE_NUMBER_ID,
  SECOND_PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
} from '../../../test/support/simulator/simulator-rig.js';
import { NotificationReceiver } from '../../../test/support/simulator/notification-receiver.js';
import { waitFor } from '../../../test/support/wait-for.js';

/** A port without a listener. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('notifications', () => {
  let rig: SimulatorRig;
  const sendMany = (count: number, phoneNumberId = PHONE_NUMBER_ID) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        rig.client.sendTaken({ to: `+49151${10_000_000 + i * 7 + 1111}` }, phoneNumberId),
      ),
    );

  afterEach(() => rig.stop());

  it('that are due together go together, each person in order, and none is lost', async () => {
    rig = await startRig();
    const ids = await sendMany(300);
    await rig.receiver.until('the first', () => rig.receiver.statuses().length === 900);
    // A slow machine takes the messages one by one, and their statuses are due so: these wait until all are due.
    rig.simulator.courier.setWebhookUrl(null);
    ids.push(...(await sendMany(100, SECOND_PHONE_NUMBER_ID)));
    await waitFor(() => rig.simulator.courier.pending === 300);
    const before = rig.receiver.requests.length;
    rig.simulator.courier.setWebhookUrl(rig.receiver.url);
    await rig.receiver.until('all', () => rig.receiver.statuses().length === 1200);
    expect(rig.receiver.requests.length - before).toBeLessThan(20);
    const order = new Map<string, string[]>();
    for (const { id, status } of rig.receiver.statuses()) order.set(id, [...(order.get(id) ?? []), status]);
    expect(new Set(order.keys())).toEqual(new Set(ids));
    expect(new Set([...order.values()].map((statuses) => statuses.join()))).toEqual(new Set(['sent,delivered,read']));
  });

  it('of two numbers share a request, a change for each', async () => {
    rig = await startRig({ webhookUrl: null });
    await sendMany(40);
    await sendMany(40, SECOND_PHONE_NUMBER_ID);
    await waitFor(() => rig.simulator.courier.pending >= 80);
    rig.simulator.courier.setWebhookUrl(rig.receiver.url);
    await rig.receiver.until('all', () => rig.receiver.statuses().length === 240);
    const changes = rig.receiver.requests.map(({ body }) => body.entry.flatMap((entry) => entry.changes));
    const shared = changes.find((some) => some.length === 2);
    expect(new Set(shared?.map(({ value }) => value.metadata.phone_number_id))).toEqual(
      new Set([PHONE_NUMBER_ID, SECOND_PHONE_NUMBER_ID]),
    );
  });

  it('name the person beside the status, some of them without a profile', async () => {
    rig = await startRig();
    await sendMany(6);
    await rig.receiver.until('all', () => rig.receiver.statuses().length === 18);
    const contacts = rig.receiver.values().flatMap((value) => value.contacts ?? []);
    expect(contacts.filter(({ profile }) => profile === undefined).length).toBeGreaterThan(0);
    expect(contacts.filter(({ profile }) => profile !== undefined).length).toBeGreaterThan(0);
    for (const contact of contacts) {
      expect(contact).toMatchObject({ wa_id: expect.any(String), user_id: expect.stringMatching(/^DE\./) });
    }
  });

  it.each([201, 204, 302, 400, 500])('that are answered %i are posted again, with the same bytes', async (status) => {
    rig = await startRig({ retryBaseMs: 5 });
    const refusals = new Map<string, number>();
    rig.receiver.answer = ({ bytes }) => {
      const text = bytes.toString('latin1');
      const seen = refusals.get(text) ?? 0;
      refusals.set(text, seen + 1);
      return seen < 2 ? status : 200;
    };
    const id = await rig.client.sendTaken({ to: '+4915112345678' });
    await rig.receiver.until('read', () => rig.receiver.statuses(id).length === 3);
    expect([...refusals.values()].every((times) => times === 3)).toBe(true);
  });

  it('wait 1, 2, 4 times the base between tries, and 60 s at most', async () => {
    rig = await startRig({ retryBaseMs: 1_000 });
    const { receiver, simulator } = rig;
    const waits: number[] = [];
    simulator.courier.sleep = (ms) => {
      waits.push(ms);
      return Promise.resolve();
    };
    receiver.answer = () => (receiver.requests.length === 9 ? 200 : 500);
    await rig.client.control('POST', 'notify', { value: { a: 1 } });
    await receiver.until('the ninth try', () => receiver.values().length === 1);
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('that are never accepted hold up no other', async () => {
    rig = await startRig();
    rig.receiver.answer = ({ bytes }) => (bytes.includes('poison') ? 500 : 200);
    for (let n = 0; n < 12; n++) await rig.client.control('POST', 'notify', { value: { poison: true } });
    const id = await rig.client.sendTaken({ to: '+4915112345678' });
    await rig.receiver.until('read', () => rig.receiver.statuses(id).length === 3);
    await waitFor(() => rig.simulator.courier.pending === 12);
    expect((await rig.client.control('GET', 'count')).json.notifications).toMatchObject({ pending: 12 });
    // Node reports more listeners than the limit as a leak.
    const { signal } = rig.simulator.courier['round'];
    await waitFor(() => getEventListeners(signal, 'abort').length === 12);
    expect(getMaxListeners(signal)).toBe(Infinity);
  });

  it('wait for a webhook that is away, and come in order when it is back', async () => {
    const port = await unusedPort();
    rig = await startRig({ webhookUrl: `http://127.0.0.1:${port}/hook` });
    const ids = await sendMany(20);
    const late = new NotificationReceiver();
    await late.start(port);
    try {
      await late.until('all', () => late.statuses().length === 60);
      for (const id of ids)
        expect(late.statuses(id).map(({ status }) => status)).toEqual(['sent', 'delivered', 'read']);
    } finally {
      await late.stop();
    }
  });

  it('wait where there is no address yet', async () => {
    rig = await startRig({ webhookUrl: null });
    const id = await rig.client.sendTaken({ to: '+4915112345678' });
    rig.simulator.courier.setWebhookUrl(rig.receiver.url);
    await rig.receiver.until('read', () => rig.receiver.statuses(id).length === 3);
    expect(rig.receiver.statuses(id)).toHaveLength(3);
  });

  it('beyond the bound push out the oldest', async () => {
    const lines: string[] = [];
    rig = await startRig({ webhookUrl: null, maxPendingNotifications: 50, log: (line) => lines.push(line) });
    for (let i = 0; i < 80; i++) await rig.client.control('POST', 'notify', { value: { n: i } });
    expect((await rig.client.control('GET', 'count')).json.notifications).toEqual({
      pending: 50,
      acknowledged: 0,
      dropped: 30,
    });
    expect(lines).toEqual([expect.stringContaining('oldest are dropped')]);
    rig.simulator.courier.setWebhookUrl(rig.receiver.url);
    await rig.receiver.until('the rest', () => rig.receiver.values().length === 50);
    expect(rig.receiver.values()[0]).toEqual({ n: 30 });
  });
});
