import { Injectable, Logger } from '@nestjs/common';
import { AppError, type ErrorKind } from '../../../common/app-error.js';
import { describeError } from '../../../common/describe-error.js';
import { KeyedSlots } from '../../../common/keyed-slots.js';
import { mapAtOnce } from '../../../common/map-at-once.js';
import { Database } from '../../../infrastructure/database/database.js';
import { isUnreachable } from '../../../infrastructure/database/database-faults.js';
import { LimitBook, limitReached } from '../../billing/limits.service.js';
import { SendingService } from '../../sending/sending.service.js';
import { countedMessages } from '../accept/counted-messages.js';
import { SendPreparation, type Sender } from '../accept/send-preparation.js';
import type { MessageContent } from '../accept/variants/variant.js';
import { type OutboundStatus, statesThatTake } from '../../message-state/message-state.types.js';
import { messagesErrors } from '../messages.errors.js';
import { MessagesRepository } from '../messages.repository.js';
import { isOfApp, type Message } from '../../message-state/message.types.js';

/** A message that may be sent as things are, and its content as it would be sent. */
interface Prepared {
  message: Message;
  content: MessageContent;
}

/** Of a workspace with limits. */
const TURNS = { slots: 2, mostWaiting: 1_000, waitMs: 10_000 };
/** What `retryPage` says of a message that it has queued. */
export const QUEUED = 'queued';
/** Messages of a page that are prepared at the same time. */
const AT_ONCE = 8;
/** These say nothing of the message: it is asked again later. */
const LATER: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'unavailable',
  'platform_unavailable',
  'platform_timeout',
  'internal',
]);

/** Queues messages again that have failed. */
@Injectable()
export class RetriesService {
  private readonly logger = new Logger(RetriesService.name);
  private readonly turns = new KeyedSlots(TURNS);

  constructor(
    private readonly messages: MessagesRepository,
    private readonly preparation: SendPreparation,
    private readonly sending: SendingService,
    private readonly database: Database,
  ) {}

  /**
   * Queues a failed message again; with the confirmation also one whose outcome is unknown.
   *
   * @param idempotencyKey optional; a repeat of the same key answers the message as it is and queues nothing.
   * @throws MESSAGE_NOT_FOUND (404), IDEMPOTENCY_KEY_REUSED, MESSAGE_NOT_RETRYABLE, OUTCOME_UNKNOWN_NOT_CONFIRMED (409),
   * SUBSCRIPTION_REQUIRED (402), and what `MessagesService.send` refuses for state, as 409.
   */
  async retry(
    sender: Sender,
    id: string,
    options: { confirmOutcomeUnknown: boolean; idempotencyKey: string | null },
  ): Promise<{ message: Message; replayed: boolean }> {
    const { organizationId } = sender;
    const key = options.idempotencyKey?.toLowerCase() ?? null;
    const known = await this.isRepeat(organizationId, key, id);
    if (!known) await this.preparation.requirePayment(sender);
    const message = await this.messages.findById(organizationId, id);
    if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
    // Asked once more, for another request with this key may have queued the message while this one looked.
    if (known || (await this.isRepeat(organizationId, key, id))) return { message, replayed: true };
    const from = statesThatTake(options.confirmOutcomeUnknown ? 'retry_confirmed' : 'retry');
    requireRetryable(message, from);
    const content = await this.preparation.prepareAgain([message])(message);

    const queued = await this.inTurn(sender, async () => {
      if (key !== null && !(await this.messages.insertRetry(organizationId, key, id))) return null;
      const refusal = (await this.queue(sender, [{ message, content }], from)).get(id);
      if (refusal instanceof Error) throw refusal;
      // As the retry left it: a worker may take it as soon as it is committed.
      return this.messages.findById(organizationId, id);
    });
    if (queued !== null) {
      this.sending.wake(message.connectionId);
      return { message: queued, replayed: false };
    }
    // Another request with the same key was faster: it has queued the message, or claimed the key for another one.
    if (!(await this.isRepeat(organizationId, key, id))) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
    return { message: (await this.messages.findById(organizationId, id)) ?? message, replayed: true };
  }

