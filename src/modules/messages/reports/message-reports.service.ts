import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../../common/clock.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import { type TraceContext, Tracing } from '../../../infrastructure/operations/tracing.js';
import { NO_NEW_MESSAGE } from '../../../infrastructure/whatsapp/webhook-message.js';
import { MediaService } from '../../media/media.service.js';
import { MediaTransferService } from '../../media/media-transfer.service.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { ErasedNames } from '../../workspaces/erasure/erased-names.service.js';
import { ContactsService } from '../../conversations/contacts/contacts.service.js';
import type { Adoption } from '../../conversations/conversations.types.js';
import { RecipientsService } from '../../conversations/windows/recipients.service.js';
import type { ContactObservation } from '../../conversations/conversations.types.js';
import { findNewMessages, storeMessages, type ReceivedMessage } from './received-messages.repository.js';
import {
  applyAppStatuses,
  observationOfAppMessage,
  recordAppMessages,
  type RecordedMessage,
} from './app-messages.repository.js';
import type {
  AppMessageReport,
  CallReport,
  HandoverReport,
  InboundReport,
  StatusReport,
} from '../../message-state/message.types.js';
import { FactsService } from '../../message-state/facts.service.js';
import { type NewsReport, PlatformNewsRepository } from './platform-news.repository.js';
import { applyStatusReports, type AppliedReport } from './status-reports.repository.js';

/** The reports about messages in one notification. */
export interface MessageReports {
  readonly statuses: readonly StatusReport[];
  readonly inbound: readonly InboundReport[];
  readonly calls: readonly CallReport[];
  readonly handovers: readonly HandoverReport[];
  readonly echoes: readonly AppMessageReport[];
}

/** What the reports of one notification changed, and what to wake after the commit. */
export interface NotificationEffect {
  /** Statuses for which no attempt was found (yet). */
  unmatched: Set<StatusReport>;
  /** Messages stored for the first time. */
  created: number;
  /** Messages of the app stored for the first time. */
  echoed: number;
  /** Workspaces with new webhook events. */
  organizationIds: Set<string>;
  /** Connections with files to fetch. */
  fetchFor: Set<string>;
  adoptions: Adoption[];
  /** Messages that give contacts new names. */
  replacements: string[];
  /** Applied reports about messages whose traces are recorded. */
  traced: { traceContext: TraceContext; messageId: string; status: string }[];
}

/** The recipient may be a group; only a number identifies a contact. */
const NUMBER = /^[0-9]{5,20}$/;

/**
 * Applies WhatsApp's reports about messages: statuses in status-reports.repository.ts, customers' messages in
 * received-messages.repository.ts, messages of the app in app-messages.repository.ts. Their statements also write the
 * webhook events. Every report may come twice, late and in any order.
 */
@Injectable()
export class MessageReportsService {
  constructor(
    private readonly contacts: ContactsService,
    private readonly webhook: WebhookService,
    private readonly media: MediaService,
    private readonly files: MediaTransferService,
    private readonly tracing: Tracing,
    private readonly recipients: RecipientsService,
    private readonly facts: FactsService,
    private readonly erased: ErasedNames,
    private readonly news: PlatformNewsRepository,
  ) {}

