import { ChatwootError } from './failure.js';
import { formWith, type FileStream, tooLargeOf } from './files.js';
import type { Settings } from './settings.js';

const WITHIN_MS = 15_000;
const FILE_WITHIN_MS = 120_000;
/** That are looked through for a message: 20 a page. */
const MOST_PAGES = 200;

export interface Inbox {
  id: number;
  name: string;
  channel_type: string;
  webhook_url?: string | null;
  lock_to_single_conversation?: boolean;
  /** Only administrators see it, from 4.13 on. */
  secret?: string | null;
}

export interface Contact {
  id: number;
  phone_number?: string | null;
  identifier?: string | null;
  contact_inboxes?: { source_id: string; inbox: { id: number } }[];
}

export interface Conversation {
  id: number;
  inbox_id: number;
  status: string;
  last_activity_at?: number;
}

export interface Message {
  id: number;
  source_id?: string | null;
  status?: string;
  created_at: number;
}

export interface NewMessage {
  content: string;
  message_type: 'incoming' | 'outgoing';
  private?: boolean;
  source_id: string;
  content_attributes?: Record<string, unknown>;
}

export interface NewContact {
  inbox_id: number;
  source_id: string;
  name: string;
  phone_number?: string;
  identifier?: string;
}

/** The calls of Chatwoot's application API that the bridge needs. Every method throws ChatwootError. */
export class Chatwoot {
  private readonly account: string;

  constructor(
    private readonly settings: Settings,
    private readonly signal: AbortSignal,
  ) {
    this.account = `/api/v1/accounts/${settings.accountId}`;
  }

  version(): Promise<{ version: string }> {
    return this.call('GET', '/api');
  }

  profile(): Promise<{ accounts?: { id: number; role: string }[] }> {
    return this.call('GET', '/api/v1/profile');
  }

  async inboxes(): Promise<Inbox[]> {
    return (await this.call<{ payload: Inbox[] }>('GET', `${this.account}/inboxes`)).payload;
  }

  inbox(id: number): Promise<Inbox> {
    return this.call('GET', `${this.account}/inboxes/${id}`);
  }

  createInbox(name: string, callback: string): Promise<Inbox> {
    const channel = { type: 'api', webhook_url: callback };
    return this.call('POST', `${this.account}/inboxes`, { name, lock_to_single_conversation: true, channel });
  }

  pointInbox(id: number, callback: string): Promise<Inbox> {
    return this.call('PATCH', `${this.account}/inboxes/${id}`, { channel: { webhook_url: callback } });
  }

  /** Null where no contact has exactly this value. */
  async findContact(key: 'identifier' | 'phone_number', value: string): Promise<Contact | null> {
    // Chatwoot puts the + in front by itself.
    const values = [key === 'phone_number' ? value.replace('+', '') : value];
    const payload = [{ attribute_key: key, filter_operator: 'equal_to', values, query_operator: null }];
    const found = await this.call<{ payload: Contact[] }>('POST', `${this.account}/contacts/filter`, { payload });
    return found.payload.find((contact) => contact[key] === value) ?? null;
  }

  async createContact(contact: NewContact): Promise<{ id: number; sourceId: string | null }> {
    const created = await this.call<{
      payload: { contact: Contact; contact_inbox?: { source_id: string } | null };
    }>('POST', `${this.account}/contacts`, contact);
    return { id: created.payload.contact.id, sourceId: created.payload.contact_inbox?.source_id ?? null };
  }

  async updateContact(id: number, change: { phone_number?: string; identifier?: string }): Promise<void> {
    await this.call('PUT', `${this.account}/contacts/${id}`, change);
  }

  async addToInbox(contactId: number, inboxId: number, sourceId: string): Promise<void> {
    const body = { inbox_id: inboxId, source_id: sourceId };
    await this.call('POST', `${this.account}/contacts/${contactId}/contact_inboxes`, body);
  }

  async conversationsOf(contactId: number): Promise<Conversation[]> {
    const path = `${this.account}/contacts/${contactId}/conversations`;
    return (await this.call<{ payload: Conversation[] }>('GET', path)).payload;
  }

  /** The one that is there, where the inbox keeps to a single one; else another each time. */
  async createConversation(sourceId: string, inboxId: number, contactId: number): Promise<number> {
    const body = { source_id: sourceId, inbox_id: inboxId, contact_id: contactId };
    return (await this.call<{ id: number }>('POST', `${this.account}/conversations`, body)).id;
  }

  /** Chatwoot has no search by it, so the newest messages are read page by page, as far back as `since` (Unix seconds). */
  async hasMessage(conversation: number, sourceId: string, since: number): Promise<boolean> {
    let before: number | null = null;
    for (let page = 0; page < MOST_PAGES; page++) {
      const messages = await this.messages(conversation, before);
      if (messages.some(({ source_id: id }) => id === sourceId)) return true;
      const [oldest] = messages.toSorted((a, b) => a.id - b.id);
      if (oldest === undefined || oldest.created_at < since) return false;
      before = oldest.id;
    }
    return false;
  }

  /** Null where it is no longer there. */
  async message(conversation: number, id: number): Promise<Message | null> {
    return (await this.messages(conversation, id + 1)).find((message) => message.id === id) ?? null;
  }

  async createMessage(conversation: number, message: NewMessage, file: FileStream | null): Promise<void> {
    const path = `${this.account}/conversations/${conversation}/messages`;
    if (file === null) {
      await this.call('POST', path, message);
      return;
    }
    const fields: Record<string, string> = {
      content: message.content,
      message_type: message.message_type,
      source_id: message.source_id,
    };
    if (message.content_attributes) fields.content_attributes = JSON.stringify(message.content_attributes);
    await this.request('POST', path, formWith(fields, 'attachments[]', file), FILE_WITHIN_MS);
  }

  async setStatus(conversation: number, id: number, status: string, error?: string): Promise<void> {
    const body = { status, ...(error !== undefined && { external_error: error }) };
    await this.call('PATCH', `${this.account}/conversations/${conversation}/messages/${id}`, body);
  }

  private async messages(conversation: number, before: number | null): Promise<Message[]> {
    const query = before === null ? '' : `?before=${before}`;
    const path = `${this.account}/conversations/${conversation}/messages${query}`;
    return (await this.call<{ payload: Message[] }>('GET', path)).payload;
  }

  private call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return this.request(method, path, init ?? {}, WITHIN_MS);
  }

  private async request<Answer>(method: string, path: string, init: RequestInit, withinMs: number): Promise<Answer> {
    // Ids do not help whoever reads the log: the call is named by its form.
    const name = `${method} ${path.replace(/\?.*/, '').replaceAll(/\/\d+/g, '/{id}')}`;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(this.settings.chatwootUrl + path, {
        ...init,
        method,
        headers: { ...init.headers, accept: 'application/json', api_access_token: this.settings.token },
        redirect: 'manual',
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(withinMs)]),
      });
      text = await answer.text();
    } catch (error) {
      throw tooLargeOf(error) ?? new ChatwootError(name, null, null, error);
    }
    if (answer.status >= 300 && answer.status < 400) {
      throw new ChatwootError(`${name} (redirected: is CHATWOOT_URL the final address?)`, null);
    }
    const asked = Number(answer.headers.get('retry-after') ?? NaN);
    if (!answer.ok) throw new ChatwootError(name, answer.status, Number.isFinite(asked) ? asked : null);
    if (text === '') return {} as Answer;
    try {
      return JSON.parse(text) as Answer;
    } catch (error) {
      // A page of a proxy in between.
      throw new ChatwootError(`${name} (answered without JSON)`, null, null, error);
    }
  }
}
