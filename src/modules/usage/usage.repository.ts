import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { countryPrefixes } from '../../infrastructure/whatsapp/account-number.js';
import type { Subject } from '../workspaces/erasure/erasure.service.js';
import type { Piece } from './periods.js';
import {
  CODE_MEASURES,
  type CodeFigures,
  DELIVERY_BOUNDS,
  GROUPS,
  type Group,
  type Measure,
  MEASURES,
  type Rate,
} from './usage.types.js';

/** Rows of one bucket, of one value of each group and of one kind of bill and failure, summed up. */
export type SummedRow = Record<Measure, number> & {
  bucket: number;
  billable: boolean | null;
  pricingType: string | null;
  failureCategory: string | null;
  billedCategory: string | null;
  delivery: number[];
} & Partial<Record<Group, string | null>>;

/** Billable messages of one UTC month, for their cost. */
export type BilledRow = {
  bucket: number;
  month: string;
  country: string | null;
  billedCategory: string | null;
  account: string | null;
  messages: number;
} & Partial<Record<Group, string | null>>;

/** How many billable messages an account has in a UTC month, of all workspaces that share it. */
export interface Volume {
  month: string;
  account: string;
  country: string | null;
  category: string | null;
  messages: number;
}

interface Asked {
  organizationId: string;
  pieces: readonly Piece[];
  groupBy: readonly Group[];
  filter: Partial<Record<Group, string>>;
}

/** Days after which contents of messages and the numbers of codes are gone; 0: never. */
export interface KeptDays {
  contents: number;
  codes: number;
}

/** More rows would be read into memory for one answer. */
export const MAX_SUMMED = 20_000;
/** A count takes at most one part in so many of the time. */
const PACE = 33;

/**
 * The tables of usage. Only these statements read the tables of messages and codes, in the background: the hour is counted
 * whole and replaces what was counted of it.
 */
@Injectable()
export class UsageRepository {
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
      'select least($1, min(hour)) as at from usage_hour where next_at is not null and hour < $1',
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

  summed({ organizationId, pieces, groupBy, filter }: Asked): Promise<SummedRow[]> {
    const groups = groupBy.map((group) => `u.${COLUMNS[group]}`);
    const sums = MEASURES.map((measure) => `sum(u.${measure})::float8 as ${measure}`).join(', ');
    const names = groupBy.map((group) => `, u.${COLUMNS[group]}::text as "${group}"`).join('');
    const filters = filterSql(filter, 6);
    return this.database.query<SummedRow>(
      `select p.bucket, u.billable, u.pricing_type as "pricingType", u.failure_category as "failureCategory",
         case when u.billable then u.category end as "billedCategory"${names}, ${sums},
         array[${DELIVERY_COLUMNS.map((column) => `sum(u.${column})::float8`).join(', ')}] as delivery
       from ${PIECES}
       where u.organization_id = $1${filters.sql}
       group by ${['p.bucket', 'u.billable', 'u.pricing_type', 'u.failure_category', 'case when u.billable then u.category end', ...groups].join(', ')}
       limit ${MAX_SUMMED + 1}`,
      [organizationId, ...piecesOf(pieces), ...filters.values],
    );
  }

  billed({ organizationId, pieces, groupBy, filter }: Asked): Promise<BilledRow[]> {
    const groups = groupBy.map((group) => `u.${COLUMNS[group]}`);
    const names = groupBy.map((group) => `, u.${COLUMNS[group]}::text as "${group}"`).join('');
    const filters = filterSql(filter, 6);
    return this.database.query<BilledRow>(
      `select p.bucket, ${MONTH} as month, u.country as country, u.category as "billedCategory", k.waba_id as account${names},
         sum(u.submitted)::float8 as messages
       from ${PIECES}
       left join connection k on k.id = u.connection_id and k.organization_id = u.organization_id
       where u.organization_id = $1 and u.billable${filters.sql}
       group by ${['p.bucket', '2', 'u.country', 'u.category', 'k.waba_id', ...groups].join(', ')}
       limit ${MAX_SUMMED + 1}`,
      [organizationId, ...piecesOf(pieces), ...filters.values],
    );
  }

