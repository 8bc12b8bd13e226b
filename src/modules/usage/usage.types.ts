import { timeOfId } from '../../common/ids.js';

/** The length of a counting slot: a quarter of an hour. */
export const SLOT_MS = 900_000;
/** The last regular count of a slot, in hours after its start. */
export const LAST_COUNT_HOURS = 23;
/**
 * From this age of a slot on, changes of its messages or codes are noted as late. It is an hour before the last regular
 * count: changes before that age are committed by then.
 */
export const LATE_HOURS = 22;

/** SQL: the slot of an id. */
export const slotOf = (id: string): string =>
  `date_bin('15 minutes', to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 'epoch')`;

/** Notes the slots of the ids in $1 (from `lateOf`) as due. Runs in the transaction that changes what is counted. */
export const NOTE_LATE = `insert into usage_due (start) select distinct ${slotOf('id')} from unnest($1::uuid[]) as id`;

/**
 * Of the ids, those whose slot may have had its last regular count.
 *
 * @param now milliseconds since the epoch, by the database's clock
 */
export function lateOf(ids: readonly string[], now: number): string[] {
  const before = now - LATE_HOURS * 3_600_000;
  return ids.filter((id) => Math.floor(timeOfId(id) / SLOT_MS) * SLOT_MS <= before);
}

export const INTERVALS = ['hour', 'day', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The columns for groups and filters. */
export const GROUPS = ['connection', 'type', 'template', 'category', 'country', 'source'] as const;
export type Group = (typeof GROUPS)[number];

export const MEASURES = [
  'submitted',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'received',
] as const;
export type Measure = (typeof MEASURES)[number];

/** Upper bounds of the columns d0 to d14, in milliseconds; d15 is for everything slower. */
export const DELIVERY_BOUNDS = [
  250, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000,
  86_400_000,
] as const;

export interface UsageQuestion {
  organizationId: string;
  since: Date;
  until: Date;
  interval: Interval;
  timezone: string;
  groupBy: readonly Group[];
  filter: Partial<Record<Group, string>>;
}

export interface Cost {
  currency: string;
  /** A decimal. */
  amount: string;
}

export interface UsageFigures extends Record<Measure, number> {
  failures: Record<string, number>;
  billable: Record<string, number>;
  free: Record<string, number>;
  delivery_ms: { p50: number; p95: number } | null;
  /** Null: there are no prices, or not for all billable messages. */
  cost: Cost | null;
  /** The cost of those billable messages that have a price; null: there are no prices. */
  cost_of_priced: Cost | null;
  /** Billable messages without a price, by category. */
  unpriced: Record<string, number>;
}

export interface UsageRow extends UsageFigures {
  start: string;
  groups: Partial<Record<Group, string | null>>;
}

export interface UsageAnswer {
  rows: UsageRow[];
  totals: UsageFigures;
  /** Null: nothing was counted yet. */
  asOf: Date | null;
  /** Number of rows read for it. */
  counts: number;
}

export const CODE_MEASURES = ['requested', 'sent', 'delivered', 'verified', 'expired', 'failed'] as const;
export type CodeFigures = Record<(typeof CODE_MEASURES)[number], number>;

export interface CodeRow extends CodeFigures {
  start: string;
  country: string | null;
}

/** Categories that have the price of another, unless they have their own. */
export const PRICED_AS: Readonly<Record<string, string>> = { marketing_lite: 'marketing' };

/** The category, and those with its price. */
export function withPricedAs(category: string): string[] {
  return [category, ...Object.keys(PRICED_AS).filter((each) => PRICED_AS[each] === category)];
}

/** A price of a billable message. */
export interface Rate {
  /** ISO 3166 alpha-2; `*`: all countries without another rate. */
  countries: string[];
  category: string;
  /** Applies from this message of a month on, counted from 1. */
  tierFrom: number;
  /** A decimal. */
  price: string;
  currency: string;
  /** The first day of a month. */
  validFrom: string;
}

/**
 * SQL: the highest possible cost of one message, in millionths of the currency: the maximum over all tiers of the
 * prices for the country in the present month. Where no price names the country it is that of `*`, where there is none
 * either, the highest of the category, and where the category has no price, that of any category. A category of
 * PRICED_AS comes before the one whose price it takes.
 *
 * @param category an expression; with its variants, as `authentication-international` is one. Null: any.
 * @param country an expression; null: any.
 */
export function highestPrice(category: string, country: string, variants: boolean): string {
  const pricedAs = Object.entries(PRICED_AS).map(([name, as]) => `when '${name}' then '${as}'`);
  const ofCategory = variants
    ? `${category} is null or split_part(replace(r.category, '-', '_'), '_', 1) = ${category}`
    : `r.category in (${category}, case ${category} ${pricedAs.join(' ')} end)`;
  const isOther = variants ? 'false' : `r.category <> ${category}`;
  return `(
    select (price * 1000000)::bigint from (
      select distinct on (r.category) r.price, a.is_later, a.is_asked, a.is_other, a.place
      from usage_rate r cross join lateral (
        select r.valid_from > (now() at time zone 'UTC')::date as is_later, (${ofCategory}) as is_asked,
          ${isOther} as is_other,
          case when ${country} = any(r.countries) then 0 when ${country} is not null and '*' = any(r.countries) then 1
            else 2 end
            as place) as a
      order by r.category, a.is_later, a.place, case when a.place < 2 then r.valid_from end desc, r.price desc) as prices
    order by is_later, not is_asked, place = 2, is_asked and is_other, price desc limit 1)`;
}
