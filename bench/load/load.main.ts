import { text } from 'node:stream/consumers';
import { percentile } from '../../test/support/rig/figures.js';
import { KeyedRequest } from './keyed-request.js';
import { LoadConnection } from './load-connection.js';
import { EXPECTED_STATUS, type LoadOrder, type LoadResult } from './load.types.js';

const order = JSON.parse(await text(process.stdin)) as LoadOrder;
const url = new URL(order.url);
const startedAt = performance.now();
const measureFrom = startedAt + order.warmUpMs;
const endAt = measureFrom + order.durationMs;

const latenciesMs: number[] = [];
let failed = 0;
let firstFailure: string | null = null;
let counter = order.countFrom ?? 0;

function fail(reason: string): void {
  failed++;
  firstFailure ??= reason;
}

function headersOf(n: number): Record<string, string> {
  const { headers, apiKeys } = order;
  return apiKeys === undefined ? headers : { ...headers, Authorization: `Bearer ${apiKeys[n % apiKeys.length]}` };
}

/** Sends one request after the other until the time is over. */
async function drive(first: number): Promise<void> {
  const connection = new LoadConnection(url.hostname, Number(url.port));
  // A connection of its own has its own bytes: a request is not changed while the socket may still hold it.
  const requests = order.bodies.map((body, n) => new KeyedRequest(url, headersOf(n), body));
  for (let turn = first; ; turn++) {
    const sentAt = performance.now();
    if (sentAt >= endAt) break;
    const request = requests[turn % requests.length] as KeyedRequest;
    try {
      const reply = await connection.exchange(request.withCounter(counter++));
      const now = performance.now();
      if (reply.status !== EXPECTED_STATUS) fail(`${reply.status} ${reply.body.slice(0, 300)}`);
      else if (sentAt >= measureFrom && now <= endAt) latenciesMs.push(now - sentAt);
    } catch (error) {
      if (performance.now() >= endAt) break;
      fail(error instanceof Error ? error.message : String(error));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  connection.close();
}

const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: order.connections }, (_, i) => drive(i * 7)));
const cpu = process.cpuUsage(cpuBefore);

const result: LoadResult = {
  answered: latenciesMs.length,
  failed,
  firstFailure,
  durationMs: order.durationMs,
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  cpuShare: (cpu.user + cpu.system) / 1_000 / (performance.now() - startedAt),
};
process.stdout.write(JSON.stringify(result));
