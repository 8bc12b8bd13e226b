import {
  parseWebhookBody,
  type CallNotification,
  type InboundNotification,
  type StatusNotification,
  type WebhookPayload,
} from '../../infrastructure/whatsapp/webhook-payload.js';
import type { Connection } from '../connections/connections.types.js';
import type { MessageReports } from '../messages/reports/message-events.service.js';
import type { CallReport, InboundReport, StatusReport } from '../messages/messages.types.js';
import type { OtpStatusReport } from '../otp/otp.types.js';

/** What a notification says, by what it is about. */
export interface Reports extends MessageReports {
  /** Statuses of numbers that send codes and are no workspace's. */
  readonly codes: readonly OtpStatusReport[];
  /** Items of numbers that are not known (yet). */
  readonly unknownItems: number;
}

/**
 * What users write in answer to a code goes nowhere, and neither does a call of a number which is not ours.
 *
 * @param numbers by the platform's id; a number that is no workspace's is missing.
 * @param senders ids of numbers that send codes.
 */
export function reportsOf(
  payload: WebhookPayload,
  numbers: ReadonlyMap<string | null, Connection>,
  senders: ReadonlySet<string | null>,
): Reports {
  const unknown = [...payload.statuses, ...payload.inbound].filter(
    ({ phoneNumberId: id }) => !numbers.has(id) && !senders.has(id),
  );
  return {
    statuses: ofNumbers(payload.statuses, numbers, statusReportOf),
    codes: payload.statuses.flatMap((status) =>
      senders.has(status.phoneNumberId) && !numbers.has(status.phoneNumberId)
        ? [{ ...status, occurredAt: status.timestamp }]
        : [],
    ),
    inbound: ofNumbers(payload.inbound, numbers, inboundReportOf),
    calls: ofNumbers(payload.calls, numbers, callReportOf),
    unknownItems: unknown.length,
  };
}

/** Null where the body is no JSON. */
export function readPayload(body: Buffer): WebhookPayload | null {
  const payload = parseWebhookBody(body);
  return payload.unknown.some(({ field }) => field === 'body') ? null : payload;
}

/** The platform's ids of the numbers in a notification. */
export function numbersIn({ statuses, inbound, calls }: WebhookPayload): Set<string> {
  return new Set([...statuses, ...inbound, ...calls].flatMap(({ phoneNumberId }) => phoneNumberId ?? []));
}

/** One payload an item. */
export function partsOf(payload: WebhookPayload): WebhookPayload[] {
  const nothing = { statuses: [], inbound: [], calls: [], management: [], unknown: [] };
  return [
    ...payload.statuses.map((status) => ({ ...nothing, statuses: [status] })),
    ...payload.inbound.map((message) => ({ ...nothing, inbound: [message] })),
    ...payload.calls.map((call) => ({ ...nothing, calls: [call] })),
    ...payload.management.map((notification) => ({ ...nothing, management: [notification] })),
  ];
}

function ofNumbers<I extends { phoneNumberId: string | null }, R>(
  items: readonly I[],
  numbers: ReadonlyMap<string | null, Connection>,
  reportOf: (item: I, number: Connection) => R,
): R[] {
  return items.flatMap((item) => {
    const number = numbers.get(item.phoneNumberId);
    return number === undefined ? [] : [reportOf(item, number)];
  });
}

/** What the other fields of a report contain already. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'from',
  'from_user_id',
  'from_parent_user_id',
  'id',
  'timestamp',
  'type',
  'context',
  'referral',
  'identity',
  'group_id',
]);

function statusReportOf(notification: StatusNotification, connection: Connection): StatusReport {
  return {
    connectionId: connection.id,
    status: notification.status,
    metaMessageId: notification.metaMessageId,
    callbackData: notification.callbackData,
    occurredAt: notification.timestamp,
    recipientId: notification.recipientId,
    recipientUserId: notification.recipientUserId,
    error: notification.error,
  };
}

function inboundReportOf(notification: InboundNotification, connection: Connection): InboundReport {
  return {
    connectionId: connection.id,
    organizationId: connection.organizationId,
    metaMessageId: notification.metaMessageId,
    from: notification.from ?? notification.waId,
    userId: notification.fromUserId,
    profileName: notification.profileName,
    type: notification.type,
    content: contentOf(notification),
    body: notification.body,
    occurredAt: notification.timestamp,
    context: notification.context,
    contextMessageId: notification.contextMessageId,
    opensWindow: notification.opensWindow,
    businessNumber: connection.phoneNumber,
  };
}

function callReportOf(call: CallNotification, connection: Connection): CallReport {
  return {
    connectionId: connection.id,
    organizationId: connection.organizationId,
    from: call.from,
    userId: call.fromUserId,
    profileName: call.profileName,
    occurredAt: call.timestamp,
  };
}

/**
 * The object named after the type, and why it can't be shown where the platform says so. A list is under its
 * type's name; where there is neither, whatever else came.
 */
function contentOf({ type, content, raw }: InboundNotification): Record<string, unknown> {
  if (Array.isArray(content)) return { [type]: content };
  if (content === null) return Object.fromEntries(Object.entries(raw).filter(([key]) => !ENVELOPE.has(key)));
  return Array.isArray(raw.errors) ? { ...content, errors: raw.errors } : content;
}
