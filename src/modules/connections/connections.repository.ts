import { Injectable } from '@nestjs/common';
import { In, IsNull, LessThan, Not, Or } from 'typeorm';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import type { StatusReason } from './connection-status.js';
import { ConnectionEntity } from './entities/connection.entity.js';
import type { ConnectionFacts, ConnectionStatus, MarketingRoute } from './connections.types.js';
import type { AccountEvents } from './platform-facts.js';

export const FACTS_EVERY_SECONDS = 3_600;
/** Wait after a failed query, such as in an outage. */
const FACTS_RETRY_SECONDS = 300;
/** SQL condition: a query to WhatsApp about the number is due. */
export const FACTS_ARE_DUE = 'facts_due_at <= statement_timestamp()';

const now = (): string => 'clock_timestamp()';
const inAnHour = (): string => `clock_timestamp() + interval '${FACTS_EVERY_SECONDS} seconds'`;
/** A notification about an account, or about one of its numbers. */
type Named = AccountEvents & { wabaId: string };

/** Selects the numbers that a notification concerns, in any workspace: all of the account, or the one it names. */
const named = ({ wabaId, number }: Named) => ({ wabaId, ...(number !== null && { phoneNumber: number }) });

/** The fields of a number that its workspace sees and events report, as SQL of one JSON object. */
const SHOWN = `jsonb_build_object('phone_number', c.phone_number, 'verified_name', c.verified_name, 'status', c.status,
    'status_reason', c.status_reason, 'quality_rating', c.quality_rating, 'messaging_limit', c.messaging_limit,
    'throughput_per_second', c.throughput_per_second, 'service_charged_since', ${isoTime('c.service_charged_since')},
    'marketing_route', c.marketing_route, 'marketing_status', c.marketing_status, 'timezone', c.timezone)`;

const AS_BEFORE = `select c.id, ${SHOWN} as shown from connection c where c.id = any($1::uuid[]) order by c.id
  for no key update`;

const RECORD_CHANGES = `
with before as (select * from json_to_recordset($1::json) as b (id uuid, shown jsonb)),
now as (
  select c.organization_id, c.id, c.created_at, ${SHOWN} as shown, before.shown as previous
  from connection c join before on before.id = c.id
), ${insertWebhookEvents(`(
  select now.organization_id, 'connection.updated'::text as event_type, clock_timestamp() as occurred_at,
    array[now.id] as connection_ids, null::bytea as trace_context,
    jsonb_build_object(
      'connection', jsonb_build_object('id', now.id, 'created_at', ${isoTime('now.created_at')}) || now.shown,
      'previous_attributes', (
        select jsonb_object_agg(old.key, old.value) from jsonb_each(now.previous) as old
        where old.value <> now.shown -> old.key)) as event_data
  from now where now.shown <> now.previous)`)}
select now.id, now.organization_id as "organizationId", (
  select jsonb_object_agg(new.key, new.value) from jsonb_each(now.shown) as new
  where new.value <> now.previous -> new.key) as changes
from now where now.shown <> now.previous`;

/** Which numbers to list. */
export interface ConnectionFilter extends ListCursor {
  limit: number;
  /** Null: numbers of all workspaces. */
  only: readonly string[] | null;
  status?: ConnectionStatus | undefined;
  phoneNumberId?: string | undefined;
}

/** A number whose visible fields changed, and the changed fields. */
export interface ChangedConnection {
  id: string;
  organizationId: string;
  changes: Record<string, unknown>;
}

