import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { countryPrefixes } from '../../infrastructure/whatsapp/account-number.js';
import type { Subject } from '../workspaces/erasure/erasure.service.js';
import { DELIVERY_BOUNDS, MEASURES } from './usage.types.js';

/** Days after which contents of messages and the numbers of codes are gone; 0: never. */
export interface KeptDays {
  contents: number;
  codes: number;
}

/** A count takes at most one part in so many of the time. */
const PACE = 100;

export const DELIVERY_COLUMNS = [...DELIVERY_BOUNDS, Infinity].map((_, index) => `d${index}`);

export const FIGURES = [...MEASURES, ...DELIVERY_COLUMNS];
/** Columns of usage_total beside those that say of what. */
export const TOTALED = ['billable', 'country', 'category', 'pricing_type', 'failure_category', ...FIGURES];

/**
 * Counts messages and codes in the background: only these statements read their tables. What is counted replaces what was
 * counted before: of the present hour that is its last quarter, once it is over the hour so far, and later the whole hour.
 */
@Injectable()
export class CountingRepository {
  private prefixes: { prefix: string[]; country: string[] } | null = null;

  constructor(private readonly database: Database) {}

  /** Adds the hours up to the present one; the first time, from the oldest message or code on. */
  async addHours(): Promise<void> {
    await this.database.execute(ADD_HOURS);
  }

