import { controlRoutes } from './control/control.routes.js';
import { inboundRoutes } from './control/inbound.routes.js';
import { templateControlRoutes } from './control/template-control.routes.js';
import { type Flow, flowRoutes } from './flows.routes.js';
import { AccessTokens } from './http/access.js';
import { BrokenAnswers } from './http/broken-answers.js';
import type { Route } from './http/route.js';
import { type Kinds, SimulatorServer } from './http/server.js';
import { IdSource } from './ids.js';
import { MediaAddresses } from './media/media-addresses.js';
import { MediaStore } from './media/media-store.js';
import { downloadRoutes, mediaRoutes } from './media/media.routes.js';
import { Uploads } from './media/upload.routes.js';
import { InboundLog } from './messages/inbound-log.js';
import { allSteps, MessageLog, type TakenMessage } from './messages/message-log.js';
import { messageRoutes } from './messages/message.routes.js';
import { Scenarios } from './messages/scenarios.js';
import { Courier } from './notifications/courier.js';
import { EnvelopeBuilder } from './notifications/envelope.js';
import type { Inbound, Outgoing, QueuedNotification } from './notifications/notification.js';
import { StatusSchedule } from './notifications/status-schedule.js';
import { Blocklist } from './numbers/blocklist.routes.js';
import { CallPermissions, callRoutes } from './numbers/calls.routes.js';
import { SIMULATED_APP } from './numbers/health.js';
import { NumberCalls } from './numbers/number.routes.js';
import { noticesOf } from './numbers/number-notices.js';
import { FIRST_FACTS, Numbers } from './numbers/numbers.js';
import { profileRoutes } from './numbers/profile.routes.js';
import { type QrCode, qrCodeRoutes } from './numbers/qr-codes.routes.js';
import { registrationRoutes } from './numbers/registration.routes.js';
import { People } from './people.js';
import {
  type BareNumbers,
  type Faults,
  NO_FAULTS,
  type SimulatorNumber,
  type SimulatorOptions,
} from './simulator.types.js';
import { Store, type Table } from './store.js';
import { seedTemplates } from './templates/seed-templates.js';
import { TemplateNotices, TemplateReviewer } from './templates/template-reviewer.js';
import { TemplateLimits, TemplateStore } from './templates/template-store.js';
import { templateRoutes } from './templates/template.routes.js';

/**
 * A stand-in for the WhatsApp Cloud API.
 *
 * What happens to a message: it is checked as the platform checks it, its recipient's last digits choose a scenario, it
 * gets an id and a line in the store, and once that is written the caller has its answer. Its statuses fall due one by
 * one, go out in signed batches, and are done when the webhook has said 200. After a crash the store says what is left.
 */
export class Simulator {
  readonly store: Store;
  readonly ids: IdSource;
  readonly numbers: Numbers;
  readonly templates: TemplateStore;
  readonly templateReviewer: TemplateReviewer;
  readonly templateLimits: TemplateLimits;
  readonly media: MediaStore;
  readonly mediaAddresses: MediaAddresses;
  readonly tokens: AccessTokens;
  readonly people: People;
  /** What was taken since the last reset; `messages.list({to, callback})` for tests in the same process. */
  readonly messages: MessageLog;
  readonly inboundLog: InboundLog;
  readonly blocklist: Blocklist;
  readonly callPermissions: CallPermissions;
  readonly qrCodes: Table<QrCode>;
  readonly flows: Table<Flow>;
  readonly scenarios: Scenarios;
  readonly faults: Faults = { ...NO_FAULTS };
  readonly brokenAnswers = new BrokenAnswers();
  readonly enforceWindow: boolean;
  readonly bareNumbers: BareNumbers;
  /** Key of the signatures. */
  readonly appSecret: string;
  readonly slowAnswerMs: number;
  private readonly uploads: Uploads;
  /** Notifications that are no statuses, until they are acknowledged. */
  private readonly queued: Table<QueuedNotification>;
  private readonly schedule: StatusSchedule;
  private readonly courier: Courier;
  private readonly server: SimulatorServer;

