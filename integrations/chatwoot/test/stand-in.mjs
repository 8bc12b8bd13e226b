// Stands in for Chatwoot in tests: the calls of chatwoot-api.json, each validated by it, and signed callbacks of its API inbox with
// Chatwoot's own rules: five seconds for an answer, any failure marks the message as failed, one conversation for a contact where the
// inbox is locked, files behind a redirect.
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { bytesOf, operations, Refused, seconds } from './chatwoot-operations.mjs';

const CALLBACK_WITHIN_MS = 5_000;
const PAGE = 20;
const TYPES = ['incoming', 'outgoing', 'activity', 'template'];

export class StandIn {
  version = '4.13.0';
  role = 'administrator';
  accountId = 1;
  token = 'chatwoot-admin-token';
  /** Requests that the description does not allow. */
  faults = [];
  /** How often each operation was called. */
  calls = new Map();
  /** Operations that answer 503 for the next so many calls; `after` does the work first. */
  troubles = new Map();
  callbacks = [];
  inboxes = [];
  contacts = [];
  contactInboxes = [];
  conversations = [];
  messages = [];
  files = new Map();
  #operations = operations();
  #pending = new Set();
  #ids = { inboxes: 10, contacts: 100, conversations: 0, messages: 1_000, attachments: 0 };

  async start() {
    this.server = createServer((request, response) => void this.#serve(request, response));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async stop() {
    await this.settled();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Until no callback is under way. */
  async settled() {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  // What people do in Chatwoot.

  /** An agent answers. @returns the message */
  answer(conversationId, { content = '', files = [], replyTo = null, ...more } = {}) {
    return this.#addMessage(this.#conversation(conversationId), {
      content,
      message_type: 1,
      private: more.private ?? false,
      source_id: more.source_id ?? null,
      content_attributes: replyTo === null ? {} : this.#replyOf(replyTo),
      files,
    });
  }

  retry(messageId) {
    const message = this.messages.find(({ id }) => id === messageId);
    if (message.status !== 'failed') throw new Error('only a failed message has Retry');
    message.status = 'sent';
    delete message.content_attributes.external_error;
    this.#announce('message_updated', message);
  }

  resolve(conversationId) {
    this.#conversation(conversationId).status = 'resolved';
  }

  /** A contact is deleted, with all that it has. */
  remove(contactId) {
    this.contacts = this.contacts.filter(({ id }) => id !== contactId);
    this.contactInboxes = this.contactInboxes.filter(({ contact_id: id }) => id !== contactId);
    const gone = new Set(this.conversations.filter(({ contact_id: id }) => id === contactId).map(({ id }) => id));
    this.conversations = this.conversations.filter(({ id }) => !gone.has(id));
    this.messages = this.messages.filter(({ conversation_id: id }) => !gone.has(id));
  }

  /** The agent's page "New conversation": Chatwoot makes the name in the inbox up. */
  begin(phone, inboxId, content) {
    const contact = this.#add('contacts', { name: phone, phone_number: phone, identifier: null });
    const contactInbox = { contact_id: contact.id, inbox_id: inboxId, source_id: randomUUID() };
    this.contactInboxes.push(contactInbox);
    const conversation = this.#newConversation(contactInbox);
    return this.answer(conversation.id, { content });
  }

  /** The same callback again, as a job of Chatwoot that was repeated. */
  repeat(callback) {
    return this.#post(callback.url, callback.body, callback.secret);
  }

  #add(kind, fields) {
    const row = { id: ++this.#ids[kind], ...fields };
    this[kind].push(row);
    return row;
  }

  #conversation(id) {
    const found = this.conversations.find((conversation) => conversation.id === id);
    if (!found) throw new Refused(404, 'Resource could not be found');
    return found;
  }

