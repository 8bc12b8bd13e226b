import type { TraceContext } from '../../infrastructure/operations/tracing.js';
import type {
  HandoverNotification,
  InboundContext,
  InboundNotification,
} from '../../infrastructure/whatsapp/webhook-message.js';
import type { AppMessage, HistoryMessage } from '../../infrastructure/whatsapp/webhook-app.js';
import type { StatusNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import type { MessageChanges } from './message-changes.types.js';
import type { MessageStatus } from './message-state.types.js';

/** A message as the rest of Herald sees it; times are Dates, ids UUIDs. */
export interface Message {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  direction: 'outbound' | 'inbound';
  type: string;
  /** Digits without `+`; null where the message is addressed to a user id. */
  recipient: string | null;
  /** The user id that the message is addressed to. */
  recipientUserId: string | null;
  sender: string | null;
  body: string | null;
  content: Record<string, unknown>;
  clientMessageId: string | null;
  /** The name of the group that the caller put it in. */
  tag: string | null;
  /** The caller's own strings. */
  metadata: Record<string, string> | null;
  replyToMessageId: string | null;
  mediaObjectId: string | null;
  status: MessageStatus;
  metaMessageId: string | null;
  failureCategory: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  attemptCount: number;
  createdAt: Date;
  nextAttemptAt: Date | null;
  /** The time that the caller gave; null once the message is due, and for messages that were not scheduled. */
  scheduledFor: Date | null;
  /**
   * When a queued message expires. Null for a message that is not in the queue, and for a scheduled message without a
   * time to live of its own: MESSAGE_TTL_HOURS then counts from `scheduledFor`.
   */
  expiresAt: Date | null;
  queuedAt: Date | null;
  processingAt: Date | null;
  acceptedAt: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  readAt: Date | null;
  failedAt: Date | null;
  /** WhatsApp's price, in its own words; all null until a report has it. */
  billable: boolean | null;
  pricingCategory: string | null;
  pricingType: string | null;
  pricingSubtype: string | null;
  pricingModel: string | null;
  contact: Contact;
  /** Received without ownership: another app owned the conversation. */
  standby: boolean;
  source: MessageSource;
  /** Only of received messages. */
  inboundContext: InboundContext;
  /** Null for a message that is neither an edit nor a revoke, and that none is known to change. */
  changes: MessageChanges | null;
}

/**
 * Where a message comes from: the API, the WhatsApp Business app, a customer; `history`: imported from the app, in both
 * directions.
 */
export const MESSAGE_SOURCES = ['api', 'app', 'customer', 'history'] as const;
export type MessageSource = (typeof MESSAGE_SOURCES)[number];

/** The other side of a conversation, as far as it is known. */
export interface Contact {
  /** Digits, in WhatsApp's spelling where that is known. */
  phone: string | null;
  userId: string | null;
  name: string | null;
}

export interface Attempt {
  number: number;
  status: 'started' | 'accepted' | 'rejected' | 'deferred' | 'unknown';
  startedAt: Date;
  finishedAt: Date | null;
  httpStatus: number | null;
  platformCode: number | null;
  platformMessage: string | null;
  failureCategory: string | null;
  metaMessageId: string | null;
  traceId: string | null;
}

/** A message with its send attempts, oldest first. */
export type DetailedMessage = Message & { attempts: Attempt[] };

/** An action on a message: a retry or a cancel, or, reported by WhatsApp, a deletion by its recipient or a warning. */
export interface MessageAct {
  at: Date;
  act: 'retried' | 'canceled' | 'deleted' | 'warned';
  /**
   * The key, or the person's session, of the request that retried or canceled the message. Null for an action on the
   * message's tag, and for `deleted` and `warned`, which WhatsApp reports.
   */
  apiKeyId: string | null;
  /**
   * For `retried`: when the message had been queued before, and how the message had failed then. For `warned` only
   * `errorCode` is set: the code of the warning. For `canceled` and `deleted` all four are null.
   */
  queuedAt: Date | null;
  failedAt: Date | null;
  failureCategory: string | null;
  errorCode: string | null;
}

/** What WhatsApp reported about a message that it had accepted. */
export interface StatusReport extends Omit<StatusNotification, 'phoneNumberId'> {
  /** The connection that the notification names; a report never touches another workspace's message. */
  connectionId: string;
}

/** A customer's message as WhatsApp delivered it. */
export interface InboundReport extends Omit<InboundNotification, 'phoneNumberId'> {
  connectionId: string;
  organizationId: string;
  /** The workspace's own number, digits. */
  businessNumber: string;
  /** The trace of the request that brought it, where traces are recorded. */
  traceContext?: TraceContext | undefined;
}

/** A message that was sent in the app, or belongs to the app's history. */
export interface AppMessageReport
  extends
    Omit<AppMessage, 'phoneNumberId'>,
    Pick<InboundReport, 'connectionId' | 'organizationId' | 'businessNumber' | 'traceContext'>,
    Pick<HistoryMessage, 'direction' | 'status'> {
  source: 'app' | 'history';
}

/** A customer called one of the workspace's numbers. */
export type CallReport = Pick<
  InboundReport,
  'connectionId' | 'organizationId' | 'from' | 'userId' | 'profileName' | 'occurredAt'
>;

/** Another app, or this one, took control of a conversation. */
export interface HandoverReport extends Omit<HandoverNotification, 'phoneNumberId'> {
  connectionId: string;
  organizationId: string;
}

/** The waiting messages of one connection's lane. */
export interface LaneStatus {
  connectionId: string;
  organizationId: string;
  /** The sending number, digits. */
  phoneNumber: string;
  /** State of the connection. */
  status: string;
  /** Queued messages, due or not, without scheduled ones. */
  queued: number;
  /** Messages that are to go later. */
  scheduled: number;
  /** Those of the queued messages that are due. */
  due: number;
  /** Requests that a worker is sending, or whose worker has died. */
  inFlight: number;
  oldestDueAt: Date | null;
  /** Milliseconds since the oldest due message became due. */
  oldestDueMs: number | null;
  pausedUntil: Date | null;
  pauseReason: string | null;
  /** Whether a worker is draining the lane at this moment. */
  isDrained: boolean;
}

/** Sent in the WhatsApp Business app. */
export function isOfApp({ direction, source }: Pick<Message, 'direction' | 'source'>): boolean {
  return direction === 'outbound' && source !== 'api';
}
