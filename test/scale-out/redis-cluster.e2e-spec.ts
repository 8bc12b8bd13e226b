import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker, type QueueOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { freePort } from '../support/rig/free-port.js';
import { hasRedis } from '../support/rig/redis.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { QueueConnection } from '../../src/infrastructure/queue/queue-connection.js';
import { waitFor } from '../support/wait-for.js';

const SLOTS = 16_384;
interface ClusterNode {
  server: ChildProcess;
  port: number;
  busPort: number;
  client: Redis;
}

// Needs programs of Redis on the machine.
const withRedis = (await hasRedis()) ? describe : describe.skip;

withRedis('a Redis Cluster of three nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-cluster-'));
  const nodes: ClusterNode[] = [];
  let connection: QueueConnection | null = null;

  beforeAll(async () => {
    for (let index = 0; index < 3; index++) nodes.push(await startNode(join(folder, String(index))));
    const share = Math.ceil(SLOTS / nodes.length);
    for (const [index, { client }] of nodes.entries()) {
      await client.call('cluster', 'addslotsrange', index * share, Math.min((index + 1) * share, SLOTS) - 1);
      await client.call('cluster', 'set-config-epoch', index + 1);
    }
    const [first] = nodes;
    for (const { port, busPort } of nodes.slice(1)) {
      await first?.client.call('cluster', 'meet', '127.0.0.1', port, busPort);
    }
    await waitFor(
      async () => {
        const states = await Promise.all(nodes.map(({ client }) => client.call('cluster', 'info') as Promise<string>));
        return states.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'));
      },
      { everyMs: 100, what: 'the cluster' },
    );
  });

  afterAll(async () => {
    await connection?.close();
    for (const { server, client } of nodes) {
      client.disconnect();
      const ended = once(server, 'exit');
      if (server.exitCode === null && server.kill('SIGKILL')) await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('carries the queues: every key has the hash tag, so all are in one slot', async () => {
    const env = {
      REDIS_URL: `redis://127.0.0.1:${nodes[1]?.port}`,
      REDIS_CLUSTER: 'true',
      DATABASE_URL: 'postgres://x',
    };
    connection = new QueueConnection(loadConfig({ env, persistSecrets: false }));
    await connection.ping();
    const queue = new Queue<{ laneKey: string }>('send', connection.options as QueueOptions);
    const drained: string[] = [];
    const worker = new Worker<{ laneKey: string }>(
      'send',
      (job) => {
        drained.push(job.data.laneKey);
        return Promise.resolve();
      },
      connection.options as QueueOptions,
    );
    queue.on('error', () => undefined);
    worker.on('error', () => undefined);
    try {
      const options = { removeOnComplete: true, removeOnFail: true };
      for (let lane = 0; lane < 20; lane++) {
        const deduplication = { id: `lane-${lane}`, keepLastIfActive: true };
        await queue.add('drain', { laneKey: `lane-${lane}` }, { ...options, deduplication });
      }
      await waitFor(() => drained.length >= 20);
      expect(new Set(drained).size).toBe(20);
      const keys = (await Promise.all(nodes.map(({ client }) => client.keys('*')))).map((each) => each.sort());
      expect(keys.flat().filter((key) => !key.startsWith('{herald}:send:'))).toEqual([]);
      // All on the one node that has the tag's slot.
      expect(keys.filter((each) => each.length > 0)).toHaveLength(1);
    } finally {
      await worker.close();
      await queue.close();
    }
  });
});

async function startNode(folder: string): Promise<ClusterNode> {
  // The port for the other nodes: by default it is 10,000 higher, where outgoing connections may have it.
  const [port, busPort] = [await freePort(), await freePort()];
  const { mkdirSync } = await import('node:fs');
  mkdirSync(folder);
  const settings = {
    bind: '127.0.0.1',
    port,
    'cluster-port': busPort,
    dir: folder,
    save: '',
    appendonly: 'no',
    'cluster-enabled': 'yes',
    'cluster-node-timeout': 5_000,
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  for await (const chunk of server.stdout) {
    output += String(chunk);
    if (output.includes('Ready to accept connections')) break;
  }
  if (!output.includes('Ready to accept connections')) throw new Error(`redis-server ended:\n${output}`);
  return { server, port, busPort, client: new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 3 }) };
}
