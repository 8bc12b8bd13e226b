import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { DELIVERY_COLUMNS, FIGURES } from './counting.repository.js';
import type { Bucket } from './periods.js';
import {
  CODE_MEASURES,
  type CodeFigures,
  GROUPS,
  type Group,
  type Measure,
  MEASURES,
  type Rate,
  withPricedAs,
} from './usage.types.js';

/**
 * A group of messages with the same billing and failure: `[billable, pricing type, billed category, failure category,
 * submitted, failed]`. The last two are counts.
 */
export type Kind = [boolean | null, string | null, string | null, string | null, number, number];

/** Sums of one bucket and one combination of group values. */
export type SummedRow = Record<Measure, number> & {
  bucket: number;
  /** Number of stored rows that were summed up in this row. */
  counts: number;
  /** The billed, free and failed messages of the row, by kind. */
  kinds: Kind[];
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

/** An account's billable messages in a UTC month, over all workspaces that share it. */
export interface Volume {
  month: string;
  account: string;
  country: string | null;
  category: string | null;
  messages: number;
}

/** The requested buckets; the last one ends at `until`. */
interface Period {
  organizationId: string;
  buckets: readonly Bucket[];
  until: Date;
}

interface Asked extends Period {
  groupBy: readonly Group[];
  filter: Partial<Record<Group, string>>;
}

/** Limit of rows read for the cost of one answer, which are held in memory. */
export const MAX_BILLED = 40_000;
/** Limit of rows in one answer. */
export const MAX_ROWS = 10_000;
/** Reads usage counts, and stores prices. */
@Injectable()
export class UsageRepository {
  constructor(private readonly database: Database) {}

  summed(asked: Asked): Promise<SummedRow[]> {
    const kind = {
      billable: 'u.billable',
      pricing_type: 'u.pricing_type',
      billed_category: 'case when u.billable then u.category end',
      failure_category: 'u.failure_category',
    };
    const figures = `${FIGURES.map((column) => `sum(u.${column}) as ${column}`).join(', ')}, count(*) as counts`;
    const { sql, values, groups } = grouped(asked, kind, figures, COUNTED);
    const sums = MEASURES.map((measure) => `coalesce(sum(${measure}), 0)::float8 as ${measure}`).join(', ');
    return this.database.query<SummedRow>(
      `select bucket, ${groups} ${sums}, sum(counts)::float8 as counts, json_build_array(${DELIVERY_COLUMNS.map((column) => `coalesce(sum(${column}), 0)`).join(', ')}) as delivery,
         coalesce(json_agg(json_build_array(${Object.keys(kind).join(', ')}, coalesce(submitted, 0), coalesce(failed, 0)))
           filter (where billable is not null or failure_category is not null), '[]') as kinds
       from (${sql}) as k group by ${groups} bucket limit ${MAX_ROWS + 1}`,
      values,
    );
  }

  billed(asked: Asked): Promise<BilledRow[]> {
    const by = { month: MONTH, country: 'u.country', '"billedCategory"': 'u.category', account: 'k.waba_id' };
    const sum = 'sum(u.submitted)::float8 as messages';
    const { sql, values } = grouped(asked, by, sum, 'u.billable and u.submitted > 0');
    return this.database.query<BilledRow>(`${sql} limit ${MAX_BILLED + 1}`, values);
  }

  /** Volumes of this workspace's accounts, including messages of other workspaces on the same accounts. */
  volumes(organizationId: string, from: Date, to: Date): Promise<Volume[]> {
    return this.database.query<Volume>(VOLUMES, [organizationId, from, to]);
  }

  /** Billable messages of all workspaces, since the beginning of the previous month. */
  lately(): Promise<Omit<BilledRow, 'bucket'>[]> {
    return this.database.query(
      `select ${MONTH} as month, u.country, u.category as "billedCategory", k.waba_id as account,
         sum(u.submitted)::float8 as messages
       from usage u left join connection k on k.id = u.connection_id and k.organization_id = u.organization_id
       where u.billable and u.submitted > 0 and u.start >= date_trunc('month', now() - interval '1 month', 'UTC')
       group by 1, 2, 3, 4`,
    );
  }

  codes(projectId: string, period: Period): Promise<(CodeFigures & CodeKey)[]> {
    const figures: Record<keyof CodeFigures, string> = {
      requested: 'submitted',
      sent: 'sent',
      delivered: 'delivered',
      verified: 'verified',
      expired: 'expired',
      failed: 'failed',
    };
    const sums = CODE_MEASURES.map((measure) => `sum(u.${figures[measure]})::float8 as ${measure}`).join(', ');
    return this.database.query<CodeFigures & CodeKey>(
      `select ${BUCKET} as bucket, u.country, ${sums} from usage u where ${IN_PERIOD} and u.project_id = $5
       group by 1, 2 order by 1, 2 limit ${MAX_ROWS + 1}`,
      [...valuesOf(period), projectId],
    );
  }

  rates(): Promise<Rate[]> {
    return this.database.query<Rate>(
      `select countries, category, tier_from as "tierFrom", price::text as price, currency,
         valid_from::text as "validFrom"
       from usage_rate order by valid_from, category, countries, tier_from`,
    );
  }

  /**
   * Replaces all rates, in the ambient transaction. Returns false, and changes nothing, where spending limits are in
   * another currency.
   */
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

  /**
   * Messages of the current UTC month, by workspace: a row for each of the `limit` workspaces with the most messages,
   * and a last row with the sums of the other workspaces.
   */
  largest(limit: number): Promise<({ workspace: string } & Record<Measure, number>)[]> {
    const sums = MEASURES.map((measure) => `coalesce(sum(${measure}), 0)::float8 as ${measure}`).join(', ');
    return this.database.query(
      `with counted as (
         select organization_id, ${sums},
           row_number() over (order by coalesce(sum(submitted), 0) + coalesce(sum(received), 0) desc) as place
         from usage
         where connection_id is not null and start >= date_trunc('month', now(), 'UTC') group by organization_id
       )
       select case when place <= $1 then organization_id::text else 'other' end as workspace, ${sums}
       from counted group by 1`,
      [limit],
    );
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

/** Sums of the rows that meet the condition, by bucket, by the requested groups and by further expressions. */
function grouped(
  { groupBy, filter, ...period }: Asked,
  by: Readonly<Record<string, string>>,
  sums: string,
  condition: string,
): { sql: string; values: unknown[]; groups: string } {
  const filters = filterSql(filter, 5);
  const expressions = { ...by, ...Object.fromEntries(groupBy.map((group) => [`"${group}"`, `u.${COLUMNS[group]}`])) };
  const columns = Object.entries(expressions).map(([name, expression]) => `${expression} as ${name}`);
  const places = ['bucket', ...columns].map((_, index) => index + 1).join(', ');
  const sql = `
    select ${[`${BUCKET} as bucket`, ...columns].join(', ')}, ${sums}
    from usage u left join connection k on k.id = u.connection_id and k.organization_id = $1
    where ${IN_PERIOD} and u.connection_id is not null and (${condition})${filters.sql}
    group by ${places}`;
  return {
    sql,
    values: [...valuesOf(period), ...filters.values],
    groups: groupBy.map((group) => `"${group}",`).join(' '),
  };
}

function filterSql(filter: Partial<Record<Group, string>>, next: number): { sql: string; values: unknown[] } {
  const given = GROUPS.flatMap((group) => {
    const value = filter[group];
    return value === undefined ? [] : [{ group, value }];
  });
  const conditions = given.map(({ group }, index) => {
    const value = group === 'category' ? `any($${next + index}::text[])` : `$${next + index}`;
    return ` and u.${COLUMNS[group]} = ${value}${group === 'connection' ? '::uuid' : ''}`;
  });
  const values = given.map(({ group, value }) => (group === 'category' ? withPricedAs(value) : value));
  return { sql: conditions.join(''), values };
}

/** The values of $1 to $4, which belong to `IN_PERIOD` and `BUCKET`. */
function valuesOf({ organizationId, buckets, until }: Period): unknown[] {
  return [organizationId, buckets[0]?.start, until, buckets.map(({ start }) => start)];
}

const IN_PERIOD = 'u.organization_id = $1 and u.start >= $2 and u.start < $3';

/** SQL: the index of the row's bucket among the requested ones. */
const BUCKET = 'width_bucket(u.start, $4::timestamptz[]) - 1';

// SQL condition: a row counts. Rows that have only messages sent in the app are left out: those were not submitted.
const COUNTED = 'num_nonnulls(u.submitted, u.accepted, u.failed, u.received) > 0';

const MONTH = `to_char(u.start at time zone 'UTC', 'YYYY-MM')`;

// All numbers of each account of the workspace, including those of other workspaces.
const VOLUMES = `
with shared as materialized (
  select id, organization_id, waba_id from connection
  where waba_id in (select waba_id from connection where organization_id = $1)
)
select ${MONTH} as month, k.waba_id as account, u.country, u.category, sum(u.submitted)::float8 as messages
from usage u join shared k on k.id = u.connection_id and k.organization_id = u.organization_id
where u.organization_id = any(array(select organization_id from shared)) and u.billable
  and u.start >= date_trunc('month', $2::timestamptz, 'UTC')
  and u.start < date_trunc('month', $3::timestamptz, 'UTC') + interval '1 month'
group by 1, 2, 3, 4`;