  /** Of the accounts of this workspace, with what other workspaces send over the same accounts. */
  volumes(organizationId: string, from: Date, to: Date): Promise<Volume[]> {
    return this.database.query<Volume>(VOLUMES, [organizationId, from, to]);
  }

  codes(projectId: string, organizationId: string, pieces: readonly Piece[]): Promise<(CodeFigures & CodeKey)[]> {
    const sums = CODE_MEASURES.map((measure) => `sum(u.${measure})::float8 as ${measure}`).join(', ');
    return this.database.query<CodeFigures & CodeKey>(
      `select p.bucket, u.country, ${sums}
       from unnest($3::integer[], $4::timestamptz[], $5::timestamptz[]) as p (bucket, since, until)
       join usage_codes u on u.start >= p.since and u.start < p.until
       where u.organization_id = $1 and u.project_id = $2
       group by p.bucket, u.country order by p.bucket, u.country limit ${MAX_SUMMED + 1}`,
      [
        organizationId,
        projectId,
        pieces.map(({ bucket }) => bucket),
        pieces.map(({ from }) => from),
        pieces.map(({ to }) => to),
      ],
    );
  }

  rates(): Promise<Rate[]> {
    return this.database.query<Rate>(
      `select countries, category, tier_from as "tierFrom", price::text as price, currency,
         valid_from::text as "validFrom"
       from usage_rate order by valid_from, category, countries, tier_from`,
    );
  }

  /** In the ambient transaction: all rates are these. False: limits of spending are in another currency. */
  async replaceRates(rates: readonly Rate[]): Promise<boolean> {
    await this.database.execute('lock table usage_rate in share row exclusive mode');
    const limited = await this.database.query(
      `select from usage_rate where currency <> $1 and exists (select from organization where spend_per_month is not null) limit 1`,
      [rates[0]?.currency],
    );
    if (limited.length > 0) return false;
    await this.database.execute('delete from usage_rate');
    await this.database.execute(
      `insert into usage_rate (countries, category, tier_from, price, currency, valid_from)
       select array(select jsonb_array_elements_text(r -> 'countries')), r ->> 'category', (r ->> 'tierFrom')::integer,
         (r ->> 'price')::numeric, r ->> 'currency', (r ->> 'validFrom')::date
       from jsonb_array_elements($1::jsonb) as r`,
      [JSON.stringify(rates)],
    );
    return true;
  }

  /** Messages of the present UTC month by workspace, the largest first; the last row has all the others. */
  largest(limit: number): Promise<({ workspace: string } & Record<Measure, number>)[]> {
    const sums = MEASURES.map((measure) => `sum(${measure})::float8 as ${measure}`).join(', ');
    return this.database.query(
      `with counted as (
         select organization_id, ${sums}, row_number() over (order by sum(submitted + received) desc) as place
         from usage_count
         where span = 'day' and start >= date_trunc('month', now(), 'UTC') group by organization_id
       )
       select case when place <= $1 then organization_id::text else 'other' end as workspace, ${sums}
       from counted group by 1`,
      [limit],
    );
  }

  private async lock(): Promise<void> {
    await this.database.execute('select from usage_lock for update');
  }

