import { isOnlyFormer } from '../conversations/contacts/recipient.types.js';
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor, Period } from '../../infrastructure/http/page.query.js';
import { spellingsOf } from '../../infrastructure/whatsapp/account-number.js';
import { ErasedNames } from '../workspaces/erasure/erased-names.service.js';
import type { Subject } from '../workspaces/erasure/erasure.service.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import { OptOutKeywordsEntity } from './entities/opt-out-keywords.entity.js';
import type { KeywordsByLanguage } from './opt-out-keywords.js';
import {
  hashOf,
  optOutOf,
  type OptOut,
  type OptOutCategory,
  type OptOutReport,
  type OptOutsFound,
  type OptOutSource,
  type OptOutTarget,
} from './opt-outs.types.js';

/*
 * Words of this file. An entry: one row of `opt_out`, the latest choice of a person for a source, a category and a
 * connection. A name: anything by which a person is found, which is a phone in any spelling, a user id, a former phone
 * or user id (`conversation_alias`), or the id of a conversation. `opt_out_name` has the salted hashes of each entry's
 * names.
 */

/** Which entries to list. A filter that is null does not apply. */
export interface OptOutFilter extends ListCursor, Period {
  phone: string | null;
  userId: string | null;
  source: OptOutSource | null;
  category: OptOutCategory | null;
  limit: number;
}

interface Row extends OptOut {
  active: boolean;
  saidAt: Date;
}

/** A person, as far as the workspace knows their names. */
interface Person {
  /** All names, in the form that is hashed. */
  names: string[];
  /** Whether a contact has, or had, one of these names. */
  isContact: boolean;
  /** The phone and the user id that entries show. */
  phone: string | null;
  userId: string | null;
}

interface ContactRow {
  id: string;
  phone: string | null;
  waId: string | null;
  userId: string | null;
  former: string[];
}

/** Limit of the rounds in which names lead to conversations, and the conversations to further names. */
const ROUNDS = 3;

/**
 * The tables of opt-outs. A transaction that changes entries or keywords of a workspace first locks the workspace's row
 * in `opt_out_salt`, so such transactions run one after another.
 */
@Injectable()
export class OptOutsRepository {
  constructor(
    private readonly database: Database,
    private readonly erased: ErasedNames,
  ) {}

  /** Finds, for each message, in the same order, the opt-outs that block it. */
  find(targets: readonly OptOutTarget[]): Promise<OptOutsFound[]> {
    return this.database.query<OptOutsFound>(FIND, [JSON.stringify(targets)]);
  }

  /** One page of the entries that callers see, newest first. */
  async page(organizationId: string, filter: OptOutFilter): Promise<OptOut[]> {
    const { phone, userId, source, category, limit, before, beforeId, since, until } = filter;
    const person = phone === null && userId === null ? null : await this.personOf(organizationId, null, phone, userId);
    const cursor = [before, beforeId, limit];
    const params = [organizationId, person?.names ?? null, source, ...cursor, category, since, until];
    return this.database.query<OptOut>(PAGE, params);
  }

  /**
   * Stores a choice of a person, unless a later choice is known. Of two choices at the same time the opt-out wins. The
   * event of the change is written in the same transaction. A report of WhatsApp about an erased person who is no
   * contact again is stored as hashes only: no caller sees the entry, and no event is written.
   *
   * @returns the entry, and whether the opt-out began or ended with this choice.
   */
  enter(report: OptOutReport): Promise<{ entry: OptOut; changed: boolean }> {
    return this.database.transaction(async () => {
      const { organizationId, connectionId, source, category, optedOut } = report;
      await this.lock(organizationId);
      const person = await this.personOf(organizationId, connectionId, report.phone, report.userId);
      const rows = await this.database.query<Row>(KNOWN, [
        organizationId,
        person.names,
        source,
        category,
        connectionId,
      ]);
      const known = await this.joined(organizationId, rows);
      const isErased = source === 'platform' && !person.isContact && (await this.wasErased(report));
      const at = await this.timeOf(report.at);
      const time = known === null ? -Infinity : known.saidAt.getTime();
      const isNews = at.getTime() > time || (at.getTime() === time && optedOut);
      const before = known ?? { id: newId(), connectionId, source, category, active: false, since: at };
      const begins = optedOut && !before.active;
      const entry: Row = isNews
        ? {
            ...before,
            active: optedOut,
            saidAt: at,
            since: begins ? at : before.since,
            phone: optedOut && !isErased ? person.phone : null,
            userId: optedOut && !isErased ? person.userId : null,
            reason: optedOut && !isErased ? (report.reason ?? (before.active ? (known?.reason ?? null) : null)) : null,
          }
        : (known as Row);
      if (isNews) await this.database.execute(WRITE, valuesOf(organizationId, entry));
      await this.database.execute(NAME, [organizationId, person.names, entry.id]);
      const changed = before.active !== entry.active && !isErased;
      if (changed) await this.announce(organizationId, { ...entry, phone: person.phone, userId: person.userId }, at);
      return { entry, changed };
    });
  }

