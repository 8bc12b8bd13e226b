import type { HostResolver } from '../../src/modules/webhook/address/resolver.js';
import {
  DeliveryClient,
  type DeliveryClientOptions,
  type DeliveryRequest,
  type DeliveryResult,
} from '../../src/modules/webhook/delivery-client.js';
import { TestAuthority } from '../support/certificates.js';
import { Receiver, type Answerer } from './receiver.js';

/** The name that the tests' receiver has. */
export const HOST = 'hooks.example.com';

const authority = new TestAuthority();

export const trusted = authority.issue({ names: [HOST] });

export function issue(names: readonly string[], hours: { fromHours?: number; untilHours?: number } = {}) {
  return authority.issue({ names, ...hours });
}

/** Answers with what a function says, and counts the questions. */
export class FakeResolver implements HostResolver {
  asked = 0;

  constructor(private readonly answer: (host: string, question: number) => string[] | Promise<string[]>) {}

  async resolve(host: string): Promise<string[]> {
    this.asked += 1;
    return this.answer(host, this.asked);
  }
}

const LONG_MS = 600_000;

/** Limits that no test reaches: where one of them alone is short, only it can end a delivery. */
export const NO_LIMIT = {
  totalMs: LONG_MS,
  dnsMs: LONG_MS,
  connectMs: LONG_MS,
  tlsMs: LONG_MS,
  headersMs: LONG_MS,
  bodyMs: LONG_MS,
};

const clients: DeliveryClient[] = [];

/** A client as in production, but for three things: the tests' authority, port and network 127.0.0.1/32. */
export function clientFor(port: number, options: Partial<DeliveryClientOptions> = {}): DeliveryClient {
  const client = new DeliveryClient({
    allowPrivate: false,
    resolver: new FakeResolver(() => ['127.0.0.1']),
    extraNetworks: ['127.0.0.1/32'],
    ca: authority.certificate,
    httpsPort: port,
    ...options,
  });
  clients.push(client);
  return client;
}

const closers: (() => Promise<unknown>)[] = [];

/** Ends with the test, after its clients. */
export function closeLater(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(closers.splice(0).map((close) => close()));
}

/** A receiver for one test. */
export async function receive(answer: Answerer, credentials = trusted): Promise<Receiver> {
  const receiver = await Receiver.start(answer, credentials);
  closeLater(() => receiver.stop());
  return receiver;
}

export function deliver(client: DeliveryClient, change: Partial<DeliveryRequest> = {}): Promise<DeliveryResult> {
  return client.deliver({
    url: `https://${HOST}/webhooks?from=herald`,
    headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
    body: '{"type":"webhook.test"}',
    ...change,
  });
}
