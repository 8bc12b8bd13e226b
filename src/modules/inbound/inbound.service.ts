import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { describeError } from '../../common/describe-error.js';
import { newId } from '../../common/ids.js';
import { within } from '../../common/within.js';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { GroupCommit } from '../../infrastructure/database/group-commit.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { nothingRead, parseWebhookBody, type WebhookPayload } from '../../infrastructure/whatsapp/webhook-payload.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import {
  MessageReportsService,
  type NotificationEffect,
  type MessageReports,
} from '../messages/reports/message-reports.service.js';
import { OptOutsService } from '../opt-outs/opt-outs.service.js';
import { OtpService } from '../otp/otp.service.js';
import type { OtpStatusReport } from '../otp/otp.types.js';
import { TemplatesService } from '../templates/templates.service.js';
import {
  LARGE_BYTES,
  InboundRepository,
  type DueNotification,
  type NewNotification,
  type NotificationState,
} from './inbound.repository.js';
import { personOf } from './notified-person.js';

/** Tries before a notification that cannot be applied is given up; they take four hours. */
const MIN_TRIES = 8;
/** Tries for statuses of unknown numbers: a number added later has not sent these messages. */
const UNKNOWN_NUMBER_TRIES = 3;
/** WhatsApp waits some ten seconds for its answer. Work not done by then is only stored. */
const APPLY_TIMEOUT_MS = 5_000;
/**
 * Gathers, so that under load the statuses of one message become one change of its row; WhatsApp does not notice the
 * delay. A few statuses are applied at once: their transactions cost little, and a status is visible a third of a
 * second sooner.
 */
const GATHER = { quietMs: 30, atMostMs: 300, apartMs: 300, apartAfter: 8 };
/** With more statuses in flight none waits for others: they form large batches anyway. */
const FEW_STATUSES = 500;
/** Limit of statuses in one transaction. */
const MAX_STATUSES = 4_000;
const PARTS_AT_ONCE = 200;
/** Limit of names recorded for unapplied parts of one notification. */
const MAX_NAMES = 20;
/** `expired`: it is so old that parts which match nothing are given up. `tries`: since it was stored. */
type Tried = Pick<DueNotification, 'expired' | 'tries'>;
const FIRST: Tried = { expired: false, tries: 0 };

type Row = Omit<NewNotification, 'state'>;

/** The reports of a notification, by subject. */
interface Reports extends MessageReports {
  /** Statuses of numbers that send codes and belong to no workspace. */
  codes: readonly OtpStatusReport[];
  /** Connections whose numbers send codes too. */
  senders: ReadonlySet<string>;
  /** Messages (including the app's), handovers and statuses of unknown numbers, which may be added later. */
  unknownInbound: number;
  unknownStatuses: number;
}

interface Work {
  reports: Reports;
  /** Null where only a part of the notification is applied. */
  row: Row | null;
  given: Tried;
}

/** Parts that match nothing known, and the outcome of their notification. */
interface Unmatched {
  unmatched: number;
  unknownStatuses: number;
  state: NotificationState;
}

interface Outcome {
  applied: NotificationEffect;
  /** Statuses that name a code. */
  codes: readonly OtpStatusReport[];
  /** The number of parts that match nothing known, and how many of these are statuses of unknown numbers. */
  unmatched: number;
  unknownStatuses: number;
}

/**
 * Receives WhatsApp's notifications. Each one with a valid signature is stored as received and applied, many in one
 * transaction, and only then acknowledged, so no crash loses it afterwards. If it can't be applied it is stored for the
 * processor.
 */
