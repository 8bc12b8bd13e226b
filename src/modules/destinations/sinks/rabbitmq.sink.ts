import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Connecting, RabbitmqSettings } from '../destinations.types.js';
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
const HEARTBEAT_SECONDS = 10;
/** A broker that requires larger frames is refused: they would fill the memory. */
const MAX_FRAME = 131_072;

/** @throws SinkError */
export async function openRabbitmq(connecting: Connecting, addresses: DestinationAddresses): Promise<Sink> {
  const settings = connecting.settings as RabbitmqSettings;
  const place = hostAndPort(settings.url, 'rabbitmq');
  const url = new URL(settings.url);
  const address = await addresses.addressOf(place);
  const { connect } = await import('amqplib');
  const opening = connect(
    {
      protocol: url.protocol.slice(0, -1),
      hostname: address,
      port: place.port,
      username: settings.username,
      password: connecting.secrets.password ?? '',
      vhost: url.pathname.slice(1) === '' ? '/' : decodeURIComponent(url.pathname.slice(1)),
      heartbeat: HEARTBEAT_SECONDS,
      frameMax: MAX_FRAME,
    },
    { servername: place.host, timeout: CONNECT_MS, noDelay: true },
  );
  const connection = await answeredWithin(opening, 2 * CONNECT_MS, 'connect_timeout').catch((error: unknown) => {
    void opening.then((late) => late.close()).catch(() => undefined);
    throw new SinkError(wordOf(error));
  });
  // Every close emits an error, which would end the process without a listener.
  let failure: unknown = null;
  connection.on('error', (error: unknown) => (failure = error));
  try {
    const channel = await answeredWithin(connection.createConfirmChannel(), CONNECT_MS, 'timeout');
    channel.on('error', (error: unknown) => (failure = error));
    if (settings.exchange !== '') await answeredWithin(channel.checkExchange(settings.exchange), CONNECT_MS, 'timeout');
    return new RabbitmqSink(connection, channel, settings);
  } catch (error) {
    await answeredWithin(connection.close(), CLOSE_MS, 'timeout').catch(() => undefined);
    throw new SinkError(wordOf(failure ?? error));
  }
}

class RabbitmqSink implements Sink {
  readonly maxAtOnce = 50;
  /**
   * Events sent to the broker whose answer no turn has read yet, by id. If the broker answers late, for example while
   * it is full, the next turn waits for the same answer instead of sending the event twice.
   */
  private readonly pending = new Map<string, Promise<SinkError | null>>();
  private readonly returned = new Set<string>();
  private closed = false;
  private blocked = false;

  constructor(
    private readonly connection: ChannelModel,
    private readonly channel: ConfirmChannel,
    private readonly settings: RabbitmqSettings,
  ) {
    const close = (): void => void (this.closed = true);
    connection.on('close', close);
    channel.on('close', close);
    connection.on('blocked', () => (this.blocked = true));
    connection.on('unblocked', () => (this.blocked = false));
    // A return comes before the confirmation of the same message.
    channel.on('return', ({ properties }: { properties: { messageId?: unknown } }) => {
      if (typeof properties.messageId === 'string') this.returned.add(properties.messageId);
    });
  }

  get isOpen(): boolean {
    return !this.closed;
  }

  write(events: readonly OutgoingEvent[], withinMs: number): Promise<(SinkError | null)[]> {
    return Promise.all(
      events.map(async (event) => {
        const known = this.pending.get(event.id);
        if (known === undefined && this.blocked) return new SinkError('full');
        try {
          const outcome = await answeredWithin(known ?? this.publish(event), withinMs, 'timeout');
          this.pending.delete(event.id);
          return outcome;
        } catch (error) {
          return new SinkError(this.blocked ? 'full' : wordOf(error));
        }
      }),
    );
  }

  async close(): Promise<void> {
    this.closed = true;
    await answeredWithin(this.connection.close(), CLOSE_MS, 'timeout').catch(() => undefined);
  }

  /** Never rejects. */
  private publish(event: OutgoingEvent): Promise<SinkError | null> {
    const { exchange, routing_key: template } = this.settings;
    const attributes = Object.entries(cloudEvent(event)).map(([name, value]) => [`cloudEvents:${name}`, value]);
    const options = {
      contentType: 'application/json',
      deliveryMode: 2,
      mandatory: true,
      messageId: event.id,
      type: event.type,
      timestamp: Math.floor(event.occurredAt.getTime() / 1_000),
      appId: 'herald',
      headers: Object.fromEntries(attributes) as Record<string, string>,
    };
    const answer = new Promise<SinkError | null>((resolve) => {
      const confirmed = (error: unknown): void => {
        const returned = this.returned.delete(event.id);
        if (error !== null && error !== undefined)
          resolve(new SinkError(this.closed ? 'connection_closed' : 'refused'));
        else resolve(returned ? new SinkError('unroutable') : null);
      };
      try {
        this.channel.publish(exchange, filledIn(template, event), Buffer.from(event.body), options, confirmed);
      } catch {
        this.closed = true;
        confirmed(new Error('the channel is closed'));
      }
    });
    this.pending.set(event.id, answer);
    return answer;
  }
}

/** The messages of these errors contain text from the broker; AMQP codes do not. */
function wordOf(error: unknown): string {
  if (error instanceof SinkError) return error.word;
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (code === 404 || / 404 /.test(message)) return 'exchange_not_found';
  if (code === 403 || /ACCESS_REFUSED|\b403\b/.test(message)) return 'unauthorized';
  if (code === 530 || /NOT_ALLOWED|\b530\b/.test(message)) return 'forbidden';
  if (/ETIMEDOUT/.test(message)) return 'connect_timeout';
  if (/Socket closed|connection closed|Unexpected close|IllegalOperation/i.test(message)) return 'connection_closed';
  return connectionWord(error);
}
