import { randomUUID } from 'node:crypto';
import { Queue, Worker, type QueueOptions } from 'bullmq';
import { BenchRedis, hasRedis } from '../support/rig/redis.js';
import { Scope } from '../support/rig/scope.js';
import { TcpProxy } from '../support/rig/tcp-proxy.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { QueueConnection } from '../../src/infrastructure/queue/queue-connection.js';
import { waitFor } from '../support/wait-for.js';

// Needs a program of Redis on the machine.
const withRedis = (await hasRedis()) ? describe : describe.skip;

withRedis('a Redis that is lost and closes no connection', () => {
  const scope = new Scope();
  afterAll(() => scope.close());

  it('is connected to again, by what asks and by workers that wait for jobs', async () => {
    const redis = await BenchRedis.start(scope);
    const proxy = await TcpProxy.before(scope, redis.url);
    const env = { NODE_ENV: 'test', REDIS_URL: proxy.through(redis.url) };
    const connection = new QueueConnection(loadConfig({ env, persistSecrets: false }));
    scope.defer(() => connection.close());
    const name = randomUUID();
    const queue = new Queue(name, connection.options as QueueOptions);
    queue.on('error', () => undefined); // connections are reset in the end
    scope.defer(() => queue.close());
    const done: unknown[] = [];
    const worker = new Worker<string>(
      name,
      async (job) => void done.push(job.data),
      connection.options as QueueOptions,
    );
    scope.defer(() => worker.close(true));
    worker.on('error', () => undefined);
    await queue.add('job', 'before');
    await waitFor(() => done.length === 1, { what: 'the first job' });

    proxy.set({ kind: 'half_open' });
    proxy.heal();
    await connection.ping();
    await queue.add('job', 'after');
    await waitFor(() => done.length === 2, { what: 'the second job' });
    expect(done).toEqual(['before', 'after']);
  });
});
