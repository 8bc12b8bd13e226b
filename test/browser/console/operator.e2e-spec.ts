import type { Page } from 'playwright-core';
import { runHerald } from '../../support/herald-process.js';
import { waitFor } from '../../support/wait-for.js';
import { describeConsole, PATIENCE_MS } from './rig.js';

const PAGES = ['workspaces', 'numbers', 'usage', 'prices', 'audit', 'health'];
const ATTACKED = '<img src=x onerror=alert(1)> & Sons';

describeConsole("the operator's pages", (rig) => {
  const operatorKey = async (...more: string[]): Promise<string> => {
    const args = ['operator-key', 'create', '--name', 'console', ...more, '--json'];
    const { code, stdout, stderr } = await runHerald(args, rig.env);
    if (code !== 0) throw new Error(stderr);
    return (JSON.parse(stdout) as { key: string }).key;
  };
  const signIn = async (page: Page, key: string): Promise<void> => {
    await page.goto(`${rig.demo.base_url}/console`);
    await page.getByLabel('API key').fill(key);
    await page.getByLabel('Stay signed in').check();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.page-links').waitFor({ state: 'attached' });
  };
  const open = async (page: Page, name: string): Promise<void> => {
    await page.goto(`${rig.demo.base_url}/console/operator/${name}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await waitFor(async () => (await page.locator('.skeleton').count()) === 0, { what: 'the answers' });
  };
  const linksOf = (page: Page): Promise<string[]> => page.locator('.page-links a').allInnerTexts();

  it(
    'make a workspace, give it a number and a key, change and delete it',
    () =>
      rig.visit({ demoKey: false, quiet: true }, async (page) => {
        await rig.simulate('numbers', {
          phone_number_id: '77889900112',
          waba_id: '88990011223',
          display_phone_number: '+15550177889',
        });
        await signIn(page, await operatorKey('--scopes', 'all'));
        await page.getByRole('button', { name: 'New', exact: true }).click();
        const form = page.getByRole('dialog');
        await form.getByLabel('Name').fill(ATTACKED);
        await form.getByLabel('Your own id').fill('customer-1');
        await form.getByRole('button', { name: 'Make it' }).click();
        const detail = page.getByRole('region', { name: 'Workspace', exact: true });
        await detail.getByRole('heading', { name: ATTACKED }).waitFor();
        await detail.getByText('not paid').waitFor();

        await detail.getByRole('button', { name: 'Change', exact: true }).click();
        await detail.getByLabel('Paid until').fill('2099-12-31T12:00');
        await detail.getByLabel('Messages a day').fill('12345');
        await detail.getByLabel('Time zone').fill('nowhere');
        await detail.getByRole('button', { name: 'Save' }).click();
        await detail.getByText('time_zone must be a time zone').waitFor();
        await detail.getByLabel('Time zone').fill('Europe/Berlin');
        await detail.getByRole('button', { name: 'Save' }).click();
        await detail.getByText('12,345').waitFor();
        await detail.getByText('Europe/Berlin').waitFor();

        await detail.getByRole('button', { name: 'Add a number' }).click();
        await form.getByLabel('Phone number ID').fill('77889900112');
        await form.getByLabel('WhatsApp Business Account ID').fill('88990011223');
        await form.getByLabel('Access token').fill('secret-of-meta');
        await form.getByRole('button', { name: 'Add it' }).click();
        await detail.getByText('+15550177889').waitFor();

        await detail.getByRole('button', { name: 'New key' }).click();
        await form.getByLabel('Name').fill('orders');
        await form.getByRole('button', { name: 'Make it' }).click();
        const key = (await form.locator('.secret').innerText()).trim();
        await form.getByRole('button', { name: 'Close' }).click();
        const answer = await fetch(`${rig.demo.base_url}/api/v1/connections`, {
          headers: { authorization: `Bearer ${key}` },
        });
        expect(((await answer.json()) as { data: object[] }).data).toHaveLength(1);
        await detail.getByRole('button', { name: 'Revoke orders' }).click();
        await form.getByRole('button', { name: 'Revoke it' }).click();
        await detail.getByText('revoked').waitFor();

        await page.getByLabel('Search by name').fill('<IMG');
        await page.locator('.pane-row').filter({ hasText: ATTACKED }).waitFor();
        await detail.getByRole('button', { name: 'Delete the workspace' }).click();
        await form.getByRole('button', { name: 'Delete everything' }).click();
        await page.locator('.pane-row').first().waitFor();
        await page.locator('.pane-row').filter({ hasText: ATTACKED }).waitFor({ state: 'detached' });
        expect(page.url()).not.toContain('hrld');
        expect(await page.content()).not.toContain(key);
      }),
    4 * PATIENCE_MS,
  );

  it(
    'change of a workspace what was changed in the form, and nothing that others change meanwhile',
    () =>
      rig.visit({ demoKey: false }, async (page) => {
        const key = await operatorKey('--scopes', 'workspaces:read,workspaces:write');
        const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
          const url = `${rig.demo.base_url}/api/admin/v1/workspaces${path}`;
          const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
          return ((await answer.json()) as { data: Record<string, unknown> }).data;
        };
        const { id } = await call('POST', '', { name: 'Shop' });
        await page.clock.install();
        await signIn(page, key);
        await open(page, `workspaces/${String(id)}`);
        const detail = page.getByRole('region', { name: 'Workspace', exact: true });
        await detail.getByRole('button', { name: 'Change', exact: true }).click();
        await detail.getByLabel('Name').fill('New shop');
        const paid = '2099-12-31T12:00:00.000Z';
        await call('PATCH', `/${String(id)}`, { api_paid_until: paid, messages_per_day: 777 });
        await page.clock.fastForward(20_000);
        await detail.locator('.facts', { hasText: '777' }).waitFor();
        await detail.getByRole('button', { name: 'Save' }).click();
        await detail.getByRole('heading', { name: 'New shop' }).waitFor();
        expect(await call('GET', `/${String(id)}`)).toMatchObject({
          name: 'New shop',
          api_paid_until: paid,
          messages_per_day: 777,
        });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'fit wide and narrow, light and dark, and pass axe',
    async () => {
      const key = await operatorKey('--scopes', 'all');
      for (const width of [400, 1_280]) {
        for (const scheme of ['light', 'dark'] as const) {
          await rig.visit({ width, scheme, demoKey: false }, async (page) => {
            await signIn(page, key);
            for (const name of [...PAGES, `workspaces/${rig.demo.organization_id}`]) {
              await open(page, name);
              await rig.expectAccessible(page);
            }
          });
        }
      }
    },
    8 * PATIENCE_MS,
  );

  it(
    'show what the scopes and workspaces of the key allow, and no page of a workspace',
    () =>
      rig.visit({ demoKey: false }, async (page) => {
        const { organization_id: own } = rig.demo;
        await signIn(page, await operatorKey('--scopes', 'workspaces:read,audit:read', '--workspaces', own));
        expect(await linksOf(page)).toEqual(['Workspaces', 'Audit']);
        await page.locator('.pane-row').click();
        const detail = page.getByRole('region', { name: 'Workspace', exact: true });
        await detail.getByText(own).waitFor();
        expect(await detail.getByRole('button', { name: /Change|New key|Add a number|Delete/ }).count()).toBe(0);
        await open(page, 'health');
        await page.getByText('This key may not see this page').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'end with the key',
    () =>
      rig.visit({ demoKey: false, quiet: true }, async (page) => {
        const key = await operatorKey('--scopes', 'workspaces:read');
        await signIn(page, key);
        await page.locator('.pane-row').first().waitFor();
        const { code } = await runHerald(['operator-key', 'revoke', key.split('_')[2] ?? ''], rig.env);
        expect(code).toBe(0);
        await page.getByText('The key is no longer valid').waitFor();
      }),
    2 * PATIENCE_MS,
  );
});
