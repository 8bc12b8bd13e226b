import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LocalServer } from '../local-server.js';
import { WAIT_LIMIT_MS } from '../wait-for.js';

export interface ReceivedStatus {
  id: string;
  status: string;
  timestamp: string;
  recipient_id?: string;
  recipient_user_id?: string;
  biz_opaque_callback_data?: string;
  pricing?: { type: string; category: string };
  errors?: { code: number; title: string; error_data: { details: string } }[];
}

export interface ReceivedValue {
  metadata: { phone_number_id: string; display_phone_number: string };
  contacts?: { wa_id?: string; user_id?: string; profile?: { name: string; username?: string } }[];
  statuses?: ReceivedStatus[];
  messages?: (Record<string, unknown> & { id: string; from?: string; type: string })[];
}

export interface ReceivedRequest {
  /** Milliseconds since the epoch. */
  at: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  body: { object: string; entry: { id: string; time?: number; changes: { field: string; value: ReceivedValue }[] }[] };
  /** What it was answered with. */
  answered: number;
}

/** A webhook for tests: keeps every request, answers as configured. */
export class NotificationReceiver {
  readonly requests: ReceivedRequest[] = [];
  /** Status for a request; by default 200. It has not been answered yet when this runs. */
  answer: (request: ReceivedRequest) => number | Promise<number> = () => 200;
  private readonly waiting = new Set<() => void>();
  private server: LocalServer | null = null;

  /** @param port 0 takes any free one */
  async start(port = 0): Promise<this> {
    this.server = await LocalServer.start((request, response) => this.receive(request, response), port);
    return this;
  }

  get url(): string {
    return `${this.server?.url}/hook`;
  }

  /** Everything in all changes of requests that were answered 200, in the order in which it came. */
  values(): ReceivedValue[] {
    return this.requests
      .filter((request) => request.answered === 200)
      .flatMap((request) => request.body.entry.flatMap((entry) => entry.changes.map((change) => change.value)));
  }

  /** Names of one message's statuses, or of all. */
  statuses(messageId?: string): ReceivedStatus[] {
    const all = this.values().flatMap((value) => value.statuses ?? []);
    return messageId === undefined ? all : all.filter((status) => status.id === messageId);
  }

  messages(): NonNullable<ReceivedValue['messages']> {
    return this.values().flatMap((value) => value.messages ?? []);
  }

  /** Resolves once the condition holds; looks after every request. */
  async until(what: string, condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.waiting.delete(check);
        settle();
      };
      const check = () => {
        if (condition()) end(resolve);
      };
      const timer = setTimeout(() => end(() => reject(new Error(`never came: ${what}`))), WAIT_LIMIT_MS);
      this.waiting.add(check);
    });
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers } = request;
    const bytes = await bodyOf(request);
    const body = JSON.parse(bytes.toString('utf8')) as ReceivedRequest['body'];
    const received: ReceivedRequest = { at: Date.now(), headers, bytes, body, answered: 0 };
    this.requests.push(received);
    const status = await this.answer(received);
    received.answered = status;
    response.writeHead(status).end();
    for (const check of this.waiting) check();
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }
}

/** What a careful receiver computes over the bytes it got. */
export function signatureOf(bytes: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`;
}
