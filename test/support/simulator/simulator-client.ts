import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { waitFor } from '../wait-for.js';
import { multipartBody } from './multipart-body.js';

export interface GraphAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Undefined where the answer has no JSON body. */
  json: {
    messages?: { id: string; message_status?: string }[];
    contacts?: { input: string; wa_id?: string; user_id?: string }[];
    error?: { code: number; message: string; error_data?: { details: string }; error_subcode?: number; type: string };
    [key: string]: unknown;
  };
}

/** Speaks to a simulator the way an application and a tester do. */
export class SimulatorClient {
  constructor(
    private readonly url: string,
    private readonly phoneNumberId: string,
    private readonly token = 'token',
  ) {}

  /** Sends a message; `body` is put over a minimal text message. */
  send(body: Record<string, unknown>, phoneNumberId = this.phoneNumberId): Promise<GraphAnswer> {
    const text = body.type === undefined ? { type: 'text', text: { body: 'hello' } } : {};
    return this.call('POST', `/v26.0/${phoneNumberId}/messages`, { messaging_product: 'whatsapp', ...text, ...body });
  }

  /** As {@link send}; gives the message's id. Throws where it was not taken. */
  async sendTaken(body: Record<string, unknown>, phoneNumberId = this.phoneNumberId): Promise<string> {
    const answer = await this.send(body, phoneNumberId);
    const id = answer.json.messages?.[0]?.id;
    if (answer.status !== 200 || id === undefined) throw new Error(`not taken: ${answer.status} ${answer.text}`);
    return id;
  }

  /** Uploads a file; `fields` are put over the usual ones. */
  upload(
    bytes: Buffer,
    type: string,
    fields: Readonly<Record<string, string>> = {},
    phoneNumberId = this.phoneNumberId,
  ): Promise<GraphAnswer> {
    return this.uploadPieces([bytes], type, fields, phoneNumberId);
  }

  async uploadPieces(
    pieces: Iterable<Buffer>,
    type: string,
    fields: Readonly<Record<string, string>> = {},
    phoneNumberId = this.phoneNumberId,
  ): Promise<GraphAnswer> {
    const body = multipartBody({ messaging_product: 'whatsapp', type, ...fields }, { pieces, type, filename: 'file' });
    const response = await request(`${this.url}/v26.0/${phoneNumberId}/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': body.contentType },
      body: Readable.from(body.chunks()),
    });
    return answerOf(response);
  }

  /** Makes a template, and waits until it is reviewed and approved; gives its id. */
  async approvedTemplate(wabaId: string, template: { name: string; [key: string]: unknown }): Promise<string> {
    const made = await this.call('POST', `/v26.0/${wabaId}/message_templates`, { language: 'en_US', ...template });
    const { id } = made.json;
    if (made.status !== 200 || typeof id !== 'string') throw new Error(`not made: ${made.status} ${made.text}`);
    await waitFor(async () => (await this.call('GET', `/v26.0/${id}?fields=status`)).json.status === 'APPROVED', {
      what: `the template ${template.name} to be approved`,
    });
    return id;
  }

  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<GraphAnswer> {
    return this.call(method, `/_simulator/${path}`, body);
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<GraphAnswer> {
    const response = await request(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    return answerOf(response);
  }
}

async function answerOf(response: Dispatcher.ResponseData): Promise<GraphAnswer> {
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const json = (isJson ? JSON.parse(text) : {}) as GraphAnswer['json'];
  return { status: response.statusCode, headers: response.headers, text, json };
}
