import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { spellingsOf } from '../../../infrastructure/whatsapp/account-number.js';
import { ErasureEntity } from '../entities/erasure.entity.js';
import type { ErasedPerson, NamedPerson, OpenErasure, Subject } from './erasure.types.js';

/** How long one process has an erasure for itself: longer than the longest step of an erasure, including waits. */
export const LEASE_SECONDS = 300;
const COLUMNS = `id, organization_id as "organizationId", numbers, user_ids as "userIds", conversation_ids as "conversationIds"`;

/** SQL: a name, which is a number or a user id, in the form of `erased_name`: only a hash is stored. */
const hashOf = (organizationId: string, name: string): string =>
  `sha256(convert_to(${organizationId}::text || ${name}, 'UTF8'))`;

const inSeconds = (seconds: number): string => `clock_timestamp() + interval '${seconds} seconds'`;
const leased = (): string => inSeconds(LEASE_SECONDS);

/** Unfinished erasures, with what an interrupted run needs to continue, and hashes of erased people's names. */
@Injectable()
export class ErasuresRepository {
  constructor(private readonly database: Database) {}

  /** Begins an erasure, or takes over one of the same person that has not ended. */
  async begin({ organizationId, numbers, userIds, conversationIds }: Subject): Promise<{ id: string; isNew: boolean }> {
    const open = await this.database.find<{ id: string }>(
      `update erasure set due_at = ${leased()} where id = (
         select id from erasure where organization_id = $1
           and (numbers && $2::text[] or user_ids && $3::text[] or conversation_ids && $4::uuid[]) order by id limit 1)
       returning id`,
      [organizationId, numbers, userIds, conversationIds],
    );
    if (open !== null) return { id: open.id, isNew: false };
    const id = newId();
    await this.table.insert({ id, organizationId, numbers, userIds, conversationIds, dueAt: leased });
    return { id, isNew: true };
  }

  /**
   * Takes the longest due erasure of the next workspace in the order of ids, so that workspaces take turns. No other
   * process gets the erasure until the lease ends. Null: none is due.
   *
   * @param after the last served workspace.
   */
  async takeDue(after: string): Promise<OpenErasure | null> {
    return this.database.find<OpenErasure>(
      `update erasure set due_at = ${leased()} where id = (
         select id from erasure where due_at <= statement_timestamp()
         order by organization_id <= $1, organization_id, due_at limit 1 for update skip locked)
       returning ${COLUMNS}`,
      [after],
    );
  }

  /** An unfinished erasure; null where it has ended. */
  read(id: string): Promise<OpenErasure | null> {
    return this.table.findOneBy({ id });
  }

  /** Stores every name known by now, before data that leads to it is deleted, and hashes of the names for later. */
  async widen({ id, organizationId, numbers, userIds, conversationIds }: OpenErasure): Promise<void> {
    await this.database.transaction(async () => {
      await this.table.update({ id }, { numbers, userIds, conversationIds, dueAt: leased });
      await this.database.execute(
        `insert into erased_name (organization_id, hash, erased_at)
         select $1, hash, clock_timestamp() from (
           select distinct ${hashOf('$1::uuid', 'name')} as hash from unnest($2::text[]) as name order by 1) as ordered
         on conflict (organization_id, hash) do update set erased_at = excluded.erased_at`,
        [organizationId, [...numbers, ...userIds]],
      );
    });
  }

  /** Lets a worker continue the erasure after this time; 0: after the turns of the other due erasures. */
  async putOff(id: string, seconds: number): Promise<void> {
    await this.table.update({ id }, { dueAt: () => inSeconds(seconds) });
  }

  /** Ends an erasure. Returns whether it was unfinished. */
  async end(id: string): Promise<boolean> {
    return ((await this.table.delete({ id })).affected ?? 0) > 0;
  }

  /** One answer per person, in the same order; null: they were not erased. */
  async findErased(people: readonly NamedPerson[], statements: Statements): Promise<(ErasedPerson | null)[]> {
    const given = people.flatMap(({ organizationId, connectionId, names }, place) =>
      names
        .filter((name) => name !== null)
        .flatMap((name) => (/^\d+$/.test(name) ? spellingsOf(name) : [name]))
        .map((name) => ({ place, organizationId, connectionId, name })),
    );
    const found = await statements.query<ErasedPerson & { place: number }>(FIND_ERASED, [JSON.stringify(given)]);
    const byPlace = new Map(found.map(({ place, ...person }) => [place, person]));
    return people.map((_person, place) => byPlace.get(place) ?? null);
  }

  private get table() {
    return this.database.repository(ErasureEntity);
  }
}

const IS_BACK = ['phone', 'wa_id', 'user_id']
  .map((name) => `exists (select from conversation c where c.connection_id = g."connectionId" and c.${name} = g.name)`)
  .join(' or ');

const FIND_ERASED = `
select g.place, max(e.erased_at) as "erasedAt", bool_or(${IS_BACK}) as "isBack"
from json_to_recordset($1) as g (place integer, "organizationId" uuid, "connectionId" uuid, name text)
left join erased_name e on e.organization_id = g."organizationId" and e.hash = ${hashOf('g."organizationId"', 'g.name')}
group by g.place having max(e.erased_at) is not null`;
