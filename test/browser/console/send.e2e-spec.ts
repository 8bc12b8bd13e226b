import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { ATTACK, CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

const run = promisify(execFile);
/** The smallest picture: one point. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describeConsole('sending from the console', (rig) => {
  async function openSend(page: Page, kind: string): Promise<void> {
    await page.goto(`${rig.demo.base_url}/console/send?kind=${kind}`);
    await page.getByRole('heading', { name: 'Send a message' }).waitFor();
  }
  const send = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('.panel .status.is-read').waitFor();
  };
  const phone = (page: Page) => page.getByRole('log', { name: 'Chat' });

  it(
    'uploads a file, whatever its name, shows it beside its caption, and sends it; it can be chosen again',
    () =>
      rig.visit({}, async (page) => {
        await openSend(page, 'file');
        await page
          .locator('.upload input')
          .setInputFiles({ name: '<img src=x onerror=alert(1)>.png', mimeType: 'image/png', buffer: PNG });
        await page.getByRole('button', { name: 'Change' }).waitFor();
        await page.locator('.send-view .bubble img').waitFor();
        await page.getByLabel('Caption').fill('This is the menu.');
        await send(page);
        await phone(page).getByText('This is the menu.').waitFor();
        await openSend(page, 'file');
        await page.locator('.media-choice button', { hasText: '<img src=x' }).first().click();
        await page.getByRole('button', { name: 'Change' }).waitFor();
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'leads nobody away who has left the page before the answer came',
    () =>
      rig.visit({}, async (page) => {
        await openSend(page, 'text');
        await page.locator('textarea').fill('Sent from the page that was left');
        let go: () => void = () => undefined;
        const held = new Promise<void>((resolve) => (go = resolve));
        await page.route('**/api/v1/messages', async (route) => {
          if (route.request().method() === 'POST') await held;
          await route.continue();
        });
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await page.getByRole('button', { name: 'Send', disabled: true, exact: true }).waitFor();
        await page.getByRole('link', { name: 'Templates', exact: true }).click();
        await page.getByRole('heading', { name: 'Templates', exact: true }).waitFor();
        const answered = page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.ok());
        go();
        await answered;
        await phone(page).getByText('Sent from the page that was left').waitFor();
        expect(page.url()).toContain('/console/templates');
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says what is no file for WhatsApp, and lets another one be chosen',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await openSend(page, 'file');
        await page.locator('.upload input').setInputFiles({
          name: 'program.exe',
          mimeType: 'application/x-msdownload',
          buffer: Buffer.from('MZ nothing that WhatsApp takes'),
        });
        await page.locator('.problem').waitFor();
        await page.getByText('Choose a file, or drop it here').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends buttons, and gets the one that the customer presses',
    () =>
      rig.visit({}, async (page) => {
        await openSend(page, 'buttons');
        await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Will you come?');
        await page.getByLabel('Button 1').fill('A title that is far too long for it');
        await page.locator('.note.warn').waitFor();
        await page.getByLabel('Button 1').fill('With pleasure');
        await page.locator('.note.warn').waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Add' }).click();
        await page.getByLabel('Button 3').fill(ATTACK.slice(0, 20));
        await page.locator('.send-view .bubble button', { hasText: '<img' }).waitFor();
        await send(page);
        await phone(page).getByRole('button', { name: 'With pleasure' }).click();
        await page.getByLabel('Close', { exact: true }).click();
        await page.locator('.message-row', { hasText: 'With pleasure' }).waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends a list, a place and a template',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await openSend(page, 'list');
        await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Which day?');
        await page.getByLabel('Choice 2').fill('Friday');
        await page.getByLabel('Description 2').fill('from six o’clock on');
        await send(page);
        await openSend(page, 'location');
        await page.getByLabel('Latitude').fill('91');
        await page.getByLabel('Longitude').fill('-6.2603');
        await page.locator('.note.bad', { hasText: 'location.latitude' }).waitFor();
        expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
        await page.getByLabel('Latitude').fill('53.3498');
        await page.getByLabel('Name (may be empty)').fill('Lighthouse Coffee');
        await page.locator('.note.bad').waitFor({ state: 'detached' });
        await send(page);
        await openSend(page, 'template');
        await page.getByLabel('Template').last().selectOption({ label: 'order_update · en_US · utility' });
        await page.getByLabel('body 1').fill('Ana');
        await page.getByLabel('body 2').fill('4711');
        await page.locator('.send-view .bubble', { hasText: 'Hello Ana, your order 4711' }).waitFor();
        await send(page);
      }),
    3 * PATIENCE_MS,
  );

  it(
    'sends to a customer who is chosen by how it ends, and changes and sends anew what WhatsApp refused',
    () =>
      rig.visit({}, async (page) => {
        await openSend(page, 'text');
        const to = page.getByLabel('To', { exact: true });
        const ending = page.getByLabel('In the demo, the number decides how it ends');
        await ending.selectOption({ label: 'refused by WhatsApp: +15550100003' });
        expect(await to.inputValue()).toBe('+15550100003');
        const customer = page.locator('.phone select').first();
        expect(await customer.inputValue()).toBe('+15550100003');
        await page.locator('textarea').fill('Something forbidden');
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await page.getByText('You can fix this.').waitFor();
        await page.getByRole('link', { name: 'Change and send' }).click();
        await page.getByRole('heading', { name: 'Send a message' }).waitFor();
        expect(await to.inputValue()).toBe('+15550100003');
        expect(await page.locator('textarea').inputValue()).toBe('Something forbidden');
        await customer.selectOption(CUSTOMER);
        expect(await to.inputValue()).toBe(CUSTOMER);
        expect(await ending.inputValue()).toBe(CUSTOMER);
        await page.locator('textarea').fill('Something kind');
        await send(page);
        await phone(page).getByText('Something kind').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'leads to the templates where the customer has not written for a day',
    () =>
      rig.visit({}, async (page) => {
        await openSend(page, 'text');
        await page.getByLabel('To', { exact: true }).fill('00 1 555 010-0014');
        await page.getByRole('button', { name: 'Choose a template' }).click();
        await page.getByRole('option', { name: /order_update/ }).waitFor({ state: 'attached' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends a message once that is sent again because Herald did not answer',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await openSend(page, 'text');
        await page.locator('textarea').fill('Only one of me');
        await page.getByText('You may write until').waitFor();
        const startAgain = await rig.kill();
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await page.getByText('it is not sent twice').waitFor();
        expect(await page.locator('.problem').count()).toBe(1);
        await startAgain();
        await page.locator('.connection.is-live').waitFor();
        await send(page);
        await phone(page).getByText('Only one of me').waitFor();
        expect(await phone(page).getByText('Only one of me').count()).toBe(1);
      }),
    4 * PATIENCE_MS,
  );

  it(
    'copies the call as a command that runs in a shell',
    () =>
      rig.visit({}, async (page) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await openSend(page, 'text');
        await page.locator('textarea').fill("It's “quoted”, and $HOME stays.");
        await page.getByRole('button', { name: 'Copy as curl' }).click();
        await page.getByText('Copied').waitFor();
        const command = await page.evaluate<string>('navigator.clipboard.readText()');
        expect(command).not.toContain(rig.demo.api_key);
        const { HERALD_API_KEY: _none, ...env } = process.env;
        // Nothing is called before the shell has a key.
        await expect(run('bash', ['-c', command], { env })).rejects.toMatchObject({
          stderr: expect.stringMatching(/HERALD_API_KEY: set it to your API key; in the demo: \. \.data\/demo\.sh/),
          stdout: '',
        });
        const withKey = { ...env, HERALD_API_KEY: rig.demo.api_key };
        const { stdout } = await run('bash', ['-c', command], { env: withKey });
        expect(JSON.parse(stdout)).toMatchObject({ data: { status: expect.any(String) } });
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await page.locator('.message-row', { hasText: "It's “quoted”, and $HOME stays." }).waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility with any kind',
    () =>
      rig.visitEach(async (page) => {
        for (const kind of ['file', 'buttons', 'list', 'location']) {
          await openSend(page, kind);
          await rig.expectAccessible(page);
        }
      }),
    4 * PATIENCE_MS,
  );

  it(
    'says which scope a key lacks',
    async () => {
      const { key } = await rig.newKey('messages:write');
      await rig.visit({ demoKey: false }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/send#key=${key}`);
        await page.getByText('connections:read').waitFor();
        expect(await page.getByRole('link', { name: 'Messages' }).count()).toBe(0);
      });
    },
    2 * PATIENCE_MS,
  );
});