  /** Counts the newest hour that is due. False: none is. */
  countDue(kept: KeptDays): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.lock();
      await this.database.execute(LATE);
      const due = await this.database.find<{ hour: Date }>(
        `select hour from usage_hour where next_at <= clock_timestamp() order by hour desc limit 1`,
      );
      if (due === null) return false;
      await this.count(due.hour, kept);
      return true;
    });
  }

  /**
   * Counts the older hours in which the person wrote or was written to, for the last time: what names the person is removed
   * next, and with it the country and the template. Younger hours are counted again in any case.
   */
  async countBeforeErasure(subject: Subject, kept: KeptDays): Promise<void> {
    await this.database.transaction(async () => {
      await this.lock();
      await this.database.execute(LATE);
    });
    const hours = await this.database.query<{ hour: Date }>(HOURS_OF_PERSON, [
      subject.organizationId,
      [...subject.numbers, ...subject.userIds],
    ]);
    for (const { hour } of hours) {
      await this.database.transaction(async () => {
        await this.lock();
        await this.count(hour, kept);
        await this.database.execute('update usage_hour set next_at = null where hour = $1', [hour]);
      });
    }
  }

  /** The start of the oldest hour before this time that is still to be counted; else the time. */
  async countedBefore(before: Date): Promise<Date> {
    const { at } = await this.database.row<{ at: Date }>(
      `select least($1, min(hour)) as at from (
         select hour from usage_hour where next_at is not null union all select hour from usage_late) as left_over
       where hour < $1`,
      [before],
    );
    return at;
  }

  async asOf(): Promise<Date | null> {
    const { at } = await this.database.row<{ at: Date | null }>(
      `select least(max(counted_at), min(hour) filter (where counted_at is null)) as at from usage_hour
       where counted_at is null or hour >= (select max(hour) from usage_hour where counted_at is not null)`,
    );
    return at;
  }

  /** Removes figures of before this time. Returns how many rows. */
  async remove(before: Date, limit: number): Promise<number> {
    let rows = 0;
    for (const [table, where] of [
      ['usage_count', "span = 'slot' and start < $1"],
      ['usage_count', "span = 'day' and start < $1"],
      ['usage_total', "span = 'hour' and start < $1"],
      ['usage_total', "span = 'day' and start < $1"],
      ['usage_codes', 'start < $1'],
    ] as const) {
      rows += await this.database.execute(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where ${where} order by start limit $2))`,
        [before, limit],
      );
    }
    await this.database.execute('delete from usage_hour where hour < $1 and next_at is null', [before]);
    return rows;
  }

  private async lock(): Promise<void> {
    await this.database.execute('select from usage_lock for update');
  }

  /** In the ambient transaction, under the lock. */
  private async count(hour: Date, { contents, codes }: KeptDays): Promise<void> {
    const { counted, ageDays, startedAt, since, until } = await this.database.row<{
      counted: boolean;
      ageDays: number;
      startedAt: string;
      since: Date;
      until: Date;
    }>(TIMES, [hour]);
    const { prefix, country } = this.countries();
    const range = [since, until];
    // What retention has cleared already is no longer counted right.
    if (!counted || contents === 0 || ageDays < contents) {
      await this.database.execute(`delete from usage_count where span = 'slot' and start >= $1 and start < $2`, range);
      // Planned as if each message were a group of its own, they would be sorted, which costs twice as much; and a plan
      // with a sort would then be compiled, whatever its size.
      await this.database.execute('set local enable_sort = off; set local jit = off');
      await this.database.execute(COUNT, [...range, prefix, country]);
      await this.database.execute('set local enable_sort = on');
      await this.database.execute(`delete from usage_count where span = 'day' and start = ${DAY_OF_HOUR}`, [hour]);
      await this.database.execute(COUNT_DAY, [hour]);
      await this.database.execute(`delete from usage_total where span = 'hour' and start = $1`, [hour]);
      await this.database.execute(TOTAL_HOUR, [hour]);
      await this.database.execute(`delete from usage_total where span = 'day' and start = ${DAY_OF_HOUR}`, [hour]);
      await this.database.execute(TOTAL_DAY, [hour]);
    }
    if (!counted || codes === 0 || ageDays < codes) {
      await this.database.execute('delete from usage_codes where start >= $1 and start < $2', range);
      await this.database.execute(COUNT_CODES, range);
    }
    await this.database.execute(COUNTED, [hour, startedAt, lastCounts([contents, codes])]);
  }

  private countries(): { prefix: string[]; country: string[] } {
    if (this.prefixes === null) {
      const all = countryPrefixes();
      this.prefixes = { prefix: all.map(({ prefix }) => prefix), country: all.map(({ country }) => country) };
    }
    return this.prefixes;
  }
}

/** Hours after the end of an hour with which the last counts before retention come. */
function lastCounts(days: readonly number[]): number[] {
  return days.filter((each) => each > 0).map((each) => each * 24 - 2);
}

const HOUR_OF = (time: string): string => `date_trunc('hour', ${time}, 'UTC')`;
const DAY_OF_HOUR = `date_trunc('day', $1::timestamptz, 'UTC')`;

// The oldest message of each number, by its index; codes are younger than their service.
const ADD_HOURS = `
insert into usage_hour (hour, next_at)
select hour, clock_timestamp() from generate_series(
  coalesce((select max(hour) from usage_hour), (
    select ${HOUR_OF("greatest(min(first.created_at), now() - interval '762 days')")} from (
      select m.created_at from connection k cross join lateral (
        select created_at from message where connection_id = k.id and direction = 'outbound' order by created_at limit 1) m
      union all
      select m.created_at from connection k cross join lateral (
        select created_at from message where connection_id = k.id and direction = 'inbound' order by created_at limit 1) m
      union all
      select min(created_at) from otp_challenge) as first
    having min(first.created_at) is not null), ${HOUR_OF('now()')}),
  ${HOUR_OF('now()')}, interval '1 hour') as hour
on conflict (hour) do nothing`;

const QUARTER = (time: string): string => `date_bin('15 minutes', ${time}, '2000-01-01 00:00:00+00')`;
/** Of what is committed later than this the count at the end of a quarter knows. */
const COMMITTED = (time: string): string => `${time} - interval '1 minute'`;

// Since when an hour is counted: while it is the present one, from the quarter of the last count on, until that is over.
const TIMES = `
select h.counted_at is not null as counted, extract(epoch from t.now - h.hour)::float8 / 86400 as "ageDays",
  t.now::text as "startedAt", h.hour + interval '1 hour' as until,
  case when t.now < h.hour + interval '1 hour' and ${QUARTER(COMMITTED('h.counted_at'))} = ${QUARTER(COMMITTED('t.now'))}
    then greatest(h.hour, ${QUARTER(COMMITTED('t.now'))}) else h.hour end as since
from usage_hour h cross join (select clock_timestamp() as now) as t where h.hour = $1`;

/** Which of DELIVERY_COLUMNS; null: not delivered. */
const DELIVERY_CLASS = `width_bucket(s.delivered_at - s.accepted_at,
  array[${DELIVERY_BOUNDS.map((bound) => `'${bound} milliseconds'`).join(', ')}]::interval[])`;

const OF_TIME = `m.connection_id = k.id and m.created_at >= $1 and m.created_at < $2`;
const DIMENSIONS = 'billable, type, source, country, category, template, pricing_type, failure_category';
const messagesBy = (condition: string): string => `coalesce(sum(messages) filter (where ${condition}), 0)`;

// What was sent in the app was not submitted here, and has no cost of ours; a history is none of this time's.
// A recipient is a number, or a user id that begins with its country. What a status passed without being reported itself
// counts as reached.
// Each message costs one count only: what is the same of all its columns is gathered first, and summed up by column then.
const COUNT = `
with found as materialized (
  select m.connection_id, m.type, ${QUARTER('m.created_at')} as start,
    coalesce(m.source, case when m.direction = 'outbound' then 'api' else 'customer' end) as source,
    left(m.name, 4) as place,
    case when m.direction = 'outbound' and m.type = 'template' then (
      select c.content ->> 'name' from message_content c where c.message_id = m.id) end as template,
    s.status = 'outcome_unknown' as is_unknown, s.billable, s.pricing_category as category, s.pricing_type,
    case when s.status = 'failed' then coalesce(s.failure_category, 'unknown') end as failure_category,
    case when s.read_at is not null or s.status = 'read' then 4 when s.delivered_at is not null or s.status = 'delivered' then 3
      when s.sent_at is not null or s.status = 'sent' then 2 when s.accepted_at is not null or s.status = 'accepted' then 1
      else 0 end as reached,
    ${DELIVERY_CLASS} as delivery, count(*) as messages
  from connection k
  cross join lateral (
    select m.id, m.connection_id, m.direction, m.type, m.created_at, m.source,
      coalesce(m.recipient_user_id, m.recipient) as name from message m
    where m.direction = 'outbound' and ${OF_TIME} and m.source is distinct from 'history'
    union all
    select m.id, m.connection_id, m.direction, m.type, m.created_at, m.source, m.sender as name
    from message m where m.direction = 'inbound' and ${OF_TIME} and m.source is null) as m
  left join message_state s on s.message_id = m.id and s.connection_id = k.id and s.created_at >= $1 and s.created_at < $2
  group by ${Array.from({ length: 13 }, (_, index) => index + 1).join(', ')}
), places as (
  select place, case when place ~ '^[A-Z]{2}[.]' then left(place, 2) else (
    select country from unnest($3::text[], $4::text[]) as p (prefix, country)
    where starts_with(place, prefix) order by length(prefix) desc limit 1) end as country
  from (select distinct place from found) as each
)
insert into usage_count (organization_id, span, start, connection_id, ${DIMENSIONS}, ${MEASURES.join(', ')},
  ${DELIVERY_COLUMNS.join(', ')})
select k.organization_id, 'slot', start, connection_id, ${DIMENSIONS},
  ${messagesBy("source = 'api'")}, ${[1, 2, 3, 4].map((reached) => messagesBy(`reached >= ${reached}`)).join(', ')},
  ${messagesBy('failure_category is not null')}, ${messagesBy('is_unknown')}, ${messagesBy("source = 'customer'")},
  ${DELIVERY_COLUMNS.map((_, index) => messagesBy(`delivery = ${index}`)).join(', ')}
from found join connection k on k.id = connection_id join organization o on o.id = k.organization_id
left join places using (place)
group by k.organization_id, start, connection_id, ${DIMENSIONS}
order by k.organization_id, start`;

const COUNT_DAY = `
insert into usage_count (organization_id, span, start, connection_id, ${DIMENSIONS}, ${MEASURES.join(', ')},
  ${DELIVERY_COLUMNS.join(', ')})
select organization_id, 'day', ${DAY_OF_HOUR}, connection_id, ${DIMENSIONS},
  ${[...MEASURES, ...DELIVERY_COLUMNS].map((column) => `sum(${column})`).join(', ')}
from usage_count
where span = 'slot' and start >= ${DAY_OF_HOUR} and start < ${DAY_OF_HOUR} + interval '1 day'
group by organization_id, connection_id, ${DIMENSIONS}
order by organization_id`;

const TOTAL_HOUR = `
insert into usage_total (organization_id, level, span, start, account, connection_id, ${TOTALED.join(', ')})
select u.organization_id, l.level, 'hour', $1, case when l.level <> 'workspace' then k.waba_id end,
  case l.level when 'number' then u.connection_id end, u.billable,
  case when u.billable and l.level <> 'workspace' then u.country end, u.category, u.pricing_type, u.failure_category,
  ${FIGURES.map((column) => `sum(u.${column})`).join(', ')}
from usage_count u left join connection k on k.id = u.connection_id and k.organization_id = u.organization_id
cross join (values ('workspace'), ('account'), ('number')) as l (level)
where u.span = 'slot' and u.start >= $1 and u.start < $1::timestamptz + interval '1 hour'
group by 1, 2, 5, 6, 7, 8, 9, 10, 11
order by 1, 2`;

const TOTAL_DAY = `
insert into usage_total (organization_id, level, span, start, account, connection_id, ${TOTALED.join(', ')})
select organization_id, level, 'day', ${DAY_OF_HOUR}, account, connection_id, ${TOTALED.slice(0, 5).join(', ')},
  ${FIGURES.map((column) => `sum(${column})`).join(', ')}
from usage_total
where span = 'hour' and start >= ${DAY_OF_HOUR} and start < ${DAY_OF_HOUR} + interval '1 day'
group by organization_id, level, account, connection_id, ${TOTALED.slice(0, 5).join(', ')}
order by organization_id, level`;

const COUNT_CODES = `
insert into usage_codes (organization_id, project_id, start, country, requested, sent, delivered, verified, expired, failed)
select organization_id, project_id, ${QUARTER('created_at')}, country, count(*),
  count(*) filter (where sent_at is not null or delivered_at is not null or read_at is not null),
  count(*) filter (where delivered_at is not null or read_at is not null),
  count(*) filter (where status = 'verified'), count(*) filter (where status = 'expired'),
  count(*) filter (where status = 'failed')
from otp_challenge
where created_at >= $1 and created_at < $2
group by organization_id, project_id, 3, country`;

// The present hour each 30 s, or as seldom as its size asks for; then at the times that are left.
const COUNTED = `
update usage_hour set counted_at = $2,
  next_at = case
    when clock_timestamp() < hour + interval '1 hour' then
      clock_timestamp() + greatest(interval '30 seconds', ${PACE} * (clock_timestamp() - $2::timestamptz))
    else (
      select min(at) from (
        select hour + interval '1 hour' + make_interval(mins => minutes) as at
        from unnest(array[5, 60, 1440, 10080]) as minutes
        union all
        select hour + make_interval(hours => hours) from unnest($3::integer[]) as hours) as times
      where at > clock_timestamp()) end
where hour = $1`;

// Under the lock, so that no count under way writes over it. Many changes within five minutes are one count. An hour that is no
// longer kept is not counted again.
const LATE = `
with late as (delete from usage_late returning hour)
update usage_hour set next_at = clock_timestamp() + interval '5 minutes'
where hour in (select hour from late) and coalesce(next_at > clock_timestamp() + interval '5 minutes', true)`;

const HOURS_OF_PERSON = `
select distinct ${HOUR_OF('m.created_at')} as hour from (
  select created_at from message
  where organization_id = $1 and direction = 'outbound' and recipient = any($2::text[])
  union all
  select created_at from message
  where organization_id = $1 and direction = 'inbound' and sender = any($2::text[])) as m
join usage_hour h on h.hour = ${HOUR_OF('m.created_at')}
where h.hour < clock_timestamp() - interval '8 days' and h.next_at is not null`;
