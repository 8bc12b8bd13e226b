import { decimalText, millionthsOf } from '../../common/millionths.js';
import { usageErrors } from './usage.errors.js';
import type { BilledRow, Volume } from './usage.repository.js';
import { type Cost, PRICED_AS, type Rate } from './usage.types.js';

const COLUMNS = ['countries', 'category', 'tier_from', 'price', 'currency', 'valid_from'] as const;
const HEADER = COLUMNS.join(',');
const MAX_RATES = 20_000;

const invalid = (reason: string) => usageErrors.RATES_INVALID({ reason });

/**
 * Reads the operator's price file: comma-separated, one price per line, with a header.
 *
 * @throws RATES_INVALID (422) that names the line and the column.
 */
export function readRates(text: string): Rate[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const rates: Rate[] = [];
  const seen = new Set<string>();
  if (lines[0]?.trim().toLowerCase().replaceAll(' ', '') !== HEADER) {
    throw invalid(`line 1: the first line must be ${HEADER}`);
  }
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === '' || line.startsWith('#')) continue;
    const fields = line.split(',').map((field) => field.trim());
    const fail = (why: string): never => {
      throw invalid(`line ${index + 1}: ${why}`);
    };
    if (fields.length !== COLUMNS.length) fail(`six fields are expected, not ${fields.length}: ${HEADER}`);
    const [countries = '', category = '', tier = '', price = '', currency = '', validFrom = ''] = fields;
    const names = countries.toUpperCase().split(/\s+/);
    const check = (column: (typeof COLUMNS)[number], isRight: boolean, rule: string): void => {
      if (!isRight) fail(`column ${COLUMNS.indexOf(column) + 1}: ${column} must be ${rule}`);
    };
    const areCountries = names.every((name) => /^(?:[A-Z]{2}|\*)$/.test(name));
    check('countries', areCountries, 'codes such as DE or US CA, or *');
    check('category', /^[a-z][a-z_-]{0,39}$/.test(category), 'a word such as marketing');
    check('tier_from', /^[1-9]\d{0,8}$/.test(tier), 'a whole number; 1 where there are no tiers');
    check('price', /^\d{1,8}(?:\.\d{1,6})?$/.test(price), 'a decimal such as 0.1131, with at most six places');
    check('currency', /^[A-Z]{3}$/.test(currency), 'a code such as EUR');
    check('currency', currency === (rates[0]?.currency ?? currency), 'the same in all lines');
    const isFirstDay = /^\d{4}-(?:0[1-9]|1[0-2])-01$/.test(validFrom);
    check('valid_from', isFirstDay, 'the first day of a month, such as 2026-10-01');
    for (const name of names) {
      const key = [name, category, tier, validFrom].join(' ');
      if (seen.has(key))
        fail(`a second price of ${category} for ${name} from message ${tier} on, from ${validFrom} on`);
      seen.add(key);
    }
    rates.push({ countries: names, category, tierFrom: Number(tier), price, currency, validFrom });
    if (rates.length > MAX_RATES) fail(`at most ${MAX_RATES} prices`);
  }
  if (rates.length === 0) throw invalid('the file has no prices');
  return rates;
}

interface Tier {
  from: number;
  price: bigint;
}

/** Prices per message: the average over the tiers that an account's messages in a market and month reach. */
export class Prices {
  readonly currency: string | null;
  private readonly byCategory = new Map<string, Rate[]>();
  private readonly reached = new Map<string, number>();
  private readonly known = new Map<string, Tier[] | null>();

  /** @param volumes of the requested accounts and months. */
  constructor(rates: readonly Rate[], volumes: readonly Volume[]) {
    this.currency = rates[0]?.currency ?? null;
    for (const rate of rates) this.byCategory.set(rate.category, [...(this.byCategory.get(rate.category) ?? []), rate]);
    for (const { account, month, country, category, messages } of volumes) {
      const key = this.marketOf(account, month, country, category);
      this.reached.set(key, (this.reached.get(key) ?? 0) + messages);
    }
  }

  /** Millionths of the currency; null: there is no price. */
  costOf({ account, month, country, billedCategory, messages }: Omit<BilledRow, 'bucket'>): bigint | null {
    const tiers = this.tiersOf(month, country, billedCategory);
    if (tiers === null) return null;
    const count = BigInt(messages);
    const [first] = tiers;
    if (first === undefined) return null;
    if (tiers.length === 1) return first.price * count;
    const market = this.marketOf(account ?? '', month, country, billedCategory);
    const all = BigInt(Math.max(this.reached.get(market) ?? 0, messages));
    let total = 0n;
    for (const [index, { from, price }] of tiers.entries()) {
      const next = tiers[index + 1]?.from;
      const until = next === undefined || BigInt(next - 1) > all ? all : BigInt(next - 1);
      const within = until - BigInt(from - 1);
      if (within > 0n) total += within * price;
    }
    return all === 0n ? 0n : (total * count + all / 2n) / all;
  }

  static costText(currency: string, millionths: bigint): Cost {
    return { currency, amount: decimalText(millionths) };
  }

  /** Countries with one price share its tiers. */
  private marketOf(account: string, month: string, country: string | null, category: string | null): string {
    const rate = this.rateOf(month, country, category);
    return [account, month, rate?.category ?? category, rate?.countries.join(' ') ?? country].join('/');
  }

  private rateOf(month: string, country: string | null, category: string | null): Rate | null {
    const rates = (this.byCategory.get(category ?? '') ?? []).filter(({ validFrom }) => validFrom.slice(0, 7) <= month);
    const newest = (name: string): Rate | undefined => rates.findLast(({ countries }) => countries.includes(name)); // sorted by valid_from
    const own = (country === null ? undefined : newest(country)) ?? newest('*');
    const pricedAs = PRICED_AS[category ?? ''];
    return own ?? (pricedAs === undefined ? null : this.rateOf(month, country, pricedAs));
  }

  private tiersOf(month: string, country: string | null, category: string | null): Tier[] | null {
    const key = `${month}/${country}/${category}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const rate = this.rateOf(month, country, category);
    const tiers =
      rate === null
        ? null
        : (this.byCategory.get(rate.category) ?? [])
            .filter(
              ({ validFrom, countries }) =>
                validFrom === rate.validFrom && countries.join(' ') === rate.countries.join(' '),
            )
            .map(({ tierFrom, price }) => ({ from: tierFrom, price: millionthsOf(price) }))
            .sort((a, b) => a.from - b.from);
    this.known.set(key, tiers);
    return tiers;
  }
}
