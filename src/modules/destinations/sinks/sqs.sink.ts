import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { SendMessageBatchCommandOutput, SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import type { Connecting, SqsSettings } from '../destinations.types.js';
import { hostAndPort } from './broker-url.js';
import type { DestinationAddresses, HostAndPort } from './destination-addresses.service.js';
import { cloudEvent, connectionWord, orderKey, type OutgoingEvent, type Sink, SinkError } from './sink.js';

const CONNECT_MS = 5_000;
/** SQS's limits for a batch, and for a message with its attributes. */
const ENTRIES = 10;
const MAX_BYTES = 262_144;
/** More than the size of an event's attributes, with their names and types. */
const ATTRIBUTE_BYTES = 1_024;

/** @throws SinkError */
export async function openSqs(connecting: Connecting, addresses: DestinationAddresses): Promise<Sink> {
  const { queue_url: queueUrl, region, access_key_id: accessKeyId } = connecting.settings as SqsSettings;
  const { secret_access_key: secretAccessKey = '', session_token: sessionToken } = connecting.secrets;
  const place = hostAndPort(queueUrl, 'sqs');
  // An IP address needs no lookup, so it is checked here; a name is checked at each connection.
  await addresses.addressOf(place);
  const { SQSClient, SendMessageBatchCommand } = await import('@aws-sdk/client-sqs');
  const options = { keepAlive: true, maxSockets: 10, lookup: checkedLookup(place, addresses) };
  const client = new SQSClient({
    region,
    endpoint: new URL(queueUrl).origin,
    // Always the destination's credentials, never the machine's.
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    maxAttempts: 1,
    requestHandler: {
      httpAgent: new HttpAgent(options),
      httpsAgent: new HttpsAgent(options),
      connectionTimeout: CONNECT_MS,
    },
  });
  const send = (entries: SendMessageBatchRequestEntry[], signal: AbortSignal): Promise<SendMessageBatchCommandOutput> =>
    client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }), { abortSignal: signal });
  return new SqsSink(client, send, new URL(queueUrl).pathname.endsWith('.fifo'));
}

/** Resolves names to checked addresses only, at each connection. */
function checkedLookup({ host, port }: HostAndPort, addresses: DestinationAddresses): LookupFunction {
  return (name, { all }, done) => {
    const find = name === host ? addresses.addressOf({ host, port }) : Promise.reject(new SinkError('private_address'));
    const answer = callbackify(() => find);
    answer((error, address) => {
      if (error !== null) done(error, '', 0);
      else if (all === true) done(null, [{ address, family: isIP(address) }]);
      else done(null, address, isIP(address));
    });
  };
}

class SqsSink implements Sink {
  readonly maxAtOnce = 50;
  private closed = false;

  constructor(
    private readonly client: SQSClient,
    private readonly send: (
      entries: SendMessageBatchRequestEntry[],
      signal: AbortSignal,
    ) => Promise<SendMessageBatchCommandOutput>,
    private readonly isFifo: boolean,
  ) {}

  get isOpen(): boolean {
    return !this.closed;
  }

  async write(events: readonly OutgoingEvent[], withinMs: number): Promise<(SinkError | null)[]> {
    const outcomes = new Map<string, SinkError | null>();
    const signal = AbortSignal.timeout(Math.ceil(withinMs));
    await Promise.all(batchesOf(events, outcomes).map((batch) => this.writeBatch(batch, signal, outcomes)));
    return events.map(({ id }) => outcomes.get(id) ?? null);
  }

  close(): Promise<void> {
    this.closed = true;
    this.client.destroy();
    return Promise.resolve();
  }

  private async writeBatch(
    batch: readonly OutgoingEvent[],
    signal: AbortSignal,
    outcomes: Map<string, SinkError | null>,
  ): Promise<void> {
    try {
      const { Successful = [], Failed = [] } = await this.send(
        batch.map((event, n) => this.entryOf(event, n)),
        signal,
      );
      const written = new Set(Successful.map(({ Id }) => Id));
      const failed = new Map(Failed.map(({ Id, Code }) => [Id, Code]));
      for (const [n, { id }] of batch.entries()) {
        const error = written.has(String(n)) ? null : new SinkError(wordOf(failed.get(String(n)) ?? ''));
        outcomes.set(id, error);
      }
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      const word = signal.aborted ? 'timeout' : (NAMES[name] ?? connectionWord(error));
      for (const { id } of batch) outcomes.set(id, new SinkError(word));
    }
  }

  private entryOf(event: OutgoingEvent, n: number): SendMessageBatchRequestEntry {
    const text = (StringValue: string) => ({ DataType: 'String', StringValue });
    const attributes = Object.entries(cloudEvent(event)).map(([name, value]) => [`ce-${name}`, text(value)] as const);
    return {
      Id: String(n),
      MessageBody: event.body,
      MessageAttributes: Object.fromEntries([['content-type', text('application/json')], ...attributes]),
      ...(this.isFifo && { MessageGroupId: orderKey(event), MessageDeduplicationId: event.id }),
    };
  }
}

/** Batches of at most ten events and SQS's size limit; an event that is too large alone already has its outcome. */
function batchesOf(events: readonly OutgoingEvent[], outcomes: Map<string, SinkError | null>): OutgoingEvent[][] {
  const batches: OutgoingEvent[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    const size = Buffer.byteLength(event.body) + ATTRIBUTE_BYTES;
    if (size > MAX_BYTES) {
      outcomes.set(event.id, new SinkError('event_too_large', true));
      continue;
    }
    const last = batches.at(-1);
    if (last === undefined || last.length === ENTRIES || bytes + size > MAX_BYTES) {
      batches.push([event]);
      bytes = size;
    } else {
      last.push(event);
      bytes += size;
    }
  }
  return batches;
}

const NAMES: Readonly<Record<string, string>> = {
  QueueDoesNotExist: 'queue_not_found',
  'AWS.SimpleQueueService.NonExistentQueue': 'queue_not_found',
  InvalidClientTokenId: 'unauthorized',
  UnrecognizedClientException: 'unauthorized',
  SignatureDoesNotMatch: 'unauthorized',
  InvalidSignatureException: 'unauthorized',
  ExpiredToken: 'unauthorized',
  ExpiredTokenException: 'unauthorized',
  AccessDenied: 'forbidden',
  AccessDeniedException: 'forbidden',
  RequestThrottled: 'throttled',
  ThrottlingException: 'throttled',
  OverLimit: 'full',
  TimeoutError: 'timeout',
};

function wordOf(code: string): string {
  return NAMES[code] ?? 'refused';
}
