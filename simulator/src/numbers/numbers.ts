import { GraphError } from '../graph-error.js';
import type { SimulatorNumber } from '../simulator.types.js';
import type { Store, Table } from '../store.js';
import { digitsOf } from '../people.js';

/** The changeable facts of a number with their values; they survive a restart. */
const VALUES = {
  qualityRating: ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'],
  throughput: ['STANDARD', 'HIGH', 'NOT_APPLICABLE'],
  // prettier-ignore
  status: [
    'CONNECTED', 'PENDING', 'DISCONNECTED', 'FLAGGED', 'RESTRICTED', 'RATE_LIMITED', 'BANNED', 'UNVERIFIED', 'DELETED',
    'MIGRATED',
  ],
  messagingLimit: ['TIER_250', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'TIER_UNLIMITED'],
  codeVerification: ['VERIFIED', 'NOT_VERIFIED', 'EXPIRED'],
  // ESCALATION: the app may take control back.
  secondResponder: ['OFF', 'ON', 'ESCALATION'],
  payment: ['VALID', 'MISSING'],
  onBizApp: ['NO', 'YES'],
  // For the account's first number: the account's status.
  marketingStatus: [
    'ONBOARDED',
    'ELIGIBLE',
    'PENDING_VALID_PAYMENT_METHOD',
    'PENDING_INTERNAL_SETUP',
    'INELIGIBLE_ON_BEHALF_OF_WABA',
    'INELIGIBLE_INACTIVE_OR_RESTRICTED',
    'INELIGIBLE_COUNTRY_NOT_SUPPORTED',
    'INELIGIBLE_USING_WHATSAPP_BUSINESS_APP',
  ],
  // DISABLED: disable_marketing_messages_on_cloud_api of the account.
  marketingOnMessages: ['ENABLED', 'DISABLED'],
} as const;

export type NumberFacts = { [Name in keyof typeof VALUES]: (typeof VALUES)[Name][number] } & {
  /** Null while it is the original one. */
  verifiedName: string | null;
};

/** Names of the facts in control calls, except the verified name, and the values of each. */
export const NUMBER_FACTS: readonly (readonly [name: string, key: keyof NumberFacts, values: readonly string[]])[] = [
  ['quality_rating', 'qualityRating', VALUES.qualityRating],
  ['throughput', 'throughput', VALUES.throughput],
  ['status', 'status', VALUES.status],
  ['messaging_limit', 'messagingLimit', VALUES.messagingLimit],
  ['code_verification_status', 'codeVerification', VALUES.codeVerification],
  ['second_responder', 'secondResponder', VALUES.secondResponder],
  ['payment', 'payment', VALUES.payment],
  ['on_biz_app', 'onBizApp', VALUES.onBizApp],
  ['marketing_status', 'marketingStatus', VALUES.marketingStatus],
  ['marketing_on_messages', 'marketingOnMessages', VALUES.marketingOnMessages],
];

/** The contents of the history of the WhatsApp Business app. */
export interface AppHistory {
  contacts?: number;
  /** With each contact. */
  messages?: number;
  declined?: boolean;
}

/** State of a number set through WhatsApp's own API. */
export interface NumberState {
  /** Of two-step verification. */
  pin?: string;
  /** The last requested code, until it is confirmed. */
  code?: string;
  newName?: string;
  /** The number's own webhook address: stored and shown, but not posted to. */
  webhookUrl?: string;
  settings?: Record<string, object>;
  automation?: object;
  publicKey?: string;
  freeServiceMessages?: number;
  /** The requested data of the WhatsApp Business app; each kind can be requested once. */
  shared?: readonly string[];
  appHistory?: AppHistory;
  /** Times of registrations and deregistrations, in milliseconds. */
  attempts?: number[];
}

/** The initial facts of a number. */
const FIRST_FACTS: Readonly<NumberFacts> = {
  qualityRating: 'GREEN',
  throughput: 'STANDARD',
  status: 'CONNECTED',
  messagingLimit: 'TIER_2K',
  verifiedName: null,
  codeVerification: 'VERIFIED',
  secondResponder: 'OFF',
  payment: 'VALID',
  onBizApp: 'NO',
  marketingStatus: 'ONBOARDED',
  marketingOnMessages: 'ENABLED',
};

/** Messages a second for a number that is also in the WhatsApp Business app. */
const APP_PACE = 20;

/** Free service messages that a number may deliver in a calendar month. */
const FREE_SERVICE_MESSAGES = 1_000;

/** Numbers by id, with the accounts they belong to. */
export class Numbers {
  private readonly saved: Table<SimulatorNumber>;
  /** Changes by control calls, by the number's id. */
  private readonly facts: Table<Partial<NumberFacts>>;
  /** State set through WhatsApp's own API, by the number's id. */
  private readonly states: Table<NumberState>;
  /** Free service messages by number, in the month of the last one; counted in this process. */
  private readonly free = new Map<string, { month: string; count: number }>();
  /** Messages that a number in the app may still send at once, and when that was computed. */
  private readonly pace = new Map<string, { left: number; atMs: number }>();
  /** Accounts whose app has unsubscribed from notifications; all others get them. */
  private readonly unsubscribed: Table<true>;