  /**
   * Ends one of the workspace's own opt-outs. `missing`: no caller sees an entry with this id; `platform`: WhatsApp
   * reported the entry, so it stays.
   */
  remove(organizationId: string, id: string): Promise<'removed' | 'missing' | 'platform'> {
    return this.database.transaction(async () => {
      await this.lock(organizationId);
      const [row] = await this.database.query<Row>(
        `select ${COLUMNS} from opt_out o where o.organization_id = $1 and o.id = $2 and ${SHOWN}`,
        [organizationId, id],
      );
      if (row === undefined) return 'missing';
      if (row.source !== 'own') return 'platform';
      const saidAt = await this.timeOf(null);
      const ended = { ...row, active: false, saidAt };
      const values = { ...ended, phone: null, userId: null, reason: null };
      await this.database.execute(WRITE, valuesOf(organizationId, values));
      await this.announce(organizationId, ended, saidAt);
      return 'removed';
    });
  }

  /**
   * Removes phone, user id and reason from a person's entries. The hashes stay, so the person's choices remain in
   * force. Returns how many entries had one of these.
   *
   * @param erase false: only counts the entries.
   */
  async erase({ organizationId, numbers, userIds, conversationIds }: Subject, erase: boolean): Promise<number> {
    const params = [organizationId, [...numbers.flatMap(spellingsOf), ...userIds, ...conversationIds]];
    const ofPerson = `opt_out o where ${OF_PERSON} and (o.phone is not null or o.user_id is not null or o.reason is not null)`;
    return this.database.byIndex(async () => {
      if (!erase) return this.database.count(`select count(*)::integer as count from ${ofPerson}`, params);
      // Waits for a concurrent `enter`, which may have read the person as not erased.
      await this.lock(organizationId);
      const blank = `update opt_out set phone = null, user_id = null, reason = null
        where id = any(array(select o.id from ${ofPerson}))`;
      return this.database.execute(blank, params);
    });
  }

  /** Whether the person of WhatsApp's report was erased. False for a report of the workspace. */
  private async wasErased({ organizationId, connectionId, phone, userId }: OptOutReport): Promise<boolean> {
    if (connectionId === null) return false;
    const [person] = await this.erased.find([{ organizationId, connectionId, names: [phone, userId] }], this.database);
    return person !== null;
  }

  async keywords(organizationId: string): Promise<KeywordsByLanguage> {
    return (await this.database.repository(OptOutKeywordsEntity).findOneBy({ organizationId }))?.keywords ?? {};
  }

  async setKeywords(organizationId: string, keywords: KeywordsByLanguage): Promise<void> {
    await this.database.repository(OptOutKeywordsEntity).upsert({ organizationId, keywords }, ['organizationId']);
  }

  /**
   * Makes the ambient transaction the only one that changes the entries and keywords of a workspace. Creates the
   * workspace's salt if there is none.
   */
  async lock(organizationId: string): Promise<void> {
    await this.database.execute(
      'insert into opt_out_salt (organization_id, salt) values ($1, $2) on conflict do nothing',
      [organizationId, randomBytes(16).toString('hex')],
    );
    await this.database.execute('select from opt_out_salt where organization_id = $1 for update', [organizationId]);
  }