  /**
   * Applies the reports of many notifications in the caller's transaction, each exactly once: statuses, customers'
   * messages and messages of the app, the windows that messages and calls open, and the owners of conversations. One
   * result per notification, in the same order, for `announce`.
   */
  async applyAll(given: readonly MessageReports[], statements: Statements): Promise<NotificationEffect[]> {
    const notifications = await this.withoutErased(given, statements);
    const results = await this.applyStatuses(notifications, statements);
    const echoes = notifications.flatMap((notification) => notification.echoes);
    const found = await findNewMessages(
      notifications.flatMap(({ inbound }) => inbound),
      statements,
    );
    // All contacts in one call, so that their connections are locked in one order.
    const conversationIds = await this.contacts.enterAll(
      [
        ...echoes.map(observationOfAppMessage),
        ...found.authors,
        ...notifications.flatMap(({ calls, handovers }) => [
          ...calls.map(callObservation),
          ...handovers.map(handoverObservation),
        ]),
      ],
      results.flatMap(({ adoptions }) => adoptions),
      statements,
    );
    const echoedTo = conversationIds.slice(0, echoes.length);
    const writtenTo = conversationIds.slice(echoes.length);
    const received = (await storeMessages(found, writtenTo, statements, this.media)).values();
    const recorded = (await recordAppMessages(echoes, echoedTo, statements, this.media)).values();
    // After the messages of the app are stored, since these statuses may concern them.
    const ofApp = await applyAppStatuses(
      results.flatMap(({ unmatched }) => [...unmatched]),
      statements,
      this.facts,
    );
    for (const [index, result] of results.entries()) {
      for (const report of result.unmatched) if (ofApp.has(report)) result.unmatched.delete(report);
      for (const report of notifications[index]?.echoes ?? []) noteEcho(result, report, recorded.next().value);
      for (const report of notifications[index]?.inbound ?? []) noteMessage(result, report, received.next().value);
      for (const { organizationId } of notifications[index]?.handovers ?? [])
        result.organizationIds.add(organizationId);
    }
    return results;
  }

  /**
   * Leaves out the messages of the app, handovers and notices (`NO_NEW_MESSAGE`) for which `erasedAmong` says so. A
   * message that a customer writes and a call always stay: either creates a new contact.
   */
  private async withoutErased(
    notifications: readonly MessageReports[],
    statements: Statements,
  ): Promise<readonly MessageReports[]> {
    const about = notifications.flatMap(({ echoes, handovers, inbound }) => [
      ...echoes,
      ...handovers,
      ...inbound.filter(({ type }) => NO_NEW_MESSAGE.has(type)),
    ]);
    if (about.length === 0) return notifications;
    const isErased = await this.erasedAmong(about, statements);
    return notifications.map((notification) => ({
      ...notification,
      echoes: notification.echoes.filter((report) => !isErased(report)),
      handovers: notification.handovers.filter((report) => !isErased(report)),
      inbound: notification.inbound.filter((report) => !isErased(report)),
    }));
  }

  /**
   * Returns a function that tells whether a report must be left out because its person was erased. A report from before
   * the erasure is left out, even if the person is a contact again. Of the later ones, a message of the app stays; any
   * other report stays only if the person is a contact again. Without a time, a message of the app is left out, and any
   * other report counts as later.
   */
  private async erasedAmong(
    reports: readonly (AppMessageReport | HandoverReport | InboundReport)[],
    statements: Statements,
  ): Promise<(report: unknown) => boolean> {
    const people = await this.erased.find(
      reports.map((report) => ({ ...report, names: namesIn(report) })),
      statements,
    );
    const erased = new Set(
      reports.filter((report, index) => {
        const person = people[index] ?? null;
        if (person === null) return false;
        const { occurredAt: at } = report;
        const isOfBefore = at !== null && at <= person.erasedAt;
        return isOfBefore || ('source' in report ? at === null : !person.isBack);
      }) as unknown[],
    );
    return (report) => erased.has(report);
  }

  /** Applies the statuses of all notifications. One result per notification; the caller adds the other changes. */
  private async applyStatuses(
    notifications: readonly MessageReports[],
    statements: Statements,
  ): Promise<NotificationEffect[]> {
    const reports = notifications.flatMap(({ statuses }) => statuses);
    const applied = (await applyStatusReports(reports, statements, this.facts)).values();
    return notifications.map(({ statuses }) => {
      const result: NotificationEffect = {
        unmatched: new Set(),
        created: 0,
        echoed: 0,
        organizationIds: new Set(),
        fetchFor: new Set(),
        adoptions: [],
        replacements: [],
        traced: [],
      };
      for (const report of statuses) this.noteStatus(result, report, applied.next().value ?? null);
      return result;
    });
  }

