import { type HeraldClient, isHeraldError, HeraldError, type SendMessage } from '@herald/client';
import type { Chatwoot } from './chatwoot.js';
import { isCaption, whatsappText } from './content.js';
import { ChatwootError, heraldErrorOf, isTemporary, nameOf, pause, pauseMsOf, Refusal, Stopped } from './failure.js';
import { formWith, openFile, TemporaryFileError, tooLargeOf } from './files.js';
import type { Progress } from './health.js';
import { log } from './log.js';
import { keyOf, metadataOf } from './names.js';
import type { Installed, Settings } from './settings.js';
import type { AgentFile, Answer, State } from './state.js';

/** Of different conversations; the answers of one conversation go one after the other. */
const AT_ONCE = 8;
/** Older than this the agent is told that it was not sent: a late answer may be a wrong one. */
const LONGEST_AGE_MS = 24 * 3_600_000;
const UPLOAD_WITHIN_MS = 120_000;

type Recipient = { conversation_id: string } | { connection_id: string; to: string };
interface Uploaded {
  id: string;
  type: 'image' | 'video' | 'audio' | 'document' | 'sticker';
  name: string;
}

/** Chatwoot → Herald: what was accepted from the callback, until Herald has it or the agent knows why not. */
export class Answers {
  private readonly busy = new Set<number>();
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly herald: HeraldClient,
    private readonly chatwoot: Chatwoot,
    private readonly state: State,
    private readonly settings: Settings,
    private readonly installed: Installed,
    private readonly progress: Progress,
    private readonly signal: AbortSignal,
  ) {}

  /** Begins what waits, as far as there is room. Called after each answer that is accepted or through. */
  wake(): void {
    if (this.signal.aborted) return;
    for (const answer of this.state.answers) {
      if (this.running.size >= AT_ONCE) return;
      if (this.busy.has(answer.conversation)) continue;
      this.busy.add(answer.conversation);
      const run = this.deliver(answer).finally(() => {
        this.busy.delete(answer.conversation);
        this.running.delete(run);
        this.wake();
      });
      this.running.add(run);
    }
  }

  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Never rejects. */
  private async deliver(answer: Answer): Promise<void> {
    for (let attempt = 0; !this.signal.aborted; attempt++) {
      try {
        await this.once(answer);
        await this.state.remove(answer.id);
        this.progress.succeeded('answers');
        return;
      } catch (error) {
        if (error instanceof Stopped || this.signal.aborted) return;
        this.progress.failed('answers', nameOf(error));
        if (attempt % 10 === 0) log.warn('an answer waits', { message: answer.id, attempt, error: nameOf(error) });
        await pause(pauseMsOf(error, attempt), this.signal).catch(() => undefined);
      }
    }
  }

  /** @throws what may succeed later */
  private async once(answer: Answer): Promise<void> {
    if (answer.isRetry && !(await this.isRetried(answer))) return;
    if (answer.failure === null) {
      try {
        await this.send(answer);
        return;
      } catch (error) {
        const failure = this.failureOf(error, answer);
        if (failure === null) throw error;
        log.info('an answer was refused', { message: answer.id, error: nameOf(error) });
        answer.failure = failure;
        await this.state.keep(answer);
      }
    }
    await this.tell(answer);
  }

  /**
   * Chatwoot announces each change of a message in the same way. Retry makes a failed one `sent`; one of before the bridge,
   * or of days ago, may be `sent` too, and is left alone.
   */
  private async isRetried(answer: Answer): Promise<boolean> {
    const message = await this.chatwoot.message(answer.conversation, answer.id);
    if (message === null || message.status !== 'sent') return false;
    const oldest = Math.max(this.state.since, answer.acceptedAt - LONGEST_AGE_MS);
    if (this.state.failureOf(answer.id) === null && message.created_at * 1_000 < oldest) return false;
    answer.isRetry = false;
    await this.state.keep(answer);
    await this.state.markFailed(answer.id, null);
    return true;
  }

  private async tell({ conversation, id, failure, attempt }: Answer): Promise<void> {
    try {
      await this.chatwoot.setStatus(conversation, id, 'failed', failure ?? undefined);
      await this.state.markFailed(id, { attempt, part: 1 });
    } catch (error) {
      // The agent deleted it.
      if (!(error instanceof ChatwootError && error.status === 404)) throw error;
    }
  }

  private async send(answer: Answer): Promise<void> {
    if (answer.requests === null) {
      answer.requests = await this.compose(answer);
      await this.state.keep(answer);
    }
    for (const [part, request] of answer.requests.entries()) {
      try {
        const idempotencyKey = keyOf(answer, part, this.settings);
        await this.herald.messages.send(request as SendMessage, { idempotencyKey });
      } catch (error) {
        // Herald has it, from a run whose stored state was lost.
        if (!isHeraldError(error, 'IDEMPOTENCY_KEY_REUSED')) throw error;
      }
    }
  }

  private async compose(answer: Answer): Promise<object[]> {
    const recipient = await this.recipientOf(answer);
    const text = whatsappText(answer.content);
    const files: Uploaded[] = [];
    for (const file of answer.files) files.push(await this.upload(file));
    const [first] = files;
    const hasCaption = first !== undefined && !['audio', 'sticker'].includes(first.type) && isCaption(text);
    const parts: object[] = [];
    if (text !== '' && !hasCaption) parts.push({ type: 'text', text: { body: text } });
    for (const { id, type, name } of files) {
      const caption = hasCaption && id === first?.id && text !== '' ? { caption: text } : {};
      parts.push({ type, media: { id, ...caption, ...(type === 'document' && { filename: name }) } });
    }
    if (parts.length === 0) throw new Refusal('Not sent: it has neither text nor a file that WhatsApp takes.');
    return parts.map((part, index) => ({
      ...recipient,
      ...part,
      ...(index === 0 && answer.replyTo !== null && { reply_to_message_id: answer.replyTo }),
      metadata: metadataOf(answer, index, parts.length, this.settings, this.installed),
    }));
  }

  private async recipientOf({ heraldConversation, phone }: Answer): Promise<Recipient> {
    const { connectionId } = this.installed;
    if (heraldConversation !== null) {
      try {
        const { id, connection_id: connection } = await this.herald.conversations.get(heraldConversation);
        if (connection === connectionId) return { conversation_id: id };
      } catch (error) {
        // An agent began it: Chatwoot made the name up.
        if (!(error instanceof HeraldError) || ![400, 404].includes(error.status)) throw error;
      }
    }
    if (phone === null) throw new Refusal('Not sent: the contact has no phone number.');
    return { connection_id: connectionId, to: phone };
  }

  private async upload({ url, name }: AgentFile): Promise<Uploaded> {
    const { heraldUrl, heraldKey, maxFileBytes: mostBytes, fileOrigins } = this.settings;
    try {
      const file = await openFile(url, { name, allowed: fileOrigins, mostBytes, signal: this.signal });
      const form = formWith({ connection_id: this.installed.connectionId }, 'file', file);
      // The client's upload wants the whole file in memory.
      const answer = await fetch(`${heraldUrl.replace(/\/api\/v1$/, '')}/api/v1/media`, {
        ...form,
        headers: { ...form.headers, authorization: `Bearer ${heraldKey}` },
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(UPLOAD_WITHIN_MS)]),
      });
      const body = (await answer.json()) as { data: Uploaded; error: { code: string; message: string } };
      if (!answer.ok) throw heraldErrorOf(answer, body);
      return { id: body.data.id, type: body.data.type, name };
    } catch (error) {
      const refusal = error instanceof Refusal ? error : tooLargeOf(error);
      if (refusal !== null) throw new Refusal(`The file ${name} was not sent: ${refusal.message}`);
      if (error instanceof HeraldError || error instanceof TemporaryFileError) throw error;
      throw new ChatwootError('reading a file, or writing it to Herald', null, null, error);
    }
  }

  /** In words for the agent; null where it may succeed later. */
  private failureOf(error: unknown, { acceptedAt }: Answer): string | null {
    if (error instanceof Stopped || this.signal.aborted) return null;
    if (error instanceof Refusal) return error.message;
    if (isTemporary(error) || error instanceof TemporaryFileError) {
      if (Date.now() - acceptedAt < LONGEST_AGE_MS) return null;
      return 'Not sent within 24 hours: Herald could not be reached. Press Retry to send it now.';
    }
    if (isHeraldError(error, 'SERVICE_WINDOW_CLOSED')) {
      return (
        'Not sent: the customer has not written in the last 24 hours, and WhatsApp then takes only a template. ' +
        'Send one with Herald; the window opens when the customer answers.'
      );
    }
    if (error instanceof HeraldError) return `Not sent: ${error.text} (${error.code})`;
    return 'Not sent: the bridge failed; its log says why.';
  }
}
