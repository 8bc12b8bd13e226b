import { AccessTokens } from './http/access.js';
import { GraphNode } from './http/call.js';
import { BrokenAnswers, type Faults, NO_FAULTS } from './http/faults.js';
import { IdSource } from './ids.js';
import { MediaStore } from './media/media-store.js';
import { digitsOf, type Inbound, InboundLog, People } from './people.js';
import { allSteps, MessageLog, Scenarios, type TakenMessage } from './messages/message-log.js';
import { Courier } from './notifications/courier.js';
import {
  EnvelopeBuilder,
  envelopeOf,
  senderOf,
  type Outgoing,
  type QueuedNotification,
} from './notifications/notification.js';
import { StatusSchedule } from './notifications/status-schedule.js';
import { BUSINESS, Numbers } from './numbers/numbers.js';
import { SignupCodes } from './numbers/signup-codes.js';
import { Threads } from './numbers/threads.js';
import { type AllOptions, DEFAULT_OPTIONS, type SimulatorNumber, type SimulatorOptions } from './simulator.types.js';
import { Store, type Table } from './store.js';
import { seedTemplates } from './templates/seed-templates.js';
import { TemplateReviewer } from './templates/template-reviewer.js';
import { TemplateLimits, TemplateStore } from './templates/template-store.js';

/** What a reset clears, besides what is not in the store. */
const CLEARED_TABLES = [
  'queued',
  'revoked_tokens',
  'denied_tokens',
  'foreign_tokens',
  'signup_codes',
  'template_creations',
  'blocked_template_names',
  'blocked_users',
  'opted_out_users',
  'removed_contacts',
  'call_permissions',
  'qr_codes',
  'thread_owners',
];

/**
 * The platform's side of things without its calls: what it knows, and what it reports.
 *
 * What happens to a message: it is checked as the platform checks it, its recipient's last digits choose a scenario, it
 * gets an id and a line in the store, and once that is written the caller has its answer. Its statuses fall due one by
 * one, go out in signed batches, and are done when the webhook has said 200. After a crash the store says what is left.
 */
export class Platform {
  readonly options: AllOptions;
  /** What was taken since the last reset; `messages.list({to, callback})` for tests in the same process. */
  readonly messages: MessageLog;
  readonly store: Store;
  readonly ids: IdSource;
  readonly numbers: Numbers;
  readonly templates: TemplateStore;
  readonly templateReviewer: TemplateReviewer;
  readonly templateLimits: TemplateLimits;
  readonly media: MediaStore;
  readonly tokens: AccessTokens;
  readonly signupCodes: SignupCodes;
  readonly people: People;
  readonly threads: Threads;
  readonly inboundLog: InboundLog;
  readonly scenarios: Scenarios;
  readonly courier: Courier;
  readonly faults: Faults = { ...NO_FAULTS };
  readonly brokenAnswers = new BrokenAnswers();
  /** The kinds of objects whose calls stand in many files. */
  readonly nodes = {
    number: new GraphNode('phone_number', (id) => this.numbers.get(id)),
    account: new GraphNode('waba', (id) => (this.numbers.ofAccount(id).length > 0 ? id : undefined)),
    template: new GraphNode('template', (id) => this.templates.get(id)),
  };
  protected readonly schedule: StatusSchedule;
  /** Notifications that are no statuses, until they are acknowledged. */
  protected readonly queued: Table<QueuedNotification>;

  constructor(options: SimulatorOptions) {
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.options = { ...options, ...DEFAULT_OPTIONS, ...Object.fromEntries(given) };
    const { seed, dataDir, statusGapMs, log } = this.options;
    this.messages = new MessageLog(this.options.keepMessages);
    const store = (this.store = new Store(dataDir, this.messages, log));
    this.ids = new IdSource(seed, store);
    this.numbers = new Numbers(store);
    this.templates = new TemplateStore(store.table('templates'));
    this.templateLimits = new TemplateLimits(store, this.options);
    this.templateReviewer = new TemplateReviewer(this.templates, this.notifyAccount, this.options.templateReviewMs);
    this.media = new MediaStore(store.table('media'), dataDir);
    this.tokens = new AccessTokens(this.options.accessTokens, store);
    this.signupCodes = new SignupCodes(store, this.tokens);
    this.people = new People(store);
    this.threads = new Threads(store, this.numbers, this.people);
    this.inboundLog = new InboundLog(store, this.people);
    this.scenarios = new Scenarios(this.options.pairLimitMs);
    this.queued = store.table('queued');
    this.schedule = new StatusSchedule(
      statusGapMs,
      (message, step) => this.post({ kind: 'status', message, step, alone: false }),
      (message) => this.markDone([[message, allSteps(message.plan)]]),
    );
    const envelopes = new EnvelopeBuilder(this.numbers, this.people, statusGapMs);
    this.courier = new Courier(this.options, envelopes, (items) => this.settled(items));
  }

