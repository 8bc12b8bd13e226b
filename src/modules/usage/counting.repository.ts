import { Injectable } from '@nestjs/common';
import { lowestIdSince } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import { countryPrefixes } from '../../infrastructure/whatsapp/account-number.js';
import type { Subject } from '../workspaces/erasure/erasure.service.js';
import { DELIVERY_BOUNDS, LAST_COUNT_HOURS, MEASURES, SLOT_MS, slotOf } from './usage.types.js';

/** Days after which contents of messages and numbers of codes are deleted; 0: never. */
export interface KeptDays {
  contents: number;
  codes: number;
}

/** Counting takes at most 1/PACE of the time. */
const PACE = 100;
/** Usage is kept for 25 months. */
export const KEPT_DAYS = 762;

export const DELIVERY_COLUMNS = [...DELIVERY_BOUNDS, Infinity].map((_, index) => `d${index}`);
export const FIGURES = [...MEASURES, ...DELIVERY_COLUMNS];

/**
 * Counts messages and codes in the background, one slot (a quarter of an hour) at a time. A count reads the tables by
 * the range of ids that were created in the slot, and replaces the earlier count of the slot.
 *
 * A slot is counted every half minute while it is current, then at the times in `COUNTED`, and after each later change
 * (`NOTE_LATE`). What a transaction writes that is open during a count, the next count of the slot sees. No regular
 * count follows the last one, so changes are noted as late from an hour before the last one on. Only what a transaction
 * writes that stays open for that hour is missed.
 */
@Injectable()
export class CountingRepository {
  private prefixes: { prefix: string[]; country: string[] } | null = null;

  constructor(private readonly database: Database) {}

  /** Adds the slots up to the current one; the first time, from the oldest message or code on. */
  async addSlots(): Promise<void> {
    await this.database.execute(ADD_SLOTS);
  }

  /** Counts the newest due slot. Returns false where no slot is due. */
  countDue(kept: KeptDays): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.lock(kept);
      const due = await this.database.find<{ start: Date }>(
        `select start from usage_due where at <= clock_timestamp() order by start desc limit 1`,
      );
      if (due === null) return false;
      const startedAt = await this.count(due.start, kept);
      await this.database.execute(COUNTED, [due.start, startedAt]);
      return true;
    });
  }

  /**
   * Counts the older slots with messages of this person, for the last time: the erasure then removes the person's data,
   * and so the country and the template of the messages. Newer slots are counted again anyway.
   */
  async countBeforeErasure(subject: Subject, kept: KeptDays): Promise<void> {
    const due = await this.database.transaction(async () => {
      await this.lock(kept);
      return this.database.query<{ start: Date }>(DUE_OF_PERSON, [
        subject.organizationId,
        [...subject.numbers, ...subject.userIds],
      ]);
    });
    for (const { start } of due) {
      await this.database.transaction(async () => {
        await this.lock(kept);
        await this.count(start, kept);
      });
    }
  }

  /** The start of the oldest slot before this time that must still be counted; the given time where there is none. */
  async countedBefore(before: Date): Promise<Date> {
    const { at } = await this.database.row<{ at: Date }>(
      'select least($1, min(start)) as at from usage_due where start < $1',
      [before],
    );
    return at;
  }

  /** Up to when everything is counted: the last count of the oldest slot that was not counted after its end. */
  async asOf(): Promise<Date | null> {
    const found = await this.database.find<{ at: Date }>(
      `select coalesce(min(coalesce(counted_at, start)) filter (where counted_at is null or counted_at < ${COMPLETE}),
         max(start) + interval '15 minutes') as at
       from usage_due where at is not null having count(counted_at) > 0`,
    );
    return found?.at ?? null;
  }

  /** Removes usage from before this time. Returns how many rows. */
  remove(before: Date, limit: number): Promise<number> {
    return this.database.execute(
      'delete from usage where ctid = any(array(select ctid from usage where start < $1 order by start limit $2))',
      [before, limit],
    );
  }

  /**
   * Makes the ambient transaction the only one that counts, until its end, and makes the slots with late changes due.
   */
  private async lock({ contents, codes }: KeptDays): Promise<void> {
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended('usage', 0))`);
    const days = Math.min(...[contents, codes].filter((each) => each > 0));
    await this.database.execute(LATE, [Number.isFinite(days) ? days : null]);
  }

  /**
   * Counts a due slot, which is then no longer due. Runs in the ambient transaction, under the lock. Returns when the
   * count began.
   */
  private async count(start: Date, { contents, codes }: KeptDays): Promise<string | null> {
    const due = await this.database.find<{ counted: boolean; ageDays: number; startedAt: string }>(TAKE_DUE, [start]);
    // Another process counted it first.
    if (due === null) return null;
    const { counted, ageDays, startedAt } = due;
    const { prefix, country } = this.countries();
    const range = [start, lowestIdSince(start), lowestIdSince(new Date(start.getTime() + SLOT_MS))];
    // After retention has deleted contents, a count would be wrong.
    if (!counted || contents === 0 || ageDays < contents) {
      await this.database.execute('delete from usage where start = $1 and connection_id is not null', [start]);
      // Both tables are read in the order of their ids. If the planner expected a group per message, it would sort
      // them, at twice the cost, and such a plan would be compiled whatever its size.
      await this.database.execute('set local enable_nestloop = off; set local enable_sort = off; set local jit = off');
      await this.database.execute(COUNT, [...range, prefix, country]);
      await this.database.execute('set local enable_nestloop = on; set local enable_sort = on');
    }
    if (!counted || codes === 0 || ageDays < codes) {
      await this.database.execute('delete from usage where start = $1 and project_id is not null', [start]);
      await this.database.execute(COUNT_CODES, range);
    }
    return startedAt;
  }

  private countries(): { prefix: string[]; country: string[] } {
    if (this.prefixes === null) {
      const all = countryPrefixes();
      this.prefixes = { prefix: all.map(({ prefix }) => prefix), country: all.map(({ country }) => country) };
    }
    return this.prefixes;
  }
}

/** SQL: the slot of a time. */
export const SLOT_OF = (time: string): string => `date_bin('15 minutes', ${time}, 'epoch')`;
/**
 * SQL: a count that begins at this time or later sees everything that was submitted in the slot, because all of that is
 * committed a minute after the slot's end.
 */
const COMPLETE = `start + interval '16 minutes'`;

// Adds a row for each slot whose last regular count is still to come, even if the clock was set forward or back.
const ADD_SLOTS = `
insert into usage_due (start, at)
select slot, clock_timestamp() from (select ${SLOT_OF('clock_timestamp()')} as present) as t
cross join lateral generate_series(
  greatest(
    coalesce((
      select least(${slotOf('id')}, present) from (
        (select id from message order by id limit 1) union all (select id from otp_challenge order by id limit 1)) as oldest
      order by id limit 1), present),
    present - interval '${KEPT_DAYS} days',
    least(
      coalesce((select start from usage_due where start <= present and at is not null order by start desc limit 1), '-infinity'),
      present - interval '${LAST_COUNT_HOURS} hours' + interval '15 minutes')),
  present, interval '15 minutes') as slot
