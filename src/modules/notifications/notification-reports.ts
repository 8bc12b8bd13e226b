import type {
  CallNotification,
  InboundNotification,
  StatusNotification,
} from '../../platform/whatsapp/webhook-payload.js';
import type { Connection } from '../connections/connections.types.js';
import type { CallReport, InboundReport, StatusReport } from '../messages/messages.types.js';

/** What the other fields of a report tell already. */
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

export function statusReportOf(notification: StatusNotification, connection: Connection): StatusReport {
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

export function inboundReportOf(notification: InboundNotification, connection: Connection): InboundReport {
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

export function callReportOf(call: CallNotification, connection: Connection): CallReport {
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
 * The object named after the type, and why it can't be shown where the platform says so. A list stands under its
 * type's name; where there is neither, whatever else came.
 */
function contentOf({ type, content, raw }: InboundNotification): Record<string, unknown> {
  if (Array.isArray(content)) return { [type]: content };
  if (content === null) return Object.fromEntries(Object.entries(raw).filter(([key]) => !ENVELOPE.has(key)));
  return Array.isArray(raw.errors) ? { ...content, errors: raw.errors } : content;
}
