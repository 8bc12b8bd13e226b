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

/** A message that may be sent now, and the content to send. */
interface Prepared {
  message: Message;
  content: MessageContent;
}

/** Limits concurrent retries of a workspace with limits. */
const TURNS = { slots: 2, mostWaiting: 1_000, waitMs: 10_000 };
/** The result of `retryPage` for a message that it has queued. */
export const QUEUED = 'queued';
/** Messages of a page that are prepared at the same time. */
const AT_ONCE = 8;
/** Errors that do not concern the message: its retry is tried again later. */
const LATER: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'unavailable',
  'platform_unavailable',
  'platform_timeout',
  'internal',
]);

/** Queues failed messages again. */
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
   * Queues a failed message again, and with the confirmation also a message whose outcome is unknown.
   *
   * @param idempotencyKey optional; a repeat of the same key returns the message as it is and queues nothing.
   * @throws MESSAGE_NOT_FOUND (404), IDEMPOTENCY_KEY_REUSED, MESSAGE_NOT_RETRYABLE, OUTCOME_UNKNOWN_NOT_CONFIRMED
   * (409), SUBSCRIPTION_REQUIRED (402), and what `MessagesService.send` refuses for state, as 409.
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
    // Checked again, because another request with this key may have queued the message meanwhile.
    if (known || (await this.isRepeat(organizationId, key, id))) return { message, replayed: true };
    const from = statesThatTake(options.confirmOutcomeUnknown ? 'retry_confirmed' : 'retry');
    requireRetryable(message, from);
    const content = await this.preparation.prepareAgain([message])(message);

    const queued = await this.inTurn(sender, async () => {
      if (key !== null && !(await this.messages.insertRetry(organizationId, key, id))) return null;
      const refusal = (await this.queue(sender, [{ message, content }], from)).get(id);
      if (refusal instanceof Error) throw refusal;
      // The state that the retry left: a worker may claim the message as soon as the commit is done.
      return this.messages.findById(organizationId, id);
    });
    if (queued !== null) {
      this.sending.wake(message.connectionId);
      return { message: queued, replayed: false };
    }
    // Another request with the same key came first: it queued this message, or used the key for another.
    if (!(await this.isRepeat(organizationId, key, id))) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
    return { message: (await this.messages.findById(organizationId, id)) ?? message, replayed: true };
  }

  /**
   * Queues the messages of a page of failed ones that may be sent now; the others stay failed. Each look-up is made
   * once, and all messages are queued in one transaction.
   *
   * @param isWanted checked first in the transaction: whether the tag's retry still goes on.
   * @returns for each id `QUEUED`, or the code of the error for which the message stays failed. Null: not decided,
   * since a dependency is down, the message is locked, or the signal was aborted first.
   */
  async retryPage(
    organizationId: string,
    ids: readonly string[],
    signal: AbortSignal,
    isWanted: () => Promise<boolean>,
  ): Promise<(string | null)[]> {
    // `limited: true` makes the transaction look for limits.
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

  /** The messages of a page that may be sent, in the order of the ids, and the error codes of the others. */
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
      // Prepares at least one, so that a slow database cannot stop all progress.
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

  /** The results of messages that were queued or refused. */
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

  /** One by one, so that a message which cannot be stored does not block the others. */
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
   * Queues messages again while limits have room, in the ambient transaction.
   *
   * @param onlyFree skips messages that another transaction has locked.
   * @returns for each message null, or why it was not queued; no entry for a skipped message.
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
   * Adds to `results` the messages that must not be queued, whatever their status: MESSAGE_NOT_RETRYABLE,
   * OUTCOME_UNKNOWN_NOT_CONFIRMED (409). A failed message can have an earlier attempt with an unknown outcome, for
   * example where its retry expired. That blocks only the retry of a tag, because a retry by hand is deliberate.
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

  /**
   * Adds messages without room to `results`: SPEND_LIMIT_REACHED (402), WORKSPACE_LIMIT_REACHED (429),
   * RECIPIENT_LIMIT_REACHED (409).
   */
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

  /**
   * Runs work in a transaction. Such a transaction waits for the lock of a workspace with limits, so only a few of one
   * workspace run at once.
   */
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
  // Every message has content when accepted; only retention removes it.
  const isCleared = Object.keys(message.content).length === 0;
  if (isCleared) throw messagesErrors.MESSAGE_NOT_RETRYABLE({ status, cleared: true });
}

function notRetryable(status: string): AppError {
  return status === 'outcome_unknown'
    ? messagesErrors.OUTCOME_UNKNOWN_NOT_CONFIRMED({ status })
    : messagesErrors.MESSAGE_NOT_RETRYABLE({ status });
}

/** The error concerns the message, which stays failed. */
function isAnswer(error: unknown): error is AppError {
  return error instanceof AppError && !LATER.has(error.kind);
}
