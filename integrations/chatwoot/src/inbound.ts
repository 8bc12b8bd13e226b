import type { Event, HeraldClient } from '@herald/client';
import { isHeraldError } from '@herald/client';
import type { Chatwoot, Inbox, NewMessage } from './chatwoot.js';
import { Contacts, type Person } from './contacts.js';
import { textOf, type Shown } from './content.js';
import { ChatwootError, heraldErrorOf, isTemporary, nameOf, pause, pauseMsOf, Refusal, Stopped } from './failure.js';
import { type FileStream, openFile, TemporaryFileError } from './files.js';
import type { Progress } from './health.js';
import { log } from './log.js';
import { sourceIdOf, type Target, targetOf } from './names.js';
import type { Installed, Settings } from './settings.js';
import type { State } from './state.js';

type StatusUpdated = Extract<Event, { type: 'message.status.updated' }>;

export const TYPES = [
  'message.received',
  'message.standby.received',
  'message.sent_elsewhere',
  'message.status.updated',
  'media.ready',
  'media.failed',
] as const satisfies Event['type'][];

/** Clocks of the two services may differ by so much, in seconds. */
const CLOCK_DIFFERENCE = 600;
/** After so many faults that no repeat mends, an event is passed over: the others must not wait for it. */
const MOST_FAULTS = 3;

interface ShownMessage extends Shown {
  id: string;
  connection_id: string;
  conversation_id: string | null;
  direction: 'inbound' | 'outbound';
  media_object_id: string | null;
  reply_to_message_id: string | null;
  edits_message_id?: string | null;
  revokes_message_id?: string | null;
  created_at: string;
}

/**
 * Herald → Chatwoot. Events are read in their order; the place is stored once an event is shown. A crash in between makes
 * the event come again, and it is found in Chatwoot by its `source_id`.
 */
export class Inbound {
  private readonly contacts: Contacts;

  constructor(
    private readonly herald: HeraldClient,
    private readonly chatwoot: Chatwoot,
    private readonly state: State,
    private readonly settings: Settings,
    private readonly installed: Installed,
    private readonly inbox: () => Promise<Inbox>,
    private readonly progress: Progress,
    private readonly signal: AbortSignal,
  ) {
    this.contacts = new Contacts(herald, chatwoot, installed);
  }

  /** Ends when the bridge stops. */
  async run(): Promise<void> {
    let after: string | undefined = this.state.cursor ?? undefined;
    let isFirst = after === undefined;
    while (!this.signal.aborted) {
      try {
        if (isFirst) {
          after = await this.now();
          isFirst = false;
        }
        const events = this.herald.events.follow(
          { types: TYPES, ...(after !== undefined && { after }) },
          { signal: this.signal, onInterruption: (error) => this.progress.failed('events', nameOf(error)) },
        );
        for await (const event of events) {
          await this.show(event);
          after = event.cursor;
          await this.state.moveTo(event.cursor);
          this.progress.read();
        }
      } catch (error) {
        if (this.signal.aborted) return;
        if (isHeraldError(error, 'EVENT_CURSOR_EXPIRED')) {
          log.warn('the place is older than Herald keeps events: beginning with the oldest', { error: nameOf(error) });
          after = undefined;
          continue;
        }
        this.progress.failed('events', nameOf(error));
        log.error('events cannot be read', { error: nameOf(error) });
        await pause(pauseMsOf(error, 6), this.signal).catch(() => undefined);
      }
    }
  }

  /** Stored before the first event comes: a stop in between must not lose what happens then. */
  private async now(): Promise<string> {
    const { data, error, response } = await this.herald.api.GET('/api/v1/events', {
      params: { query: { after: 'now' } },
    });
    if (data === undefined) throw heraldErrorOf(response, error);
    await this.state.moveTo(data.next);
    return data.next;
  }

  private async show(event: Event): Promise<void> {
    try {
      await this.persist(event.type, () => this.handle(event));
    } catch (error) {
      if (error instanceof Stopped || this.signal.aborted) throw new Stopped();
      this.progress.skipped();
      log.error('an event was passed over', { event: event.id, type: event.type, error: nameOf(error) });
    }
  }

