import { setImmediate as turn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError, type ErrorDetail, type ErrorKind } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { isUuid } from '../../../common/ids.js';
import { isObject } from '../../../common/json.js';
import { mapAtOnce } from '../../../common/map-at-once.js';
import { violation } from '../../../common/shape.js';
import { JSON_LIMIT_BYTES } from '../../../infrastructure/http/body.guard.js';
import { errorFields } from '../../../infrastructure/http/error.filter.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { readJson } from '../../../infrastructure/http/read-json.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { RecipientsService, windowClosed } from '../../conversations/windows/recipients.service.js';
import { OptOutsService } from '../../opt-outs/opt-outs.service.js';
import type { OptOutTarget } from '../../opt-outs/opt-outs.types.js';
import type { SendBatchResponse } from '../dto/send-batch.js';
import { type BatchError, messagesErrors } from '../messages.errors.js';
import { SendingService } from '../../sending/sending.service.js';
import { AcceptRepository, type Accepted, GroupRefused, type NewMessage } from './accept.repository.js';
import { ALL_KINDS, BacklogGuard, kindsOf, type Reservation } from './backlog-guard.js';
import { fingerprintOf, type MessageInput, readMessageInput } from './message-input.js';
import { requireTimeAhead } from './schedule.js';
import {
  newMessageOf,
  requireNoOptOut,
  SendPreparation,
  type PreparedSend,
  type RequestKey,
  type Sender,
} from './send-preparation.js';

/** One message of a batch, and its result so far. */
export interface Entry {
  index: number;
  /** Null for a malformed message. */
  request: (RequestKey & { input: MessageInput }) | null;
  prepared: PreparedSend | null;
  error: AppError | null;
  taken: { messageId: string; replayed: boolean } | null;
}

/** Messages of one batch that are looked up at the same time. */
const PREPARED_AT_ONCE = 8;
/** Bytes parsed and validated in one turn of the event loop: a few milliseconds of work. */
const BYTES_A_TURN = 64 * 1_024;
/** Errors that do not concern the message: the whole batch may be sent again unchanged. */
const NOT_OF_A_MESSAGE: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'payment_required',
  'rate_limited',
  'unavailable',
  'platform_unavailable',
  'platform_timeout',
  'internal',
]);

/** Accepts many messages with one request: each like POST /messages, all in one transaction. */
@Injectable()
export class SendBatchService {
  constructor(
    private readonly accepts: AcceptRepository,
    private readonly preparation: SendPreparation,
    private readonly recipients: RecipientsService,
    private readonly optOuts: OptOutsService,
    private readonly backlog: BacklogGuard,
    private readonly sending: SendingService,
    private readonly tracing: Tracing,
    private readonly counters: Counters,
    private readonly publicUrl: PublicUrl,
  ) {}

  /**
   * When this resolves, accepted messages are durable and queued.
   *
   * @param messages JSON texts, each with its `idempotency_key`.
   * @param strict accepts all or none.
   * @throws BATCH_REFUSED (422) with every error of a strict batch. An error that concerns no single message (402, 429,
   * 502, 503, 504) is thrown as it is, if nothing was accepted.
   */
  async send(sender: Sender, messages: readonly Buffer[], strict: boolean): Promise<SendBatchResponse> {
    this.tracing.current?.setAttribute('herald.messages', messages.length);
    const entries = await readEntries(messages);
    const { organizationId } = sender;
    await mapAtOnce(entries, PREPARED_AT_ONCE, (entry) => this.prepare(sender, entry));
    const reserved = this.checkBacklog(organizationId, entries);
    try {
      await this.requireStorable(organizationId, entries, strict);
    } catch (error) {
      this.giveBack(reserved, () => false);
      throw error;
    }
    await this.store(sender, entries, strict, reserved);
    return this.resultOf(entries);
  }

  /** @throws the same as `send`; nothing was stored. */
  private async requireStorable(organizationId: string, entries: readonly Entry[], strict: boolean): Promise<void> {
    await this.answerRepeats(organizationId, entries.filter(isRefused));
    if (!entries.some(isRefused)) return;
    if (strict) {
      await this.findFurther(organizationId, entries);
      throw this.refusalOf(entries);
    }
    if (entries.every(isRefused)) this.refuseWhole(entries);
  }

  private async prepare(sender: Sender, entry: Entry): Promise<void> {
    if (entry.request === null) return;
    const { request } = entry;
    try {
      requireTimeAhead(request.input.sendAt);
      request.input = await this.preparation.addressed(sender.organizationId, request.input);
      entry.prepared = await this.preparation.prepare(sender, request.input);
    } catch (error) {
      refuse(entry, error);
    }
  }

