import { GraphError, PlainError } from '../graph-error.js';

type StatusName = 'sent' | 'delivered' | 'read' | 'failed';

interface StatusStep {
  readonly status: StatusName;
  /** How many intervals after the message was accepted. */
  readonly gaps: number;
  /** Only with `failed`. */
  readonly errorCode?: number;
}

const SENT: StatusStep = { status: 'sent', gaps: 1 };
const DELIVERED: StatusStep = { status: 'delivered', gaps: 2 };
const READ: StatusStep = { status: 'read', gaps: 3 };
const AT_ONCE = (['read', 'delivered', 'sent'] as const).map((status) => ({ status, gaps: 0 }));

/**
 * The status steps that are reported about a message. The store keeps the name, so a plan's meaning must not change.
 */
const STATUS_PLANS = {
  all: [SENT, DELIVERED, READ],
  sent_only: [SENT],
  undeliverable: [{ status: 'failed', gaps: 1, errorCode: 131026 }],
  window_closed: [{ status: 'failed', gaps: 1, errorCode: 131047 }],
  media_failed: [{ status: 'failed', gaps: 1, errorCode: 131053 }],
  payment_missing: [{ status: 'failed', gaps: 1, errorCode: 131042 }],
  spam_limited: [{ status: 'failed', gaps: 1, errorCode: 131048 }],
  opted_out: [{ status: 'failed', gaps: 1, errorCode: 131050 }],
  not_owner: [{ status: 'failed', gaps: 1, errorCode: 131070 }],
  read_only: [SENT, { status: 'read', gaps: 2 }],
  backwards_twice: [...AT_ONCE, ...AT_ONCE],
  none: [],
} as const satisfies Record<string, readonly StatusStep[]>;

/** `failed_131049`: the status requested by a control call. */
type PlanName = keyof typeof STATUS_PLANS | `failed_${number}`;

export function stepsOf(plan: PlanName): readonly StatusStep[] {
  if (plan in STATUS_PLANS) return STATUS_PLANS[plan as keyof typeof STATUS_PLANS];
  return [{ status: 'failed', gaps: 1, errorCode: Number(plan.slice('failed_'.length)) }];
}

/** The bits of {@link TakenMessage.doneSteps} when every step is done. */
export function allSteps(plan: PlanName): number {
  return (1 << stepsOf(plan).length) - 1;
}

/** The category for charging a message; it also distinguishes a template's category from free-form (`service`). */
export type PricingCategory = 'service' | 'utility' | 'marketing' | 'marketing_lite' | 'authentication';

/** The endpoint that received a message. */
export type Endpoint = 'messages' | 'marketing_messages';

/** An accepted message, as stored. */
export interface TakenMessage {
  /** The counter in the id; rises in the order in which messages were accepted. */
  readonly sequence: number;
  readonly id: string;
  readonly phoneNumberId: string;
  /** The addressed number (digits) or user id. */
  readonly to: string;
  /** The platform's spelling of the recipient's number; null where only a user id is known. */
  readonly waId: string | null;
  /** `biz_opaque_callback_data`. */
  readonly callback: string | null;
  readonly type: string;
  /** Missing: `messages`. */
  readonly endpoint?: Endpoint;
  readonly pricing: PricingCategory;
  /** One of the number's free service messages in the month. */
  readonly isFree?: true;
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
  readonly plan: PlanName;
  /** The request's JSON on one line. As text, because a million parsed bodies would not fit into memory. */
  readonly rawBody: string;
  /** Bit k is set when step k of the plan is done. */
  doneSteps: number;
  /** Bit k is set when this process has handed step k to the courier. */
  postedSteps: number;
}

interface MessageFilter {
  /** A number in any spelling, or a user id: matches the addressed and the platform's number. */
  to?: string;
  /** `biz_opaque_callback_data`, exactly. */
  callback?: string;
  /** Default 1,000. */
  limit?: number;
  /** Only messages accepted after this one: its id, or a cursor of an earlier page. */
  after?: string;
}

