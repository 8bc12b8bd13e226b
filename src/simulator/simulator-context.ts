import type { AccessTokens } from './http/access-tokens.js';
import type { BrokenAnswers } from './http/broken-answer.js';
import type { Router } from './http/router.js';
import type { IdSource } from './ids.js';
import type { MediaAddresses } from './media/media-address.js';
import type { MediaStore } from './media/media-store.js';
import type { MessageLog } from './messages/message-log.js';
import type { Scenarios } from './messages/scenarios.js';
import type { TakenMessage } from './messages/taken-message.js';
import type { NumberFactsBook } from './numbers/number-facts.js';
import type { NumberRegistry } from './numbers/number-registry.js';
import type { Outgoing } from './notifications/outgoing.js';
import type { Faults, SimulatorNumber } from './simulator.types.js';
import type { InboundRegister } from './state/inbound-register.js';
import type { StateStore } from './state/state-store.js';
import type { TemplateReviewer } from './templates/template-reviewer.js';
import type { TemplateLimits } from './templates/template-limits.js';
import type { TemplateNotices } from './templates/template-notices.js';
import type { TemplateStore } from './templates/template-store.js';
import type { Users } from './users.js';

/** A customer's message on its way in. */
export interface Inbound {
  phoneNumberId: string;
  /** The customer's number, or user id where the number is not shown. */
  party: string;
  /** Milliseconds. */
  writtenAt: number;
  contact: object | null;
  /** With its id. */
  message: object;
}

/** What routes work with. A new resource takes what it needs of it and registers itself with the router. */
export interface SimulatorContext {
  readonly router: Router;
  readonly ids: IdSource;
  readonly state: StateStore;
  readonly numbers: NumberRegistry;
  readonly numberFacts: NumberFactsBook;
  readonly templates: TemplateStore;
  readonly templateReviewer: TemplateReviewer;
  readonly templateLimits: TemplateLimits;
  readonly templateNotices: TemplateNotices;
  readonly media: MediaStore;
  readonly mediaAddresses: MediaAddresses;
  readonly tokens: AccessTokens;
  readonly users: Users;
  readonly messages: MessageLog;
  readonly inboundRegister: InboundRegister;
  readonly scenarios: Scenarios;
  readonly faults: Faults;
  readonly brokenAnswers: BrokenAnswers;
  readonly enforceWindow: boolean;
  readonly slowAnswerMs: number;
  /** A new template id. It is a number in notifications, so it fits into one exactly. */
  newTemplateId(): string;
  /** Adds a number, with sample templates for an account that is new. */
  registerNumber(number: SimulatorNumber): void;
  /** Remembers a taken message and schedules its statuses. */
  take(message: TakenMessage): void;
  /** Posts one notification now, besides any schedule; nothing where the account is not subscribed. */
  post(item: Outgoing): void;
  /** Announces a customer's message. */
  announce(inbound: Inbound): void;
  /** Posts any other notification as it is, such as a template's new status. */
  postRaw(body: object): void;
  /**
   * Posts one change of a management field; nothing where the account is not subscribed.
   * @param timeSeconds `entry.time`, now by default
   */
  notifyAccount(wabaId: string, field: string, value: object, timeSeconds?: number): void;
  pendingNotifications(): { pending: number; acknowledged: number; dropped: number };
  /**
   * Forgets messages, notifications, faults, revoked tokens and how often templates were
   * created; numbers, profiles, files and templates stay.
   */
  reset(): void;
  /** Refuses connections for some time, from a moment later; control calls too. */
  closePortFor(ms: number): void;
  applyFaults(changes: Partial<Faults>): void;
}