  /**
   * Queues those of a page of failed messages that may be sent as things are; the others stay failed. Of many look-ups each is made
   * once, and all enter the queue in one transaction.
   *
   * @param isWanted asked first in the transaction that queues them: whether the tag's retry still goes on.
   * @returns for each id `QUEUED`, or the code of the error for which it stays failed. Null: it was not decided, since something is away,
   * it is locked, or the signal came before it.
   */
  async retryPage(
    organizationId: string,
    ids: readonly string[],
    signal: AbortSignal,
    isWanted: () => Promise<boolean>,
  ): Promise<(string | null)[]> {
    // Whether there are limits is looked up.
    const sender = { organizationId, apiPaidUntil: null, limited: true };
    const from = statesThatTake('retry');
    const decided = new Map<string, string>();
    try {
      await this.preparation.requirePayment(sender);
      const found = new Map((await this.messages.findByIds(organizationId, ids)).map((each) => [each.id, each]));
      const { prepared, refused } = await this.prepare(ids, found, from, signal);
      for (const [id, code] of refused) decided.set(id, code);
      for (const [id, error] of await this.queuePage(sender, prepared, from, isWanted))
        decided.set(id, error?.code ?? QUEUED);
    } catch (error) {
      if (isAnswer(error)) return ids.map(() => error.code);
      this.later(error);
    }
    return ids.map((id) => decided.get(id) ?? null);
  }

  /** What of a page may be sent, in the order of the ids, and what may not, with the codes of its errors. */
  private async prepare(
    ids: readonly string[],
    found: ReadonlyMap<string, Message>,
    from: readonly OutboundStatus[],
    signal: AbortSignal,
  ): Promise<{ prepared: Prepared[]; refused: Map<string, string> }> {
    const refused = new Map<string, string>();
    const contentOf = this.preparation.prepareAgain([...found.values()]);
    let [begun, isOver] = [0, false];
    const results = await mapAtOnce(ids, AT_ONCE, async (id) => {
      // One at least, so that a slow database does not keep it where it is.
      isOver ||= begun > 0 && signal.aborted;
      if (isOver) return null;
      begun++;
      const message = found.get(id);
      try {
        if (message === undefined) throw messagesErrors.MESSAGE_NOT_FOUND();
        requireRetryable(message, from);
        return { message, content: await contentOf(message) };
      } catch (error) {
        if (isAnswer(error)) refused.set(id, error.code);
        else {
          isOver = true;
          this.later(error);
        }
        return null;
      }
    });
    return { prepared: results.filter((each) => each !== null), refused };
  }

  /** Returns those that were queued, or refused. */
  private async queuePage(
    sender: Sender,
    prepared: readonly Prepared[],
    from: readonly OutboundStatus[],
    isWanted: () => Promise<boolean>,
  ): Promise<ReadonlyMap<string, AppError | null>> {
    if (prepared.length === 0) return new Map();
    const queue = (some: readonly Prepared[]) =>
      this.inTurn(sender, async () =>
        (await isWanted()) ? this.queue(sender, some, from, { onlyFree: true }) : new Map<string, AppError | null>(),
      );
    let results: ReadonlyMap<string, AppError | null>;
    try {
      results = await queue(prepared);
    } catch (error) {
      if (prepared.length === 1 || isUnreachable(error)) throw error;
      results = await this.oneByOne(prepared, queue);
    }
    const queued = prepared.filter(({ message }) => results.get(message.id) === null);
    for (const id of new Set(queued.map(({ message }) => message.connectionId))) this.sending.wake(id);
    return results;
  }

  /** One that cannot be stored keeps only itself from the queue. */
  private async oneByOne(
    prepared: readonly Prepared[],
    queue: (some: readonly Prepared[]) => Promise<ReadonlyMap<string, AppError | null>>,
  ): Promise<ReadonlyMap<string, AppError | null>> {
    const results = new Map<string, AppError | null>();
    for (const each of prepared) {
      try {
        for (const [id, result] of await queue([each])) results.set(id, result);
      } catch (error) {
        if (isUnreachable(error)) return results;
        this.later(error);
      }
    }
    return results;
  }

  /**
   * Queues messages again as far as limits have room, in the ambient transaction.
   *
   * @param onlyFree leaves out what another transaction has locked.
   * @returns for each message null, or why it was not queued; nothing of one that was left out.
   */
  private async queue(
    { organizationId, apiKeyId, limited }: Sender,
    prepared: readonly Prepared[],
    from: readonly OutboundStatus[],
    { onlyFree = false } = {},
  ): Promise<Map<string, AppError | null>> {
    const ids = prepared.map(({ message }) => message.id);
    const statuses = await this.messages.lock(organizationId, ids, onlyFree);
    const results = new Map<string, AppError | null>();
    const open: Prepared[] = [];
    for (const each of prepared) {
      const status = statuses.get(each.message.id);
      if (status === undefined) continue;
      if (from.includes(status)) open.push(each);
      else results.set(each.message.id, notRetryable(status));
    }
    await this.bar(organizationId, open, { isConfirmed: from.includes('outcome_unknown'), isOfTag: onlyFree }, results);
    const free = open.filter(({ message }) => !results.has(message.id));
    const book = limited ? await this.reserve(free, results) : null;
    const fit = free.filter(({ message }) => !results.has(message.id));
    const retries = fit.map(({ message, content }) => ({ messageId: message.id, body: content.body }));
    for (const id of await this.messages.retry(organizationId, retries, from, apiKeyId)) results.set(id, null);
    await book?.write();
    return results;
  }

