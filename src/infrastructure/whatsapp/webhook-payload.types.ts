import type { InboundContext } from './inbound-context.js';

/** Where a notification belongs; null where the platform left it out. */
interface Origin {
  readonly phoneNumberId: string | null;
  readonly wabaId: string | null;
}

export type NotifiedStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** What became of a message that we sent. */
export interface StatusNotification extends Origin {
  readonly metaMessageId: string;
  /** `played` reads as `read`. */
  readonly status: NotifiedStatus;
  /** The platform's time, in whole seconds. */
  readonly timestamp: Date | null;
  /** Number of the recipient, digits only; missing where it was sent to a user id. */
  readonly recipientId: string | null;
  readonly recipientUserId: string | null;
  /** `biz_opaque_callback_data`: `<message id>.<attempt id>`. */
  readonly callbackData: string | null;
  readonly error: NotifiedError | null;
  readonly raw: Record<string, unknown>;
}

export interface NotifiedError {
  readonly code: number | null;
  readonly title: string | null;
  readonly details: string | null;
}

/** A message that a customer sent, or something about one (`system`, `edit`, `revoke`). */
export interface InboundNotification extends Origin {
  readonly metaMessageId: string;
  /** The customer's number, digits only; null where only a user id is known. */
  readonly from: string | null;
  readonly fromUserId: string | null;
  /** The number as the platform's contact has it. */
  readonly waId: string | null;
  readonly profileName: string | null;
  readonly timestamp: Date | null;
  /** The platform's type; `unknown` where it gave none. */
  readonly type: string;
  /** The object named after the type, as received (`contacts`: a list). */
  readonly content: Record<string, unknown> | unknown[] | null;
  /** Text, caption, title of the button or row, emoji (`''` takes a reaction away). */
  readonly body: string | null;
  /** What the platform says beside the content. */
  readonly context: InboundContext;
  /** The message that this one answers or reacts to. */
  readonly contextMessageId: string | null;
  /** False for what is not a message to us alone: `system`, `edit`, `revoke`, and whatever was said in a group. */
  readonly opensWindow: boolean;
  readonly raw: Record<string, unknown>;
}

/** A customer calls one of the numbers. */
export interface CallNotification extends Origin {
  /** The customer's number, digits only. */
  readonly from: string | null;
  readonly fromUserId: string | null;
  readonly profileName: string | null;
  readonly timestamp: Date | null;
}

/** Everything else that the platform tells of a number or an account. */
export interface ManagementNotification extends Origin {
  /** The webhook's field, such as `message_template_status_update`; `messages.errors` for trouble without a message. */
  readonly field: string;
  readonly occurredAt: Date | null;
  readonly value: Record<string, unknown>;
}

/** Something that could not be read, so that it can be counted. */
export interface UnknownNotification {
  readonly field: string;
  readonly reason: string;
}

export interface WebhookPayload {
  readonly statuses: StatusNotification[];
  readonly inbound: InboundNotification[];
  /** They stand in `management` as well. */
  readonly calls: CallNotification[];
  readonly management: ManagementNotification[];
  readonly unknown: UnknownNotification[];
}
