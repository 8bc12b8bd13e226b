import type { ConfirmChannel } from 'amqplib';
import { connectionsOfWorkers } from '../../support/connections-of-workers.js';
import { HeraldProcess } from '../../support/herald-process.js';
import { startRabbitmq, withChannel, type Rabbitmq } from '../../support/rig/rabbitmq.js';
import { Scope } from '../../support/rig/scope.js';
import { TcpProxy } from '../../support/rig/tcp-proxy.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { waitFor } from '../../support/wait-for.js';
import { conversations, DestinationOwner, expectComplete, type Got } from '../fixture.js';
import { describeWith } from './required.js';

const given = await describeWith('rabbitmq-server');
const QUEUE = 'killed';
const KILLS = 3;
/** A page of a hundred events, each with its headers some 900 bytes, passes in about two seconds. */
const SLOW = { kind: 'slow', bytesPerSecond: 50_000 } as const;

given('kill -9 of the worker that writes to a destination', () => {
  const scope = new Scope();
  let api: TestApp;
  let rabbitmq: Rabbitmq;
  let proxy: TcpProxy;
  let worker: HeraldProcess | null = null;

  beforeAll(async () => {
    rabbitmq = await startRabbitmq(scope);
    proxy = await TcpProxy.start(scope, { host: '127.0.0.1', port: rabbitmq.port });
    api = await startTestApp({ roles: ['api'], env: { EVENT_DESTINATION_HOSTS: `127.0.0.1:${proxy.port}` } });
    scope.defer(() => api.stop());
  });
  afterAll(async () => {
    await worker?.end('SIGKILL');
    await scope.close();
  });

  const startWorker = (): Promise<HeraldProcess> =>
    HeraldProcess.startWorker(api, { EVENT_DESTINATION_HOSTS: `127.0.0.1:${proxy.port}` });

  /** Not through the proxy: what the broker has, whatever its clients see. */
  const within = <T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> => withChannel(rabbitmq, work);

  const atBroker = (): Promise<number> => within(async (channel) => (await channel.checkQueue(QUEUE)).messageCount);

  const received = (): Promise<Got[]> =>
    within(async (channel) => {
      const got: Got[] = [];
      for (;;) {
        const message = await channel.get(QUEUE, { noAck: true });
        if (message === false) return got;
        got.push({
          id: String(message.properties.messageId),
          body: JSON.parse(message.content.toString()) as Got['body'],
        });
      }
    });

  it('loses no event and keeps the order; what comes again has the same id', async () => {
    await within(async (channel) => {
      await channel.assertExchange(QUEUE, 'topic', { durable: true });
      await channel.assertQueue(QUEUE, { durable: true });
      await channel.bindQueue(QUEUE, QUEUE, '#');
    });
    const owner = await DestinationOwner.of(api);
    const url = `amqp://127.0.0.1:${proxy.port}`;
    const login = { username: 'guest', password: 'guest' };
    const { id } = await owner.create({ rabbitmq: { url, exchange: QUEUE, ...login } });
    const chats = conversations(25);
    const written: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      written.push(...(await owner.emit(chats, 12, kill * 12)));
      proxy.set(SLOW);
      const before = await atBroker();
      const killed = (worker = await startWorker());
      await waitFor(async () => (await atBroker()) > before + 10, { everyMs: 20, what: 'a page to be under way' });
      await killed.end('SIGKILL');
      // The database goes on with what it was asked last: a claim may be made after its worker's death.
      await waitFor(async () => (await connectionsOfWorkers(api)) === 0, {
        what: 'the statements of the worker to end',
      });
      proxy.heal();
      // Its lease is over.
      const lapse = 'update event_destination set due_at = clock_timestamp() where id = $1 and attempt_id is not null';
      await api.database.execute(lapse, [id]);
    }
    // The broker has more than is recorded: the worker died in the middle of a page.
    const { written: recorded, waiting } = await owner.read(id);
    expect(await atBroker()).toBeGreaterThan(recorded);
    expect(waiting).toBeGreaterThan(0);
    worker = await startWorker();
    await owner.untilWritten(id);
    expect(expectComplete(await received(), written)).toBeGreaterThan(0);
  }, 180_000);
});
