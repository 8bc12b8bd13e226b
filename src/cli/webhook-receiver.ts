import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedEvent {
  id: string;
  type: string;
  data: { message_id?: string; status?: string; message?: { id?: string; status?: string } };
}

const MAX_BODY_BYTES = 1_048_576;
/** Of a delivery's timestamp (Standard Webhooks): older ones may be replayed by an attacker. */
const TOLERANCE_SECONDS = 300;

interface ReceiverOptions {
  /** Default: any free one. */
  port?: number;
  host?: string;
  /** Null: set it once it is known; until then nothing is believed. */
  secret?: string | null;
  onEvent: (event: ReceivedEvent) => void;
  onForged?: () => void;
}

/** A receiver as docs/webhooks.md describes it: verifies each delivery from its raw bytes before it uses it. */
export class WebhookReceiver {
  secret: string | null;
  /** Deliveries with a wrong signature. */
  forged = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: ReceiverOptions,
  ) {
    this.secret = options.secret ?? null;
    server.on('request', (request, response) => {
      this.receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.destroy(),
      );
    });
  }

  /** @throws Error where the port is taken. */
  static async listen(options: ReceiverOptions): Promise<WebhookReceiver> {
    const server = createServer();
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
    await once(server, 'listening');
    return new WebhookReceiver(server, options);
  }

  get url(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address.includes(':') ? `[${address}]` : address}:${port}/`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BODY_BYTES) return 413;
      chunks.push(chunk as Buffer);
    }
    const body = Buffer.concat(chunks);
    if (!isGenuine(this.secret, request.headers, body)) {
      this.forged++;
      this.options.onForged?.();
      return 400;
    }
    this.options.onEvent(JSON.parse(body.toString('utf8')) as ReceivedEvent);
    return 204;
  }
}

function isGenuine(secret: string | null, headers: IncomingMessage['headers'], body: Buffer): boolean {
  if (secret === null) return false;
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof signatures !== 'string' || Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS)
    return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(timestamp)}.`)
    .update(body)
    .digest();
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
