import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startNats } from '../../support/rig/nats.js';
import { Scope } from '../../support/rig/scope.js';
import { TcpProxy } from '../../support/rig/tcp-proxy.js';
import type { BrokerProcess } from '../../support/rig/broker.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { waitFor } from '../../support/wait-for.js';
import { conversations, DestinationOwner, expectComplete, type Got } from '../fixture.js';
import { describeWith } from './required.js';

const given = await describeWith('nats-server');
const STREAM = 'herald';

given('a destination on NATS JetStream', () => {
  const scope = new Scope();
  let test: TestApp;
  let broker: BrokerProcess;
  let proxy: TcpProxy;
  let slow: TcpProxy;
  let port: number;
  let url: string;

  beforeAll(async () => {
    ({ broker, port } = await startNats(scope));
    proxy = await TcpProxy.start(scope, { host: '127.0.0.1', port });
    url = `nats://127.0.0.1:${proxy.port}`;
    slow = await TcpProxy.start(scope, { host: '127.0.0.1', port });
    test = await startTestApp({ env: { EVENT_DESTINATION_HOSTS: `127.0.0.1:${proxy.port},127.0.0.1:${slow.port}` } });
    scope.defer(() => test.stop());
  });
  afterAll(() => scope.close());

  /** Not through the proxy: what the broker has, whatever its clients see. */
  async function within<T>(work: (manager: JetStreamManager, connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    try {
      return await work(await jetstreamManager(connection), connection);
    } finally {
      await connection.close();
    }
  }

  const stream = (name: string, more: Record<string, unknown> = {}) =>
    within((manager) => manager.streams.add({ name, subjects: [`${name}.>`], ...more }));

  /** Every message of the stream, in its order. */
  const received = (name: string): Promise<(Got & { header: (key: string) => string; subject: string })[]> =>
    within(async (manager, connection) => {
      const { state } = await manager.streams.info(name);
      if (state.messages === 0) return [];
      const consumer = await jetstream(connection).consumers.get(name);
      const got = [];
      for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 5_000 })) {
        const header = (key: string): string => message.headers?.get(key) ?? '';
        got.push({ id: header('Nats-Msg-Id'), body: message.json<Got['body']>(), header, subject: message.subject });
      }
      return got;
    });

  it('gets the events of the workspace, as the webhook does, with the headers of CloudEvents', async () => {
    await stream('plain');
    const owner = await DestinationOwner.of(test);
    await owner.emit(conversations(1), 1);
    const { id } = await owner.create({ nats: { url, subject: 'plain.{type}.{conversation}' } });
    const [conversation = ''] = conversations(1);
    const [event = ''] = await owner.emit([conversation], 1);
    expect(await owner.untilWritten(id)).toMatchObject({ status: 'active', written: 1, lost: 0, last_error: null });
    const [only, ...more] = await received('plain');
    expect(more).toEqual([]);
    expect(only?.subject).toBe(`plain.message.status.updated.${conversation}`);
    expect(only?.id).toBe(event);
    const answer = await owner.api.get('/events');
    expect(only?.body).toEqual((answer.body.data as { id: string }[]).find((each) => each.id === event));
    expect(only?.header('ce-id')).toBe(event);
    expect(only?.header('ce-type')).toBe('message.status.updated');
    expect(only?.header('ce-specversion')).toBe('1.0');
    expect(only?.header('ce-source')).toBe(`/workspaces/${owner.organizationId}`);
    expect(only?.header('ce-partitionkey')).toBe(conversation);
    expect(only?.header('content-type')).toBe('application/json');
  });

  it('loses nothing and keeps the order while the broker is killed and the connection cut', async () => {
    await stream(STREAM);
    const owner = await DestinationOwner.of(test);
    const { id } = await owner.create({ nats: { url, subject: `${STREAM}.{type}` } });
    const chats = conversations(20);
    const written: string[] = [];
    for (let round = 0; round < 3; round++) {
      written.push(...(await owner.emit(chats, 10, round * 11)));
      const before = (await owner.read(id)).written;
      await owner.until(id, (each) => each.written > before, 'some of them to be written');
      if (round === 0) proxy.reset();
      if (round === 1) {
        await broker.kill();
        // All others may be written by then.
        written.push(...(await owner.emit(chats, 1, round * 11 + 10)));
        await owner.until(id, ({ status }) => status === 'failing', 'the failure to be seen');
        await broker.start();
        await owner.retryNow(id);
      }
    }
    await waitFor(
      async () => {
        await owner.retryNow(id);
        return (await owner.read(id)).waiting === 0;
      },
      { what: 'the rest', everyMs: 500 },
    );
    // JetStream takes each id once within two minutes.
    expect(expectComplete(await received(STREAM), written)).toBe(0);
  });

  it('waits for a stream that is full, says so, and goes on in order', async () => {
    await stream('full', { max_msgs: 5, discard: 'new' });
    const owner = await DestinationOwner.of(test);
    const { id } = await owner.create({ nats: { url, subject: 'full.{type}' } });
    const written = await owner.emit(conversations(1), 12);
    expect(await owner.until(id, ({ status }) => status === 'failing', 'the stream to be full')).toMatchObject({
      last_error: 'full',
      written: 5,
      waiting: 7,
    });
    await within((manager) => manager.streams.update('full', { max_msgs: 100 }));
    await owner.retryNow(id);
    await owner.untilWritten(id);
    expect(expectComplete(await received('full'), written)).toBe(0);
  });

  it('says that no stream takes the subject', async () => {
    const owner = await DestinationOwner.of(test);
    const { id } = await owner.create({ nats: { url, subject: 'nowhere.{type}' } });
    await owner.emit(conversations(1), 1);
    expect(await owner.until(id, ({ status }) => status === 'failing', 'the failure')).toMatchObject({
      last_error: 'no_stream',
      written: 0,
      waiting: 1,
    });
    expect((await owner.api.post(`/destinations/${id}/test`)).body.data).toMatchObject({
      written: false,
      error: 'no_stream',
    });
  });

  it('writes to others while one broker hangs', async () => {
    try {
      await stream('hangs');
      await stream('works');
      const owner = await DestinationOwner.of(test);
      const neighbour = await DestinationOwner.of(test);
      const hanging = await owner.create({
        name: 'a',
        nats: { url: `nats://127.0.0.1:${slow.port}`, subject: 'hangs.x' },
      });
      await owner.emit(conversations(1), 1);
      await owner.untilWritten(hanging.id);
      slow.set({ kind: 'black_hole' });
      const working = await owner.create({ name: 'b', nats: { url, subject: 'works.{type}' } });
      const next = await neighbour.create({ nats: { url, subject: 'works.{type}' } });
      await owner.emit(conversations(3), 2);
      await neighbour.emit(conversations(3), 2);
      expect((await owner.untilWritten(working.id)).written).toBe(6);
      expect((await neighbour.untilWritten(next.id)).written).toBe(6);
      const { last_error: error } = await owner.until(hanging.id, (each) => each.status === 'failing', 'its timeout');
      expect(error).toMatch(/^(timeout|connection_closed)$/);
    } finally {
      slow.heal();
    }
  });
});