@Injectable()
export class InboundService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(InboundService.name);
  private readonly applying: GroupCommit<Work, Outcome>;
  private readonly applyingLarge: GroupCommit<Work, Outcome>;
  private statusesUnderWay = 0;

  constructor(
    private readonly notifications: InboundRepository,
    private readonly connections: ConnectionsService,
    private readonly reports: MessageReportsService,
    private readonly templates: TemplatesService,
    private readonly optOuts: OptOutsService,
    private readonly codes: OtpService,
    private readonly counters: Counters,
    private readonly tracing: Tracing,
    database: Database,
  ) {
    const settings = {
      name: 'notification',
      careful: true,
      lockedForMs: APPLY_TIMEOUT_MS,
      gather: GATHER,
      sizeOf: ({ reports }: Work) => reports.statuses.length,
      maxSize: MAX_STATUSES,
      tracing,
      commit: (work: Work[], statements: Statements) => this.commit(work, statements),
    };
    this.applying = new GroupCommit(database, settings);
    this.applyingLarge = new GroupCommit(database, { ...settings, maxBatch: 1 });
  }

  /**
   * Stores and applies a notification whose signature was verified. Parts that can't be applied now are retried later.
   *
   * @throws SERVICE_UNAVAILABLE (503) where it can't be stored.
   */
  async take(body: Buffer): Promise<void> {
    const payload = readPayload(body);
    const row = rowOf(newId(), body, payload);
    if (payload === null) await this.storeUnreadable(row);
    else if ((await within(APPLY_TIMEOUT_MS, this.tryToApply(payload, row, FIRST))) === null) {
      await this.notifications.store({ ...row, state: 'stored' });
    }
    this.counters.increment('notifications_stored');
  }

  /**
   * Another try for a stored notification. After a day without a match, or with failures, it is given up and counted.
   * Returns whether it is settled.
   */
  async takeAgain({ id, body, expired, tries }: DueNotification): Promise<boolean> {
    const payload = readPayload(body);
    const row = rowOf(id, body, payload);
    if (payload !== null) {
      const state = await this.tryToApply(payload, row, { expired, tries });
      return state !== null && state !== 'stored';
    }
    await this.storeUnreadable(row);
    return true;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.applying.idle(), this.applyingLarge.idle(), this.notifications.idle()]);
  }

  /** The state in which it is now stored; null where a part could not be applied: it must be stored, and retried. */
  private async tryToApply(payload: WebhookPayload, row: Row, tried: Tried): Promise<NotificationState | null> {
    const { expired, tries } = tried;
    try {
      const { unmatched, state } = await this.apply(payload, row, tried).catch((error: unknown) => {
        // If the database is away or overloaded, the items are not tried one by one.
        if (tries === 0 && error instanceof AppError) throw error;
        return this.applyParts(payload, row, tried, error);
      });
      this.counters.increment('notifications_unknown', payload.unknown.length);
      this.counters.increment('notifications_unused', payload.unused.length);
      if (state === 'unmatched') {
        this.counters.increment('notifications_unmatched');
        // Statuses of unknown numbers may be many, so they are only counted.
        if (expired)
          this.logger.warn(`notification ${row.id}: ${unmatched} of its items belong to no known number or message`);
      }
      return state;
    } catch (error) {
      this.counters.increment('notifications_apply_failed');
      // After the service was down for a day, a single try is not enough to give up.
      const isLast = expired && tries >= MIN_TRIES;
      const next = isLast ? 'was given up' : 'will be tried again';
      this.logger.error(`notification ${row.id} could not be applied; it ${next}`, error);
      if (!isLast) return null;
      await this.notifications.store({ ...row, state: 'failed' });
      this.counters.increment('notifications_failed');
      return 'failed';
    }
  }

  /** Applies everything in a notification, and returns how much of it matches nothing known. */
  private async apply(payload: WebhookPayload, row: Row | null, given: Tried): Promise<Unmatched> {
    // These are rare, concern no message, and can be repeated, so they run in transactions of their own.
    await this.applyManagement(payload);
    await this.tell(payload);
    await this.optOuts.applyNotification(payload, (id) => this.connections.findByPhoneNumberId(id));
    const reports = await this.reportsOf(payload);
    const isLarge = (row?.body.length ?? 0) > LARGE_BYTES;
    const count = payload.statuses.length;
    this.statusesUnderWay += count;
    const mayWait = payload.inbound.length === 0 && this.statusesUnderWay <= FEW_STATUSES;
    const batches = isLarge ? this.applyingLarge : this.applying;
    const { applied, codes, unmatched, unknownStatuses } = await batches
      .submit({ reports, row, given }, mayWait, this.tracing.current)
      .finally(() => (this.statusesUnderWay -= count));
    this.reports.announce(applied);
    await this.noteNumbers(payload.statuses);
    this.codes.countReports(codes);
    this.counters.increment('notifications_otp', codes.length);
    this.counters.increment('notifications_statuses', reports.statuses.length - applied.unmatched.size);
    this.counters.increment('notifications_messages', applied.created);
    this.counters.increment('notifications_echoes', applied.echoed);
    return { unmatched, unknownStatuses, state: stateOf({ unmatched, unknownStatuses }, given) };
  }

  /**
   * Like `apply`, item by item, so that an item which can't be applied does not block the others.
   *
   * @throws the first item's error, or `cause` where there is only one item.
   */
  private async applyParts(payload: WebhookPayload, row: Row, given: Tried, cause: unknown): Promise<Unmatched> {
    const parts = partsOf(payload);
    if (parts.length < 2) throw cause;
    let unmatched = 0;
    let unknownStatuses = 0;
    const errors: unknown[] = [];
    while (parts.length > 0) {
      const applied = parts.splice(0, PARTS_AT_ONCE).map((part) => this.apply(part, null, given));
      for (const result of await Promise.allSettled(applied)) {
        if (result.status === 'rejected') errors.push(result.reason);
        else {
          unmatched += result.value.unmatched;
          unknownStatuses += result.value.unknownStatuses;
        }
      }
    }
    if (errors.length > 0) throw errors[0];
    const state = stateOf({ unmatched, unknownStatuses }, given);
    await this.notifications.store({ ...row, state });
    return { unmatched, unknownStatuses, state };
  }

  private async commit(work: Work[], statements: Statements): Promise<Outcome[]> {
    const applied = await this.reports.applyAll(
      work.map(({ reports }) => reports),
      statements,
    );
    // For a workspace's number that also sends codes, a status that matches no message may be one of a code.
    const open = work.map(({ reports: { codes, senders } }, n) => [
      ...codes,
      ...[...(applied[n]?.unmatched ?? [])].filter(({ connectionId }) => senders.has(connectionId)),
    ]);
    const known = await this.codes.applyReports(open.flat());
    const rows: NewNotification[] = [];
    const outcomes = work.map(({ reports, row, given }, n) => {
      const codes = (open[n] ?? []).filter((report) => known.has(report));
      const { unknownInbound, unknownStatuses } = reports;
      const named = reports.codes.length + (applied[n]?.unmatched.size ?? 0);
      const unmatched = unknownInbound + unknownStatuses + named - codes.length;
      if (row !== null) rows.push({ ...row, state: stateOf({ unmatched, unknownStatuses }, given) });
      return { applied: applied[n] as NotificationEffect, codes, unmatched, unknownStatuses };
    });
    // At the end: another transaction that stores one of these waits until this one commits.
    await this.notifications.insert(rows, statements);
    return outcomes;
  }

  /**
   * Passes every change to each handler that may need it, in the order of the notification; a handler ignores other
   * changes.
   */
  private async applyManagement({ management }: WebhookPayload): Promise<void> {
    if (management.length === 0) return;
    for (const notification of management) {
      await this.templates.applyNotification(notification);
      await this.connections.applyNotification(notification);
    }
    this.counters.increment('notifications_management', management.length);
  }

  private async tell({ news }: WebhookPayload): Promise<void> {
    if (news.length === 0) return;
    const found = await Promise.all(news.map(({ phoneNumberId: id }) => this.numberOf(id)));
    await this.reports.tell(
      news.flatMap((each, index) => {
        const number = found[index] ?? null;
        return number === null ? [] : [{ ...each, connectionId: number.id, organizationId: number.organizationId }];
      }),
    );
  }

  private async numberOf(phoneNumberId: string | null): Promise<Connection | null> {
    return phoneNumberId === null ? null : this.connections.findByPhoneNumberId(phoneNumberId);
  }

  /** Best effort: a failure here must not fail the notification. */
  private async noteNumbers(statuses: WebhookPayload['statuses']): Promise<void> {
    for (const status of statuses) {
      const { phoneNumberId } = status;
      const mayMatter = status.status === 'failed' || status.pricing?.type === 'regular';
      if (!mayMatter || phoneNumberId === null) continue;
      try {
        const connection = await this.connections.findByPhoneNumberId(phoneNumberId);
        if (connection !== null) await this.connections.noteReport(connection, status);
      } catch (error) {
        this.logger.warn(
          `number ${phoneNumberId}: what a report says of it could not be kept: ${describeError(error)}`,
        );
      }
    }
  }

  /** Replies to a code are ignored, and so are calls to a number that is not ours. */
  private async reportsOf({ statuses, inbound, calls, handovers, echoes }: WebhookPayload): Promise<Reports> {
    const numbers = new Map<string | null, Connection>();
    const senders = new Set<string | null>();
    const items = [...statuses, ...inbound, ...calls, ...handovers, ...echoes];
    for (const id of new Set(items.map((item) => item.phoneNumberId))) {
      if (id === null) continue;
      const connection = await this.connections.findByPhoneNumberId(id);
      if (connection !== null) numbers.set(id, connection);
      if (await this.codes.isSender(id)) senders.add(id);
    }
    const isUnknown = ({ phoneNumberId: id }: { phoneNumberId: string | null }) => !numbers.has(id) && !senders.has(id);
    const { currentContext: traceContext } = this.tracing;
    const ofWorkspace = ({ id: connectionId, organizationId }: Connection) => ({ connectionId, organizationId });
    const withNumber = (number: Connection) => ({
      ...ofWorkspace(number),
      businessNumber: number.phoneNumber,
      traceContext,
    });
    return {
      statuses: ofNumbers(statuses, numbers, ({ id: connectionId }) => ({ connectionId })),
      codes: statuses.filter(({ phoneNumberId: id }) => senders.has(id) && !numbers.has(id)),
      senders: new Set([...senders].flatMap((id) => numbers.get(id)?.id ?? [])),
      inbound: ofNumbers(inbound, numbers, withNumber),
      echoes: ofNumbers(echoes, numbers, (number) => ({
        ...withNumber(number),
        source: 'app' as const,
        direction: 'outbound' as const,
        status: 'sent' as const,
      })),
      calls: ofNumbers(calls, numbers, ofWorkspace),
      handovers: ofNumbers(handovers, numbers, ofWorkspace),
      unknownInbound: [...inbound, ...handovers, ...echoes].filter(isUnknown).length,
      unknownStatuses: statuses.filter(isUnknown).length,
    };
  }

  private async storeUnreadable(row: Row): Promise<void> {
    await this.notifications.store({ ...row, state: 'unreadable' });
    this.counters.increment('notifications_unreadable');
    this.logger.warn(`notification ${row.id} is stored, but is not JSON`);
  }
}