where not exists (select from usage_due d where d.start = slot and d.at is not null)`;

// Makes the slots with late changes due. Runs under the lock, so that no running count overwrites the new times. A slot
// that is due anyway keeps its time: that count includes the changes. The delay lets many changes share a count: it is
// one second per message of the slot, at least five minutes and at most a quarter of the slot's age. So late counts
// take less than one hundredth of the time, however many changes come. $1: the days after which retention deletes.
const LATE = `
with late as (delete from usage_due where at is null returning start)
insert into usage_due (start, at, counted_at)
select l.start, greatest(now + interval '5 minutes', least(
    now + least((now - l.start) / 4, make_interval(secs => (
      select coalesce(sum(coalesce(u.submitted, 0) + coalesce(u.accepted, 0) + coalesce(u.received, 0)), 0)
      from usage u where u.start = l.start))),
    l.start + make_interval(days => $1::integer) - interval '2 hours')), now
from (select distinct start from late) as l cross join (select clock_timestamp() as now) as t
where not exists (select from usage_due d where d.start = l.start and d.at is not null)`;

const TAKE_DUE = `
delete from usage_due where start = $1 and at is not null
returning counted_at is not null as counted, extract(epoch from clock_timestamp() - start)::float8 / 86400 as "ageDays",
  clock_timestamp()::text as "startedAt"`;

/** The index of the class in DELIVERY_COLUMNS; null: not delivered. */
const DELIVERY_CLASS = `width_bucket(s.delivered_at - s.accepted_at,
  array[${DELIVERY_BOUNDS.map((bound) => `'${bound} milliseconds'`).join(', ')}]::interval[])`;

const DIMENSIONS = 'billable, type, source, country, category, template, pricing_type, failure_category';
const messagesBy = (condition: string): string => `sum(messages) filter (where ${condition})`;

// Messages sent in the app were not submitted here, and have no cost; imported history does not count. The country
// comes from the beginning of the number or the user id. A status that was skipped counts as reached. To count each
// message once, rows with equal columns are grouped first, and then summed by column. $1 the slot, $2 the first id that
// may belong to it, $3 the first id of the next slot.
const COUNT = `
with found as materialized (
  select m.organization_id, m.connection_id, m.type,
    coalesce(m.source, case when m.direction = 'outbound' then 'api' else 'customer' end) as source,
    left(case when m.direction = 'inbound' then m.sender else coalesce(m.recipient_user_id, m.recipient) end, 4) as place,
    case when m.direction = 'outbound' and m.type = 'template' then (
      select c.content ->> 'name' from message_content c
      where c.message_id = m.id and c.message_id >= $2 and c.message_id < $3) end as template,
    s.status = 'outcome_unknown' as is_unknown, s.billable, s.pricing_category as category, s.pricing_type,
    case when s.status = 'failed' then coalesce(s.failure_category, 'unknown') end as failure_category,
    case when s.read_at is not null or s.status = 'read' then 4 when s.delivered_at is not null or s.status = 'delivered' then 3
      when s.sent_at is not null or s.status = 'sent' then 2 when s.accepted_at is not null or s.status = 'accepted' then 1
      else 0 end as reached,
    ${DELIVERY_CLASS} as delivery, count(*) as messages
  from message m left join message_state s on s.message_id = m.id and s.message_id >= $2 and s.message_id < $3
  where m.id >= $2 and m.id < $3 and (m.source is null or m.source = 'app' and m.direction = 'outbound')
  group by ${Array.from({ length: 13 }, (_, index) => index + 1).join(', ')}
), places as (
  select place, case when place ~ '^[A-Z]{2}[.]' then left(place, 2) else (
    select country from unnest($4::text[], $5::text[]) as p (prefix, country)
    where starts_with(place, prefix) order by length(prefix) desc limit 1) end as country
  from (select distinct place from found) as each
)
insert into usage (organization_id, start, connection_id, ${DIMENSIONS}, ${FIGURES.join(', ')})
select organization_id, $1::timestamptz, connection_id, ${DIMENSIONS},
  ${messagesBy("source = 'api'")}, ${[1, 2, 3, 4].map((reached) => messagesBy(`reached >= ${reached}`)).join(', ')},
  ${messagesBy('failure_category is not null')}, ${messagesBy('is_unknown')}, ${messagesBy("source = 'customer'")},
  ${DELIVERY_COLUMNS.map((_, index) => messagesBy(`delivery = ${index}`)).join(', ')}
