import { readFileSync } from 'node:fs';
import { runHerald } from '../../support/herald-process.js';
import { waitFor } from '../../support/wait-for.js';
import { CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

const UNREACHABLE = '+15550100002';

describeConsole('the overview in the console', (rig) => {
  const counted = async (key = rig.demo.api_key) => {
    const answer = await fetch(`${rig.demo.base_url}/api/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
    return ((await answer.json()) as { totals: { failed: number; read: number; submitted: number } }).totals;
  };

  beforeAll(
    async () => {
      const template = { name: 'hello_world', language: 'en_US' };
      const { connection_id } = rig.demo;
      await rig.call('POST', '/messages', { connection_id, to: CUSTOMER, type: 'template', template });
      await rig.send(CUSTOMER, 'This one is read.');
      await rig.send(UNREACHABLE, 'This one fails.');
      // Two failed: that of the demo, and this one. What changes more than a minute after the end of its quarter of an hour is counted up to
      // four minutes later.
      await waitFor(async () => (await counted()).failed >= 2 && (await counted()).read >= 1, {
        what: 'figures of what was sent',
        timeoutMs: 300_000 + PATIENCE_MS,
      });
    },
    300_000 + 2 * PATIENCE_MS,
  );

  it(
    'opens first, shows what was counted, and leads from a cause to its messages',
    () =>
      // The demo has no webhook: the API answers 404.
      rig.visit({ quiet: true }, async (page) => {
        await page.goto(rig.demo.base_url);
        await page.waitForURL('**/console/overview');
        const { submitted } = await counted();
        await page.locator('.tile', { hasText: 'Submitted' }).getByText(String(submitted), { exact: true }).waitFor();
        await page.locator('.tile', { hasText: 'no prices are set' }).waitFor();
        await page.locator('.chart').first().getByText('Figures').click();
        const figures = page.getByRole('table').first();
        await figures.getByRole('columnheader', { name: 'failed' }).waitFor();
        // That which the demo has scheduled, and none of those that failed after WhatsApp had accepted them.
        const place = (await figures.locator('thead th').allInnerTexts()).indexOf('on the way') + 1;
        const counts = await figures.locator(`tbody tr > :nth-child(${place})`).allInnerTexts();
        expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(1);
        await page.locator('.numbers li', { hasText: 'connected' }).first().waitFor();
        await page.locator('.causes a', { hasText: 'recipient unreachable' }).click();
        await page.waitForURL('**/messages?q=*');
        await page.locator('.message-row', { hasText: 'This one fails.' }).first().waitFor();
        expect(await page.locator('.message-row', { hasText: 'received' }).count()).toBe(0);
        await page.goBack();
        await page.getByRole('link', { name: /^Failed: \d+/ }).click();
        await page.waitForURL('**/messages?q=status*failed*since*');
        await page.locator('.message-row', { hasText: 'This one fails.' }).first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'keeps the chosen time in the address, and draws no days before the first message but a week',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/overview`);
        await page.getByLabel('30 days').check();
        await page.waitForURL('**/overview?range=30d');
        await page.reload();
        expect(await page.getByLabel('30 days').isChecked()).toBe(true);
        // Two charts of bars, and one of lines over such slots.
        await page.locator('.chart').nth(2).locator('.bar-slot').nth(6).waitFor();
        expect(await page.locator('.bar-slot').count()).toBe(3 * 7);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'counts by template and by month, over a time that the address keeps, and saves it as CSV',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/overview`);
        await page.getByRole('link', { name: 'Usage' }).click();
        const line = page.locator('.usage tbody tr', { hasText: 'hello_world' });
        await line.waitFor();
        expect(await line.locator('td').first().textContent()).toMatch(/^\d{4}-\d\d$/);
        const { submitted } = await counted();
        await page.locator('.usage tfoot', { hasText: String(submitted) }).waitFor();
        await page.getByLabel('12 months').check();
        await page.waitForURL('**/usage?*from=*');
        await page.locator('.range select').selectOption('month');
        await page.waitForURL('**by=month*');
        await page.reload();
        await page.getByRole('region', { name: 'Usage by month' }).waitFor();
        expect(await page.getByLabel('12 months').isChecked()).toBe(true);
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'CSV' }).click(),
        ]);
        expect(file.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-01-\d{4}-\d\d-\d\d-by-month\.csv$/);
        const [head = '', row = '', ...others] = readFileSync(await file.path(), 'utf8')
          .trim()
          .split('\r\n');
        expect(head).toBe(
          'month,submitted,accepted,sent,delivered,read,failed,outcome_unknown,received,billable,unpriced,cost,currency',
        );
        expect([row.split(',')[1], others]).toEqual([String(submitted), []]);
        await page.getByLabel('From').fill('2026-11-02');
        await page.getByLabel('Until').fill('2026-11-01');
        await page.getByText('The first day must not be later than the last one.').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says that a cost is estimated',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await page.route('**/api/v1/usage?*', async (route) => {
          const answer = await route.fetch();
          const body = (await answer.json()) as { totals: object };
          const totals = {
            ...body.totals,
            cost: { currency: 'EUR', amount: '1234.5600' },
            billable: { marketing: 42 },
          };
          await route.fulfill({ response: answer, json: { ...body, totals } });
        });
        await page.goto(`${rig.demo.base_url}/console/overview`);
        await page.locator('.tile', { hasText: 'Cost, estimated' }).getByText('€1,234.56').waitFor();
        await page.getByText('estimated; Meta’s invoice is what counts').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says what the priced part costs, and what has no price',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        let figures: object = {};
        await page.route('**/api/v1/usage?*', async (route) => {
          const answer = await route.fetch();
          const body = (await answer.json()) as { totals: object };
          await route.fulfill({ response: answer, json: { ...body, totals: { ...body.totals, ...figures } } });
        });
        const tile = page.locator('.tile', { hasText: 'Cost, estimated' });
        const open = async (): Promise<void> => void (await page.goto(`${rig.demo.base_url}/console/overview`));
        const priced = { currency: 'EUR', amount: '12.50' };
        figures = { cost: null, cost_of_priced: priced, unpriced: { marketing_lite: 1, utility: 1200 } };
        await open();
        await tile.getByText('€12.50').waitFor();
        await tile.getByText('without 1,200 utility, 1 marketing lite: they have no price').waitFor();
        figures = { cost: null, cost_of_priced: null, unpriced: { utility: 3 } };
        await open();
        await tile.getByText('no prices are set').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility',
    () =>
      rig.visitEach(async (page) => {
        await page.route('**/api/v1/webhook', (route) => route.fulfill({ json: { data: null } }));
        await page.goto(`${rig.demo.base_url}/console/overview`);
        await page.locator('.causes a').first().waitFor();
        await page.getByText('Figures').first().click();
        await rig.expectAccessible(page);
        await page.goto(`${rig.demo.base_url}/console/usage`);
        await page.locator('.usage tbody tr').first().waitFor();
        await rig.expectAccessible(page);
      }),
    3 * PATIENCE_MS,
  );

  it(
    'begins with three steps in an empty workspace, and shows a key what it may read',
    async () => {
      const made = await runHerald(['workspace', 'create', '--name', 'Nothing <b>yet</b>', '--json'], rig.env);
      const workspace = (JSON.parse(made.stdout) as { id: string }).id;
      const args = ['key', 'create', '--workspace', workspace, '--name', 'look', '--scopes', 'messages:read', '--json'];
      const { key } = JSON.parse((await runHerald(args, rig.env)).stdout) as { key: string };
      await rig.visit({ demoKey: false }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console#key=${key}`);
        await page.locator('.first-steps li', { hasText: 'Send the first message' }).waitFor();
        expect(await page.locator('.first-steps li').count()).toBe(3);
        expect(await page.getByRole('heading', { name: 'Numbers' }).count()).toBe(0);
        expect(await page.getByRole('heading', { name: 'Webhook', exact: true }).count()).toBe(0);
        await page.getByText('No message failed in this time.').waitFor();
      });
    },
    2 * PATIENCE_MS,
  );
});