  private checkBacklog(organizationId: string, entries: readonly Entry[]): Reserved[] {
    const prepared = entries.filter(isStorable);
    const reserved: Reserved[] = [];
    for (const kinds of ALL_KINDS) {
      const some = prepared.filter(({ request }) => kindsOf(request.input) === kinds);
      try {
        if (some.length === 0) continue;
        reserved.push({ entries: some, reservation: this.backlog.check(organizationId, kinds, some.length) });
      } catch (error) {
        for (const entry of some) refuse(entry, error);
      }
    }
    return reserved;
  }

  /** Releases the reservations of messages that were not stored. */
  private giveBack(reserved: readonly Reserved[], isStored: (entry: Entry) => boolean): void {
    for (const { entries, reservation } of reserved) {
      this.backlog.giveBack(reservation, entries.filter((entry) => !isStored(entry)).length);
    }
  }

  /**
   * Runs before the checks, as for a single message: a repeated key gets its first answer, even if the request would be
   * refused now.
   */
  private async answerRepeats(organizationId: string, entries: readonly Entry[]): Promise<void> {
    const keys = entries.flatMap(({ request }) => (request === null ? [] : [request.idempotencyKey]));
    if (keys.length === 0) return;
    const known = await this.accepts.findByKeys(organizationId, keys);
    for (const entry of entries) {
      settle(entry, known.get(entry.request?.idempotencyKey ?? ''));
    }
  }

  /**
   * Refusals that only the storing statement would find, for the other messages too, so that the answer has every
   * error.
   */
  private async findFurther(organizationId: string, entries: readonly Entry[]): Promise<void> {
    const others = entries.filter(isStorable);
    await this.answerRepeats(organizationId, others);
    const storable = others.filter(isStorable);
    const found = await this.optOuts.find(storable.map(targetOf));
    for (const [index, entry] of storable.entries()) {
      const { request, prepared } = entry;
      try {
        requireNoOptOut(prepared.message, found[index]);
      } catch (error) {
        refuse(entry, error);
        continue;
      }
      if (prepared.conversationId !== null || request.input.type === 'template') continue;
      const open = this.recipients.requireOpen(prepared.connection.id, request.input.recipient);
      await open.catch((error: unknown) => refuse(entry, error));
    }
  }

  private async store(
    { limited }: Sender,
    entries: readonly Entry[],
    strict: boolean,
    reserved: readonly Reserved[],
  ): Promise<void> {
    const storable = entries.filter(isStorable);
    if (storable.length === 0) return;
    const traceContext = this.tracing.currentContext;
    const messages = storable.map(({ request, prepared }) =>
      newMessageOf(request.input, prepared, request, traceContext),
    );
    let results: readonly Accepted[];
    try {
      results = await this.accepts.acceptTogether(messages, strict, limited);
    } catch (error) {
      if (!(error instanceof GroupRefused)) throw error;
      this.giveBack(reserved, () => false);
      storable.forEach((entry, index) => settle(entry, error.results[index]));
      throw this.refusalOf(entries);
    }
    storable.forEach((entry, index) => settle(entry, results[index]));
    this.giveBack(reserved, ({ taken }) => taken?.replayed === false);
    if (entries.every(isRefused)) this.refuseWhole(entries);
    this.wake(messages, results);
  }

  private wake(messages: readonly NewMessage[], results: readonly Accepted[]): void {
    const connections = new Set<string>();
    results.forEach(({ kind, conversationId, lastInboundAt }, index) => {
      const message = messages[index];
      if (kind !== 'inserted' || message === undefined) return;
      const { connectionId, recipient } = message;
      if (conversationId && lastInboundAt) {
        this.recipients.remember(connectionId, recipient, conversationId, lastInboundAt);
      }
      if (message.sendAt === undefined) connections.add(connectionId);
    });
    for (const id of connections) this.sending.wake(id);
  }

  private refusalOf(entries: readonly Entry[]): AppError {
    this.refuseWhole(entries);
    this.count('refused', entries.length);
    return messagesErrors.BATCH_REFUSED({ errors: this.errorsOf(entries), count: entries.length });
  }

  private refuseWhole(entries: readonly Entry[]): void {
    for (const { error } of entries) {
      if (error === null || !NOT_OF_A_MESSAGE.has(error.kind)) continue;
      this.count('refused', entries.length);
      throw error;
    }
  }

  private resultOf(entries: readonly Entry[]): SendBatchResponse {
    const data = entries.flatMap(({ index, taken }) =>
      taken === null ? [] : [{ index, id: taken.messageId, status: 'queued' as const, replayed: taken.replayed }],
    );
    const errors = this.errorsOf(entries);
    const replayed = data.filter((one) => one.replayed).length;
    this.count('accepted', data.length - replayed);
    this.count('replayed', replayed);
    this.count('refused', errors.length);
    return { data, errors };
  }

