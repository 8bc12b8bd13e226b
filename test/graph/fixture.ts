import type { ApiResponse } from '../support/api-client.js';
import { startTestApp, type TestApp, type TestAppOptions, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** An answer of the surface; which of these it has, its status says. */
export interface GraphBody {
  messaging_product?: string;
  contacts?: { input: string; wa_id?: string; user_id?: string }[];
  messages?: { id: string; message_status?: string }[];
  success?: boolean;
  id?: string;
  url?: string;
  data?: Record<string, unknown>[];
  paging?: { cursors: { before: string; after: string }; next?: string };
  error?: {
    message: string;
    type: string;
    code: number;
    error_subcode?: number;
    is_transient?: boolean;
    error_data: { messaging_product: string; details: string; herald_code: string };
    fbtrace_id: string;
  };
}

export type GraphAnswer = ApiResponse<GraphBody>;

/** Calls the surface as a client of the Cloud API does, with the key of a sender and for its number. */
export class GraphClient {
  constructor(
    readonly test: TestApp,
    readonly sender: TestSender,
    private readonly base = '/graph/v26.0',
  ) {}

  /** The client of a sender of a new application. */
  static async start(options: TestAppOptions = {}): Promise<GraphClient> {
    const test = await startTestApp(options);
    return new GraphClient(test, await test.sender());
  }

  get number(): string {
    return this.sender.connection.phoneNumberId;
  }

  /** Sends `message` to `to`; both may be overwritten. */
  send(message: object, headers: Record<string, string> = {}): Promise<GraphAnswer> {
    const body = { messaging_product: 'whatsapp', recipient_type: 'individual', ...message };
    return this.post(`${this.number}/messages`, body, headers);
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<GraphAnswer> {
    return this.sender.api.post<GraphBody>(`${this.base}/${path}`, body, { headers });
  }

  get(path: string): Promise<GraphAnswer> {
    return this.sender.api.get<GraphBody>(`${this.base}/${path}`);
  }

  delete(path: string): Promise<GraphAnswer> {
    return this.sender.api.request<GraphBody>({ method: 'DELETE', path: `${this.base}/${path}` });
  }

  async upload(file: Buffer, fields: Record<string, string>, contentType = ''): Promise<GraphAnswer> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([new Uint8Array(file)], { type: contentType }), 'file.bin');
    const response = await fetch(`${this.test.baseUrl}${this.base}/${this.number}/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.sender.key.text}` },
      body: form,
      signal: AbortSignal.timeout(60_000),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as GraphBody };
  }

  /** A contact whose window is open. */
  async contact(): Promise<string> {
    const { phone } = await this.test.openWindow(this.sender);
    if (phone === null) throw new Error('a contact without a number');
    return phone;
  }

  /** Sends what must be taken; its id. */
  async taken(message: object, headers: Record<string, string> = {}): Promise<string> {
    const { status, body } = await this.send(message, headers);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.messages?.[0]?.id ?? '';
  }

  async message(id: string): Promise<Record<string, unknown>> {
    return (await this.sender.api.get(`/messages/${id}`)).body.data as Record<string, unknown>;
  }

  reaches(id: string, status: string): Promise<Record<string, unknown>> {
    return waitFor(
      async () => {
        const message = await this.message(id);
        return message.status === status ? message : null;
      },
      { what: `message ${id} to be ${status}` },
    );
  }

  /** What the platform took for a recipient, last. */
  takenBy(to: string): Record<string, unknown> {
    return this.test.simulator.messages.list({ to }).at(-1)?.body as Record<string, unknown>;
  }

  /** A customer writes to the number; the message, once it is in the journal. */
  async received(from: string): Promise<{ id: string; wamid: string }> {
    const response = await fetch(`${this.test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number_id: this.number, from, message: 'Are you open?' }),
    });
    const { id: wamid } = (await response.json()) as { id: string };
    const path = `/messages?from=${from}`;
    const id = await waitFor(async () => (await this.sender.api.get(path)).body.data[0]?.id as string, {
      what: 'the message in the journal',
    });
    return { id, wamid };
  }
}

/** What of a refusal tests look at. */
export const refusalOf = ({ status, body: { error } }: GraphAnswer): unknown[] => [
  status,
  error?.code,
  error?.error_data.herald_code,
];