  constructor(private readonly options: SimulatorOptions) {
    const { dataDir, statusGapMs = 150, log = () => undefined } = options;
    this.enforceWindow = options.enforceWindow ?? false;
    this.bareNumbers = options.bareNumbers ?? 'country';
    this.appSecret = options.appSecret;
    this.slowAnswerMs = options.slowAnswerMs ?? 60_000;
    this.messages = new MessageLog(options.keepMessages ?? 1_000_000);
    this.store = new Store(dataDir, this.messages, log);
    const { store } = this;
    this.ids = new IdSource(options.seed, store);
    this.numbers = new Numbers(
      store.table('numbers'),
      store.table('number_facts'),
      store.table('number_states'),
      store.table('unsubscribed'),
    );
    this.templates = new TemplateStore(store.table('templates'));
    this.templateLimits = new TemplateLimits(store.table('template_creations'), store.table('blocked_template_names'), {
      perAccount: options.templatesPerAccount ?? 6_000,
      creationsPerHour: options.templateCreationsPerHour ?? 100,
    });
    const { templateReviewMs = 300 } = options;
    const notices = new TemplateNotices(this.notifyAccount);
    this.templateReviewer = new TemplateReviewer(this.templates, notices, templateReviewMs);
    this.media = new MediaStore(store.table('media'), dataDir);
    this.mediaAddresses = new MediaAddresses(options.seed, options.mediaAddressMs ?? 300_000);
    this.uploads = new Uploads(this.ids);
    this.tokens = new AccessTokens(options.accessTokens, store.table('revoked_tokens'), store.table('issued_tokens'));
    this.people = new People(store.table('users'));
    this.inboundLog = new InboundLog(store.table('inbound'), this.people);
    this.blocklist = new Blocklist(store.table('blocked_users'), this.people, this.inboundLog);
    this.callPermissions = new CallPermissions(store.table('call_permissions'));
    this.qrCodes = store.table('qr_codes');
    this.flows = store.table('flows');
    this.scenarios = new Scenarios(options.pairLimitMs ?? 6_000);
    this.queued = store.table('queued');
    this.schedule = new StatusSchedule({
      gapMs: statusGapMs,
      onDue: (message, step) => this.post({ kind: 'status', message, step, alone: false }),
      onDropped: (message) => this.markDone([[message, allSteps(message.plan)]]),
    });
    this.courier = new Courier(
      {
        webhookUrl: options.webhookUrl,
        appSecret: options.appSecret,
        retryBaseMs: options.retryBaseMs ?? 1_000,
        maxPending: options.maxPendingNotifications ?? 500_000,
        onSettled: (items) => this.settled(items),
        log,
      },
      new EnvelopeBuilder(this.numbers, this.people, statusGapMs),
    );
    this.server = new SimulatorServer({
      kinds: this.kinds(),
      graphRoutes: this.graphRoutes(),
      plainRoutes: [
        ...controlRoutes(this),
        ...inboundRoutes(this),
        ...templateControlRoutes(this),
        ...downloadRoutes(this),
      ],
      tokens: this.tokens,
      ids: this.ids,
      faults: this.faults,
      brokenAnswers: this.brokenAnswers,
      hostNames: options.hostNames ?? [],
      store,
      log,
    });
  }

  /** What an id in a path of the Graph API can name. */
  private kinds(): Kinds {
    return {
      phone_number: (id) => this.numbers.get(id) !== undefined,
      waba: (id) => this.numbers.hasAccount(id),
      template: (id) => this.templates.get(id) !== undefined,
      media: (id) => this.media.get(id) !== undefined,
      flow: (id) => this.flows.has(id),
      app: (id) => id === SIMULATED_APP.id || id === 'app',
      upload_session: (id) => this.uploads.has(id),
    };
  }