  /** Repeats what may succeed later, as long as it takes. @throws what does not */
  private async persist(what: string, work: () => Promise<void>): Promise<void> {
    let faults = 0;
    for (let attempt = 0; ; attempt++) {
      try {
        await work();
        this.progress.succeeded('events');
        return;
      } catch (error) {
        if (this.signal.aborted) throw new Stopped();
        const waits = isTemporary(error) || error instanceof TemporaryFileError;
        if (!waits) {
          // What is remembered of a contact may be the cause: it was deleted or merged in Chatwoot.
          this.contacts.forget();
          if (++faults >= MOST_FAULTS) throw error;
        }
        this.progress.failed('events', nameOf(error));
        if (attempt % 10 === 0) log.warn('trying again', { what, attempt, error: nameOf(error) });
        await pause(pauseMsOf(error, attempt), this.signal);
      }
    }
  }

  private async handle(event: Event): Promise<void> {
    switch (event.type) {
      case 'message.received':
      case 'message.standby.received':
      case 'message.sent_elsewhere': {
        const { message, content, contact } = event.data;
        await this.showMessage({ ...message, content: { ...content } }, contact);
        return;
      }
      case 'media.ready':
      case 'media.failed': {
        const { media, message_id: id } = event.data;
        if (id === null || media.connection_id !== this.installed.connectionId) return;
        const message = await this.herald.messages.get(id);
        await this.showMessage({ ...message, content: { ...message.content } }, message.contact);
        return;
      }
      case 'message.status.updated':
        await this.showStatus(event.data);
        return;
      default:
    }
  }

  private async showMessage(message: ShownMessage, contact: Person): Promise<void> {
    const { conversation_id: herald, media_object_id: mediaId } = message;
    // Groups are no conversations.
    if (herald === null || message.connection_id !== this.installed.connectionId) return;
    const file = mediaId === null ? null : await this.fileOf(mediaId);
    // Chatwoot cannot add a file to a message later: media.ready or media.failed comes, and shows both.
    if (file === 'pending') return;
    const sourceId = sourceIdOf(message.id);
    const conversation = await this.conversationFor(herald, contact, message, sourceId);
    if (conversation === null) return;
    const text = textOf(message);
    const attributes = await this.replyOf(message);
    const shown: NewMessage = {
      content: text,
      message_type: message.direction === 'inbound' ? 'incoming' : 'outgoing',
      source_id: sourceId,
      ...(attributes && { content_attributes: attributes }),
    };
    if (file === null) return this.chatwoot.createMessage(conversation, shown, null);
    const lost = (why: string): Promise<void> => {
      const content = [text, `(${message.type}: ${why})`].filter((part) => part !== '').join('\n');
      return this.chatwoot.createMessage(conversation, { ...shown, content }, null);
    };
    if ('why' in file) return lost(file.why);
    try {
      await this.chatwoot.createMessage(conversation, shown, await file.open());
    } catch (error) {
      const isTooLarge = error instanceof ChatwootError && [413, 422].includes(error.status ?? 0);
      if (!(error instanceof Refusal) && !isTooLarge) throw error;
      await lost(error instanceof Refusal ? error.message : 'Chatwoot does not take the file.');
    }
  }

  private async fileOf(id: string): Promise<'pending' | { why: string } | { open: () => Promise<FileStream> }> {
    try {
      const media = await this.herald.media.get(id);
      if (media.status === 'pending') return 'pending';
      if (media.status === 'failed') return { why: 'the file could not be fetched from WhatsApp.' };
      const extension = media.mime_type.split(';')[0]?.split('/')[1] ?? 'bin';
      const name = media.filename ?? `${media.type}.${extension}`;
      return {
        open: async () => {
          const { url } = await this.herald.media.link(id);
          const { maxFileBytes: mostBytes } = this.settings;
          const file = await openFile(url, { name, allowed: null, mostBytes, signal: this.signal });
          return { ...file, type: media.mime_type.split(';')[0] ?? file.type };
        },
      };
    } catch (error) {
      if (isHeraldError(error, 'MEDIA_NOT_FOUND')) return { why: 'the file is no longer kept.' };
      throw error;
    }
  }

