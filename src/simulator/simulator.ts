import { AccessTokens } from './http/access-tokens.js';
import { BrokenAnswers } from './http/broken-answer.js';
import { Router } from './http/router.js';
import { SimulatorServer } from './http/simulator-server.js';
import { IdSource } from './ids.js';
import { MediaAddresses } from './media/media-address.js';
import { MediaStore } from './media/media-store.js';
import { MessageLog } from './messages/message-log.js';
import { Scenarios } from './messages/scenarios.js';
import { allSteps } from './messages/status-plan.js';
import type { TakenMessage } from './messages/taken-message.js';
import { Courier } from './notifications/courier.js';
import { EnvelopeBuilder } from './notifications/envelope.js';
import type { Outgoing } from './notifications/outgoing.js';
import { StatusSchedule } from './notifications/status-schedule.js';
import { NumberFactsBook } from './numbers/number-facts.js';
import { NumberRegistry } from './numbers/number-registry.js';
import { registerRoutes } from './register-routes.js';
import type { Inbound, SimulatorContext } from './simulator-context.js';
import { NO_FAULTS } from './simulator-faults.js';
import type { Faults, SimulatorNumber, SimulatorOptions } from './simulator.types.js';
import { InboundRegister } from './state/inbound-register.js';
import { Journal } from './state/journal.js';
import { StateStore } from './state/state-store.js';
import { seedTemplates } from './templates/seed-templates.js';
import { TemplateReviewer } from './templates/template-reviewer.js';
import { TemplateLimits } from './templates/template-limits.js';
import { TemplateNotices } from './templates/template-notices.js';
import { TemplateStore } from './templates/template-store.js';
import { Users } from './users.js';

/**
 * A stand-in for the WhatsApp Cloud API, over its own HTTP.
 *
 * What happens to a message: it is checked like the platform checks it, its recipient's last digits choose a scenario,
 * it gets an id and a line in the journal, and once that is written the caller has its answer. Its statuses fall due one by
 * one, go out in signed batches, and are struck off the journal when the webhook has said 200. After a crash the journal
 * says what is still to be told.
 */
export class Simulator implements SimulatorContext {
  readonly router = new Router();
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
  /** What was taken since the last reset; `messages.list({to, callback})` for tests in the same process. */
  readonly messages: MessageLog;
  readonly inboundRegister: InboundRegister;
  readonly scenarios: Scenarios;
  readonly faults: Faults = { ...NO_FAULTS };
  readonly brokenAnswers = new BrokenAnswers();
  readonly enforceWindow: boolean;
  readonly slowAnswerMs: number;
  private readonly journal: Journal;
  private readonly schedule: StatusSchedule;
  private readonly courier: Courier;
  private readonly server: SimulatorServer;