  /** Adds a number, with sample templates for an account that is new. */
  registerNumber(number: SimulatorNumber): void {
    this.numbers.register(number);
    seedTemplates(this.templates, () => this.ids.newTemplateId(), number.wabaId, Date.now());
  }

  /** Remembers a taken message and schedules its statuses. */
  take(message: TakenMessage): void {
    this.messages.add(message);
    this.store.record(['message', message]);
    this.schedule.add(message);
  }

  /** Posts one notification now, besides any schedule; nothing where the account is not subscribed. */
  post(item: Outgoing): void {
    if (this.isWanted(item)) this.courier.enqueue(item);
    else this.settled([item]);
  }

  /** Announces a customer's message: to an observer where another app owns the thread. */
  announce(inbound: Inbound): void {
    const { phoneNumberId, party, writtenAt, contact, message } = inbound;
    this.people.noteCallPermission(phoneNumberId, party, message);
    this.inboundLog.add({ id: message.id, phoneNumberId, party, writtenAt });
    const number = this.numbers.get(phoneNumberId);
    if (number !== undefined && this.threads.receive(phoneNumberId, party).owner !== 'app') {
      this.notifyAccount(number.wabaId, 'standby', {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: digitsOf(number.displayPhoneNumber), phone_number_id: phoneNumberId },
        standby: { contacts: contact === null ? undefined : [contact], messages: [message] },
      });
      return;
    }
    this.queue({ kind: 'inbound', sequence: this.ids.nextSequence(), ...inbound });
  }

  /** Posts any other notification as it is, such as a template's new status. */
  postRaw(body: object): void {
    this.queue({ kind: 'raw', sequence: this.ids.nextSequence(), body });
  }

  /**
   * Posts one change of a management field; nothing where the account is not subscribed.
   * @param timeSeconds `entry.time`, now by default
   */
  readonly notifyAccount = (wabaId: string, field: string, value: object, timeSeconds?: number): void => {
    if (!this.numbers.isSubscribed(wabaId)) return;
    // What names the account itself comes from its portfolio.
    const from = 'waba_info' in value ? BUSINESS.id : wabaId;
    this.postRaw(envelopeOf(from, field, value, timeSeconds));
  };

  /**
   * Forgets messages, notifications, faults, revoked tokens, how often templates were created, and what has become of
   * the numbers since they were added; profiles, files, templates and flows stay. That a number is as it was is
   * announced, so that who follows the platform's notifications knows it too.
   */
  reset(): void {
    const { schedule, courier, messages, inboundLog, scenarios, brokenAnswers } = this;
    for (const part of [schedule, courier, messages, inboundLog, scenarios, brokenAnswers]) part.clear();
    for (const name of CLEARED_TABLES) this.store.table(name).clear();
    const notices = this.numbers.reset();
    this.store.rewrite();
    this.applyFaults(NO_FAULTS);
    for (const [wabaId, notice] of notices) this.notifyAccount(wabaId, ...notice);
  }

  applyFaults(changes: Partial<Faults>): void {
    Object.assign(this.faults, changes);
    this.schedule.setMode(this.faults.statuses);
  }

  private queue(item: QueuedNotification): void {
    this.queued.set(String(item.sequence), item);
    this.store.record(['sequence', item.sequence]);
    this.post(item);
  }

  private isWanted(item: Outgoing): boolean {
    if (item.kind === 'raw') return true;
    return this.numbers.isSubscribed(this.numbers.get(senderOf(item))?.wabaId ?? '');
  }

  private settled(items: readonly Outgoing[]): void {
    const steps: [TakenMessage, number][] = [];
    for (const item of items) {
      if (item.kind === 'status') {
        steps.push([item.message, 1 << item.step]);
        item.settled?.();
      } else this.queued.delete(String(item.sequence));
    }
    this.markDone(steps);
  }

  private markDone(steps: readonly (readonly [message: TakenMessage, bits: number])[]): void {
    if (steps.length === 0) return;
    for (const [message, bits] of steps) message.doneSteps |= bits;
    this.store.record(['done', steps.map(([{ sequence }, bits]) => [sequence, bits])]);
  }
}