  /**
   * Notes in `results` those that are not queued whatever their status: MESSAGE_NOT_RETRYABLE, OUTCOME_UNKNOWN_NOT_CONFIRMED (409). An unknown
   * attempt of a message that failed afterwards, as its retry expired, keeps only a tag's retry from it: who retries it by hand means it.
   */
  private async bar(
    organizationId: string,
    prepared: readonly Prepared[],
    { isConfirmed, isOfTag }: { isConfirmed: boolean; isOfTag: boolean },
    results: Map<string, AppError | null>,
  ): Promise<void> {
    const ids = prepared.map(({ message }) => message.id);
    const barred = await this.messages.barred(organizationId, ids);
    for (const { message } of prepared) {
      const { id, status } = message;
      const why = barred.get(id);
      if (why === 'erased') results.set(id, messagesErrors.MESSAGE_NOT_RETRYABLE({ status, erased: true }));
      else if (why === 'accepted' ? !isConfirmed : why === 'unknown' && isOfTag)
        results.set(id, messagesErrors.OUTCOME_UNKNOWN_NOT_CONFIRMED({ status }));
    }
  }

  /** Notes those without room in `results`: SPEND_LIMIT_REACHED (402), WORKSPACE_LIMIT_REACHED (429), RECIPIENT_LIMIT_REACHED (409). */
  private async reserve(prepared: readonly Prepared[], results: Map<string, AppError | null>): Promise<LimitBook> {
    const given = prepared.map(({ message, content: { templateCategory = null } }) => {
      const { id, organizationId, connectionId, recipientUserId, recipient } = message;
      return { id, organizationId, connectionId, recipient: recipientUserId ?? recipient ?? '', templateCategory };
    });
    const counted = await countedMessages(given, this.database);
    const book = await LimitBook.open(counted, this.database);
    for (const message of counted) {
      const state = book.refusalOf(message);
      if (state === null) book.take(message);
      else {
        const error = limitReached(state);
        results.set(message.id, error.kind === 'unprocessable' ? error.withKind('conflict') : error);
      }
    }
    return book;
  }

  /** In a transaction, which waits for the lock of a workspace with limits: few retries of one do so at once. */
  private inTurn<T>({ limited, organizationId }: Sender, work: () => Promise<T>): Promise<T> {
    const transaction = (): Promise<T> => this.database.transaction(work);
    return limited ? this.turns.run(organizationId, transaction) : transaction();
  }

  private async isRepeat(organizationId: string, key: string | null, messageId: string): Promise<boolean> {
    const known = key === null ? null : await this.messages.findRetry(organizationId, key);
    if (known !== null && known !== messageId) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
    return known !== null;
  }

  private later(error: unknown): void {
    this.logger.warn(`failed messages of a tag could not be retried, and are in a second: ${describeError(error)}`);
  }
}

/** @throws MESSAGE_NOT_RETRYABLE, OUTCOME_UNKNOWN_NOT_CONFIRMED (409). */
function requireRetryable(message: Message, from: readonly OutboundStatus[]): void {
  const { status } = message;
  if (isOfApp(message)) throw messagesErrors.MESSAGE_NOT_RETRYABLE({ status, isOfApp: true });
  if (!from.some((each) => each === status)) throw notRetryable(status);
  // No kind of message is without content; only retention leaves it so.
  const isCleared = Object.keys(message.content).length === 0;
  if (isCleared) throw messagesErrors.MESSAGE_NOT_RETRYABLE({ status, cleared: true });
}

function notRetryable(status: string): AppError {
  return status === 'outcome_unknown'
    ? messagesErrors.OUTCOME_UNKNOWN_NOT_CONFIRMED({ status })
    : messagesErrors.MESSAGE_NOT_RETRYABLE({ status });
}

/** It says something about the message, which stays failed. */
function isAnswer(error: unknown): error is AppError {
  return error instanceof AppError && !LATER.has(error.kind);
}
