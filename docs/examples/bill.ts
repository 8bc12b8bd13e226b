// The bill of a month, by category: node bill.ts 2026-11
import { createHeraldClient } from '@herald/client';

const [month = ''] = process.argv.slice(2);
const herald = createHeraldClient({ baseUrl: process.env.HERALD_URL!, apiKey: process.env.HERALD_API_KEY! });

// The platform bills months of UTC.
const since = new Date(`${month}-01T00:00:00Z`);
const until = new Date(Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 1, 1));
const query = { interval: 'month' as const, since: since.toISOString(), until: until.toISOString() };
const { totals } = await herald.usage.messages(query);
console.log(`${month}: ${totals.submitted} submitted, ${totals.delivered} delivered`);
for (const [category, count] of Object.entries(totals.billable).sort()) {
  const without = totals.unpriced[category] ?? 0;
  console.log(`${category}: ${count}${without > 0 ? `, ${without} without a price` : ''}`);
}
const { cost_of_priced: cost } = totals;
console.log(cost === null ? 'no prices are set' : `estimated: ${cost.amount} ${cost.currency}`);