  /**
   * The time of a choice: the given time, but not later than the database's time, which is also the default. A choice
   * with a time in the future would outrank later choices.
   */
  private async timeOf(at: Date | null): Promise<Date> {
    const sql = `select least($1::timestamptz, date_trunc('milliseconds', clock_timestamp())) as at`;
    return (await this.database.row<{ at: Date }>(sql, [at])).at;
  }

  /**
   * Collects the names of the person who has this phone or user id.
   *
   * @param connectionId only contacts of this connection; null: of all connections of the workspace.
   */
  private async personOf(
    organizationId: string,
    connectionId: string | null,
    phone: string | null,
    userId: string | null,
  ): Promise<Person> {
    const names = new Set([
      ...(phone === null ? [] : [phone, ...spellingsOf(phone)]),
      ...(userId === null ? [] : [userId]),
    ]);
    let rows: ContactRow[] = [];
    for (let round = 0, known = 0; round < ROUNDS && names.size > known; round++) {
      known = names.size;
      rows = await this.database.query<ContactRow>(CONTACTS, [organizationId, connectionId, [...names]]);
      for (const row of rows)
        for (const name of [row.id, row.phone, row.waId, row.userId, ...row.former]) if (name) names.add(name);
    }
    const named = rows.find((row) => (row.waId ?? row.phone) !== null);
    return {
      names: [...names],
      isContact: rows.length > 0,
      phone: phone ?? named?.waId ?? named?.phone ?? null,
      userId: userId ?? rows.find((row) => row.userId !== null)?.userId ?? null,
    };
  }

  /**
   * Merges the entries of one person into the first one, which has the latest choice. There are several where names
   * turned out only later to belong to one person. Returns the merged entry; null where there is none.
   */
  private async joined(organizationId: string, rows: readonly Row[]): Promise<Row | null> {
    const [first, ...others] = rows;
    if (first === undefined) return null;
    if (others.length > 0) {
      await this.database.execute(JOIN, [organizationId, first.id, others.map(({ id }) => id)]);
      await this.database.execute('delete from opt_out where organization_id = $1 and id = any($2)', [
        organizationId,
        others.map(({ id }) => id),
      ]);
    }
    return first;
  }

  /** Writes the event of a change, for the person's phone and user id in `entry`. */
  private async announce(organizationId: string, entry: Row, at: Date): Promise<void> {
    await this.database.execute(ANNOUNCE, [organizationId, entry.id, entry.phone, entry.userId, at]);
  }
}

function valuesOf(organizationId: string, entry: Row): unknown[] {
  const { id, connectionId, source, category, active, since, saidAt, phone, userId, reason } = entry;
  return [id, organizationId, connectionId, source, category, active, since, saidAt, phone, userId, reason];
}

const COLUMNS = `o.id, o.connection_id as "connectionId", o.source, o.category, o.active, o.since, o.said_at as "saidAt",
  o.phone, o.user_id as "userId", o.reason`;

/** SQL condition: callers see the entry `o`. */
const SHOWN = 'o.active and (o.phone is not null or o.user_id is not null)';

/** SQL condition: the entry `o` of the workspace $1 has one of the names $2. */
const OF_PERSON = `o.organization_id = $1 and o.id = any(array(
    select k.opt_out_id from opt_out_salt s cross join unnest($2::text[]) as n (name)
    join opt_out_name k on k.organization_id = s.organization_id and k.hash = ${hashOf('s.salt', 'n.name')}
    where s.organization_id = $1))`;

const found = (isMarketing: string): string =>
  optOutOf({
    organizationId: 't."organizationId"',
    connectionId: 't."connectionId"',
    recipient: 't.recipient',
    conversationId: 't."conversationId"',
    isMarketing,
  });

const FIND = `
select ${found('true')} as marketing, ${found('false')} as others
from rows from (json_to_recordset($1) as ("organizationId" uuid, "connectionId" uuid, recipient text, "conversationId" uuid))
  with ordinality as t ("organizationId", "connectionId", recipient, "conversationId", place)
order by t.place`;