/** Unknown messages may match later; statuses of unknown numbers cannot, since a number added later has none. */
function stateOf(
  { unmatched, unknownStatuses }: Omit<Unmatched, 'state'>,
  { expired, tries }: Tried,
): NotificationState {
  if (unmatched === 0) return 'applied';
  const isGivenUp = expired || (unmatched === unknownStatuses && tries >= UNKNOWN_NUMBER_TRIES);
  return isGivenUp ? 'unmatched' : 'stored';
}

/** Null where the body is not JSON. */
function readPayload(body: Buffer): WebhookPayload | null {
  const payload = parseWebhookBody(body);
  return payload.unknown.some(({ field }) => field === 'body') ? null : payload;
}

function rowOf(id: string, body: Buffer, payload: WebhookPayload | null): Row {
  return { id, body, unread: unreadOf(payload), person: payload === null ? null : personOf(payload) };
}

/** Names of unapplied parts of a notification, each once; null where there are none. */
function unreadOf(payload: WebhookPayload | null): string[] | null {
  if (payload === null || payload.unknown.length + payload.unused.length === 0) return null;
  const names = new Set([...payload.unknown.map(({ field }) => field), ...payload.unused]);
  return [...names].slice(0, MAX_NAMES);
}

/** The items of the workspaces' numbers, each with the facts about its number. */
function ofNumbers<I extends { phoneNumberId: string | null }, K>(
  items: readonly I[],
  numbers: ReadonlyMap<string | null, Connection>,
  known: (number: Connection) => K,
): (I & K)[] {
  return items.flatMap((item) => {
    const number = numbers.get(item.phoneNumberId);
    return number === undefined ? [] : [{ ...item, ...known(number) }];
  });
}

/** One payload per item. */
function partsOf({ statuses, inbound, calls, handovers, echoes, management, news }: WebhookPayload): WebhookPayload[] {
  const nothing = nothingRead();
  return [
    ...statuses.map((status) => ({ ...nothing, statuses: [status] })),
    ...inbound.map((message) => ({ ...nothing, inbound: [message] })),
    ...calls.map((call) => ({ ...nothing, calls: [call] })),
    ...handovers.map((handover) => ({ ...nothing, handovers: [handover] })),
    ...echoes.map((echo) => ({ ...nothing, echoes: [echo] })),
    ...management.map((notification) => ({ ...nothing, management: [notification] })),
    ...news.map((each) => ({ ...nothing, news: [each] })),
  ];
}