  /** In the ambient transaction, under the lock. */
  private async count(hour: Date, { contents, codes }: KeptDays): Promise<void> {
    const { counted, ageDays, startedAt } = await this.database.row<{
      counted: boolean;
      ageDays: number;
      startedAt: string;
    }>(
      `select counted_at is not null as counted, extract(epoch from clock_timestamp() - hour)::float8 / 86400 as "ageDays",
         clock_timestamp()::text as "startedAt"
       from usage_hour where hour = $1`,
      [hour],
    );
    const { prefix, country } = this.countries();
    // What retention has cleared already is no longer counted right.
    if (!counted || contents === 0 || ageDays < contents) {
      await this.database.execute(`delete from usage_count where span = 'slot' and ${IN_HOUR}`, [hour]);
      await this.database.execute(COUNT, [hour, prefix, country]);
      await this.database.execute(`delete from usage_count where span = 'day' and start = ${DAY_OF_HOUR}`, [hour]);
      await this.database.execute(COUNT_DAY, [hour]);
    }
    if (!counted || codes === 0 || ageDays < codes) {
      await this.database.execute(`delete from usage_codes where ${IN_HOUR}`, [hour]);
      await this.database.execute(COUNT_CODES, [hour]);
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

interface CodeKey {
  bucket: number;
  country: string | null;
}

const COLUMNS: Readonly<Record<Group, string>> = {
  connection: 'connection_id',
  type: 'type',
  template: 'template',
  category: 'category',
  country: 'country',
  source: 'source',
};

const DELIVERY_COLUMNS = [...DELIVERY_BOUNDS, Infinity].map((_, index) => `d${index}`);

function filterSql(filter: Partial<Record<Group, string>>, next: number): { sql: string; values: string[] } {
  const given = GROUPS.flatMap((group) => {
    const value = filter[group];
    return value === undefined ? [] : [{ group, value }];
  });
  const conditions = given.map(
    ({ group }, index) => ` and u.${COLUMNS[group]} = $${next + index}${group === 'connection' ? '::uuid' : ''}`,
  );
  return { sql: conditions.join(''), values: given.map(({ value }) => value) };
}

// Offset 0: one look into the index for each piece.
const PIECES = `unnest($2::integer[], $3::text[], $4::timestamptz[], $5::timestamptz[]) as p (bucket, span, since, until)
  cross join lateral (
    select * from usage_count u
    where u.organization_id = $1 and u.span = p.span and u.start >= p.since and u.start < p.until offset 0) u`;

function piecesOf(pieces: readonly Piece[]): unknown[] {
  return [
    pieces.map(({ bucket }) => bucket),
    pieces.map(({ span }) => span),
    pieces.map(({ from }) => from),
    pieces.map(({ to }) => to),
  ];
}

/** Hours after the end of an hour with which the last counts before retention come. */
function lastCounts(days: readonly number[]): number[] {
  return days.filter((each) => each > 0).map((each) => each * 24 - 2);
}

const HOUR_OF = (time: string): string => `date_trunc('hour', ${time}, 'UTC')`;
const IN_HOUR = `start >= $1 and start < $1::timestamptz + interval '1 hour'`;
const DAY_OF_HOUR = `date_trunc('day', $1::timestamptz, 'UTC')`;
const MONTH = `to_char(u.start at time zone 'UTC', 'YYYY-MM')`;

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

const delivery = (): string =>
  DELIVERY_COLUMNS.map((_, index) => {
    const above = index === 0 ? '' : ` and ms >= ${DELIVERY_BOUNDS[index - 1] ?? 0}`;
    const below = index < DELIVERY_BOUNDS.length ? ` and ms < ${DELIVERY_BOUNDS[index] ?? 0}` : '';
    return `count(*) filter (where ms is not null${above}${below})`;
  }).join(', ');

const OF_HOUR = `m.connection_id = k.id and m.created_at >= $1 and m.created_at < $1::timestamptz + interval '1 hour'`;
const DIMENSIONS = 'billable, type, source, country, category, template, pricing_type, failure_category';

// What was sent in the app was not submitted here, and has no cost of ours; a history is none of this time's.
// A recipient is a number, or a user id that begins with its country. What a status passed without being reported itself
// counts as reached.
const COUNT = `
with found as materialized (
  select m.organization_id, m.connection_id, m.direction, m.type, ${QUARTER('m.created_at')} as start,
    coalesce(m.source, case when m.direction = 'outbound' then 'api' else 'customer' end) as source,
    case when m.name ~ '^[A-Z]{2}[.]' then left(m.name, 2) else left(m.name, 4) end as place,
    case when m.direction = 'outbound' and m.type = 'template' then (
      select c.content ->> 'name' from message_content c where c.message_id = m.id) end as template,
    s.status, s.billable, s.pricing_category as category, s.pricing_type,
    case when s.status = 'failed' then coalesce(s.failure_category, 'unknown') end as failure_category,
    s.accepted_at is not null as was_accepted, s.sent_at is not null as was_sent,
    s.delivered_at is not null as was_delivered, s.read_at is not null as was_read,
    case when s.status is not null then greatest(extract(epoch from s.delivered_at - s.accepted_at) * 1000, 0) end as ms
  from connection k
  cross join lateral (
    select m.*, coalesce(m.recipient_user_id, m.recipient) as name from message m
    where m.direction = 'outbound' and ${OF_HOUR} and m.source is distinct from 'history'
    union all
    select m.*, m.sender as name from message m where m.direction = 'inbound' and ${OF_HOUR} and m.source is null) as m
  left join message_state s on s.message_id = m.id and m.direction = 'outbound'
), places as (
  select place, case when place ~ '^[A-Z]' then place else (
    select country from unnest($2::text[], $3::text[]) as p (prefix, country)
    where starts_with(place, prefix) order by length(prefix) desc limit 1) end as country
  from (select distinct place from found) as each
)
insert into usage_count (organization_id, span, start, connection_id, ${DIMENSIONS}, ${MEASURES.join(', ')},
  ${DELIVERY_COLUMNS.join(', ')})
select organization_id, 'slot', start, connection_id, ${DIMENSIONS},
  count(*) filter (where source = 'api'),
  count(*) filter (where was_accepted or was_sent or was_delivered or was_read
    or status in ('accepted', 'sent', 'delivered', 'read')),
  count(*) filter (where was_sent or was_delivered or was_read or status in ('sent', 'delivered', 'read')),
  count(*) filter (where was_delivered or was_read or status in ('delivered', 'read')),
  count(*) filter (where was_read or status = 'read'),
  count(*) filter (where status = 'failed'),
  count(*) filter (where status = 'outcome_unknown'),
  count(*) filter (where direction = 'inbound'), ${delivery()}
from found left join places using (place)
where exists (select from organization o where o.id = found.organization_id)
group by organization_id, start, connection_id, ${DIMENSIONS}
order by organization_id, start`;

const COUNT_DAY = `
insert into usage_count (organization_id, span, start, connection_id, ${DIMENSIONS}, ${MEASURES.join(', ')},
  ${DELIVERY_COLUMNS.join(', ')})
select organization_id, 'day', ${DAY_OF_HOUR}, connection_id, ${DIMENSIONS},
  ${[...MEASURES, ...DELIVERY_COLUMNS].map((column) => `sum(${column})`).join(', ')}
from usage_count
where span = 'slot' and start >= ${DAY_OF_HOUR} and start < ${DAY_OF_HOUR} + interval '1 day'
group by organization_id, connection_id, ${DIMENSIONS}
order by organization_id`;

const COUNT_CODES = `
insert into usage_codes (organization_id, project_id, start, country, requested, sent, delivered, verified, expired, failed)
select organization_id, project_id, ${QUARTER('created_at')}, country, count(*),
  count(*) filter (where sent_at is not null or delivered_at is not null or read_at is not null),
  count(*) filter (where delivered_at is not null or read_at is not null),
  count(*) filter (where status = 'verified'), count(*) filter (where status = 'expired'),
  count(*) filter (where status = 'failed')
from otp_challenge
where created_at >= $1 and created_at < $1::timestamptz + interval '1 hour'
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

const HOURS_OF_PERSON = `
select distinct ${HOUR_OF('m.created_at')} as hour from (
  select created_at from message
  where organization_id = $1 and direction = 'outbound' and recipient = any($2::text[])
  union all
  select created_at from message
  where organization_id = $1 and direction = 'inbound' and sender = any($2::text[])) as m
join usage_hour h on h.hour = ${HOUR_OF('m.created_at')}
where h.hour < clock_timestamp() - interval '8 days' and h.next_at is not null`;

const VOLUMES = `
select ${MONTH} as month, k.waba_id as account, u.country, u.category, sum(u.submitted)::float8 as messages
from connection own
join connection k on k.waba_id = own.waba_id
join usage_count u on u.organization_id = k.organization_id and u.connection_id = k.id and u.span = 'day'
where own.organization_id = $1 and u.billable and u.start >= date_trunc('month', $2::timestamptz, 'UTC')
  and u.start < date_trunc('month', $3::timestamptz, 'UTC') + interval '1 month'
  and own.id = (select id from connection o where o.organization_id = $1 and o.waba_id = own.waba_id order by id limit 1)
group by 1, 2, 3, 4`;