// For each source and category, one list is read from the index of both, in the order of the page. $1 workspace, $2
// names or null, $3 source, $4 and $5 cursor, $6 limit, $7 category, $8 and $9 period.
const PAGE = `
select o.* from unnest(array['own', 'platform']) as k (source) cross join unnest(array['marketing', 'all']) as c (category)
cross join lateral (
  select ${COLUMNS} from opt_out o
  where o.organization_id = $1 and o.source = k.source and o.category = c.category and ${SHOWN}
    and o.since >= coalesce($8::timestamptz, '-infinity') and o.since < coalesce($9::timestamptz, 'infinity')
    and ($2::text[] is null or ${OF_PERSON})
    and ($4::timestamptz is null or case when $5::uuid is null then o.since < $4 else (o.since, o.id) < ($4, $5) end)
  order by o.since desc, o.id desc limit $6) as o
where ($3::text is null or k.source = $3) and ($7::text is null or c.category = $7)
order by o.since desc, o.id desc limit $6`;

/** The entries of a person for one source, category and connection, the latest choice first. $2: the names. */
const KNOWN = `
select ${COLUMNS} from opt_out o
where ${OF_PERSON} and o.source = $3 and o.category = $4 and o.connection_id is not distinct from $5::uuid
order by o.said_at desc, o.active desc, o.id`;

const WRITE = `
insert into opt_out (id, organization_id, connection_id, source, category, active, since, said_at, phone, user_id, reason)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (id) do update set active = excluded.active, since = excluded.since, said_at = excluded.said_at,
  phone = excluded.phone, user_id = excluded.user_id, reason = excluded.reason`;

/** Adds the names $2 to the entry $3. */
const NAME = `
insert into opt_out_name (organization_id, hash, opt_out_id)
select s.organization_id, ${hashOf('s.salt', 'n.name')}, $3::uuid
from opt_out_salt s cross join unnest($2::text[]) as n (name) where s.organization_id = $1
on conflict do nothing`;

/** Gives the names of the entries $3 to the entry $2. */
const JOIN = `
with gone as (
  delete from opt_out_name where organization_id = $1 and opt_out_id = any($3::uuid[]) returning hash
)
insert into opt_out_name (organization_id, hash, opt_out_id) select distinct $1::uuid, hash, $2::uuid from gone
on conflict do nothing`;

/** SQL: the contacts of the connection $2 that meet a condition; $2 null: of all connections of the workspace $1. */
const contacts = (condition: string): string => `
select c.id, c.phone, c.wa_id as "waId", c.user_id as "userId",
  array(select a.name from conversation_alias a where ${isOnlyFormer('a')} and (a.conversation_id = c.id
    or a.conversation_id in (select g.id from conversation g where g.merged_into = c.id))) as former
from connection n join conversation c on c.connection_id = n.id and ${condition}
where n.organization_id = $1 and ($2::uuid is null or n.id = $2)`;

// The contact `c` formerly had one of the names $3. A number that another contact has now leads only to that contact.
const FORMERLY = `c.id in (
  select coalesce(k.merged_into, k.id) from conversation_alias a join conversation k on k.id = a.conversation_id
  where a.connection_id = n.id and a.name = any($3::text[]) and ${isOnlyFormer('a')})`;

const CONTACTS = ['c.phone = any($3::text[])', 'c.wa_id = any($3::text[])', 'c.user_id = any($3::text[])', FORMERLY]
  .map(contacts)
  .join('\nunion');

const ANNOUNCE = `
with ${insertWebhookEvents(`(
  select o.organization_id, 'contact.opt_out.updated'::text as event_type, $5::timestamptz as occurred_at,
    case when o.connection_id is not null then array[o.connection_id] end as connection_ids, null::bytea as trace_context,
    jsonb_build_object('opt_out_id', o.id, 'connection_id', o.connection_id,
      'contact', jsonb_build_object('phone', $3::text, 'user_id', $4::text), 'source', o.source, 'category', o.category,
      'opted_out', o.active, 'reason', o.reason, 'occurred_at', ${isoTime('$5::timestamptz')}) as event_data
  from opt_out o where o.organization_id = $1 and o.id = $2)`)}
select 1`;