  /** Messages first, because they are many. */
  private graphRoutes(): Route[] {
    return [
      ...messageRoutes(this),
      ...mediaRoutes(this),
      ...templateRoutes(this),
      ...new NumberCalls(this).routes(),
      ...registrationRoutes(this),
      ...profileRoutes(this),
      ...this.blocklist.routes(),
      ...qrCodeRoutes(this),
      ...callRoutes(this),
      ...flowRoutes(this),
      ...this.uploads.routes(),
    ];
  }

  /** Listens, and takes up what a former run left in `dataDir`. Rejects where the port is taken. */
  async start(): Promise<{ port: number; url: string }> {
    const { port: wanted, host, numbers } = this.options;
    for (const number of numbers) this.registerNumber(number);
    const port = await this.server.listen(wanted, host);
    this.store.open();
    this.media.open();
    for (const message of this.messages.all()) this.schedule.add(message);
    for (const item of this.queued.values()) this.courier.enqueue(item);
    this.templateReviewer.start();
    return { port, url: `http://${host}:${port}` };
  }

  /** Closes at once; what was not acknowledged yet is posted after the next start with the same `dataDir`. */
  async stop(): Promise<void> {
    await this.server.close();
    this.schedule.clear();
    this.templateReviewer.stop();
    await this.courier.stop();
    this.media.close();
    this.store.close();
  }

  /** Refuses connections for some time; control calls too. */
  closePortFor(ms: number): void {
    this.server.closeFor(ms);
  }

  webhookUrl(): string | null {
    return this.courier.webhookUrl;
  }

  setWebhookUrl(url: string | null): void {
    this.courier.setWebhookUrl(url);
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

  /** Announces a customer's message. */
  announce(inbound: Inbound): void {
    const { phoneNumberId, party, writtenAt, message } = inbound;
    this.callPermissions.note(phoneNumberId, party, message);
    this.inboundLog.add({ id: (message as { id: string }).id, phoneNumberId, party, writtenAt });
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
    const time = timeSeconds ?? Math.floor(Date.now() / 1000);
    this.postRaw({ object: 'whatsapp_business_account', entry: [{ id: wabaId, time, changes: [{ value, field }] }] });
  };

  pendingNotifications(): { pending: number; acknowledged: number; dropped: number } {
    const { pending, acknowledged, dropped } = this.courier;
    return { pending, acknowledged, dropped };
  }

  /**
   * Forgets messages, notifications, faults, revoked tokens, how often templates were created, and what has become of
   * the numbers since they were added; profiles, files, templates and flows stay. That a number is as it was is
   * announced, so that who follows the platform's notifications knows it too.
   */
  reset(): void {
    const notices = this.numbers.all().flatMap((number) => {
      const before = this.numbers.factsOf(number.phoneNumberId);
      const verifiedName = before.verifiedName === null ? null : number.verifiedName;
      return noticesOf(number, before, { ...FIRST_FACTS, verifiedName }).map(
        (notice) => [number.wabaId, notice] as const,
      );
    });
    this.schedule.clear();
    this.courier.clear();
    this.queued.clear();
    this.messages.clear();
    this.inboundLog.clear();
    this.scenarios.clear();
    this.brokenAnswers.clear();
    this.templateLimits.clear();
    this.tokens.clear();
    this.numbers.reset();
    this.blocklist.clear();
    this.callPermissions.clear();
    this.qrCodes.clear();
    this.store.rewrite();
    this.applyFaults(NO_FAULTS);
    for (const [wabaId, [field, value]] of notices) this.notifyAccount(wabaId, field, value);
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
    const phoneNumberId = item.kind === 'status' ? item.message.phoneNumberId : item.phoneNumberId;
    return this.numbers.isSubscribed(this.numbers.get(phoneNumberId)?.wabaId ?? '');
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