/** The only place with SQL that changes the table `connection`. */
@Injectable()
export class ConnectionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Runs a change of these numbers, and records an event for each one whose visible fields changed, in one transaction.
   *
   * @param changed called for each number whose visible fields changed, in the transaction.
   */
  recordingChanges<T>(
    ids: readonly string[],
    change: () => Promise<T>,
    changed?: (number: ChangedConnection) => Promise<void>,
  ): Promise<T> {
    return this.database.transaction(async () => {
      const before = await this.database.query<{ id: string; shown: unknown }>(AS_BEFORE, [ids]);
      const result = await change();
      const numbers =
        before.length === 0
          ? []
          : await this.database.query<ChangedConnection>(RECORD_CHANGES, [JSON.stringify(before)]);
      for (const each of changed === undefined ? [] : numbers) await changed?.(each);
      return result;
    });
  }

  /** Ids of the numbers that a notification concerns. */
  async idsOf(events: Named): Promise<string[]> {
    const found = await this.table.find({ select: { id: true }, where: named(events) });
    return found.map(({ id }) => id);
  }

  /** All numbers of the workspace. Operators add numbers by hand, so there are a few thousand at most. */
  list(organizationId: string): Promise<ConnectionEntity[]> {
    return this.table.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** Numbers of all workspaces, newest first. */
  page({ limit, before, beforeId, only, status, phoneNumberId }: ConnectionFilter): Promise<ConnectionEntity[]> {
    const query = this.table.createQueryBuilder('c').where('true');
    if (before !== null && beforeId !== null)
      query.andWhere('(c.created_at, c.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('c.created_at < :before', { before });
    if (only !== null) query.andWhere('c.organization_id = any(:only::uuid[])', { only });
    if (status !== undefined) query.andWhere('c.status = :status', { status });
    if (phoneNumberId !== undefined) query.andWhere('c.phone_number_id = :phoneNumberId', { phoneNumberId });
    return query.orderBy('c.createdAt', 'DESC').addOrderBy('c.id', 'DESC').limit(limit).getMany();
  }

  /** Ids of an account's numbers with which WhatsApp may be queried, connected ones first. */
  async askable(organizationId: string, wabaId: string, limit: number): Promise<string[]> {
    const rows = await this.table
      .createQueryBuilder('connection')
      .select('connection.id', 'id')
      .where({ organizationId, wabaId, status: Not('disconnected') })
      .orderBy("status <> 'connected'")
      .addOrderBy('connection.createdAt')
      .addOrderBy('connection.id')
      .limit(limit)
      .getRawMany<{ id: string }>();
    return rows.map(({ id }) => id);
  }

  findById(organizationId: string, id: string): Promise<ConnectionEntity | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  /** Finds a number by WhatsApp's id, in any workspace: notifications contain nothing else. */
  findByPhoneNumberId(phoneNumberId: string): Promise<ConnectionEntity | null> {
    return this.table.findOneBy({ phoneNumberId });
  }

  /** Makes the ambient transaction, until its end, the only one that adds this number. */
  async lock(phoneNumberId: string): Promise<void> {
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended('connection ' || $1, 0))`, [
      phoneNumberId,
    ]);
  }

  /** The rows of numbers, with their sealed tokens, for sending. */
  findSealed(ids: readonly string[]): Promise<ConnectionEntity[]> {
    return this.table
      .createQueryBuilder('connection')
      .addSelect('connection.tokenCiphertext')
      .where('connection.id = any(:ids)', { ids })
      .getMany();
  }

  async insert(row: Partial<ConnectionEntity> & Pick<ConnectionEntity, 'id' | 'organizationId'>): Promise<void> {
    await this.table.insert(row);
  }

  /** Gives a known number new credentials. */
  async reconnect(organizationId: string, id: string, change: Partial<ConnectionEntity>): Promise<void> {
    const again = {
      statusReason: null,
      restrictedUntil: null,
      paymentMissingAt: null,
      tokenVersion: () => 'token_version + 1',
    };
    await this.table.update({ organizationId, id }, { ...change, ...again });
  }

  /** Returns false where the workspace has no such number. */
  async setStatus(
    organizationId: string,
    id: string,
    status: ConnectionStatus,
    statusReason: StatusReason | null,
  ): Promise<boolean> {
    const change = { status, statusReason, restrictedUntil: null, updatedAt: now };
    return ((await this.table.update({ organizationId, id }, change)).affected ?? 0) > 0;
  }

  /** Returns false where the workspace has no such number. */
  async setMarketingRoute(organizationId: string, id: string, marketingRoute: MarketingRoute): Promise<boolean> {
    const result = await this.table.update({ organizationId, id }, { marketingRoute, updatedAt: now });
    return (result.affected ?? 0) > 0;
  }

  async profileUpdatedAt(organizationId: string, id: string): Promise<Date | null> {
    const select = { id: true, profileUpdatedAt: true };
    return (await this.table.findOne({ select, where: { organizationId, id } }))?.profileUpdatedAt ?? null;
  }

  async setProfileUpdated(organizationId: string, id: string): Promise<void> {
    await this.table.update({ organizationId, id }, { profileUpdatedAt: () => `date_trunc('milliseconds', ${now()})` });
  }

  /**
   * Schedules a query about the number. Queries are at least `FACTS_RETRY_SECONDS` apart, however often this is called.
   */
  async askSoon(id: string): Promise<void> {
    await this.database.execute(
      `update connection set facts_due_at = clock_timestamp() where id = $1 and facts_due_at > clock_timestamp()
         and (facts_at is null or facts_at < clock_timestamp() - make_interval(secs => $2))`,
      [id, FACTS_RETRY_SECONDS],
    );
  }

  /** Disconnects a number whose token was refused, unless it has been given another token since. */
  async refuseToken(organizationId: string, id: string, tokenVersion: number): Promise<boolean> {
    const statusReason = Or(IsNull(), Not<StatusReason>('disconnected_by_operator'));
    const result = await this.table.update(
      { organizationId, id, tokenVersion, statusReason },
      { status: 'disconnected', statusReason: 'token_refused', updatedAt: now, factsDueAt: inAnHour },
    );
    return (result.affected ?? 0) > 0;
  }

  /**
   * Stores WhatsApp's facts about a number. A number that the operator has disconnected stays so, and an announced
   * restriction lasts until its end.
   *
   * @returns whether the row still has that token.
   */
  keepFacts(organizationId: string, id: string, tokenVersion: number, facts: ConnectionFacts): Promise<boolean> {
    const { verifiedName, qualityRating, messagingLimit, throughputPerSecond, status, marketingStatus } = facts;
    return this.database.changes(
      `update connection set
         verified_name = coalesce($4, verified_name),
         quality_rating = coalesce($5, quality_rating),
         messaging_limit = coalesce($6, messaging_limit),
         throughput_per_second = case when throughput_fixed then throughput_per_second
           else coalesce($7::integer, throughput_per_second) end,
         status = case
           when status_reason = 'disconnected_by_operator' or $8::text is null then status
           when (restricted_until > clock_timestamp() or payment_missing_at is not null) and $8 = 'connected'
             then 'restricted'
           else $8 end,
         status_reason = case
           when status_reason = 'disconnected_by_operator' or $8::text is null then status_reason
           when $8 = 'connected' and (restricted_until is null or restricted_until <= clock_timestamp())
             then case when payment_missing_at is not null then 'payment_missing' end
           else 'platform' end,
         marketing_status = coalesce($9, marketing_status),
         facts_at = date_trunc('milliseconds', clock_timestamp()),
         facts_due_at = ${inAnHour()},
         updated_at = clock_timestamp()
       where organization_id = $1 and id = $2 and token_version = $3`,
      [
        organizationId,
        id,
        tokenVersion,
        verifiedName,
        qualityRating,
        messagingLimit,
        throughputPerSecond,
        status,
        marketingStatus,
      ],
    );
  }

  /** Takes up to `limit` numbers of a workspace for which a query is due. For a while no other caller gets them. */
  async takeDue(organizationId: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `with due as (
         select id from connection where organization_id = $1 and ${FACTS_ARE_DUE}
         order by facts_due_at limit $2 for update skip locked
       )
       update connection c set facts_due_at = clock_timestamp() + make_interval(secs => $3)
       from due where c.id = due.id
       returning c.id`,
      [organizationId, limit, FACTS_RETRY_SECONDS],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Stores what WhatsApp reports in a notification: a limit, a restriction, or that an account was removed. A
   * restriction without an end lasts until the next query. The result of a later query takes precedence. For all other
   * reports, and for the numbers that share the limit, a query is scheduled.
   */
  async apply(events: Named): Promise<void> {
    const { messagingLimit, restriction, restrictedUntil, removed, occurredAt } = events;
    const numbers = named(events);
    const isNews =
      occurredAt === null ? {} : { factsAt: Or(IsNull(), LessThan(new Date(occurredAt.getTime() + 1_000))) };
    const sending = { status: In<ConnectionStatus>(['connected', 'restricted']) };
    if (messagingLimit !== null) {
      await this.table.update({ ...numbers, ...isNews }, { messagingLimit, updatedAt: now });
      await this.askAboutPortfolio(events.wabaId);
    }
    if (restriction === 'begins') {
      await this.table.update(
        { ...numbers, ...sending },
        {
          status: 'restricted',
          statusReason: 'platform',
          updatedAt: now,
          restrictedUntil: restrictedUntil ?? inAnHour,
        },
      );
      return;
    }
    if (removed) {
      const disconnected = { status: 'disconnected', statusReason: 'account_removed', updatedAt: now } as const;
      await this.table.update({ ...numbers, ...isNews, ...sending }, disconnected);
    }
    await this.table.update(numbers, { factsDueAt: now, ...(restriction === 'ends' && { restrictedUntil: null }) });
  }

  /**
   * Records that WhatsApp refuses charged messages of the number since this time. Returns false where that is recorded
   * already, or the number sends nothing anyway.
   */
  paymentMissing(id: string, at: Date): Promise<boolean> {
    return this.database.changes(
      `update connection set payment_missing_at = $2, updated_at = clock_timestamp(),
         status = 'restricted', status_reason = case when status = 'connected' then 'payment_missing' else status_reason end
       where id = $1 and payment_missing_at is null and status in ('connected', 'restricted')`,
      [id, at],
    );
  }

  /** Records that WhatsApp accepted a charged message of the number. */
  paymentWorks(id: string, at: Date): Promise<boolean> {
    return this.database.changes(
      `update connection set payment_missing_at = null, updated_at = clock_timestamp(),
         status = case when status_reason = 'payment_missing' then 'connected' else status end,
         status_reason = nullif(status_reason, 'payment_missing'), facts_due_at = clock_timestamp()
       where id = $1 and payment_missing_at < $2`,
      [id, at],
    );
  }

  /** Records that a service message was charged. Returns false if one was charged earlier in that month. */
  serviceCharged(id: string, at: Date): Promise<boolean> {
    return this.database.changes(
      `update connection set service_charged_since = $2, updated_at = clock_timestamp()
       where id = $1 and coalesce(service_charged_since < date_trunc('month', $2::timestamptz), true)`,
      [id, at],
    );
  }

  /** How many numbers lack a payment method, and how many had a charged service message this month. */
  payments(): Promise<{ missing: number; charged: number }> {
    return this.database.row<{ missing: number; charged: number }>(
      `select count(*) filter (where payment_missing_at is not null)::integer as missing,
         count(*) filter (where service_charged_since >= date_trunc('month', now()))::integer as charged
       from connection`,
    );
  }

  /** Schedules queries about all numbers of the workspaces that have a number of this account. */
  private async askAboutPortfolio(wabaId: string): Promise<void> {
    await this.database.execute(
      `update connection c set facts_due_at = clock_timestamp()
       from (
         select id from connection where organization_id in (select organization_id from connection where waba_id = $1)
           and facts_due_at > clock_timestamp() and status <> 'disconnected' order by id for update
       ) as due
       where c.id = due.id`,
      [wabaId],
    );
  }

  private get table() {
    return this.database.repository(ConnectionEntity);
  }
}
