import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { DELIVERY_COLUMNS, FIGURES, TOTALED } from './counting.repository.js';
import type { Piece } from './periods.js';
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

/** Messages of one kind: `[billable, pricing type, billed category, failure category, submitted, failed]`. */
export type Kind = [boolean | null, string | null, string | null, string | null, number, number];

/** Rows of one bucket and of one value of each group, summed up. */
export type SummedRow = Record<Measure, number> & {
  bucket: number;
  /** Counts that were read for it. */
  counts: number;
  /** Those that are billed, free or failed. */
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

/** More rows would be read into memory for one answer. */
export const MAX_BILLED = 40_000;
/** Rows of one answer. */
export const MAX_ROWS = 10_000;
/** Reads what was counted, and has the prices. */
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
    const figures = `${FIGURES.map((column) => `sum(p.sign * u.${column}) as ${column}`).join(', ')}, count(*) as counts`;
    const { sql, values, groups } = grouped(asked, kind, figures, COUNTED, 'workspace');
    const sums = MEASURES.map((measure) => `sum(${measure})::float8 as ${measure}`).join(', ');
    return this.database.query<SummedRow>(
      `select bucket, ${groups} ${sums}, sum(counts)::float8 as counts, json_build_array(${DELIVERY_COLUMNS.map((column) => `sum(${column})`).join(', ')}) as delivery,
         coalesce(json_agg(json_build_array(${Object.keys(kind).join(', ')}, submitted, failed))
           filter (where billable is not null or failure_category is not null), '[]') as kinds
       from (${sql}) as k group by ${groups} bucket limit ${MAX_ROWS + 1}`,
      values,
    );
  }

  billed(asked: Asked): Promise<BilledRow[]> {
    const by = { month: MONTH, country: 'u.country', '"billedCategory"': 'u.category', account: 'u.account' };
    const sum = 'sum(p.sign * u.submitted)::float8 as messages';
    const { sql, values } = grouped(asked, by, sum, 'case when u.billable then u.submitted else 0 end', 'account');
    return this.database.query<BilledRow>(`${sql} limit ${MAX_BILLED + 1}`, values);
  }

  /** Of the accounts of this workspace, with what other workspaces send over the same accounts. */
  volumes(organizationId: string, from: Date, to: Date): Promise<Volume[]> {
    return this.database.query<Volume>(VOLUMES, [organizationId, from, to]);
  }

  /** Of all workspaces, since the beginning of the month before this one. */
  lately(): Promise<Omit<BilledRow, 'bucket'>[]> {
    return this.database.query(
      `select ${MONTH} as month, u.country, u.category as "billedCategory", u.account, sum(u.submitted)::float8 as messages
       from usage_total u
       where u.level = 'account' and u.span = 'day' and u.billable
         and u.start >= date_trunc('month', now() - interval '1 month', 'UTC')
       group by 1, 2, 3, 4 having sum(u.submitted) > 0`,
    );
  }

  codes(projectId: string, organizationId: string, pieces: readonly Piece[]): Promise<(CodeFigures & CodeKey)[]> {
    const sums = CODE_MEASURES.map((measure) => `sum(p.sign * u.${measure})::float8 as ${measure}`).join(', ');
    return this.database.query<CodeFigures & CodeKey>(
      `select p.bucket, u.country, ${sums}
       from ${PIECES} cross join lateral (
         select u.* from usage_codes u where u.organization_id = $1 and u.project_id = $7 and ${IN_PIECE} offset 0) u
       group by p.bucket, u.country having sum(p.sign * u.requested) > 0
       order by p.bucket, u.country limit ${MAX_ROWS + 1}`,
      [organizationId, ...valuesOf(pieces), projectId],
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
         from usage_total
         where level = 'workspace' and span = 'day' and start >= date_trunc('month', now(), 'UTC') group by organization_id
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

/**
 * Sums by bucket, by the groups that are asked for and by other expressions, where `weight` is not nothing.
 *
 * @param level of the totals that suffice where numbers are not asked for
 */
function grouped(
  { organizationId, pieces, groupBy, filter }: Asked,
  by: Readonly<Record<string, string>>,
  sums: string,
  weight: string,
  level: 'workspace' | 'account',
): { sql: string; values: unknown[]; groups: string } {
  const asked = [...groupBy, ...GROUPS.filter((group) => filter[group] !== undefined)];
  const isCoarse = asked.every((group) => group === 'connection' || group === 'category');
  const source = isCoarse ? TOTALS[asked.includes('connection') ? 'number' : level] : COUNTS;
  const filters = filterSql(filter, 7);
  const expressions = { ...by, ...Object.fromEntries(groupBy.map((group) => [`"${group}"`, `u.${COLUMNS[group]}`])) };
  const columns = Object.entries(expressions).map(([name, expression]) => `${expression} as ${name}`);
  const sql = `
    select p.bucket, ${columns.join(', ')}, ${sums}
    from ${PIECES}
    cross join lateral (${source} offset 0) u
    where true${filters.sql}
    group by ${['p.bucket', ...Object.values(expressions)].join(', ')}
    having sum(p.sign * (${weight})) > 0`;
  const values = [organizationId, ...valuesOf(pieces), ...filters.values];
  return { sql, values, groups: groupBy.map((group) => `"${group}",`).join(' ') };
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

/** SQL: `valuesOf` as a relation. */
const PIECES = `unnest($2::integer[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::integer[])
  as p (bucket, span, since, until, sign)`;

/** The values of $2 to $6, which belong to `PIECES`. */
function valuesOf(pieces: readonly Piece[]): unknown[] {
  return (['bucket', 'span', 'from', 'to', 'sign'] as const).map((name) => pieces.map((piece) => piece[name]));
}

// What was sent in the app was never submitted.
const COUNTED = 'u.submitted + u.accepted + u.failed + u.received';

const IN_PIECE = 'u.start >= p.since and u.start < p.until';

// Each source has offset 0 behind it: one look into the index for each piece.
const COUNTS = `
  select u.*, k.waba_id as account from usage_count u
  left join connection k on k.id = u.connection_id and k.organization_id = u.organization_id
  where u.organization_id = $1 and u.span = case p.span when 'day' then 'day' else 'slot' end and ${IN_PIECE}`;

// What is less than an hour is in usage_count only.
const totals = (level: 'workspace' | 'account' | 'number'): string => `
  select u.start, u.account, u.connection_id, ${TOTALED.map((column) => `u.${column}`).join(', ')} from usage_total u
  where u.organization_id = $1 and u.level = '${level}' and u.span = p.span and ${IN_PIECE}
  union all
  select c.start, c.account, c.connection_id, ${TOTALED.map((column) => `c.${column}`).join(', ')} from (${COUNTS}) c
  where p.span = 'slot'`;
const TOTALS = { workspace: totals('workspace'), account: totals('account'), number: totals('number') };

const MONTH = `to_char(u.start at time zone 'UTC', 'YYYY-MM')`;

const VOLUMES = `
select ${MONTH} as month, k.waba_id as account, u.country, u.category, sum(u.submitted)::float8 as messages
from connection own
join connection k on k.waba_id = own.waba_id
join usage_total u on u.organization_id = k.organization_id and u.level = 'number' and u.span = 'day' and u.connection_id = k.id
where own.organization_id = $1 and u.billable and u.start >= date_trunc('month', $2::timestamptz, 'UTC')
  and u.start < date_trunc('month', $3::timestamptz, 'UTC') + interval '1 month'
  and own.id = (select id from connection o where o.organization_id = $1 and o.waba_id = own.waba_id order by id limit 1)
group by 1, 2, 3, 4`;