/** Messages in the order in which they were accepted; beyond `keep` the oldest are dropped. */
export class MessageLog {
  private messages: TakenMessage[] = [];
  private taken = 0;

  constructor(private readonly keep: number) {}

  add(message: TakenMessage): void {
    this.taken++;
    this.messages.push(message);
    // In steps of an eighth, because dropping one by one would copy the whole list for every message.
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

  /** How many were accepted since the last reset, including dropped ones. */
  get count(): number {
    return this.taken;
  }

  clear(): void {
    this.messages = [];
    this.taken = 0;
  }

  /** All stored messages, oldest first, in the form of control calls. */
  list(filter: MessageFilter = {}): (ReturnType<typeof head> & { body: unknown })[] {
    return this.page(filter).messages.map((message) => ({
      ...head(message),
      body: JSON.parse(message.rawBody) as unknown,
    }));
  }

  /** @returns `cursor` for `after`; null when the page is empty */
  page(filter: MessageFilter): { messages: TakenMessage[]; cursor: string | null; hasMore: boolean } {
    const { to, callback, after, limit = 1000 } = filter;
    const digits = to?.replaceAll(/\D/g, '');
    const found: TakenMessage[] = [];
    for (let i = this.startAfter(after); i < this.messages.length && found.length <= limit; i++) {
      const message = this.messages[i] as TakenMessage;
      if (callback !== undefined && message.callback !== callback) continue;
      if (to !== undefined && message.to !== to && message.to !== digits && message.waId !== digits) continue;
      found.push(message);
    }
    const messages = found.slice(0, limit);
    const last = messages.at(-1);
    return { messages, cursor: last === undefined ? null : String(last.sequence), hasMore: found.length > limit };
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

/** Inserts the body as JSON text, without parsing it. */
export function messageJson(message: TakenMessage): string {
  return `${JSON.stringify(head(message)).slice(0, -1)},"body":${message.rawBody}}`;
}

function head(message: TakenMessage) {
  return {
    id: message.id,
    to: message.to,
    wa_id: message.waId,
    callback: message.callback,
    type: message.type,
    endpoint: message.endpoint ?? 'messages',
    taken_at: new Date(message.takenAt).toISOString(),
    phone_number_id: message.phoneNumberId,
  };
}

/** How an accepted message is answered: at once, never, late, or after its notifications were sent. */
type AnswerManner = 'at_once' | 'cut' | 'slow' | 'after_notifications';

export interface Scenario {
  plan: PlanName;
  answer: AnswerManner;
  /** The customer writes back. */
  reply: boolean;
}

const NORMAL: Scenario = { plan: 'all', answer: 'at_once', reply: false };

const BY_LAST_DIGITS: Readonly<Record<string, Scenario>> = {
  '0001': { ...NORMAL, plan: 'sent_only' },
  '0002': { ...NORMAL, plan: 'undeliverable' },
  '0005': { ...NORMAL, answer: 'cut' },
  '0007': { ...NORMAL, answer: 'slow' },
  '0008': { ...NORMAL, plan: 'backwards_twice', answer: 'after_notifications' },
  '0009': { ...NORMAL, plan: 'read_only' },
  '0011': { ...NORMAL, plan: 'window_closed' },
  '0012': { ...NORMAL, reply: true },
  '0013': { ...NORMAL, plan: 'opted_out' },
  '0014': { ...NORMAL, plan: 'payment_missing' },
  '0015': { ...NORMAL, plan: 'spam_limited' },
  '0016': { ...NORMAL, plan: 'not_owner' },
};

/** Failures of sends requested by a control call. */
export interface AskedFailure {
  code: number;
  /** Refused in the answer, or accepted and then reported as failed. */
  as: 'answer' | 'status';
  /** Digits or a user id; null: every recipient. */
  recipient: string | null;
  /** Null: every number. */
  phoneNumberId: string | null;
  /** How many are left; null: unlimited. */
  times: number | null;
}

const MAX_FAILURES = 1_000;
const THROTTLES = 2;
const MAX_KEYS = 50_000;

/** The behaviour that the recipient's last four digits select. */
export class Scenarios {
  private readonly throttled = new Map<string, number>();
  private readonly lastTaken = new Map<string, number>();
  private asked: AskedFailure[] = [];

  constructor(private readonly pairLimitMs: number) {}

  /**
   * Decides about a message that passed all checks.
   *
   * @param recipient digits or user id
   * @throws GraphError 131009, 130429, 131056, 131061, 134101 or the requested code, or PlainError: not accepted
   */
  decide(phoneNumberId: string, recipient: string, nowMs: number, endpoint: Endpoint = 'messages'): Scenario {
    const failure = this.strike(phoneNumberId, recipient);
    if (failure?.as === 'answer') throw new GraphError(failure.code, { details: 'A failure that was asked for' });
    if (failure !== null) return { ...NORMAL, plan: `failed_${failure.code}` };
    const digits = recipient.slice(-4);
    if (!digits.startsWith('00')) return NORMAL;
    const key = `${phoneNumberId} ${recipient}`;
    if (digits === '0003') {
      throw new GraphError(131009, 'Recipient 0003: this message is always refused');
    }
    if (digits === '0004') {
      this.throttle(key, new GraphError(130429, 'Recipient 0004: too many messages were sent from this number'));
    }
    if (digits === '0006') throw new PlainError(500);
    if (digits === '0010') this.limitPair(key, nowMs);
    if (digits === '0017') this.throttle(key, new GraphError(134101, 'Recipient 0017: the template is being synced'));
    if (digits === '0018' && endpoint === 'messages') {
      throw new GraphError(131061, 'Recipient 0018: the template has a maximum price');
    }
    return BY_LAST_DIGITS[digits] ?? NORMAL;
  }

  /** For one recipient and number only the last request counts; zero times cancels it. */
  ask(failure: AskedFailure): void {
    const { recipient, phoneNumberId } = failure;
    const isOther = (each: AskedFailure) => each.recipient !== recipient || each.phoneNumberId !== phoneNumberId;
    const others = this.asked.filter(isOther);
    this.asked = failure.times === 0 ? others : [...others, failure].slice(-MAX_FAILURES);
  }

  get failures(): readonly AskedFailure[] {
    return this.asked;
  }

  /** The failure for this send, the most specific first, and uses it up once. */
  private strike(phoneNumberId: string, recipient: string): AskedFailure | null {
    const meant = this.asked.filter(
      (each) => [null, recipient].includes(each.recipient) && [null, phoneNumberId].includes(each.phoneNumberId),
    );
    const failure = meant.find((each) => each.recipient !== null) ?? meant[0];
    if (failure === undefined) return null;
    if (failure.times !== null && --failure.times === 0) this.asked = this.asked.filter((each) => each !== failure);
    return failure;
  }

  clear(): void {
    this.asked = [];
    this.throttled.clear();
    this.lastTaken.clear();
  }

  private throttle(key: string, refusal: GraphError): void {
    const refused = this.throttled.get(key) ?? 0;
    if (refused >= THROTTLES) {
      this.throttled.delete(key);
      return;
    }
    if (this.throttled.size > MAX_KEYS) this.throttled.clear();
    this.throttled.set(key, refused + 1);
    throw refusal;
  }

  private limitPair(key: string, nowMs: number): void {
    const last = this.lastTaken.get(key);
    if (last !== undefined && nowMs - last < this.pairLimitMs) {
      throw new GraphError(131056, 'Recipient 0010: too many messages to this recipient in a short time');
    }
    if (this.lastTaken.size > MAX_KEYS) this.lastTaken.clear();
    this.lastTaken.set(key, nowMs);
  }
}