  constructor(store: Store) {
    this.saved = store.table('numbers');
    this.facts = store.table('number_facts');
    this.states = store.table('number_states');
    this.unsubscribed = store.table('unsubscribed');
  }

  register(number: SimulatorNumber): void {
    this.saved.set(number.phoneNumberId, number);
  }

  get(phoneNumberId: string): SimulatorNumber | undefined {
    return this.saved.get(phoneNumberId);
  }

  all(): SimulatorNumber[] {
    return [...this.saved.values()];
  }

  ofAccount(wabaId: string): SimulatorNumber[] {
    return this.all().filter((number) => number.wabaId === wabaId);
  }

  factsOf(phoneNumberId: string): Readonly<NumberFacts> {
    const changed = this.facts.get(phoneNumberId);
    return changed === undefined ? FIRST_FACTS : { ...FIRST_FACTS, ...changed };
  }

  /**
   * @param former in the form used until February 2026: limits as text, and quality too @returns the resulting reports
   * @returns what the platform reports of it
   */
  change(phoneNumberId: string, changes: Partial<NumberFacts>, former = false): NumberNotice[] {
    const before = this.factsOf(phoneNumberId);
    const after = { ...before, ...changes };
    this.facts.set(phoneNumberId, after);
    const number = this.get(phoneNumberId);
    return number === undefined ? [] : noticesOf(number, before, after, former);
  }

  stateOf(phoneNumberId: string): Readonly<NumberState> {
    return this.states.get(phoneNumberId) ?? {};
  }

  /** Sets the given fields; undefined removes one. */
  setState(phoneNumberId: string, changes: NumberState): void {
    this.states.set(phoneNumberId, { ...this.stateOf(phoneNumberId), ...changes });
  }

  /** Whether a service message is one of the month's free ones; uses one up if it is delivered. */
  takeFree(phoneNumberId: string, nowMs: number, isDelivered: boolean): boolean {
    const month = new Date(nowMs).toISOString().slice(0, 7);
    const known = this.free.get(phoneNumberId);
    const count = known?.month === month ? known.count : 0;
    if (count >= (this.stateOf(phoneNumberId).freeServiceMessages ?? FREE_SERVICE_MESSAGES)) return false;
    if (isDelivered) this.free.set(phoneNumberId, { month, count: count + 1 });
    return true;
  }

  /** Whether a number may send now. A number in the WhatsApp Business app sends 20 messages a second. */
  takeTurn(phoneNumberId: string, nowMs: number): boolean {
    if (this.factsOf(phoneNumberId).onBizApp !== 'YES') return true;
    const known = this.pace.get(phoneNumberId) ?? { left: APP_PACE, atMs: nowMs };
    const left = Math.min(APP_PACE, known.left + ((nowMs - known.atMs) / 1_000) * APP_PACE);
    this.pace.set(phoneNumberId, { left: left < 1 ? left : left - 1, atMs: nowMs });
    return left >= 1;
  }

  subscribe(wabaId: string, wanted: boolean): void {
    if (wanted) this.unsubscribed.delete(wabaId);
    else this.unsubscribed.set(wabaId, true);
  }

  isSubscribed(wabaId: string): boolean {
    return !this.unsubscribed.has(wabaId);
  }

  /** Resets every number to its initial facts; accounts keep their subscriptions. Returns the resulting reports. */
  reset(): (readonly [wabaId: string, NumberNotice])[] {
    const notices = this.all().flatMap(({ phoneNumberId, wabaId, verifiedName }) => {
      const isNamed = this.factsOf(phoneNumberId).verifiedName !== null;
      const first = { ...FIRST_FACTS, verifiedName: isNamed ? verifiedName : null };
      return this.change(phoneNumberId, first).map((notice) => [wabaId, notice] as const);
    });
    this.facts.clear();
    this.states.clear();
    this.free.clear();
    this.pace.clear();
    return notices;
  }
}

/** Refuses sends from a number that can't send. @throws GraphError 131031, 368 or 133010 */
export function checkCanSend({ status }: Readonly<NumberFacts>): void {
  if (status === 'CONNECTED' || status === 'FLAGGED' || status === 'RATE_LIMITED') return;
  if (status === 'BANNED') throw new GraphError(131031, 'Business account is locked: the number is banned');
  if (status === 'RESTRICTED') throw new GraphError(368, 'The number is restricted for violating a policy');
  throw new GraphError(133010, `The number is ${status.toLowerCase()}: it is not registered`);
}

