import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { ConnectionEntity } from './entities/connection.entity.js';
import type { ConnectionFacts, ConnectionStatus, StatusReason } from './connections.types.js';

/** What the platform tells about: an account, or one number (digits) of it; whatever their workspaces. */
interface NumbersOfAccount {
  wabaId: string;
  number: string | null;
}

/** The only place with SQL of the table `connection`. */
@Injectable()
export class ConnectionsRepository {
  constructor(private readonly database: Database) {}

  /** All of them: an operator adds each by hand, so they are few thousand at most. */
  list(organizationId: string): Promise<ConnectionEntity[]> {
    return this.table.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** Ids of numbers of an account that the platform may be asked through, connected ones first. */
  async askable(organizationId: string, wabaId: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select id from connection
       where organization_id = $1 and waba_id = $2 and status in ('connected', 'restricted', 'pending')
       order by status <> 'connected', created_at, id limit $3`,
      [organizationId, wabaId, limit],
    );
    return rows.map(({ id }) => id);
  }

  findById(organizationId: string, id: string): Promise<ConnectionEntity | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  /** By the platform's id of the number, whatever the workspace: notifications carry nothing else. */
  findByPhoneNumberId(phoneNumberId: string): Promise<ConnectionEntity | null> {
    return this.table.findOneBy({ phoneNumberId });
  }

  /** Rows with their sealed tokens, for the lanes that send from them. */
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

  /** Gives a known number new credentials; returns false where the workspace has no such row. */
  async reconnect(organizationId: string, id: string, change: Partial<ConnectionEntity>): Promise<boolean> {
    const result = await this.table
      .createQueryBuilder()
      .update()
      .set({ ...change, statusReason: null, restrictedUntil: null, tokenVersion: () => 'token_version + 1' })
      .where({ organizationId, id })
      .execute();
    return (result.affected ?? 0) > 0;
  }

  async setStatus(
    organizationId: string,
    id: string,
    status: ConnectionStatus,
    reason: StatusReason | null,
  ): Promise<boolean> {
    const changed = await this.database.execute(
      `update connection set status = $3, status_reason = $4, restricted_until = null, updated_at = clock_timestamp()
       where organization_id = $1 and id = $2`,
      [organizationId, id, status, reason],
    );
    return changed > 0;
  }

  /** Disconnects a number whose token was refused, unless it has been given another token since. */
  async refuseToken(organizationId: string, id: string, tokenVersion: number): Promise<boolean> {
    const changed = await this.database.execute(
      `update connection set status = 'disconnected', status_reason = 'token_refused', updated_at = clock_timestamp(),
         facts_due_at = clock_timestamp() + make_interval(secs => $4)
       where organization_id = $1 and id = $2 and token_version = $3
         and status_reason is distinct from 'disconnected_by_operator'`,
      [organizationId, id, tokenVersion, FACTS_EVERY_SECONDS],
    );
    return changed > 0;
  }

  /**
   * Writes down what the platform says of a number. A number that the operator has disconnected stays so, and a
   * restriction that was announced holds for its time.
   *
   * @returns whether the row is (still) the one with that token.
   */
  async keepFacts(organizationId: string, id: string, tokenVersion: number, facts: ConnectionFacts): Promise<boolean> {
    const changed = await this.database.execute(KEEP_FACTS, [
      organizationId,
      id,
      tokenVersion,
      facts.verifiedName,
      facts.qualityRating,
      facts.messagingLimit,
      facts.throughputPerSecond,
      facts.status,
      FACTS_EVERY_SECONDS,
    ]);
    return changed > 0;
  }

  /** Takes up to `limit` numbers of which the platform is to be asked now; nobody else takes them for a while. */
  async takeDue(limit: number): Promise<{ organizationId: string; id: string }[]> {
    const rows = await this.database.query<{ organization_id: string; id: string }>(
      `with due as (
         select id from connection where facts_due_at <= statement_timestamp()
         order by facts_due_at limit $1 for update skip locked
       )
       update connection c set facts_due_at = clock_timestamp() + make_interval(secs => $2)
       from due where c.id = due.id
       returning c.organization_id, c.id`,
      [limit, FACTS_RETRY_SECONDS],
    );
    return rows.map((row) => ({ organizationId: row.organization_id, id: row.id }));
  }

  /** The platform told something of these numbers: ask it soon. Returns how many they are. */
  markDue({ wabaId, number }: NumbersOfAccount): Promise<number> {
    return this.database.execute(`update connection set facts_due_at = clock_timestamp() where ${OF_ACCOUNT}`, [
      wabaId,
      number,
    ]);
  }

  setMessagingLimit({ wabaId, number }: NumbersOfAccount, limit: string): Promise<number> {
    return this.database.execute(
      `update connection set messaging_limit = $3, updated_at = clock_timestamp() where ${OF_ACCOUNT}`,
      [wabaId, number, limit],
    );
  }

  /** @param until null: until the platform is asked next. */
  restrict({ wabaId, number }: NumbersOfAccount, until: Date | null): Promise<number> {
    return this.database.execute(
      `update connection set status = 'restricted', status_reason = 'platform', updated_at = clock_timestamp(),
         restricted_until = coalesce($3::timestamptz, clock_timestamp() + make_interval(secs => $4))
       where ${OF_ACCOUNT} and status in ('connected', 'restricted')`,
      [wabaId, number, until, FACTS_EVERY_SECONDS],
    );
  }

  liftRestriction({ wabaId, number }: NumbersOfAccount): Promise<number> {
    return this.database.execute(`update connection set restricted_until = null where ${OF_ACCOUNT}`, [wabaId, number]);
  }

  async profileChanged(organizationId: string, id: string): Promise<Date | null> {
    const rows = await this.database.query<{ changed_at: Date }>(
      `update connection set profile_updated_at = date_trunc('milliseconds', clock_timestamp())
       where organization_id = $1 and id = $2 returning profile_updated_at as changed_at`,
      [organizationId, id],
    );
    return rows[0]?.changed_at ?? null;
  }

  private get table() {
    return this.database.repository(ConnectionEntity);
  }
}

const OF_ACCOUNT = 'waba_id = $1 and ($2::text is null or phone_number = $2)';
const FACTS_EVERY_SECONDS = 3_600;
/** After a try that brought nothing, such as an outage. */
const FACTS_RETRY_SECONDS = 300;

const KEEP_FACTS = `
update connection set
  verified_name = coalesce($4, verified_name),
  quality_rating = coalesce($5, quality_rating),
  messaging_limit = coalesce($6, messaging_limit),
  throughput_per_second = case when throughput_fixed then throughput_per_second
    else coalesce($7::integer, throughput_per_second) end,
  status = case
    when status_reason = 'disconnected_by_operator' or $8::text is null then status
    when restricted_until > clock_timestamp() and $8 = 'connected' then 'restricted'
    else $8 end,
  status_reason = case
    when status_reason = 'disconnected_by_operator' or $8::text is null then status_reason
    when $8 = 'connected' and (restricted_until is null or restricted_until <= clock_timestamp()) then null
    else 'platform' end,
  facts_at = date_trunc('milliseconds', clock_timestamp()),
  facts_due_at = clock_timestamp() + make_interval(secs => $9),
  updated_at = clock_timestamp()
where organization_id = $1 and id = $2 and token_version = $3`;
