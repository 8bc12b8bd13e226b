import type { ConfirmChannel, GetMessage } from 'amqplib';
import { startRabbitmq, withChannel, type Rabbitmq } from '../../support/rig/rabbitmq.js';
import { Scope } from '../../support/rig/scope.js';
import { TcpProxy } from '../../support/rig/tcp-proxy.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { waitFor } from '../../support/wait-for.js';
import { conversations, DestinationOwner, expectComplete, type Got } from '../fixture.js';
import { describeWith } from './required.js';

const given = await describeWith('rabbitmq-server');
const LOGIN = { username: 'guest', password: 'guest' };

given('a destination on RabbitMQ', () => {
  const scope = new Scope();
  let test: TestApp;
  let rabbitmq: Rabbitmq;
  let proxy: TcpProxy;
  let url: string;

  beforeAll(async () => {
    rabbitmq = await startRabbitmq(scope);
    proxy = await TcpProxy.start(scope, { host: '127.0.0.1', port: rabbitmq.port });
    url = `amqp://127.0.0.1:${proxy.port}`;
    test = await startTestApp({ env: { EVENT_DESTINATION_HOSTS: `127.0.0.1:${proxy.port}` } });
    scope.defer(() => test.stop());
  });
  afterAll(() => scope.close());

  /** Not through the proxy: what the broker has, whatever its clients see. */
  const within = <T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> => withChannel(rabbitmq, work);

  /** A topic exchange of this name, and a durable queue of the same name that gets what `key` says. */
  const bind = (name: string, key = '#', more: Record<string, unknown> = {}): Promise<void> =>
    within(async (channel) => {
      await channel.assertExchange(name, 'topic', { durable: true });
      await channel.assertQueue(name, { durable: true, arguments: more });
      await channel.bindQueue(name, name, key);
    });

  /** Takes every message out of the queue, in its order. */
  const received = (name: string): Promise<(Got & { message: GetMessage })[]> =>
    within(async (channel) => {
      const got = [];
      for (;;) {
        const message = await channel.get(name, { noAck: true });
        if (message === false) return got;
        const body = JSON.parse(message.content.toString()) as Got['body'];
        got.push({ id: String(message.properties.messageId), body, message });
      }
    });

  const create = (owner: DestinationOwner, exchange: string, more: Record<string, unknown> = {}) =>
    owner.create({ rabbitmq: { url, exchange, ...LOGIN, ...more } });

  it('gets persistent messages with the headers of CloudEvents, under the routing key', async () => {
    await bind('plain');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, 'plain');
    const [conversation = ''] = conversations(1);
    const [event = ''] = await owner.emit([conversation], 1);
    await owner.untilWritten(id);
    const [only, ...more] = await received('plain');
    expect(more).toEqual([]);
    expect(only?.body.id).toBe(event);
    expect(only?.message.fields.routingKey).toBe('message.status.updated');
    expect(only?.message.properties).toMatchObject({
      messageId: event,
      deliveryMode: 2,
      contentType: 'application/json',
      type: 'message.status.updated',
      headers: {
        'cloudEvents:specversion': '1.0',
        'cloudEvents:id': event,
        'cloudEvents:type': 'message.status.updated',
        'cloudEvents:source': `/workspaces/${owner.organizationId}`,
        'cloudEvents:partitionkey': conversation,
      },
    });
    expect((await owner.api.post(`/destinations/${id}/test`)).body.data).toMatchObject({ written: true, error: null });
    expect((await received('plain')).map(({ body }) => body.type)).toEqual(['webhook.test']);
  });

  it('waits where no queue takes an event, says so, and goes on in order', async () => {
    await bind('routed', 'message.received');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, 'routed');
    const written = await owner.emit(conversations(2), 3);
    expect(await owner.until(id, ({ status }) => status === 'failing', 'the failure')).toMatchObject({
      last_error: 'unroutable',
      written: 0,
      waiting: 6,
    });
    await bind('routed', 'message.#');
    await owner.retryNow(id);
    await owner.untilWritten(id);
    expect(expectComplete(await received('routed'), written)).toBe(0);
  });

  it('says what is wrong with login and exchange', async () => {
    const owner = await DestinationOwner.of(test);
    await bind('login');
    const wrong = await create(owner, 'login', { password: 'wrong' });
    const missing = await owner.create({ name: 'missing', rabbitmq: { url, exchange: 'nowhere', ...LOGIN } });
    const tried = await Promise.all(
      [wrong, missing].map(async ({ id }) => (await owner.api.post(`/destinations/${id}/test`)).body.data as unknown),
    );
    expect(tried).toMatchObject([
      { written: false, error: 'unauthorized' },
      { written: false, error: 'exchange_not_found' },
    ]);
  });

  it('waits for a queue that is full', async () => {
    await bind('full', '#', { 'x-max-length': 4, 'x-overflow': 'reject-publish' });
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, 'full');
    const written = await owner.emit(conversations(1), 9);
    await owner.until(id, ({ status }) => status === 'failing', 'the queue to be full');
    expect(await owner.read(id)).toMatchObject({ last_error: 'refused', waiting: 5 });
    const got: Got[] = [];
    await waitFor(
      async () => {
        got.push(...(await received('full')));
        await owner.retryNow(id);
        return (await owner.read(id)).waiting === 0;
      },
      { what: 'the rest', everyMs: 500 },
    );
    got.push(...(await received('full')));
    expect(expectComplete(got, written)).toBe(0);
  });

  it('writes nothing twice while a broker without memory blocks', async () => {
    await bind('blocked');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, 'blocked');
    const written = await owner.emit(conversations(2), 1);
    await owner.untilWritten(id);
    await rabbitmq.control('set_vm_memory_high_watermark', 'absolute', '1');
    try {
      written.push(...(await owner.emit(conversations(4), 2)));
      expect(await owner.until(id, ({ status }) => status === 'failing', 'the block')).toMatchObject({
        last_error: 'full',
        written: 2,
      });
      const first = await owner.read(id);
      await owner.retryNow(id);
      await owner.until(id, (each) => each.last_error_at !== first.last_error_at, 'another try');
    } finally {
      await rabbitmq.control('set_vm_memory_high_watermark', '0.8');
    }
    await waitFor(
      async () => {
        await owner.retryNow(id);
        return (await owner.read(id)).waiting === 0;
      },
      { what: 'the rest', everyMs: 500 },
    );
    expect(expectComplete(await received('blocked'), written)).toBe(0);
  });

  it('loses nothing and keeps the order while the broker is killed and the connection cut', async () => {
    await bind('killed');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, 'killed');
    const chats = conversations(10);
    const written: string[] = [];
    for (let round = 0; round < 3; round++) {
      written.push(...(await owner.emit(chats, 20, round * 21)));
      const before = (await owner.read(id)).written;
      await owner.until(id, (each) => each.written > before, 'some of them to be written');
      if (round === 0) proxy.reset();
      if (round === 1) {
        await rabbitmq.broker.kill();
        // All others may be written by then.
        written.push(...(await owner.emit(chats, 1, round * 21 + 20)));
        await owner.until(id, ({ status }) => status === 'failing', 'the failure to be seen');
        await rabbitmq.broker.start();
      }
    }
    await waitFor(
      async () => {
        await owner.retryNow(id);
        return (await owner.read(id)).waiting === 0;
      },
      { what: 'the rest', everyMs: 500 },
    );
    // What was on its way at the reset and at the kill may have come twice: a page each at the most.
    expect(expectComplete(await received('killed'), written)).toBeLessThanOrEqual(2 * chats.length);
  });
});