type NumberNotice = [field: string, value: object];

/** People per day for each tier, in the form of a reported limit. */
const PEOPLE: Readonly<Record<NumberFacts['messagingLimit'], number>> = {
  TIER_250: 250,
  TIER_2K: 2_000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
  TIER_UNLIMITED: -1,
};

/** The reports that follow from a change of facts. Some changes are not reported. */
function noticesOf(number: SimulatorNumber, before: NumberFacts, after: NumberFacts, former: boolean): NumberNotice[] {
  const { status, messagingLimit } = after;
  const notices: NumberNotice[] = [];
  const display_phone_number = digitsOf(number.displayPhoneNumber);
  const qualityUpdate = (event: string, limits: object) =>
    notices.push(['phone_number_quality_update', { display_phone_number, event, ...limits }]);
  const formerUpdate = (event: string, old_limit?: string) => {
    const limits = { old_limit, current_limit: messagingLimit, max_daily_conversations_per_business: messagingLimit };
    if (former) qualityUpdate(event, limits);
  };
  const accountUpdate = (event: string, info: object) => notices.push(['account_update', { event, ...info }]);

  const worse = VALUES.qualityRating.indexOf(after.qualityRating) - VALUES.qualityRating.indexOf(before.qualityRating);
  if (worse !== 0) formerUpdate(worse > 0 ? 'FLAGGED' : 'UNFLAGGED');
  // In this event the limit is the number of messages a second.
  if (before.throughput !== after.throughput && after.throughput === 'HIGH') {
    qualityUpdate('THROUGHPUT_UPGRADE', { current_limit: 'TIER_UNLIMITED' });
  }

  const higher = VALUES.messagingLimit.indexOf(messagingLimit) - VALUES.messagingLimit.indexOf(before.messagingLimit);
  if (higher !== 0) {
    formerUpdate(higher > 0 ? 'UPGRADE' : 'DOWNGRADE', before.messagingLimit);
    const limit = former ? messagingLimit : PEOPLE[messagingLimit];
    notices.push([
      'business_capability_update',
      { max_daily_conversations_per_business: limit, max_phone_numbers_per_waba: 25 },
    ]);
  }

  // These concern the whole account, and name no number.
  if (before.status !== status) {
    const ban = (waba_ban_state: string) => ({ ban_info: { waba_ban_state, waba_ban_date: dateText() } });
    if (status === 'BANNED') accountUpdate('DISABLED_UPDATE', ban('DISABLE'));
    else if (before.status === 'BANNED') accountUpdate('DISABLED_UPDATE', ban('REINSTATE'));
    else if (status === 'DISCONNECTED') {
      accountUpdate('PARTNER_REMOVED', {
        waba_info: { waba_id: number.wabaId, owner_business_id: BUSINESS.id },
        disconnection_info: { reason: 'ACCOUNT_DISCONNECTED', initiated_by: 'SYSTEM' },
      });
    } else if (status === 'RESTRICTED') {
      const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: inThreeDays() };
      accountUpdate('ACCOUNT_RESTRICTION', { restriction_info: [restriction] });
    } else if (status === 'FLAGGED') accountUpdate('ACCOUNT_VIOLATION', { violation_info: { violation_type: 'SPAM' } });
  }

  if (before.verifiedName !== after.verifiedName) {
    const decided = { decision: 'APPROVED', requested_verified_name: after.verifiedName, rejection_reason: null };
    notices.push(['phone_number_name_update', { display_phone_number, ...decided }]);
  }
  return notices;
}

function dateText(): string {
  return new Date().toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
}

function inThreeDays(): number {
  return Math.floor(Date.now() / 1000) + 3 * 24 * 60 * 60;
}

/** The app that receives the simulator's notifications. */
export const SIMULATED_APP = {
  link: 'https://www.facebook.com/games/?app_id=670843887433847',
  name: 'Simulated app',
  id: '670843887433847',
};
/** The portfolio that owns every account. */
export const BUSINESS = { id: '506914307656634', name: 'Simulated business' };

type Health = readonly [type: string, id: string, canSend: 'AVAILABLE' | 'LIMITED' | 'BLOCKED'];

/** The health field of an object, with that of everything it depends on: the worst one decides. */
export function healthOf(entities: readonly Health[]): object {
  const worst = (['BLOCKED', 'LIMITED'] as const).find((state) => entities.some(([, , canSend]) => canSend === state));
  return {
    can_send_message: worst ?? 'AVAILABLE',
    entities: entities.map(([entity_type, id, can_send_message]) => ({ entity_type, id, can_send_message })),
  };
}

export function accountHealth(wabaId: string): Health[] {
  return [
    ['WABA', wabaId, 'AVAILABLE'],
    ['BUSINESS', BUSINESS.id, 'AVAILABLE'],
    ['APP', SIMULATED_APP.id, 'AVAILABLE'],
  ];
}