  /**
   * Stores messages of the app's history, in the caller's transaction. They open no window and produce no events; known
   * messages are not changed. Returns how many are new. A sweep fetches their files.
   */
  async importHistory(all: readonly AppMessageReport[], statements: Statements): Promise<number> {
    const isErased = await this.erasedAmong(all, statements);
    const messages = all.filter((message) => !isErased(message));
    const ids = await this.contacts.enterAll(messages.map(observationOfAppMessage), [], statements);
    const recorded = await recordAppMessages(messages, ids, statements, this.media);
    return recorded.filter(({ created }) => created).length;
  }

  /** Wakes the work that these reports created, after their commit. Never throws. */
  announce({ organizationIds, fetchFor, adoptions, replacements, traced }: NotificationEffect): void {
    // In the message's trace, with a link to the request that brought the report.
    for (const { traceContext: parent, messageId, status } of traced) {
      const attributes = { 'herald.message_id': messageId, 'herald.status': status };
      const link = this.tracing.current;
      this.tracing.end(this.tracing.start('report message', { kind: 'consumer', parent, link, attributes }));
    }
    this.webhook.wake(organizationIds);
    this.files.wakeFetch(fetchFor);
    this.contacts.remember(adoptions);
    if (replacements.length > 0) this.recipients.replaced(replacements);
  }

  /**
   * Records reports that change no message. A report about an erased person is recorded only if the person is a contact
   * again.
   */
  async tell(news: readonly NewsReport[]): Promise<void> {
    const people = await this.erased.find(
      news.map((each) => ({ ...each, names: 'from' in each ? [each.from, each.userId] : [] })),
    );
    const told = news.filter((_each, index) => people[index]?.isBack ?? true);
    if (told.length === 0) return;
    await this.news.record(told);
    this.webhook.wake(new Set(told.map(({ organizationId }) => organizationId)));
  }

  private noteStatus(result: NotificationEffect, report: StatusReport, applied: AppliedReport | null): void {
    if (applied === null) {
      result.unmatched.add(report);
      return;
    }
    if (applied.moved) result.organizationIds.add(applied.organizationId);
    const { traceContext, messageId } = applied;
    if (traceContext !== null) result.traced.push({ traceContext, messageId, status: report.status });
    const { recipientId, recipientUserId: userId } = report;
    const isNumber = recipientId !== null && NUMBER.test(recipientId) && recipientId !== applied.recipient;
    if (applied.conversationId === null) return;
    const adoption = { conversationId: applied.conversationId, waId: isNumber ? recipientId : null, userId };
    if (this.contacts.isNews(adoption)) result.adoptions.push(adoption);
  }
}

function namesIn(report: AppMessageReport | HandoverReport | InboundReport): (string | null)[] {
  if ('source' in report) return [report.contact, report.userId];
  const { waId = null, userId = null } = ('replacement' in report && report.replacement) || {};
  return [report.from, report.userId, waId, userId];
}

function noteMessage(result: NotificationEffect, report: InboundReport, received: ReceivedMessage | undefined): void {
  if (received?.created !== true) return;
  result.created += 1;
  if (report.replacement !== undefined) result.replacements.push(received.messageId);
  result.organizationIds.add(report.organizationId);
  if (received.hasFile) result.fetchFor.add(report.connectionId);
}

function noteEcho(result: NotificationEffect, report: AppMessageReport, recorded: RecordedMessage | undefined): void {
  if (recorded?.created !== true) return;
  result.echoed += 1;
  result.organizationIds.add(report.organizationId);
  if (recorded.hasFile) result.fetchFor.add(report.connectionId);
}

/** A call opens the window as a message does. */
function callObservation({ from, occurredAt, ...call }: CallReport): ContactObservation {
  return { ...call, waId: from, inboundAt: occurredAt ?? databaseClock.date() };
}

function handoverObservation(report: HandoverReport): ContactObservation {
  const { connectionId, organizationId, from: waId, userId, profileName, occurredAt, ...said } = report;
  const handover = { at: occurredAt ?? databaseClock.date(), ...said };
  return { connectionId, organizationId, waId, userId, profileName, handover };
}
