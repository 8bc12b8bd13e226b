import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { runHerald } from '../support/herald-process.js';
import { insertMessage } from '../support/message-factory.js';
import { runInProcess } from '../support/run-in-process.js';
import { countUsage } from '../support/count-usage.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const MONTH = new Date().toISOString().slice(0, 7);
const PRICES = ['countries,category,tier_from,price,currency,valid_from', 'DE,utility,1,0.0456,EUR,2026-01-01'];

let test: TestApp;
let env: Record<string, string>;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({});
  env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir, WHATSAPP_API_URL: test.simulatorUrl ?? '' };
  workspace = await sendingWorkspace(test);
});
afterAll(async () => test?.stop());

const herald = (...words: string[]): Promise<string> => runInProcess(words, env);
const json = async <T>(...words: string[]): Promise<T> => JSON.parse(await herald(...words, '--json')) as T;

function file(...lines: string[]): string {
  const path = join(test.dataDir, 'rates.csv');
  writeFileSync(path, lines.join('\n'));
  return path;
}

const limitOf = (amount: string) =>
  json<{ spend_per_month: string | null }>(
    'workspace',
    'limits',
    '--workspace',
    workspace.organizationId,
    '--spend-per-month',
    amount,
  );

it('herald rates: sets and shows prices, and a limit of spending needs them', async () => {
  expect(await herald('rates', 'show')).toContain('There are no prices');
  await expect(limitOf('250')).rejects.toThrow('there are no prices');

  expect(await json('rates', 'set', '--file', file(...PRICES))).toEqual({ prices: 1, unpriced: [] });
  expect(await json('rates', 'show')).toMatchObject([
    { countries: ['DE'], category: 'utility', price: '0.045600', currency: 'EUR', valid_from: '2026-01-01' },
  ]);
  expect(await limitOf('250')).toMatchObject({ spend_per_month: '250.00' });
  expect(await herald('workspace', 'show', workspace.organizationId)).toContain('250.00 a month');

  const dollars = PRICES.map((line) => line.replace('EUR', 'USD'));
  await expect(herald('rates', 'set', '--file', file(...dollars))).rejects.toThrow('a limit of spending');
  expect(await limitOf('default')).toMatchObject({ spend_per_month: null });
});

it.each([
  [['workspace', 'limits', '--workspace', 'any', '--spend-per-month', '1e3'], 'an amount such as 250.00'],
  [['usage', '--month', '2026-13'], 'a month such as 2026-10'],
])('herald %j is a wrong use of it', async (words, why) => {
  const { code, stderr } = await runHerald(words, env);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});

it.each([
  [[...PRICES, 'FR,utility,1,"0,05",EUR,2026-01-01'], 'line 3: six fields are expected, not 7'],
  [[...PRICES, 'FR,utility,1,5 ct,EUR,2026-01-01'], 'line 3: column 4: price must be a decimal'],
  [['country;price', 'DE;1'], 'line 1: the first line must be countries,category,tier_from'],
  [[], 'csv must be 1 to 200000 characters long'],
])('herald rates set says what is wrong with a file, and changes nothing: %j', async (lines, why) => {
  await test.database.execute('delete from usage_rate');
  await test.database.execute(
    `insert into usage_rate (countries, category, tier_from, price, currency, valid_from)
     values ('{IT}', 'utility', 1, 0.03, 'EUR', '2026-01-01')`,
  );
  await expect(herald('rates', 'set', '--file', file(...lines))).rejects.toThrow(why);
  expect(await test.database.query('select countries from usage_rate')).toEqual([{ countries: ['IT'] }]);
});

it('herald rates set says that there is no such file', async () => {
  await expect(herald('rates', 'set', '--file', join(test.dataDir, 'none.csv'))).rejects.toThrow('none.csv');
});

it('herald usage: a month by number, country and category, as a table, JSON and CSV', async () => {
  await herald('rates', 'set', '--file', file(...PRICES));
  const { connection, organizationId } = workspace;
  await test.database.execute(`update organization set name = '=Acme, "Ltd"' where id = $1`, [organizationId]);
  for (const recipient of ['491701234567', '491701234568', '12042345678']) {
    await insertMessage(test.database, { connection, status: 'read', recipient });
  }
  await test.database.execute(
    `update message_state set billable = true, pricing_category = 'utility', pricing_type = 'regular'
     from message m where m.id = message_id and m.recipient like '49%'`,
  );
  await countUsage(test);
  const other = await sendingWorkspace(test);

  const [german, ...others] = await json<{ country: string; submitted: number; cost: object | null }[]>(
    'usage',
    '--month',
    MONTH,
    '--workspace',
    organizationId,
  );
  expect([german, ...others].map((line) => [line?.country, line?.submitted])).toEqual(
    expect.arrayContaining([
      ['DE', 2],
      ['CA', 1],
    ]),
  );
  const csv = (await herald('usage', '--month', MONTH, '--csv')).trim().split('\n');
  expect(csv[0]).toBe(
    'month,workspace_id,workspace,number,country,category,submitted,accepted,sent,delivered,read,failed,outcome_unknown,received,billable,free,estimated_cost,currency,unpriced',
  );
  const name = `"'=Acme, ""Ltd"""`;
  expect(csv.slice(1).toSorted()).toEqual([
    `${MONTH},${organizationId},${name},${connection.phoneNumber},CA,,1,1,1,1,1,0,0,0,0,0,0.00,EUR,0`,
    `${MONTH},${organizationId},${name},${connection.phoneNumber},DE,utility,2,2,2,2,2,0,0,0,2,0,0.0912,EUR,0`,
  ]);
  expect(await herald('usage', '--month', MONTH, '--workspace', organizationId)).toContain('0.0912 EUR');
  expect(await herald('usage', '--workspace', other.organizationId)).toContain('Nothing was counted');
});

it('herald rates set and herald usage name what has no price', async () => {
  const { connection, organizationId } = await sendingWorkspace(test);
  for (const [recipient, category] of [
    ['5511987654321', 'marketing_lite'],
    ['5511987654322', 'marketing_lite'],
    ['919812345678', 'marketing'],
    ['491701234567', 'utility'],
  ] as const) {
    const { id } = await insertMessage(test.database, { connection, status: 'read', recipient });
    await test.database.query(
      'update message_state set billable = true, pricing_category = $2, pricing_type = $3 where message_id = $1',
      [id, category, 'regular'],
    );
  }
  await countUsage(test);

  const path = file(...PRICES, 'IN,marketing,1,0.01,EUR,2026-01-01');
  expect(await json('rates', 'set', '--file', path)).toMatchObject({
    prices: 2,
    unpriced: [{ category: 'marketing_lite', countries: ['BR'], messages: 2 }],
  });
  expect(await herald('rates', 'set', '--file', path)).toContain(
    'Without a price since the month before: marketing_lite in BR (2 messages).',
  );
  const ofMonth = ['usage', '--month', MONTH, '--workspace', organizationId];
  expect(await herald(...ofMonth)).toContain('Without a price: marketing_lite (2 messages).');
  expect((await herald(...ofMonth, '--csv')).split('\n').find((line) => line.includes(',BR,'))).toMatch(
    /,BR,marketing_lite,2,.*,2,0,,,2$/,
  );

  await herald('rates', 'set', '--file', file(...PRICES, '*,marketing,1,0.01,EUR,2026-01-01'));
  expect(await herald(...ofMonth)).not.toContain('Without a price');
});
