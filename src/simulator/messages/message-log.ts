export type StatusName = 'sent' | 'delivered' | 'read' | 'failed';

export interface StatusStep {
  readonly status: StatusName;
  /** How many gaps after the message was taken. */
  readonly gaps: number;
  /** Only with `failed`. */
  readonly errorCode?: number;
}

const SENT: StatusStep = { status: 'sent', gaps: 1 };
const DELIVERED: StatusStep = { status: 'delivered', gaps: 2 };
const READ: StatusStep = { status: 'read', gaps: 3 };
const AT_ONCE = (['read', 'delivered', 'sent'] as const).map((status) => ({ status, gaps: 0 }));

/** What is reported about a message, step by step. The store keeps the name, so a plan must not change its meaning. */
export const STATUS_PLANS = {
  all: [SENT, DELIVERED, READ],
  sent_only: [SENT],
  undeliverable: [{ status: 'failed', gaps: 1, errorCode: 131026 }],
  window_closed: [{ status: 'failed', gaps: 1, errorCode: 131047 }],
  media_failed: [{ status: 'failed', gaps: 1, errorCode: 131053 }],
  read_only: [SENT, { status: 'read', gaps: 2 }],
  backwards_twice: [...AT_ONCE, ...AT_ONCE],
  none: [],
} as const satisfies Record<string, readonly StatusStep[]>;

export type PlanName = keyof typeof STATUS_PLANS;

export function stepsOf(plan: PlanName): readonly StatusStep[] {
  return STATUS_PLANS[plan];
}

/** The bits of {@link TakenMessage.doneSteps} when nothing is left to report. */
export function allSteps(plan: PlanName): number {
  return (1 << STATUS_PLANS[plan].length) - 1;
}

/** What a message is charged as; it also distinguishes a template's category from free-form (`service`). */
export type PricingCategory = 'service' | 'utility' | 'marketing' | 'authentication';

/** A message that the platform took, as the store keeps it. */
export interface TakenMessage {
  /** Counter behind the id; rises in the order in which messages were taken. */
  readonly sequence: number;
  readonly id: string;
  readonly phoneNumberId: string;
  /** The number addressed (digits) or the user id. */
  readonly to: string;
  /** The platform's own number of the recipient; null where only a user id is known. */
  readonly waId: string | null;
  /** `biz_opaque_callback_data`. */
  readonly callback: string | null;
  readonly type: string;
  readonly pricing: PricingCategory;
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
  readonly plan: PlanName;
  /** The request's JSON on one line. Text, not an object: a million parsed bodies would not fit into memory. */
  readonly rawBody: string;
  /** Bit k is set when step k of the plan needs no more work. */
  doneSteps: number;
  /** Bit k is set when step k was handed to the courier by this process. */
  postedSteps: number;
}

export interface MessageFilter {
  /** A number in any spelling, or a user id: matches the number addressed and the platform's own. */
  to?: string;
  /** `biz_opaque_callback_data`, exactly. */
  callback?: string;
  /** Default 1,000. */
  limit?: number;
  /** Only what was taken after this message: its id, or a cursor of a former page. */
  after?: string;
}

/** A taken message in the words of the control calls. */
export interface MessageView {
  id: string;
  to: string;
  wa_id: string | null;
  callback: string | null;
  type: string;
  body: unknown;
  taken_at: string;
  phone_number_id: string;
}

export interface MessagePage {
  messages: TakenMessage[];
  /** To be given as `after`; null when the page is empty. */
  cursor: string | null;
  hasMore: boolean;
}

/** Messages in the order in which they were taken, the oldest forgotten beyond `keep`. */
export class MessageLog {
  private messages: TakenMessage[] = [];
  private taken = 0;

  constructor(private readonly keep: number) {}

  add(message: TakenMessage): void {
    this.taken++;
    this.messages.push(message);
    // In steps of an eighth: dropping one by one would copy the whole list for every message.
    if (this.messages.length > this.keep + Math.max(16, this.keep >> 3))
      this.messages = this.messages.slice(-this.keep);
  }

  all(): readonly TakenMessage[] {
    return this.messages;
  }

  bySequence(sequence: number): TakenMessage | undefined {
    const message = this.messages[this.positionAfter(sequence) - 1];
    return message?.sequence === sequence ? message : undefined;
  }

  /** How many were taken since the last reset, the forgotten ones too. */
  get count(): number {
    return this.taken;
  }

  clear(): void {
    this.messages = [];
    this.taken = 0;
  }

  /** All that is remembered, oldest first, in the shape of the control call. */
  list(filter: MessageFilter = {}): MessageView[] {
    return this.page(filter).messages.map((message) => ({
      ...head(message),
      body: JSON.parse(message.rawBody) as unknown,
    }));
  }

  page(filter: MessageFilter): MessagePage {
    const { to, callback, after, limit = 1000 } = filter;
    const digits = to?.replaceAll(/\D/g, '');
    const found: TakenMessage[] = [];
    let hasMore = false;
    for (let i = this.startAfter(after); i < this.messages.length; i++) {
      const message = this.messages[i] as TakenMessage;
      if (callback !== undefined && message.callback !== callback) continue;
      if (to !== undefined && message.to !== to && message.to !== digits && message.waId !== digits) continue;
      if (found.length === limit) {
        hasMore = true;
        break;
      }
      found.push(message);
    }
    const last = found.at(-1);
    return { messages: found, cursor: last === undefined ? null : String(last.sequence), hasMore };
  }

  private startAfter(after: string | undefined): number {
    if (after === undefined) return 0;
    if (!/^\d+$/.test(after)) return this.messages.findLastIndex((message) => message.id === after) + 1;
    return this.positionAfter(Number(after));
  }

  private positionAfter(sequence: number): number {
    let low = 0;
    let high = this.messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.messages[middle] as TakenMessage).sequence <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** As JSON text, without parsing the body only to write it out again. */
export function messageJson(message: TakenMessage): string {
  return `${JSON.stringify(head(message)).slice(0, -1)},"body":${message.rawBody}}`;
}

function head(message: TakenMessage): Omit<MessageView, 'body'> {
  return {
    id: message.id,
    to: message.to,
    wa_id: message.waId,
    callback: message.callback,
    type: message.type,
    taken_at: new Date(message.takenAt).toISOString(),
    phone_number_id: message.phoneNumberId,
  };
}