  private count(outcome: string, messages: number): void {
    if (messages > 0) this.counters.incrementBy('batch_messages', { outcome }, messages);
  }

  private errorsOf(entries: readonly Entry[]): BatchError[] {
    return entries.flatMap(({ index, error }) => {
      if (error === null) return [];
      const { code, message, details = [], ...others } = errorFields(error, this.publicUrl.value);
      return [{ index, code, message, details: details as ErrorDetail[], ...others }];
    });
  }
}

/** A reservation in the backlog, before it is known whether the message is stored. */
interface Reserved {
  entries: readonly Entry[];
  reservation: Reservation;
}

function targetOf({ request: { input }, prepared: { connection, conversationId } }: StorableEntry): OptOutTarget {
  const { id: connectionId, organizationId } = connection;
  return { organizationId, connectionId, recipient: input.recipient, conversationId };
}

type StorableEntry = Entry & { request: NonNullable<Entry['request']>; prepared: PreparedSend };

function isStorable(entry: Entry): entry is StorableEntry {
  return entry.prepared !== null && entry.error === null && entry.taken === null;
}

function refuse(entry: Entry, error: unknown): void {
  if (!(error instanceof AppError)) throw error;
  entry.error = error;
}

function isRefused({ error }: Entry): boolean {
  return error !== null;
}

/** Sets the entry's result from the statement, or from an earlier request with its key; undefined: no result. */
function settle(entry: Entry, accepted: Accepted | undefined): void {
  if (accepted === undefined) return;
  const { kind, messageId, fingerprint, lastInboundAt, optOut, replaced, limitError } = accepted;
  if (limitError !== undefined) entry.error = limitError;
  else if (optOut !== undefined) entry.error = messagesErrors.RECIPIENT_OPTED_OUT(optOut);
  else if (replaced !== undefined) entry.error = messagesErrors.RECIPIENT_REPLACED(replaced.previous);
  else if (kind === 'window_closed') {
    entry.error = windowClosed(lastInboundAt ?? null);
  } else if (kind === 'known' && fingerprint !== entry.request?.fingerprint) {
    entry.error = messagesErrors.IDEMPOTENCY_KEY_REUSED();
  } else {
    entry.error = null;
    entry.taken = { messageId, replayed: kind === 'known' };
  }
}

/** Yields to other requests between the messages of a large batch. */
export async function readEntries(messages: readonly Buffer[]): Promise<Entry[]> {
  const firsts = new Map<string, number>();
  const entries: Entry[] = [];
  let bytes = 0;
  for (const [index, message] of messages.entries()) {
    if (bytes > BYTES_A_TURN) {
      await turn();
      bytes = 0;
    }
    bytes += message.length;
    const entry: Entry = { index, request: null, prepared: null, error: null, taken: null };
    try {
      entry.request = readRequest(message, index, firsts);
    } catch (error) {
      refuse(entry, error);
    }
    entries.push(entry);
  }
  return entries;
}

/** @throws VALIDATION_FAILED (422) as for POST /messages, of `idempotency_key` too; PAYLOAD_TOO_LARGE (413). */
function readRequest(text: Buffer, index: number, firsts: Map<string, number>): NonNullable<Entry['request']> {
  if (text.length > JSON_LIMIT_BYTES) throw commonErrors.PAYLOAD_TOO_LARGE({ limitBytes: JSON_LIMIT_BYTES });
  const { value: message, violations: unfit } = readJson(text);
  if (unfit.length > 0) throw commonErrors.VALIDATION_FAILED({ details: unfit });
  const { idempotency_key: given, ...body } = isObject(message) ? message : {};
  const violations = isObject(message) ? keyViolations(given, index, firsts) : [];
  const input = readMessageInput(isObject(message) ? body : message, violations);
  return { input, idempotencyKey: String(given).toLowerCase(), fingerprint: fingerprintOf(input) };
}

function keyViolations(given: unknown, index: number, firsts: Map<string, number>): ErrorDetail[] {
  const field = 'idempotency_key';
  if (given === undefined) {
    return [violation(field, 'required', `${field} is missing; give each message a new UUID.`)];
  }
  if (!isUuid(given)) return [violation(field, 'format', `${field} must be a UUID.`)];
  const key = given.toLowerCase();
  const first = firsts.get(key);
  if (first === undefined) {
    firsts.set(key, index);
    return [];
  }
  return [violation(field, 'unique', `${field} is that of messages[${first}], too; give each message its own.`)];
}
