import type { JetStreamClient } from '@nats-io/jetstream';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { Connecting, DestinationSecrets, NatsSettings } from '../destinations.types.js';
import { hostAndPort } from './broker-url.js';
import type { DestinationAddresses } from './destination-addresses.service.js';
import {
  answeredWithin,
  cloudEvent,
  connectionWord,
  filledIn,
  type OutgoingEvent,
  type Sink,
  SinkError,
} from './sink.js';

const CONNECT_MS = 5_000;
const CLOSE_MS = 1_000;
/** Size of the headers, which count against the server's limit in addition to the body. */
const HEADER_BYTES = 1_024;

/** Error codes of JetStream for a stream or server that is full. */
const FULL: ReadonlySet<number> = new Set([10_023, 10_047, 10_054, 10_077]);

/** @throws SinkError */
export async function openNats(connecting: Connecting, addresses: DestinationAddresses): Promise<Sink> {
  const settings = connecting.settings as NatsSettings;
  const place = hostAndPort(settings.url, 'nats');
  const address = await addresses.addressOf(place);
  const { connect, credsAuthenticator } = await import('@nats-io/transport-node');
  const { jetstream } = await import('@nats-io/jetstream');
  const { secrets } = connecting;
  const options: ConnectionOptions = {
    servers: `${address.includes(':') ? `[${address}]` : address}:${place.port}`,
    name: 'herald',
    timeout: CONNECT_MS,
    // Other servers that this one announces were not checked.
    ignoreClusterUpdates: true,
    resolve: false,
    reconnect: false,
    noEcho: true,
    maxPingOut: 2,
    pingInterval: 20_000,
    tls: new URL(settings.url).protocol === 'tls:' ? { servername: place.host } : null,
    ...login(settings, secrets),
    ...(secrets.credentials !== undefined && {
      authenticator: credsAuthenticator(new TextEncoder().encode(secrets.credentials)),
    }),
  } as ConnectionOptions;
  const connection = await answeredWithin(connect(options), 2 * CONNECT_MS, 'connect_timeout').catch(
    (error: unknown) => {
      throw new SinkError(wordOf(error));
    },
  );
  return new NatsSink(connection, jetstream(connection), settings.subject);
}

function login({ username }: NatsSettings, { token, password }: DestinationSecrets): Partial<ConnectionOptions> {
  if (token !== undefined) return { token };
  return username === null ? {} : { user: username, pass: password ?? '' };
}

class NatsSink implements Sink {
  readonly maxAtOnce = 50;

  constructor(
    private readonly connection: NatsConnection,
    private readonly stream: JetStreamClient,
    private readonly subject: string,
  ) {}

  get isOpen(): boolean {
    return !this.connection.isClosed();
  }

  async write(events: readonly OutgoingEvent[], withinMs: number): Promise<(SinkError | null)[]> {
    const { headers } = await import('@nats-io/transport-node');
    return Promise.all(
      events.map(async (event) => {
        const body = Buffer.from(event.body);
        const most = this.connection.info?.max_payload ?? Infinity;
        if (body.length + HEADER_BYTES > most) return new SinkError('event_too_large', true);
        const own = headers();
        own.set('content-type', 'application/json');
        for (const [name, value] of Object.entries(cloudEvent(event))) own.set(`ce-${name}`, value);
        const options = { msgID: event.id, headers: own, timeout: withinMs };
        return this.stream.publish(filledIn(this.subject, event), body, options).then(
          () => null,
          (error: unknown) => new SinkError(wordOf(error)),
        );
      }),
    );
  }

  async close(): Promise<void> {
    await answeredWithin(this.connection.close(), CLOSE_MS, 'timeout').catch(() => undefined);
  }
}

/** The errors' names are stable; their messages contain text from the server. */
function wordOf(error: unknown): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each.name === 'JetStreamApiError') {
      const { code } = each as Error & { code?: number };
      return FULL.has(code ?? 0) ? 'full' : 'refused';
    }
    if (each.name === 'NoResponders' || each.name === 'JetStreamNotEnabled') return 'no_stream';
    if (each.name === 'AuthorizationError' || each.name === 'UserAuthenticationExpiredError') return 'unauthorized';
    if (each.name === 'PermissionViolationError') return 'forbidden';
    if (each.name === 'TimeoutError') return 'timeout';
    if (['ClosedConnectionError', 'DrainingConnectionError', 'RequestError'].includes(each.name)) {
      if (each.cause === undefined) return 'connection_closed';
    }
    if (/does not support 'tls'|tls.*not available/i.test(each.message)) return 'tls_failed';
  }
  return connectionWord(error);
}
