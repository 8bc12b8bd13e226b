import { Injectable, Logger } from '@nestjs/common';
import { databaseClock, systemClock } from '../../common/clock.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { newId } from '../../common/ids.js';
import { onPrimary } from '../../common/late-read.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Audit } from '../audit/audit.service.js';
import { Database } from '../../infrastructure/database/database.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { SecretBox, type SecretPlace } from '../../infrastructure/secrets/secret-box.js';
import { PAYMENT_MISSING, restsNumber } from '../../infrastructure/whatsapp/graph-error.js';
import { ownInteger } from '../../infrastructure/whatsapp/json-access.js';
import type { ManagementNotification, StatusNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import { connectionsErrors } from './connections.errors.js';
import { type ConnectionFilter, ConnectionsRepository } from './connections.repository.js';
import {
  canSend,
  type Connection,
  type ConnectionFacts,
  type ConnectionStatus,
  type MarketingRoute,
  type NewConnection,
  type SendingConnection,
} from './connections.types.js';
import type { ConnectionEntity } from './entities/connection.entity.js';
import { readAccountEvents } from './platform-facts.js';

const INVALIDATION = 'connection';

/** One number as read; its token is decrypted on demand. */
interface KnownConnection {
  connection: Connection;
  opened: SendingConnection | null;
  sending(): SendingConnection;
}

const ROWS = { ttlMs: 2_000, maxEntries: 10_000 };
/** The row with a WhatsApp id hardly ever changes, and is checked against the row at each use. */
const IDS = { ttlMs: 60_000, maxEntries: 10_000 };
const MAX_AT_ONCE = 500;
/** An older report says nothing about the present. */
const NEWS_MS = 10 * 60_000;
const REST_AGAIN_MS = 1_000;
const MAX_RESTED = 10_000;

/** The part of a report about a message that also concerns its number. */
export type NumberReport = Pick<StatusNotification, 'status' | 'occurredAt' | 'error' | 'pricing'>;

/** Months since the year 0. */
function monthOf(time: Date | null): number {
  return time === null ? -1 : time.getUTCFullYear() * 12 + time.getUTCMonth();
}

interface Reading {
  ids: ReadonlySet<string>;
  generation: number;
  found: Promise<Map<string, KnownConnection>>;
}

/** The place of a connection's token, for `SecretBox`. */
export function tokenPlace(row: { id: string; organizationId: string }): SecretPlace {
  return { table: 'connection', column: 'token', organizationId: row.organizationId, rowId: row.id };
}

/**
 * The workspace's WhatsApp numbers and their credentials. Cached for at most two seconds: requests, sends and
 * notifications share one read of each.
 */
@Injectable()
export class ConnectionsService {
  private readonly logger = new Logger(ConnectionsService.name);
  private readonly rows = new ExpiringCache<string, KnownConnection | null>(ROWS);
  private readonly ids = new ExpiringCache<string, string | null>(IDS);

  /** When each was last used (monotonic ms): the next read fetches all that are in use, in one query. */
  private readonly used = new Map<string, number>();
  /** Numbers paused after a report, and since when (monotonic ms). */
  private readonly rested = new Map<string, number>();
  private generation = 0;
  /** The current read, which many concurrent requests share. */
  private reading: Reading | null = null;

  constructor(
    private readonly connections: ConnectionsRepository,
    private readonly secrets: SecretBox,
    private readonly invalidation: PgNotifier,
    private readonly lanes: LaneRepository,
    private readonly database: Database,
    private readonly audit: Audit,
  ) {
    invalidation.on(INVALIDATION, () => this.forget());
  }

  list(organizationId: string): Promise<Connection[]> {
    return this.connections.list(organizationId);
  }

  /** As `ConnectionsRepository.page`. */
  page(filter: ConnectionFilter): Promise<Connection[]> {
    return this.connections.page(filter);
  }

  /** Ids of the workspace's numbers of one WhatsApp Business Account with which WhatsApp may be queried, best first. */
  askable(organizationId: string, wabaId: string, limit: number): Promise<string[]> {
    return this.connections.askable(organizationId, wabaId, limit);
  }

  /** Returns null where the workspace has no such connection. At most two seconds old. */
  async find(organizationId: string, id: string): Promise<Connection | null> {
    const cached = this.peek(id)?.connection;
    if (cached?.organizationId === organizationId) return cached;
    // Another workspace's number costs the same query as an unknown id, cached or not.
    const connection = (await this.load(id))?.connection ?? null;
    return connection?.organizationId === organizationId ? connection : null;
  }

  /** @throws CONNECTION_NOT_FOUND (404) where the workspace has no such connection. */
  async getById(organizationId: string, id: string): Promise<Connection> {
    const found = await this.find(organizationId, id);
    if (found === null) throw connectionsErrors.CONNECTION_NOT_FOUND();
    return found;
  }

  /**
   * The connection, if it can send. A refusal is confirmed in the database, never based on a cached answer.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409).
   */
  async getReady(organizationId: string, id: string): Promise<Connection> {
    const cached = await this.find(organizationId, id);
    if (cached !== null && canSend(cached.status)) return cached;
    const fresh = await this.getFresh(organizationId, id);
    if (!canSend(fresh.status)) throw connectionsErrors.CONNECTION_NOT_READY({ status: fresh.status });
    return fresh;
  }

  /**
   * The connection with its token, for calls to WhatsApp. A `pending` number may be queried too.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409) for a number that is disconnected.
   */
  async sendable(organizationId: string, id: string): Promise<SendingConnection> {
    const known = await this.getById(organizationId, id);
    const current = known.status === 'disconnected' ? await this.getFresh(organizationId, id) : known;
    if (current.status === 'disconnected') throw connectionsErrors.CONNECTION_NOT_READY({ status: current.status });
    const sending = await this.forSending(id);
    if (sending === null) throw connectionsErrors.CONNECTION_NOT_FOUND();
    return sending;
  }

  /** For routing a notification; null for a number that is not ours. At most two seconds old. */
  async findByPhoneNumberId(phoneNumberId: string): Promise<Connection | null> {
    const find = async () => (await this.connections.findByPhoneNumberId(phoneNumberId))?.id ?? null;
    const id = await this.ids.get(phoneNumberId, find);
    if (id === null) return null;
    const connection = (await this.read(id))?.connection;
    if (connection?.phoneNumberId === phoneNumberId) return connection;
    this.ids.delete(phoneNumberId);
    return this.connections.findByPhoneNumberId(phoneNumberId);
  }

  /** The number with its plain token, for the sender; null where the row is gone. At most two seconds old. */
  async forSending(id: string): Promise<SendingConnection | null> {
    return (await this.read(id))?.sending() ?? null;
  }

  /** The same if it is cached; null means unknown. */
  peekSending(id: string): SendingConnection | null {
    return this.peek(id)?.opened ?? null;
  }

  /**
   * Adds a number, or connects a number of the workspace again with a new token.
   *
   * @param stored is called in the transaction that stores it; where it throws, nothing is stored.
   * @throws NUMBER_TAKEN (409) where another workspace has the number.
   */
  async add(input: NewConnection, stored?: (id: string) => Promise<void>): Promise<Connection> {
    const { organizationId } = input;
    const id = await this.database.transaction(async () => {
      // Of several that add the number at once the others find it.
      await this.connections.lock(input.phoneNumberId);
      const known = await this.requireFree(organizationId, input.phoneNumberId);
      const made = known?.id ?? newId();
      await this.store(made, input, known);
      await stored?.(made);
      return made;
    });
    await this.changed(id);
    return this.getFresh(organizationId, id);
  }

  /** In a transaction. @param known as it is; null: it is a new one. */
  private async store(id: string, input: NewConnection, known: ConnectionEntity | null): Promise<void> {
    const { organizationId, phoneNumberId, wabaId, phoneNumber, token, status = 'connected' } = input;
    const throughputPerSecond = input.throughputPerSecond ?? known?.throughputPerSecond ?? 80;
    const change = {
      wabaId,
      phoneNumber,
      verifiedName: input.verifiedName ?? known?.verifiedName ?? null,
      throughputPerSecond,
      throughputFixed: input.throughputFixed ?? known?.throughputFixed ?? false,
      status,
      qualityRating: input.qualityRating ?? known?.qualityRating ?? null,
      messagingLimit: input.messagingLimit ?? known?.messagingLimit ?? null,
      timezone: input.timezone ?? known?.timezone ?? null,
      marketingRoute: input.marketingRoute ?? known?.marketingRoute ?? 'auto',
      marketingStatus: input.marketingStatus ?? known?.marketingStatus ?? null,
      tokenCiphertext: this.secrets.seal(token, tokenPlace({ id, organizationId })),
    };
    if (known === null) {
      await this.connections.insert({ id, organizationId, phoneNumberId, ...change });
    } else {
      await this.connections.recordingChanges([id], () => this.connections.reconnect(organizationId, id, change));
      await this.resumeLanes(id);
    }
    const action = known === null ? 'connection.added' : 'connection.changed';
    const details = { phone_number_id: phoneNumberId, waba_id: wabaId, throughput_per_second: throughputPerSecond };
    await this.audit.record({ action, organizationId, target: id, details: { ...details, status, token: 'set' } });
  }

  /**
   * Returns the number if the workspace has it already, otherwise null.
   *
   * @throws NUMBER_TAKEN (409) where another workspace has it.
   */
  async requireFree(organizationId: string, phoneNumberId: string): Promise<ConnectionEntity | null> {
    const known = await this.connections.findByPhoneNumberId(phoneNumberId);
    if (known !== null && known.organizationId !== organizationId)
      throw connectionsErrors.NUMBER_TAKEN({ phoneNumberId });
    return known;
  }

  /**
   * Stops sending from a number until it is added again; queued messages wait.
   *
   * @throws CONNECTION_NOT_FOUND (404) where the workspace has no such connection.
   */
  async disconnect(organizationId: string, id: string): Promise<void> {
    await this.setStatus(organizationId, id, 'disconnected');
  }

  /** @throws CONNECTION_NOT_FOUND (404) where the workspace has no such connection. */
  async setStatus(organizationId: string, id: string, status: ConnectionStatus): Promise<void> {
    const isEnd = status === 'disconnected';
    await this.database.transaction(async () => {
      const reason = isEnd ? 'disconnected_by_operator' : null;
      const set = () => this.connections.setStatus(organizationId, id, status, reason);
      if (!(await this.connections.recordingChanges([id], set))) throw connectionsErrors.CONNECTION_NOT_FOUND();
      const action = isEnd ? 'connection.disconnected' : 'connection.changed';
      await this.audit.record({ action, organizationId, target: id, details: { status } });
    });
    await this.changed(id);
  }

  /** @throws CONNECTION_NOT_FOUND (404) where the workspace has no such connection. */
  async setMarketingRoute(organizationId: string, id: string, route: MarketingRoute): Promise<void> {
    await this.database.transaction(async () => {
      const set = () => this.connections.setMarketingRoute(organizationId, id, route);
      if (!(await this.connections.recordingChanges([id], set))) throw connectionsErrors.CONNECTION_NOT_FOUND();
      const details = { marketing_route: route };
      await this.audit.record({ action: 'connection.changed', organizationId, target: id, details });
    });
    await this.changed(id);
  }

  /** When the number's profile was last changed through Herald; null: never. */
  profileUpdatedAt(organizationId: string, id: string): Promise<Date | null> {
    return this.connections.profileUpdatedAt(organizationId, id);
  }

  setProfileUpdated(organizationId: string, id: string): Promise<void> {
    return this.connections.setProfileUpdated(organizationId, id);
  }

  /** The answer to a send shows that the stored facts about the number are outdated: schedules a query. */
  askSoon(id: string): Promise<void> {
    return this.connections.askSoon(id);
  }

  /**
   * WhatsApp refused the number's token. Disconnects the number until it gets another token, unless it has got one
   * meanwhile.
   */
  async tokenRefused(connection: SendingConnection): Promise<void> {
    const { organizationId, id, tokenVersion } = connection;
    const refuse = () => this.connections.refuseToken(organizationId, id, tokenVersion);
    if (!(await this.reported([id], refuse))) return;
    this.logger.warn(`connection ${id}: the platform refuses its token; the number is disconnected`);
    await this.changed(id);
  }

  /**
   * For a call that WhatsApp refused because of its token: disconnects the number.
   *
   * @throws CONNECTION_NOT_READY (409), unless the number has got another token meanwhile.
   */
  async requireOtherToken(connection: SendingConnection): Promise<void> {
    await this.tokenRefused(connection);
    await this.sendable(connection.organizationId, connection.id);
  }

  /** Stores WhatsApp's facts about a number, together with the token used for the query. */
  async keepFacts(connection: SendingConnection, facts: ConnectionFacts): Promise<void> {
    const { organizationId, id, tokenVersion } = connection;
    const keep = () => this.connections.keepFacts(organizationId, id, tokenVersion, facts);
    if (!(await this.reported([id], keep))) return;
    if (!canSend(connection.status) && facts.status === 'connected') await this.resumeLanes(id);
    await this.changed(id);
  }

  /**
   * Applies reports about a number or its account: limits, restrictions and removals at once; for everything else a
   * query follows within seconds. May come twice and in any order.
   */
  async applyNotification(notification: ManagementNotification): Promise<void> {
    if (notification.field === 'messages.errors') return this.applyError(notification);
    const said = readAccountEvents(notification);
    if (said === null || said.wabaId === null) return;
    const events = { ...said, wabaId: said.wabaId };
    const ids = await this.connections.idsOf(events);
    if (ids.length === 0) return;
    await this.reported(ids, () => this.connections.apply(events));
    await this.changed(events.wabaId);
  }

  /** An error that WhatsApp reports without a message. */
  private async applyError({ phoneNumberId, occurredAt, value }: ManagementNotification): Promise<void> {
    const connection = phoneNumberId === null ? null : await this.findByPhoneNumberId(phoneNumberId);
    if (connection === null) return;
    const error = { code: ownInteger(value, 'code'), title: null, details: null };
    await this.noteReport(connection, { status: 'failed', occurredAt, error, pricing: null });
  }

  /**
   * What a report about any message means for its number. If the payment is missing, or the number is limited for spam,
   * it pauses; a charged message that was sent proves that payment works.
   */
  async noteReport(connection: Connection, { status, occurredAt, error, pricing }: NumberReport): Promise<void> {
    const { id, paymentMissingAt, serviceChargedSince } = connection;
    const at = occurredAt ?? databaseClock.date();
    if (status === 'failed') {
      const code = error?.code ?? null;
      if (restsNumber(code) && databaseClock.now() - at.getTime() < NEWS_MS)
        await this.rest(id, `account_restricted (${code})`, at);
      if (code === PAYMENT_MISSING) await this.paymentMissing(connection, at);
      return;
    }
    if (pricing?.type !== 'regular') return;
    if (paymentMissingAt !== null && at > paymentMissingAt) {
      await this.change(id, () => this.connections.paymentWorks(id, at), 'what it charges for goes out again');
      await this.resumeLanes(id);
    }
    if (pricing.category !== 'service' || monthOf(serviceChargedSince) >= monthOf(at)) return;
    const charged = 'its free service messages of the month are used up: the account needs a payment method';
    await this.change(id, () => this.connections.serviceCharged(id, at), charged);
  }

  /** WhatsApp refuses charged messages. */
  async paymentMissing({ id, paymentMissingAt, factsAt }: Connection, at = databaseClock.date()): Promise<void> {
    // A late report from before a repair is ignored.
    if (paymentMissingAt !== null || (factsAt !== null && at.getTime() < databaseClock.now() - NEWS_MS)) return;
    const missing = 'the account has no valid payment method: add or repair it in WhatsApp Manager';
    await this.change(id, () => this.connections.paymentMissing(id, at), missing);
  }

  /** Numbers that lack a payment method, and those whose service messages are charged this month. */
  payments(): Promise<{ missing: number; charged: number }> {
    return this.connections.payments();
  }

  /** Runs a change that WhatsApp reported; operators see it like any other. */
  private reported<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.connections.recordingChanges(ids, work, ({ id, organizationId, changes }) =>
      this.audit.record({ action: 'connection.changed', organizationId, target: id, details: changes }),
    );
  }

  private async change(id: string, work: () => Promise<boolean>, says: string): Promise<void> {
    if (!(await this.reported([id], work))) return;
    this.logger.warn(`connection ${id}: ${says}`);
    await this.changed(id);
  }

  /** Many equal failures are one reason to pause. A message that failed at `at` was claimed before. */
  private async rest(id: string, reason: string, at: Date): Promise<void> {
    const now = systemClock.monotonic();
    if (now - (this.rested.get(id) ?? -Infinity) < REST_AGAIN_MS) return;
    if (this.rested.size > MAX_RESTED) this.rested.clear();
    this.rested.set(id, now);
    await this.lanes.pause(id, reason, { claimedAt: now - Math.max(0, databaseClock.now() - at.getTime()) });
  }

  /** Lets waiting messages and customers' files of the number continue at once. */
  private async resumeLanes(id: string): Promise<void> {
    await this.lanes.resume(id);
    await this.lanes.resume(`media:${id}`);
  }

  private peek(id: string): KnownConnection | null {
    const known = this.rows.peek(id) ?? null;
    if (known !== null) this.used.set(id, systemClock.monotonic());
    return known;
  }

  private async read(id: string): Promise<KnownConnection | null> {
    const known = await this.rows.get(id, () => this.load(id));
    if (known !== null) this.used.set(id, systemClock.monotonic());
    return known;
  }

  private async load(id: string): Promise<KnownConnection | null> {
    const { reading } = this;
    if (reading?.generation === this.generation && reading.ids.has(id)) return (await reading.found).get(id) ?? null;
    const readAt = systemClock.monotonic();
    for (const [each, usedAt] of this.used) if (usedAt < readAt - ROWS.ttlMs) this.used.delete(each);
    const ids = new Set([id, ...this.used.keys()].slice(0, MAX_AT_ONCE));
    const fresh = { ids, generation: this.generation, found: this.readAll(ids, readAt) };
    this.reading = fresh;
    try {
      return (await fresh.found).get(id) ?? null;
    } finally {
      if (this.reading === fresh) this.reading = null;
    }
  }

  private async readAll(ids: ReadonlySet<string>, readAt: number): Promise<Map<string, KnownConnection>> {
    const { generation } = this;
    const found = new Map<string, KnownConnection>();
    // The cached rows also serve sends, so they are read from the primary.
    const rows = await onPrimary(() => this.connections.findSealed([...ids]));
    for (const row of rows) found.set(row.id, this.knownOf(row));
    // Rows read before an invalidation may be out of date.
    if (generation === this.generation) for (const [each, known] of found) this.rows.set(each, known, readAt);
    return found;
  }

  private knownOf(row: ConnectionEntity): KnownConnection {
    const { tokenCiphertext, ...connection } = row;
    const known: KnownConnection = {
      connection,
      opened: null,
      sending: () => (known.opened ??= { ...connection, token: this.secrets.open(tokenCiphertext, tokenPlace(row)) }),
    };
    return known;
  }

  private async getFresh(organizationId: string, id: string): Promise<Connection> {
    const found = await this.connections.findById(organizationId, id);
    if (found === null) throw connectionsErrors.CONNECTION_NOT_FOUND();
    return found;
  }

  private async changed(id: string): Promise<void> {
    this.forget();
    await this.invalidation.publish(INVALIDATION, id);
  }

  private forget(): void {
    this.generation++;
    this.rows.clear();
    this.ids.clear();
  }
}