  /** Where it belongs; null where it is shown already. */
  private async conversationFor(
    herald: string,
    contact: Person,
    { created_at: createdAt, direction }: ShownMessage,
    sourceId: string,
  ): Promise<number | null> {
    const since = Math.floor(Date.parse(createdAt) / 1_000) - CLOCK_DIFFERENCE;
    const { id: inboxId, lock_to_single_conversation: isSingle = false } = await this.inbox();
    const place = await this.contacts.placeOf(herald, contact);
    const all = (await this.chatwoot.conversationsOf(place.contactId))
      .filter((conversation) => conversation.inbox_id === inboxId)
      .toSorted((a, b) => b.id - a.id);
    for (const { id, last_activity_at: active } of all) {
      if (active !== undefined && active < since) continue;
      if (await this.chatwoot.hasMessage(id, sourceId, since)) return null;
    }
    // What staff wrote on the phone asks no agent for anything: it opens no conversation beside a resolved one.
    const current = isSingle ? undefined : all.find(({ status }) => status !== 'resolved' || direction === 'outbound');
    return current?.id ?? this.chatwoot.createConversation(place.sourceId, inboxId, place.contactId);
  }

  private async replyOf(message: ShownMessage): Promise<Record<string, unknown> | null> {
    const { edits_message_id: edited, revokes_message_id: revoked, reply_to_message_id: quoted } = message;
    const id = quoted ?? edited ?? revoked ?? null;
    if (id === null) return null;
    const original = await this.herald.messages.get(id).catch((error: unknown) => {
      if (isHeraldError(error, 'MESSAGE_NOT_FOUND')) return null;
      throw error;
    });
    if (original === null) return null;
    const target = targetOf(original.metadata, this.settings, this.installed);
    return target === null ? { in_reply_to_external_id: sourceIdOf(id) } : { in_reply_to: target.message };
  }

  private async showStatus(data: StatusUpdated['data']): Promise<void> {
    const target = targetOf(data.metadata, this.settings, this.installed);
    if (target === null || data.connection_id !== this.installed.connectionId) return;
    try {
      await this.applyStatus(target, data);
    } catch (error) {
      // The agent deleted the conversation.
      if (!(error instanceof ChatwootError && error.status === 404)) throw error;
    }
  }

  private async applyStatus(target: Target, data: StatusUpdated['data']): Promise<void> {
    const { conversation, message, attempt, part, isLast } = target;
    const failed = this.state.failureOf(message);
    switch (data.status) {
      case 'sent':
        // Sent again, by the agent's Retry or in Herald: Chatwoot shows it as failed until it is told.
        if (failed === null || failed.attempt > attempt) return;
        if (failed.attempt === attempt && failed.part !== part) return;
        await this.state.markFailed(message, null);
        return this.chatwoot.setStatus(conversation, message, 'sent');
      case 'delivered':
      case 'read':
        // One answer may be several messages: where one failed, the answer has failed.
        if (!isLast || (failed !== null && failed.attempt >= attempt)) return;
        if (failed !== null) await this.state.markFailed(message, null);
        return this.chatwoot.setStatus(conversation, message, data.status);
      case 'failed':
        if (failed !== null && failed.attempt > attempt) return;
        await this.chatwoot.setStatus(
          conversation,
          message,
          'failed',
          data.error?.message ?? 'WhatsApp did not take it.',
        );
        return this.state.markFailed(message, { attempt, part });
      case 'outcome_unknown':
        return this.noteUnknown(conversation, data);
      default:
    }
  }

  /** A status would be wrong either way, and a Retry could send it twice. */
  private async noteUnknown(conversation: number, data: StatusUpdated['data']): Promise<void> {
    const sourceId = `${sourceIdOf(data.message_id)}:unknown:${data.attempt}`;
    const since = Math.floor(Date.parse(data.occurred_at) / 1_000) - CLOCK_DIFFERENCE;
    if (await this.chatwoot.hasMessage(conversation, sourceId, since)) return;
    const content =
      'It is not known whether WhatsApp took the last answer. Ask the customer before you send it again; ' +
      `Herald shows its history under ${data.message_id}.`;
    await this.chatwoot.createMessage(
      conversation,
      { content, message_type: 'outgoing', private: true, source_id: sourceId },
      null,
    );
  }
}
