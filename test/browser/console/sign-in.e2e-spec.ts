import type { Page } from 'playwright-core';
import { runHerald } from '../../support/herald-process.js';
import { describeConsole, PATIENCE_MS } from './rig.js';

const WRONG = `hrld_live_${'0'.repeat(32)}`;

describeConsole('links that sign in to the console', (rig) => {
  let strangers: string;

  beforeAll(async () => {
    const run = async (...args: string[]): Promise<Record<string, string>> => {
      const { code, stdout, stderr } = await runHerald([...args, '--json'], rig.env);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as Record<string, string>;
    };
    const { id = '' } = await run('workspace', 'create', '--name', 'Harbour Books');
    const made = await run('key', 'create', '--workspace', id, '--name', 'Shelf', '--scopes', 'connections:read');
    strangers = made.key ?? '';
  }, 2 * PATIENCE_MS);

  const open = (page: Page, path: string): Promise<unknown> => page.goto(`${rig.demo.base_url}/console${path}`);
  const names = (page: Page): Promise<string[]> => page.getByLabel('Key').locator('option').allTextContents();
  const inUse = (page: Page): Promise<string | null> => page.getByLabel('Key').locator('option:checked').textContent();
  const question = (page: Page) => page.getByRole('dialog', { name: 'Sign in by this link?' });
  const isKept = (page: Page): Promise<boolean> =>
    page.evaluate(`JSON.stringify({ ...sessionStorage }).includes(${JSON.stringify(strangers)})`);

  it(
    'asks first where another key is signed in, and keeps nothing where the answer is no',
    () =>
      rig.visit({}, async (page) => {
        await open(page, '/numbers');
        await page.locator('.pane-row').first().waitFor();
        const [before, own] = [await names(page), await inUse(page)];
        // The page is open: only the fragment changes.
        await open(page, `/numbers#key=${strangers}`);
        await question(page).waitFor();
        expect(page.url()).not.toContain('key=');
        const text = (await question(page).textContent()) ?? '';
        expect(text).toContain('This link signs in as Harbour Books · Shelf.');
        expect(text).toContain(`You are signed in as ${own}.`);
        expect(await names(page)).toEqual(before);
        await page.getByRole('button', { name: 'Stay as I am' }).click();
        await question(page).waitFor({ state: 'detached' });
        expect([await names(page), await inUse(page)]).toEqual([before, own]);

        await open(page, `/numbers#key=${strangers}`);
        await question(page).waitFor();
        await page.keyboard.press('Escape');
        await question(page).waitFor({ state: 'detached' });
        expect([await names(page), await inUse(page)]).toEqual([before, own]);

        await open(page, `/numbers#key=${strangers}`);
        await question(page).getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('Harbour Books · Shelf').first().waitFor({ state: 'attached' });
        expect(await inUse(page)).toBe('Harbour Books · Shelf');
        // One that is signed in already is only chosen.
        await open(page, `/numbers#key=${rig.demo.api_key}`);
        await page.locator('.pane-row').first().waitFor();
        expect(await inUse(page)).toBe(own);
        expect(await question(page).count()).toBe(0);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'asks beside a key that the tab keeps, too, and the tab does not keep the other',
    () =>
      // The overview asks for the webhook, of which there is none, unless it is left before.
      rig.visit({ demoKey: false, quiet: true }, async (page) => {
        await open(page, '');
        await page.getByLabel('API key').fill(rig.demo.api_key);
        await page.getByLabel('Stay signed in on this tab').check();
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('navigation', { name: 'Pages' }).waitFor();
        await open(page, `/numbers#key=${strangers}`);
        await question(page).waitFor();
        expect(await isKept(page)).toBe(false);
        await page.getByRole('button', { name: 'Stay as I am' }).click();
        await page.reload();
        await page.locator('.pane-row').first().waitFor();
        expect(await names(page)).not.toContain('Harbour Books · Shelf');
        expect(await isKept(page)).toBe(false);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says that the key of a link is wrong, and does not take the demo in its place',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await open(page, `/numbers#key=${WRONG}`);
        await page.getByText('Herald does not know the key of this link').waitFor();
        expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
        expect(page.url()).not.toContain('key=');
        await page.getByRole('button', { name: 'Open the demo' }).click();
        await page.locator('.pane-row').first().waitFor();
        const own = await inUse(page);
        await open(page, `/numbers#key=${WRONG}`);
        const refusal = page.getByRole('dialog', { name: 'The link did not sign in' });
        await refusal.waitFor();
        expect(await refusal.textContent()).toContain(`You stay signed in as ${own}.`);
        await refusal.getByRole('button', { name: 'Close' }).click();
        expect(await inUse(page)).toBe(own);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'asks so that everybody can read it, wide and narrow, light and dark',
    () =>
      rig.visitEach(async (page) => {
        await open(page, '/numbers');
        await page.locator('.pane-row').first().waitFor();
        await open(page, `/numbers#key=${strangers}`);
        await question(page).waitFor();
        await rig.expectAccessible(page);
      }),
    4 * PATIENCE_MS,
  );
});