  #newConversation({ contact_id: contactId, inbox_id: inboxId, source_id: sourceId }) {
    return this.#add('conversations', {
      contact_id: contactId,
      inbox_id: inboxId,
      source_id: sourceId,
      status: 'open',
      last_activity_at: seconds(),
    });
  }

  #replyOf(id) {
    const original = this.messages.find((message) => message.id === id);
    return { in_reply_to: id, in_reply_to_external_id: original?.source_id ?? null };
  }

  #addMessage(conversation, { files, ...fields }) {
    const message = this.#add('messages', {
      conversation_id: conversation.id,
      inbox_id: conversation.inbox_id,
      status: 'sent',
      created_at: seconds(),
      ...fields,
    });
    if (files.length > 0) message.attachments = files.map((file) => this.#attach(message, file));
    conversation.last_activity_at = message.created_at;
    // As Chatwoot's `reopen_conversation`.
    if (message.message_type === 0 && conversation.status === 'resolved') conversation.status = 'open';
    this.#announce('message_created', message);
    return message;
  }

  #attach(message, { name, type, bytes, url = null }) {
    const key = randomUUID();
    this.files.set(key, { name, type, bytes });
    return {
      id: ++this.#ids.attachments,
      message_id: message.id,
      account_id: this.accountId,
      file_type: ['image', 'audio', 'video'].includes(type.split('/')[0]) ? type.split('/')[0] : 'file',
      extension: null,
      data_url: url ?? `${this.url}/rails/active_storage/blobs/redirect/${key}/${encodeURIComponent(name)}`,
      file_size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
  }

  // Callbacks, as lib/webhooks/trigger.rb.

  #announce(event, message) {
    const conversation = this.#conversation(message.conversation_id);
    const inbox = this.inboxes.find(({ id }) => id === message.inbox_id);
    if (!inbox?.webhook_url) return;
    const contact = this.contacts.find(({ id }) => id === conversation.contact_id);
    const body = JSON.stringify({
      event,
      id: message.id,
      content: message.content,
      message_type: TYPES[message.message_type],
      content_type: 'text',
      private: message.private,
      source_id: message.source_id,
      content_attributes: message.content_attributes,
      ...(message.attachments && { attachments: message.attachments }),
      account: { id: this.accountId, name: 'Test' },
      inbox: { id: inbox.id, name: inbox.name },
      conversation: {
        id: conversation.id,
        inbox_id: inbox.id,
        status: conversation.status,
        contact_inbox: { source_id: conversation.source_id, inbox_id: inbox.id, contact_id: contact.id },
        meta: { sender: { id: contact.id, name: contact.name, phone_number: contact.phone_number } },
      },
    });
    const sent = this.#post(inbox.webhook_url, body, inbox.secret)
      .then((status) => {
        if (status >= 300) this.#fail(message, `${status}`);
      })
      .catch((error) => this.#fail(message, error.message))
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  #fail(message, error) {
    message.status = 'failed';
    message.content_attributes = { ...message.content_attributes, external_error: error };
  }

  async #post(url, body, secret) {
    const timestamp = String(seconds());
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-chatwoot-timestamp': timestamp,
        'x-chatwoot-signature': `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
        'x-chatwoot-delivery': randomUUID(),
      },
      body,
      signal: AbortSignal.timeout(CALLBACK_WITHIN_MS),
    });
    const text = await answer.text();
    this.callbacks.push({ url, body, secret, status: answer.status, answer: text });
    return answer.status;
  }

  // The API.

  async #serve(request, response) {
    const url = new URL(request.url, this.url);
    const write = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    try {
      if (url.pathname.startsWith('/rails/')) return this.#serveFile(url, response);
      const raw = await bytesOf(request);
      const operation = this.#operations.find(
        ({ method, pattern }) => method === request.method && pattern.test(url.pathname),
      );
      if (!operation) throw this.#fault(`${request.method} ${url.pathname}: no such operation`);
      const { name } = operation;
      this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
      if (name !== 'api-version' && request.headers.api_access_token !== this.token) {
        throw new Refused(401, 'Invalid Access Token');
      }
      const trouble = this.troubles.get(name);
      if (trouble?.times > 0 && !trouble.after) {
        trouble.times--;
        return write(trouble.status ?? 503, { error: 'trouble' });
      }
      const { body, files } = await this.#bodyOf(request, raw, operation);
      for (const [key, value] of url.searchParams) {
        const isRight = operation.query[key]?.type === 'string' || (key in operation.query && /^\d+$/.test(value));
        if (!isRight) throw this.#fault(`${name}: query ${key}=${value}`);
      }
      const ids = operation.pattern.exec(url.pathname).slice(1).map(Number);
      const account = url.pathname.includes('/accounts/') ? ids.shift() : this.accountId;
      if (account !== this.accountId) throw new Refused(404, 'Resource could not be found');
      const result = this.#do(name, ids, body, url.searchParams, files);
      if (trouble?.times > 0) {
        trouble.times--;
        return write(503, { error: 'done, and lost on the way back' });
      }
      write(200, result);
    } catch (error) {
      write(error instanceof Refused ? error.status : 500, { error: error.message });
      if (!(error instanceof Refused)) this.faults.push(`stand-in: ${error.stack}`);
    }
  }

  #fault(text) {
    this.faults.push(text);
    return new Refused(422, text);
  }

  async #bodyOf(request, raw, { name, validate, errors }) {
    if (!validate) {
      if (raw.length > 0) throw this.#fault(`${name}: takes no body`);
      return { body: null, files: [] };
    }
    const type = request.headers['content-type'] ?? '';
    const files = [];
    let body;
    if (type.startsWith('multipart/form-data')) {
      body = {};
      const form = await new Response(raw, { headers: { 'content-type': type } }).formData();
      for (const [key, value] of form) {
        if (key === 'attachments[]') {
          files.push({ name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) });
        } else if (key === 'content_attributes') {
          // The builder parses a string.
          body[key] = JSON.parse(value);
        } else {
          body[key] = value;
        }
      }
    } else {
      body = JSON.parse(raw.toString('utf8'));
    }
    if (!validate(body)) {
      throw this.#fault(
        `${name}: ${validate.errors.map(({ instancePath, message }) => `${instancePath} ${message}`)}${errors()}`,
      );
    }
    return { body, files };
  }

  #do(name, [first, second], body, query, files) {
    switch (name) {
      case 'api-version':
        return { version: this.version, timestamp: '2026-11-29 06:00:00', queue_services: 'ok', data_services: 'ok' };
      case 'fetchProfile':
        return { id: 1, accounts: [{ id: this.accountId, role: this.role }] };
      case 'listAllInboxes':
        return { payload: this.inboxes.map((inbox) => this.#shown(inbox)) };
      case 'GetInbox':
        return this.#shown(this.#inbox(first));
      case 'inboxCreation': {
        const { name: title, lock_to_single_conversation: isLocked = false, channel } = body;
        return this.#shown(
          this.#add('inboxes', {
            name: title,
            channel_type: 'Channel::Api',
            webhook_url: channel.webhook_url,
            lock_to_single_conversation: isLocked,
            secret: `secret-${randomUUID()}`,
            hmac_token: `not-the-secret-${randomUUID()}`,
          }),
        );
      }
      case 'updateInbox': {
        const inbox = this.#inbox(first);
        if (body.channel?.webhook_url) inbox.webhook_url = body.channel.webhook_url;
        return this.#shown(inbox);
      }
      case 'contactFilter': {
        const [{ attribute_key: key, values }] = body.payload;
        // As Contacts::FilterService: a + is put before the number, other values are made lower case.
        const wanted = key === 'phone_number' ? `+${values[0]}` : values[0].toLowerCase();
        const found = this.contacts.filter((contact) => contact[key] === wanted);
        return {
          meta: { count: found.length, current_page: 1 },
          payload: found.map((contact) => this.#person(contact)),
        };
      }
      case 'contactCreate': {
        const { inbox_id: inboxId, source_id: sourceId = randomUUID(), ...fields } = body;
        this.#inbox(inboxId);
        this.#mustBeFree(fields, null);
        this.#mustBeFreeIn(inboxId, sourceId, null);
        const contact = this.#add('contacts', { identifier: null, phone_number: null, ...fields });
        this.contactInboxes.push({ contact_id: contact.id, inbox_id: inboxId, source_id: sourceId });
        return {
          payload: { contact: this.#person(contact), contact_inbox: { source_id: sourceId, inbox: { id: inboxId } } },
        };
      }
      case 'contactUpdate': {
        const contact = this.#contact(first);
        this.#mustBeFree(body, contact.id);
        Object.assign(contact, body);
        return { payload: this.#person(contact) };
      }
      case 'contactInboxCreation': {
        const { inbox_id: inboxId, source_id: sourceId = randomUUID() } = body;
        this.#contact(first);
        this.#mustBeFreeIn(inboxId, sourceId, first);
        this.#joined(first, inboxId, sourceId);
        return { source_id: sourceId, inbox: { id: inboxId } };
      }
      case 'contactConversations':
        this.#contact(first);
        return { payload: this.conversations.filter(({ contact_id: id }) => id === first).slice(-20) };
      case 'newConversation': {
        const { source_id: sourceId, inbox_id: inboxId, contact_id: contactId } = body;
        const inbox = this.#inbox(inboxId);
        this.#contact(contactId);
        this.#mustBeFreeIn(inboxId, sourceId, contactId);
        const contactInbox = this.#joined(contactId, inboxId, sourceId);
        const before = this.conversations.find(
          (conversation) => conversation.inbox_id === inboxId && conversation.source_id === sourceId,
        );
        return inbox.lock_to_single_conversation && before ? before : this.#newConversation(contactInbox);
      }
      case 'list-all-messages': {
        this.#conversation(first);
        const before = Number(query.get('before') ?? Infinity);
        const all = this.messages.filter(({ conversation_id: id, id: own }) => id === first && own < before);
        return { meta: {}, payload: all.slice(-PAGE) };
      }
      case 'create-a-new-message-in-a-conversation': {
        const attributes = body.content_attributes ?? {};
        const conversation = this.#conversation(first);
        return this.#addMessage(conversation, {
          content: body.content,
          message_type: TYPES.indexOf(body.message_type ?? 'outgoing'),
          private: body.private ?? false,
          source_id: body.source_id ?? null,
          content_attributes: attributes,
          files,
        });
      }
      case 'update-message-status': {
        const message = this.messages.find((one) => one.id === second && one.conversation_id === first);
        if (!message) throw new Refused(404, 'Resource could not be found');
        const { status, external_error: error } = body;
        // As Messages::StatusUpdateService.
        if (message.status === 'read' && status === 'delivered') return message;
        const isChanged = message.status !== status;
        message.status = status;
        if (status === 'failed') message.content_attributes = { ...message.content_attributes, external_error: error };
        else delete message.content_attributes.external_error;
        if (isChanged) this.#announce('message_updated', message);
        return message;
      }
    }
    throw new Error(`${name} is not played`);
  }

  #inbox(id) {
    const found = this.inboxes.find((inbox) => inbox.id === id);
    if (!found) throw new Refused(404, 'Resource could not be found');
    return found;
  }

  #contact(id) {
    const found = this.contacts.find((contact) => contact.id === id);
    if (!found) throw new Refused(404, 'Resource could not be found');
    return found;
  }

  #shown({ secret, hmac_token: token, ...inbox }) {
    return this.role === 'administrator' ? { ...inbox, secret, hmac_token: token } : inbox;
  }

  #person(contact) {
    const mine = this.contactInboxes.filter(({ contact_id: id }) => id === contact.id);
    return {
      ...contact,
      contact_inboxes: mine.map(({ source_id: id, inbox_id: inbox }) => ({ source_id: id, inbox: { id: inbox } })),
    };
  }

  #joined(contactId, inboxId, sourceId) {
    const isIt = (row) => row.contact_id === contactId && row.inbox_id === inboxId && row.source_id === sourceId;
    const found = this.contactInboxes.find(isIt);
    if (found) return found;
    const made = { contact_id: contactId, inbox_id: inboxId, source_id: sourceId };
    this.contactInboxes.push(made);
    return made;
  }

  #mustBeFree(fields, own) {
    for (const key of ['phone_number', 'identifier']) {
      const isTaken =
        fields[key] && this.contacts.some((contact) => contact[key] === fields[key] && contact.id !== own);
      if (isTaken) throw new Refused(422, `${key} has already been taken`);
    }
  }

  #mustBeFreeIn(inboxId, sourceId, contactId) {
    const found = this.contactInboxes.find((row) => row.inbox_id === inboxId && row.source_id === sourceId);
    if (found && found.contact_id !== contactId) throw new Refused(422, 'source_id should be unique');
  }

  #serveFile(url, response) {
    const [, , , kind, ...rest] = url.pathname.split('/');
    const key = kind === 'blobs' ? rest[1] : rest[0];
    const file = this.files.get(key);
    if (!file) return response.writeHead(404).end();
    if (kind === 'blobs') return response.writeHead(302, { location: `/rails/active_storage/disk/${key}` }).end();
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length }).end(file.bytes);
  }
}
