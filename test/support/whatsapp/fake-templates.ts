import type { IncomingMessage, ServerResponse } from 'node:http';
import { platformId } from '../factories.js';
import { bodyOf, LocalServer, sendJson } from '../local-server.js';

export interface FakeTemplate {
  id: string;
  name: string;
  language: string;
  status: string;
  category: string;
  components: { type: string; [key: string]: unknown }[];
  parameter_format?: string;
  rejected_reason?: string;
  quality_score?: { score: string };
  message_send_ttl_seconds?: number;
}

export interface FakeCall {
  method: string;
  path: string;
  query: URLSearchParams;
  token: string;
  body: Record<string, unknown> | null;
}

/** The fate of a call: answered, refused with an error, or one of the ways in which no answer comes. */
export type Fate =
  | { kind: 'answer' }
  | { kind: 'error'; status: number; body: unknown }
  /** The connection is cut; with `after` the call has taken effect. */
  | { kind: 'cut'; after?: boolean }
  /** No answer until `endSilence`. */
  | { kind: 'silence'; after?: boolean };

const PAGE = 25;

/**
 * The platform's templates as a real HTTP server, for what a simulator that behaves well can't play: pages that are
 * held back, lists that lag behind, answers that never come. At most 25 a page, whatever is asked for.
 */
export class FakeTemplates {
  readonly calls: FakeCall[] = [];
  /** Of each account, in the order of the list. */
  readonly accounts = new Map<string, FakeTemplate[]>();
  /** The fate of a call; runs before anything else and may wait. */
  fate: (call: FakeCall) => Fate | Promise<Fate> = () => ({ kind: 'answer' });
  /** Runs after a page was made and before it is sent: what it shows is old by then. */
  beforePage: (call: FakeCall) => void | Promise<void> = () => undefined;
  /** What a deletion leaves in the list. */
  keepsDeleted = false;
  private server: LocalServer | null = null;
  private readonly unanswered = new Set<ServerResponse>();

  async start(): Promise<this> {
    this.server = await LocalServer.start((request, response) => this.receive(request, response));
    return this;
  }

  get url(): string {
    if (this.server === null) throw new Error('the fake platform does not run');
    return this.server.url;
  }

  /** Cuts the connections of all calls that had no answer, so that no caller waits for one any longer. */
  /** Answers again, and does what it is asked. */
  recover(): void {
    this.fate = () => ({ kind: 'answer' });
    this.beforePage = () => undefined;
    this.keepsDeleted = false;
  }

  endSilence(): void {
    for (const response of this.unanswered) response.destroy();
    this.unanswered.clear();
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  of(wabaId: string): FakeTemplate[] {
    const known = this.accounts.get(wabaId);
    if (known !== undefined) return known;
    const made: FakeTemplate[] = [];
    this.accounts.set(wabaId, made);
    return made;
  }

  add(wabaId: string, values: Partial<FakeTemplate> = {}): FakeTemplate {
    const template: FakeTemplate = {
      id: platformId(),
      name: 'order_update',
      language: 'en_US',
      status: 'APPROVED',
      category: 'UTILITY',
      components: [{ type: 'BODY', text: 'Hello {{1}}.', example: { body_text: [['Ana']] } }],
      parameter_format: 'POSITIONAL',
      rejected_reason: 'NONE',
      quality_score: { score: 'UNKNOWN' },
      ...values,
    };
    this.of(wabaId).push(template);
    return template;
  }

  /** Pages that were asked for, of one account or of all. */
  pages(wabaId = ''): FakeCall[] {
    return this.calls.filter(({ method, path }) => method === 'GET' && path.includes(wabaId));
  }

  /** Lists that were begun: first pages. */
  lists(wabaId = ''): FakeCall[] {
    return this.pages(wabaId).filter(({ query }) => !query.has('after'));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await bodyOf(request)).toString();
    const url = new URL(request.url ?? '/', 'http://fake');
    const call: FakeCall = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      token: (request.headers.authorization ?? '').replace('Bearer ', ''),
      body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
    };
    this.calls.push(call);
    const fate = await this.fate(call);
    if (fate.kind === 'error') return sendJson(response, fate.status, fate.body);
    const lost = fate.kind !== 'answer';
    const answer = lost && fate.after !== true ? null : this.answer(call);
    if (call.method === 'GET' && answer !== null) await this.beforePage(call);
    if (fate.kind === 'cut') response.destroy();
    else if (!lost && answer !== null) sendJson(response, answer.status, answer.body);
    else this.unanswered.add(response);
  }

  private answer({ method, path, query, body }: FakeCall): { status: number; body: unknown } {
    const [, , node = '', edge] = path.split('/');
    if (edge === 'message_templates') {
      if (method === 'GET') return { status: 200, body: this.page(node, query) };
      if (method === 'DELETE') return this.remove(node, query.get('name') ?? '');
      return this.create(node, body ?? {});
    }
    const template = [...this.accounts.values()].flat().find(({ id }) => id === node);
    if (method !== 'POST' || template === undefined) return graphError(100, 33, 'Unsupported post request.');
    template.components = (body?.components ?? []) as FakeTemplate['components'];
    template.status = 'PENDING';
    return { status: 200, body: { success: true } };
  }

  private create(wabaId: string, body: Record<string, unknown>): { status: number; body: unknown } {
    if (this.of(wabaId).some(({ name, language }) => name === body.name && language === body.language)) {
      return graphError(100, 2_388_024, 'Content in this language already exists.');
    }
    const { id, status, category } = this.add(wabaId, { ...body, status: 'PENDING' });
    return { status: 200, body: { id, status, category } };
  }

  private remove(wabaId: string, name: string): { status: number; body: unknown } {
    const all = this.of(wabaId);
    if (!all.some((template) => template.name === name)) {
      return graphError(100, 2_593_002, 'Message template not found.');
    }
    if (!this.keepsDeleted) {
      this.accounts.set(
        wabaId,
        all.filter((template) => template.name !== name),
      );
    }
    return { status: 200, body: { success: true } };
  }

  private page(wabaId: string, query: URLSearchParams): unknown {
    const all = this.of(wabaId);
    const after = query.get('after');
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const data = all.slice(from, from + Math.min(PAGE, Number(query.get('limit') ?? PAGE)));
    const last = data.at(-1);
    if (last === undefined) return { data: [] };
    const more = from + data.length < all.length;
    return {
      data: structuredClone(data),
      paging: { cursors: { before: data[0]?.id, after: last.id }, ...(more ? { next: `${this.url}/next` } : {}) },
    };
  }
}

export function graphError(code: number, subcode: number | null, message: string): { status: number; body: unknown } {
  return {
    status: 400,
    body: {
      error: {
        message,
        type: 'OAuthException',
        code,
        ...(subcode === null ? {} : { error_subcode: subcode }),
        fbtrace_id: 'Az8trace',
      },
    },
  };
}
