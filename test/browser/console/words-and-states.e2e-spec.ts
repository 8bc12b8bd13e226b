import type { Page, Route } from 'playwright-core';
import { deferred } from '../../support/deferred.js';
import { waitFor } from '../../support/wait-for.js';
import { CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

interface Shown {
  id: string;
}

/** A call of the API whose answer differs in a part. */
const changed =
  (change: (body: Record<string, unknown>) => object) =>
  async (route: Route): Promise<void> => {
    const answer = await route.fetch();
    const body = (await answer.json()) as Record<string, unknown>;
    await route.fulfill({ response: answer, json: { ...body, ...change(body) } });
  };
const DATA = (part: object) => changed(({ data }) => ({ data: { ...(data as object), ...part } }));

describeConsole('words and states of the console', (rig) => {
  const open = (page: Page, path: string): Promise<unknown> => page.goto(`${rig.demo.base_url}/console${path}`);
  const isFilled = async (page: Page, name: string): Promise<boolean> =>
    /\bprimary\b/.test((await page.getByRole('button', { name, exact: true }).getAttribute('class')) ?? '');

  it(
    'never fills the button that may send twice, and says so in words before it does',
    () =>
      rig.visit({}, async (page) => {
        const [message] = await rig.call<Shown[]>('GET', '/messages?limit=1&direction=outbound');
        const calls = `**/api/v1/messages/${message?.id}`;
        await page.route(calls, DATA({ status: 'outcome_unknown' }));
        let sent: unknown;
        await page.route(`${calls}/retry`, async (route) => {
          sent = route.request().postDataJSON();
          await route.fulfill({ status: 202, json: { data: {} } });
        });
        await open(page, `/messages/${message?.id}`);
        expect(await isFilled(page, 'Send again')).toBe(false);
        await page.getByRole('button', { name: 'Send again', exact: true }).click();
        const dialog = page.getByRole('dialog', { name: 'Send this message again?' });
        await dialog.getByText('gets it a second time').waitFor();
        expect(await isFilled(page, 'Send again, perhaps twice')).toBe(false);
        expect(await isFilled(page, 'Back')).toBe(true);
        expect(await page.locator('body').innerText()).not.toContain('confirm_outcome_unknown');
        await rig.expectAccessible(page);
        await dialog.getByRole('button', { name: 'Send again, perhaps twice' }).click();
        await dialog.waitFor({ state: 'detached' });
        expect(sent).toEqual({ confirm_outcome_unknown: true });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says that Herald does not answer, offers to try again, and comes back by itself; nobody is signed out',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        // Alone first, then with a key that the tab keeps, whose service has no database.
        await page.route('**/console/demo.json', (route) => route.abort());
        await open(page, '/messages');
        await page.getByText('Herald does not answer').waitFor();
        expect(await page.title()).toBe('Herald does not answer · Herald');
        expect(await page.getByLabel('API key').count()).toBe(0);
        await rig.expectAccessible(page);
        await page.unroute('**/console/demo.json');
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.locator('.message-row').first().waitFor();
        await page.evaluate(
          `sessionStorage.setItem('herald.keys', ${JSON.stringify(JSON.stringify([rig.demo.api_key]))})`,
        );
        await page.route('**/api/v1/key', (route) => route.fulfill({ status: 503, body: 'away' }));
        await page.reload();
        await page.getByText('HTTP_503').waitFor();
        expect(await page.getByLabel('API key').count()).toBe(0);
        await page.unroute('**/api/v1/key');
        await page.locator('.message-row').first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'shows its skeleton, and no form, while Herald is slow',
    () =>
      rig.visit({}, async (page) => {
        const answer = deferred();
        await page.route('**/console/demo.json', async (route) => {
          await answer.promise;
          await route.continue();
        });
        await open(page, '/messages');
        await page.locator('.starting .skeleton').waitFor();
        expect(await page.getByLabel('API key').count()).toBe(0);
        await rig.expectAccessible(page);
        answer.resolve();
        await page.locator('.message-row').first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'shows no message for a search that it cannot read',
    () =>
      // So narrow that there is no phone, which asks for messages too.
      rig.visit({ width: 1_000 }, async (page) => {
        let lists = 0;
        await page.route('**/api/v1/messages?*', (route) => {
          lists++;
          return route.continue();
        });
        await open(page, '/messages?q=status%3Anonsense');
        await page.getByText('status: takes queued, processing').waitFor();
        await page.locator('.connection.is-live').waitFor();
        expect([lists, await page.locator('.message-row').count()]).toEqual([0, 0]);
        expect(await page.getByRole('button', { name: 'CSV' }).count()).toBe(0);
        await page.getByLabel('Search messages').fill('status:failed');
        await page.locator('.message-row').first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'names each page in its title',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await open(page, '/messages');
        await page.locator('.message-row').first().waitFor();
        const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
        for (const name of await links.allInnerTexts()) {
          await links.getByText(name, { exact: true }).click();
          await waitFor(async () => (await page.title()) === `${name} · Herald`, { what: `the title of ${name}` });
        }
        await open(page, '/nothing');
        await page.getByText('There is no such page').waitFor();
        expect(await page.title()).toBe('No such page · Herald');
      }),
    2 * PATIENCE_MS,
  );

  it.each([400, 1_280])(
    'says at the address of the webhook what is wrong with it, with Save in sight, %i pixels wide',
    (width) =>
      rig.visit({ width, quiet: true }, async (page) => {
        await open(page, '/webhook');
        await page.getByRole('button', { name: 'Set the webhook' }).click();
        const save = page.getByRole('dialog').getByRole('button', { name: 'Save' });
        const address = page.getByLabel('Address');
        await address.fill('http://10.0.0.1/');
        await save.click();
        await page.locator('.field-with-notes', { has: address }).getByText('https://').waitFor();
        expect(await address.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true);
        const inSight = async (locator: typeof save) => {
          const { y = -1, height = 0 } = (await locator.boundingBox()) ?? {};
          return y >= 0 && y + height <= 860;
        };
        expect([await inSight(save), await inSight(address)]).toEqual([true, true]);
        expect(await page.locator('dialog .problem').count()).toBe(0);
        await rig.expectAccessible(page);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'finds no fault with what is not written yet',
    () =>
      rig.visit({}, async (page) => {
        const answers = (): Promise<unknown> => page.waitForResponse('**/api/v1/messages/check');
        const faults = page.locator('.problem, .note.bad, .check-line.bad');
        await open(page, '/send?kind=template');
        const checked = answers();
        await page.getByLabel('Template').last().selectOption({ label: 'order_update · en_US · utility' });
        await checked;
        await page.getByText('Fill in body 1 first.').waitFor();
        await page.getByLabel('body 1').fill('Ana');
        await page.getByText('Fill in body 2 first.').waitFor();
        expect(await faults.count()).toBe(0);
        await open(page, '/send?kind=buttons');
        await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Will you come?');
        const again = answers();
        await page.getByRole('button', { name: 'Add' }).click();
        await again;
        await page.getByText('Write on button 3 first, or remove it.').waitFor();
        expect(await faults.count()).toBe(0);
        expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
        await page.getByLabel('Button 3').fill('Perhaps');
        await page.getByText('Write on button 3 first, or remove it.').waitFor({ state: 'detached' });
        expect(await page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(true);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'shows amounts with their currency, and times in one form',
    () =>
      rig.visit({}, async (page) => {
        const limit = {
          kind: 'spend_per_month',
          limit: '1500.0000',
          used: '10.0000',
          remaining: '1490.0000',
          currency: 'EUR',
          renews_at: '2026-12-01T00:00:00.000Z',
        };
        await page.route('**/api/v1/messages/check', DATA({ limits: [limit] }));
        await open(page, '/send');
        await page.locator('textarea').fill('Hello');
        await page.getByText('€1,490.00 of €1,500.00 left').waitFor();
        const until = await page.getByText('You may write until').innerText();
        expect(until).toMatch(/until \w+ \d+, \d{4}, \d\d:\d\d:\d\d:/);
        await open(page, '/messages?q=direction:out');
        await page.locator('.message-row').first().click();
        expect(await page.locator('.headline time').innerText()).toMatch(/^\w+ \d+, \d{4}, \d\d:\d\d:\d\d$/);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'remembers that the phone was closed',
    () =>
      rig.visit({}, async (page) => {
        const phone = page.getByRole('button', { name: 'Phone', exact: true });
        const isOpen = async (): Promise<string | null> => phone.getAttribute('aria-pressed');
        await open(page, '/messages');
        expect(await isOpen()).toBe('true');
        await phone.click();
        await page.reload();
        expect(await isOpen()).toBe('false');
        await phone.click();
        await page.reload();
        expect(await isOpen()).toBe('true');
      }),
    2 * PATIENCE_MS,
  );

  it(
    'shows the keys at ?, unless one types',
    () =>
      rig.visitEach(async (page) => {
        await open(page, '/messages');
        const dialog = page.getByRole('dialog', { name: 'Shortcuts' });
        await page.getByLabel('Search messages').press('?');
        expect(await page.getByLabel('Search messages').inputValue()).toBe('?');
        expect(await dialog.count()).toBe(0);
        await page.getByLabel('Search messages').fill('');
        await page.locator('#page').focus();
        await page.keyboard.press('?');
        await dialog.getByText('search the messages').waitFor();
        await rig.expectAccessible(page);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }),
    3 * PATIENCE_MS,
  );

  it(
    'shows how to connect an agent',
    () =>
      rig.visitEach(async (page) => {
        await open(page, '/messages');
        await page.getByLabel('Key').selectOption('agent');
        const dialog = page.getByRole('dialog', { name: 'Connect an agent' });
        await dialog.getByText('/mcp --header').waitFor();
        await dialog.getByLabel('Client').selectOption('Cursor');
        await dialog.getByText('mcpServers').waitFor();
        await rig.expectAccessible(page);
      }),
    3 * PATIENCE_MS,
  );

  it(
    'says of few failures among many neither none nor all',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await rig.send(CUSTOMER, 'Counted');
        const totals = { submitted: 5_012, delivered: 5_004, read: 2_506, failed: 8 };
        await page.route(
          '**/api/v1/usage?*',
          changed((body) => ({ totals: { ...(body.totals as object), ...totals } })),
        );
        await open(page, '/overview');
        const tile = (name: string) => page.locator('.tile', { hasText: name });
        await tile('Failed').getByText('0.2 %').waitFor();
        await tile('Delivered').getByText('99.8 %').waitFor();
        await tile('Read').getByText('50 %').waitFor();
      }),
    2 * PATIENCE_MS,
  );
});