  constructor(private readonly options: SimulatorOptions) {
    const { dataDir, keepMessages = 1_000_000, statusGapMs = 150, log = () => undefined } = options;
    this.enforceWindow = options.enforceWindow ?? false;
    this.slowAnswerMs = options.slowAnswerMs ?? 60_000;
    this.state = new StateStore(dataDir, log);
    this.state.load();
    this.ids = new IdSource(options.seed, this.state.collection('counters'));
    this.numbers = new NumberRegistry(this.state.collection('numbers'), this.state.collection('unsubscribed'));
    this.numberFacts = new NumberFactsBook(this.state.collection('number_facts'));
    this.templates = new TemplateStore(this.state.collection('templates'));
    this.templateLimits = new TemplateLimits(
      this.state.collection('template_creations'),
      this.state.collection('blocked_template_names'),
      { perAccount: options.templatesPerAccount ?? 6_000, creationsPerHour: options.templateCreationsPerHour ?? 100 },
    );
    this.templateNotices = new TemplateNotices((...change) => this.notifyAccount(...change));
    this.templateReviewer = new TemplateReviewer(this.templates, {
      reviewMs: options.templateReviewMs === undefined ? 300 : options.templateReviewMs,
      onDecided: (...decision) => this.templateNotices.status(...decision),
    });
    this.media = new MediaStore(this.state.collection('media'), dataDir);
    this.mediaAddresses = new MediaAddresses(options.seed, options.mediaAddressMs ?? 300_000);
    this.tokens = new AccessTokens(options.accessTokens, this.state.collection('revoked_tokens'));
    this.users = new Users(this.state.collection('users'));
    this.inboundRegister = new InboundRegister((party) => (party.includes('.') ? party : this.users.userIdOf(party)));
    this.messages = new MessageLog(keepMessages);
    this.scenarios = new Scenarios(options.pairLimitMs ?? 6_000);
    this.journal = new Journal(dataDir, keepMessages);
    this.schedule = new StatusSchedule({
      gapMs: statusGapMs,
      onDue: (message, step) => this.post({ kind: 'status', message, step, alone: false }),
      onDropped: (message) => this.markDone(message, allSteps(message.plan)),
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
      new EnvelopeBuilder(this.numbers, this.users, statusGapMs),
    );
    const { router, tokens, ids, faults, brokenAnswers, journal, state } = this;
    const hostNames = options.hostNames ?? [];
    this.server = new SimulatorServer({ router, tokens, ids, faults, brokenAnswers, hostNames, journal, state, log });
    registerRoutes(this);
  }

  /** Takes up what a former run left in `dataDir`, and listens. Rejects where the port is taken. */
  async start(): Promise<{ port: number; url: string }> {
    const recovered = this.journal.open();
    this.ids.continueAfter(recovered.lastSequence);
    for (const number of this.options.numbers) this.registerNumber(number);
    for (const fact of recovered.inbound) this.inboundRegister.add(fact);
    for (const message of recovered.messages) {
      this.messages.add(message);
      this.schedule.add(message);
    }
    for (const item of recovered.queued) this.courier.enqueue(item);
    this.media.open();
    this.templateReviewer.start();
    await this.state.flush();
    const port = await this.server.listen(this.options.port, this.options.host);
    return { port, url: `http://${this.options.host}:${port}` };
  }

  /** Closes at once; what was not acknowledged yet is told after the next start with the same `dataDir`. */
  async stop(): Promise<void> {
    await this.server.close();
    this.schedule.clear();
    this.templateReviewer.stop();
    await this.courier.stop();
    this.journal.close();
    this.media.close();
    await this.state.flush();
  }

  /** Refuses connections for some time; control calls too. */
  closePortFor(ms: number): void {
    this.server.closeFor(ms);
  }

  setWebhookUrl(url: string | null): void {
    this.courier.setWebhookUrl(url);
  }

  registerNumber(number: SimulatorNumber): void {
    this.numbers.register(number);
    seedTemplates(this.templates, () => this.newTemplateId(), number.wabaId, Date.now());
  }

  newTemplateId(): string {
    for (;;) {
      const id = this.ids.newObjectId();
      if (Number.isSafeInteger(Number(id))) return id;
    }
  }

  take(message: TakenMessage): void {
    this.messages.add(message);
    this.journal.message(message);
    this.schedule.add(message);
  }

  post(item: Outgoing): void {
    if (this.isWanted(item)) this.courier.enqueue(item);
    else this.settled([item]);
  }

  announce(inbound: Inbound): void {
    const { phoneNumberId, party, writtenAt, contact, message } = inbound;
    const { id } = message as { id: string };
    const fact = { id, phoneNumberId, party, writtenAt };
    this.inboundRegister.add(fact);
    this.journal.inbound(fact);
    const sequence = this.ids.nextSequence();
    const item: Outgoing = { kind: 'inbound', sequence, phoneNumberId, party, writtenAt, contact, message };
    this.journal.queued(item);
    this.post(item);
  }

  postRaw(body: object): void {
    const item: Outgoing = { kind: 'raw', sequence: this.ids.nextSequence(), body };
    this.journal.queued(item);
    this.courier.enqueue(item);
  }

  notifyAccount(wabaId: string, field: string, value: object, timeSeconds = Math.floor(Date.now() / 1000)): void {
    if (!this.numbers.isSubscribed(wabaId)) return;
    const entry = [{ id: wabaId, time: timeSeconds, changes: [{ value, field }] }];
    this.postRaw({ object: 'whatsapp_business_account', entry });
  }

  pendingNotifications(): { pending: number; acknowledged: number; dropped: number } {
    const { pending, acknowledged, dropped } = this.courier;
    return { pending, acknowledged, dropped };
  }

  reset(): void {
    this.schedule.clear();
    this.courier.clear();
    this.messages.clear();
    this.inboundRegister.clear();
    this.scenarios.clear();
    this.brokenAnswers.clear();
    this.templateLimits.clear();
    this.tokens.clear();
    this.journal.reset(this.ids.lastSequence);
    this.applyFaults(NO_FAULTS);
  }

  applyFaults(changes: Partial<Faults>): void {
    Object.assign(this.faults, changes);
    this.schedule.setMode(this.faults.statuses);
  }

  private isWanted(item: Outgoing): boolean {
    if (item.kind === 'raw') return true;
    const phoneNumberId = item.kind === 'status' ? item.message.phoneNumberId : item.phoneNumberId;
    return this.numbers.isSubscribed(this.numbers.get(phoneNumberId)?.wabaId ?? '');
  }

  private settled(items: readonly Outgoing[]): void {
    const steps: [number, number][] = [];
    for (const item of items) {
      if (item.kind === 'status') {
        item.message.doneSteps |= 1 << item.step;
        steps.push([item.message.sequence, 1 << item.step]);
        item.settled?.();
      } else this.journal.acknowledged(item);
    }
    this.journal.done(steps);
  }

  private markDone(message: TakenMessage, bits: number): void {
    message.doneSteps |= bits;
    this.journal.done([[message.sequence, bits]]);
  }
}