from found left join places using (place)
where (select true from organization o where o.id = organization_id)
group by organization_id, connection_id, ${DIMENSIONS}
order by organization_id`;

// $1 to $3 as in COUNT.
const COUNT_CODES = `
insert into usage (organization_id, start, project_id, country, submitted, sent, delivered, verified, expired, failed)
select organization_id, $1::timestamptz, project_id, country, count(*),
  count(*) filter (where sent_at is not null or delivered_at is not null or read_at is not null),
  count(*) filter (where delivered_at is not null or read_at is not null),
  count(*) filter (where status = 'verified'), count(*) filter (where status = 'expired'),
  count(*) filter (where status = 'failed')
from otp_challenge
where id >= $2 and id < $3
group by organization_id, project_id, country`;

// The current slot each 30 s, or less often if it is large; then at the remaining times. A slot in the future, after
// the clock was set back, waits for its time. $2: when this count began.
const COUNTED = `
insert into usage_due (start, at, counted_at)
select start, at, $2::timestamptz from (select $1::timestamptz as start) as counted cross join lateral (
  select case
    when $2::timestamptz < start then start
    when $2::timestamptz < ${COMPLETE} then
      clock_timestamp() + greatest(interval '30 seconds', ${PACE} * (clock_timestamp() - $2::timestamptz))
    else (
      select min(start + after) from unnest('{20 minutes,35 minutes,75 minutes,${LAST_COUNT_HOURS} hours}'::interval[]) as after
      where start + after > $2::timestamptz) end as at) as t
where at is not null`;

const DUE_OF_PERSON = `
select distinct d.start from (
  select id from message where organization_id = $1 and direction = 'outbound' and recipient = any($2::text[])
  union all
  select id from message where organization_id = $1 and direction = 'inbound' and sender = any($2::text[])) as m
join usage_due d on d.start = ${slotOf('m.id')}
where d.at is not null and d.start <= clock_timestamp() - interval '${LAST_COUNT_HOURS} hours'`;
