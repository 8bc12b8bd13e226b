import { Prices, readRates } from './rates.js';
import type { BilledRow } from './usage.repository.js';

const HEADER = 'countries,category,tier_from,price,currency,valid_from';
const read = (...lines: string[]) => readRates([HEADER, ...lines].join('\n'));
const row = (values: Partial<BilledRow> = {}): BilledRow => ({
  bucket: 0,
  month: '2026-10',
  account: 'a',
  country: 'DE',
  billedCategory: 'utility',
  messages: 10,
  ...values,
});

describe('readRates', () => {
  it.each([
    ['x,utility,1,0.1,EUR,2026-10-01', 'line 2: column 1: countries must be'],
    ['DE,Utility,1,0.1,EUR,2026-10-01', 'line 2: column 2: category must be'],
    ['DE,utility,0,0.1,EUR,2026-10-01', 'line 2: column 3: tier_from must be'],
    ['DE,utility,1,1e3,EUR,2026-10-01', 'line 2: column 4: price must be'],
    ['DE,utility,1,0.1,EURO,2026-10-01', 'line 2: column 5: currency must be'],
    ['DE,utility,1,0.1,EUR,2026-10-02', 'line 2: column 6: valid_from must be'],
    ['DE,utility,1,"0,1",EUR,2026-10-01', 'line 2: six fields are expected, not 7'],
  ])('refuses %s', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });

  it('takes categories as WhatsApp names them', () => {
    expect(read('IN,authentication-international,1,0.03,EUR,2026-10-01')).toHaveLength(1);
  });

  it('refuses two prices of one market, two currencies, and another header', () => {
    expect(() => read('DE AT,utility,1,0.1,EUR,2026-10-01', 'AT,utility,1,0.2,EUR,2026-10-01')).toThrow('line 3');
    expect(() => read('DE,utility,1,0.1,EUR,2026-10-01', 'US,utility,1,0.2,USD,2026-10-01')).toThrow(
      'line 3: column 5: currency must be the same',
    );
    expect(() => readRates('country,price\nDE,1')).toThrow('the first line');
  });
});

describe('Prices', () => {
  const rates = read(
    '*,utility,1,0.01,EUR,2026-01-01',
    'DE,utility,1,0.05,EUR,2026-01-01',
    'DE,utility,1,0.06,EUR,2026-11-01',
    'US CA,utility,1,0.04,EUR,2026-01-01',
    'US CA,utility,101,0.02,EUR,2026-01-01',
  );

  it('takes the price of the country, else that of all others, as it was in the month', () => {
    const prices = new Prices(rates, []);
    expect(prices.costOf(row())).toBe(500_000n);
    expect(prices.costOf(row({ month: '2026-11' }))).toBe(600_000n);
    expect(prices.costOf(row({ country: 'FR' }))).toBe(100_000n);
    expect(prices.costOf(row({ country: null }))).toBe(100_000n);
    expect(prices.costOf(row({ billedCategory: 'marketing' }))).toBeNull();
    expect(prices.costOf(row({ month: '2025-12' }))).toBeNull();
  });

  it("shares an account's tiers among its messages of the month, over the countries of one price", () => {
    const volume = { month: '2026-10', account: 'a', category: 'utility' };
    const prices = new Prices(rates, [
      { ...volume, country: 'US', messages: 150 },
      { ...volume, country: 'CA', messages: 50 },
      { ...volume, account: 'b', country: 'CA', messages: 50 },
    ]);
    // 100 at 0.04 and 100 at 0.02.
    expect(prices.costOf(row({ country: 'US', messages: 150 }))).toBe(4_500_000n);
    expect(prices.costOf(row({ country: 'CA', messages: 50 }))).toBe(1_500_000n);
    expect(prices.costOf(row({ country: 'CA', messages: 50, account: 'b' }))).toBe(2_000_000n);
  });

  describe('marketing_lite', () => {
    const lite = (values: Partial<BilledRow> = {}) => row({ billedCategory: 'marketing_lite', ...values });
    const marketing = read('DE,marketing,1,0.10,EUR,2026-01-01', 'DE,marketing,101,0.05,EUR,2026-01-01');

    it('takes the price of marketing, and shares its tiers', () => {
      const volume = { month: '2026-10', account: 'a', country: 'DE', messages: 100 };
      const prices = new Prices(marketing, [
        { ...volume, category: 'marketing' },
        { ...volume, category: 'marketing_lite' },
      ]);
      // 100 at 0.10 and 100 at 0.05.
      expect(prices.costOf(lite({ messages: 100 }))).toBe(7_500_000n);
      expect(prices.costOf(row({ billedCategory: 'marketing', messages: 100 }))).toBe(7_500_000n);
      expect(prices.costOf(lite({ country: 'FR' }))).toBeNull();
    });

    it('takes its own price where it has one in the country', () => {
      const prices = new Prices([...marketing, ...read('DE,marketing_lite,1,0.02,EUR,2026-10-01')], []);
      expect(prices.costOf(lite())).toBe(200_000n);
      expect(prices.costOf(lite({ month: '2026-09' }))).toBe(1_000_000n);
      expect(prices.costOf(row({ billedCategory: 'marketing' }))).toBe(1_000_000n);
    });
  });

  it('writes amounts as decimals', () => {
    expect(Prices.costText('EUR', 4_500_000n).amount).toBe('4.50');
    expect(Prices.costText('EUR', 1n).amount).toBe('0.000001');
    expect(Prices.costText('EUR', 12_345_600n).amount).toBe('12.3456');
  });
});
