import type { Page } from 'playwright-core';
import { runHerald } from '../../support/herald-process.js';
import { waitFor } from '../../support/wait-for.js';
import { ATTACK, CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

interface Listed {
  data: { id: string; language: string; phone_number_id: string; waba_id: string }[];
}

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj trailer<</Root 1 0 R>>\n%%EOF');

const choose = (page: Page, name: string, mimeType: string, buffer: Buffer): Promise<void> =>
  page.locator('.upload input').setInputFiles({ name, mimeType, buffer });

describeConsole('numbers, templates, files and codes in the console', (rig) => {
  const open = async (page: Page, path: string, waitFor: string): Promise<void> => {
    await page.goto(`${rig.demo.base_url}/console${path}`);
    await page.locator(waitFor).first().waitFor();
  };
  const templatesPath = (): string => `/connections/${rig.demo.connection_id}/templates`;
  const makeTemplate = (name: string, text: string, language = 'en_US'): Promise<{ id: string }> =>
    rig.call('POST', templatesPath(), {
      name,
      language,
      category: 'UTILITY',
      components: [{ type: 'BODY', text, example: { body_text: [['Ana']] } }],
    });
  /** The platform's own id of a template. */
  const platformId = async (name: string, language: string): Promise<string> => {
    const read = async (path: string): Promise<Listed['data']> => {
      const answer = await fetch(rig.demo.simulator_url + path, { headers: { authorization: 'Bearer any' } });
      return ((await answer.json()) as Listed).data;
    };
    const account = (await read('/_simulator/numbers')).find(
      (one) => one.phone_number_id === rig.demo.phone_number_id,
    )?.waba_id;
    const found = await read(`/v26.0/${account}/message_templates?name=${name}`);
    return found.find((one) => one.language === language)?.id ?? '';
  };

  it(
    'shows a number with its state, live, and changes its profile',
    () =>
      rig.visit({}, async (page) => {
        await open(page, '/numbers', '.pane-row');
        await page.locator('.connection.is-live').waitFor();
        await page.locator('.pane-row').first().click();
        await page.getByText('The number sends and receives.').waitFor();
        await rig.simulate(`numbers/${rig.demo.phone_number_id}`, { messaging_limit: 'TIER_250' });
        await page.getByText('250 people in 24 hours').waitFor();
        await page.getByRole('button', { name: 'Edit' }).click();
        expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
        await page.getByLabel('About').fill(ATTACK);
        await page.getByLabel('Email').fill('hello@example.com');
        await page.getByLabel('Website', { exact: true }).fill('https://example.com');
        await page.getByLabel('Branch').selectOption('RESTAURANT');
        // Another one changes it too, and the page reads it again.
        const path = `/connections/${rig.demo.connection_id}/profile`;
        await rig.call('PUT', path, { address: 'Main Street 1' });
        const read = page.waitForResponse(`**${path}`);
        await page.evaluate(`['offline', 'online'].forEach((name) => window.dispatchEvent(new Event(name)))`);
        await read;
        await page.getByRole('button', { name: 'Save' }).click();
        await page.locator('.profile-card', { hasText: 'Restaurant' }).waitFor();
        expect(await page.locator('.profile-card p').first().textContent()).toBe(ATTACK);
        expect(await page.locator('img[src="x"]').count()).toBe(0);
        expect(await rig.call('GET', path)).toMatchObject({
          about: ATTACK,
          address: 'Main Street 1',
          email: 'hello@example.com',
          websites: ['https://example.com'],
        });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says why a number does not send, and who can fix it',
    () =>
      rig.visit({}, async (page) => {
        await rig.simulate(`numbers/${rig.demo.phone_number_id}`, { status: 'BANNED' });
        try {
          await open(page, `/numbers/${rig.demo.connection_id}`, '.explanation');
          await page.locator('.pane-detail .state.is-bad, .pane-detail .state.is-warn').first().waitFor();
          await page.getByText('WhatsApp Manager shows why').waitFor();
        } finally {
          await rig.simulate(`numbers/${rig.demo.phone_number_id}`, { status: 'CONNECTED' });
        }
        await page.getByText('The number sends and receives.').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'makes a template with a picture, which WhatsApp reviews with an uploaded file',
    () =>
      rig.visit({}, async (page) => {
        await open(page, '/templates?new=1', '.template-form');
        await page.getByLabel('Name', { exact: true }).fill('menu_of_today');
        await page.locator('textarea').fill('The menu of today is here.');
        await page.getByLabel('Kind of header').selectOption('IMAGE');
        await page.getByRole('button', { name: 'Hand in for review' }).click();
        await page.getByText('WhatsApp reviews it with a file: choose one.').waitFor();
        await choose(page, 'bill.pdf', 'application/pdf', PDF);
        await page.getByText('This file is of the type document').waitFor();
        await choose(page, 'menu.png', 'image/png', PICTURE);
        await page.locator('.template-form .file-name', { hasText: 'menu.png' }).waitFor();
        await rig.expectAccessible(page);
        await page.getByRole('button', { name: 'Hand in for review' }).click();
        await page.locator('.pane-row', { hasText: 'menu_of_today' }).waitFor();
        const [made] = await rig.call<{ header_media: object }[]>(
          'GET',
          `/connections/${rig.demo.connection_id}/templates?name=menu_of_today`,
        );
        expect(made?.header_media).toEqual({ type: 'image' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'makes a template with its rules checked as one types, changes it, and deletes it',
    () =>
      rig.visit({}, async (page) => {
        await open(page, '/templates', '.pane-row');
        await page.getByRole('link', { name: 'New' }).click();
        // Its text is not written yet.
        expect(await page.locator('.template-view').textContent()).toBe('…');
        await page.getByLabel('Name', { exact: true }).fill('Table Ready');
        await page.locator('textarea').fill('{{1}}, your table is ready.');
        await page.getByRole('button', { name: 'Hand in for review' }).click();
        await page.getByText('It may neither begin nor end with a variable').waitFor();
        await page.getByText('WhatsApp reviews it with an example.').waitFor();
        await page.locator('textarea').fill('Hello {{1}}, your table is ready.');
        await page.getByLabel('Example of {{1}} in the body').fill('Ana');
        await page.getByRole('button', { name: 'Add a button' }).click();
        await page.getByLabel('Label of button 1').fill('Thank you');
        await page.locator('.template-view', { hasText: 'Hello Ana, your table is ready.' }).waitFor();
        await page.getByRole('button', { name: 'Hand in for review' }).click();
        await page.waitForURL('**/templates/table_ready*');
        // Its review ends by itself, and the page sees it.
        await page.locator('.pane-detail', { hasText: 'It can be sent.' }).waitFor();
        await page.getByRole('button', { name: 'Change' }).click();
        await page.locator('textarea').fill('Hello {{1}}, your table for two is ready.');
        await page.getByRole('button', { name: 'Hand in the change' }).click();
        await page.locator('.template-view', { hasText: 'Hello Ana, your table for two is ready.' }).waitFor();
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.locator('.pane-row', { hasText: 'table_ready' }).waitFor({ state: 'detached' });
      }),
    3 * PATIENCE_MS,
  );

  it(
    'finds templates by name and state, and says why one was rejected and what its category becomes',
    () =>
      rig.visit({}, async (page) => {
        await makeTemplate('reservation', 'Hello {{1}}, see you at eight.');
        await makeTemplate('reservation', 'مرحبا {{1}}، نراك في الثامنة.', 'ar');
        await open(page, '/templates', '.pane-row');
        await page.locator('.connection.is-live').waitFor();
        await page.getByLabel('Search by name').fill('reserv');
        await page.waitForURL('**/templates?name=reserv');
        await page.locator('.pane-row', { hasText: 'hello_world' }).waitFor({ state: 'detached' });
        await page.locator('.pane-row', { hasText: 'ar, en_US' }).click();
        await page.getByRole('link', { name: 'en_US', exact: true }).click();
        await page.waitForURL('**language=en_US');
        await page.locator('.template-view', { hasText: 'Hello Ana' }).waitFor();
        await page.getByLabel('with examples').uncheck();
        await page.locator('.template-view', { hasText: 'Hello {{1}}' }).waitFor();
        const id = await platformId('reservation', 'en_US');
        await rig.simulate(`templates/${id}/category`, { category: 'MARKETING', announced: true });
        await page.getByText('its category becomes marketing').waitFor();
        await rig.simulate(`templates/${id}/review`, { event: 'REJECTED', reason: 'SCAM' });
        await page.getByText('WhatsApp takes it for a scam.').waitFor();
        await open(page, '/templates?status=rejected', '.pane-row');
        expect(await page.locator('.pane-row').count()).toBe(1);
      }),
    3 * PATIENCE_MS,
  );

  it(
    'shows texts of templates as text',
    () =>
      rig.visit({}, async (page) => {
        await makeTemplate('attack', `Hello {{1}}: ${ATTACK} end`);
        await open(page, '/templates/attack', '.template-view');
        expect(await page.locator('.template-view .words').textContent()).toBe(`Hello Ana: ${ATTACK} end`);
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'uploads a file, shows it, says which messages use it, and deletes it',
    () =>
      rig.visit({}, async (page) => {
        await open(page, '/media', '.upload');
        await page.locator('.connection.is-live').waitFor();
        await choose(page, '<img src=x onerror=alert(1)>.png', 'image/png', PICTURE);
        await page.waitForURL('**/media/*');
        const picture = page.locator('.media-box img');
        await picture.waitFor();
        // Not waitForFunction, which evaluates text in the page where it looks again: the page's policy forbids that.
        await waitFor(
          async () => (await picture.evaluate((image) => ('naturalWidth' in image ? image.naturalWidth : null))) === 1,
        );
        expect(await page.locator('.detail-name').textContent()).toBe('<img src=x onerror=alert(1)>.png');
        expect(await page.locator('img[src="x"]').count()).toBe(0);
        await page.getByText('No message uses it.').waitFor();
        const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
        const { connection_id } = rig.demo;
        await rig.call('POST', '/messages', { connection_id, to: CUSTOMER, type: 'image', media: { id } });
        await page.locator('.use-row', { hasText: CUSTOMER }).click();
        await page.locator('.panel .bubble').waitFor();
        await page.goBack();
        await page.getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.waitForURL('**/console/media');
        await page.locator('.pane-row', { hasText: 'onerror' }).waitFor({ state: 'detached' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'finds files by type, and opens a PDF on a tab of its own; a file that is refused says why',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await open(page, '/media', '.upload');
        await choose(page, 'invoice.pdf', 'application/pdf', PDF);
        const pdf = page.getByRole('link', { name: 'Open the PDF' });
        await pdf.waitFor();
        const address = new URL((await pdf.getAttribute('href')) ?? '', page.url());
        expect(address.origin).toBe(rig.demo.base_url);
        const answer = await fetch(address);
        expect(answer.headers.get('content-disposition')).toContain('inline');
        await open(page, '/media?type=document', '.pane-row');
        await page.locator('.pane-row', { hasText: 'invoice.pdf' }).waitFor();
        await page.getByLabel('Any type').selectOption('sticker');
        await page.waitForURL('**type=sticker');
        await page.getByText('No file matches').waitFor();
        await choose(page, 'program.bin', 'application/octet-stream', Buffer.from([0, 1, 2, 3]));
        await page.locator('.pane-form .problem, .pane-list .problem').first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends a code, checks it, and counts it; the other pages are not for this key',
    () =>
      rig.visit({ demoKey: false }, async (page) => {
        await open(page, `/codes#key=${rig.demo.otp_sandbox_key}`, '.pane-form');
        expect(page.url()).not.toContain('key=');
        expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
          'Codes',
        ]);
        await page.getByLabel('To').fill('+15550001234');
        await page.getByRole('button', { name: 'Send a code' }).click();
        const code = (await page.locator('.test-code code').textContent()) ?? '';
        await page.getByLabel('What the user typed').fill(code);
        await page.getByRole('button', { name: 'Verify' }).click();
        await page.getByText('The user typed the right code.').waitFor();
        const address = page.url();
        await page.getByLabel('Close').click();
        await page.getByRole('heading', { name: 'Usage' }).waitFor();
        await page.getByLabel('Find a code by its id').fill(address.split('/').at(-1) ?? '');
        await page.keyboard.press('Enter');
        await page.waitForURL(address);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends no second code where the answer was lost on its way',
    () =>
      rig.visit({ demoKey: false, quiet: true }, async (page) => {
        await open(page, `/codes#key=${rig.demo.otp_sandbox_key}`, '.pane-form');
        const keys: (string | undefined)[] = [];
        await page.route('**/api/v1/otp/send', async (route) => {
          keys.push(route.request().headers()['idempotency-key']);
          const answer = await route.fetch();
          // As a proxy says whose patience is over.
          if (keys.length === 1) return route.fulfill({ status: 504, contentType: 'text/html', body: '<html></html>' });
          return route.fulfill({ response: answer });
        });
        await page.getByLabel('To').fill('+15550001235');
        await page.getByRole('button', { name: 'Send a code' }).click();
        await page.getByText('HTTP_504').waitFor();
        await page.getByRole('button', { name: 'Send a code' }).click();
        await page.waitForURL(/\/codes\/[0-9a-f-]+$/);
        expect(keys).toEqual([keys[1], keys[0]]);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'switches between the keys of the demo, and shows the pages of each',
    () =>
      rig.visit({}, async (page) => {
        await open(page, '/numbers', '.pane-row');
        await page.getByLabel('Key').selectOption({ index: 0 });
        await page.waitForURL('**/codes');
        await page.getByRole('button', { name: 'Send a code' }).waitFor();
        await page.getByLabel('Key').selectOption({ index: 1 });
        await page.waitForURL('**/overview');
      }),
    2 * PATIENCE_MS,
  );

  it(
    'is opened by the link of the command line, which the page takes out of the address',
    async () => {
      const { key } = await rig.newKey('connections:read');
      const link = await runHerald(['console', '--url', rig.demo.base_url, '--key', key, '--json'], rig.env);
      const { url } = JSON.parse(link.stdout) as { url: string };
      expect(url).toBe(`${rig.demo.base_url}/console#key=${key}`);
      await rig.visit({ demoKey: false }, async (page) => {
        await page.goto(url);
        await page.waitForURL('**/console/numbers');
        await page.locator('.pane-row').first().waitFor();
        expect(page.url()).not.toContain(key);
      });
      const refused = await runHerald(['console', '--url', rig.demo.base_url, '--key', 'hrld_live_none'], rig.env);
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', expect.stringContaining('API_KEY')]);
    },
    2 * PATIENCE_MS,
  );

  it(
    'shows a key with one scope its page only',
    async () => {
      const { key } = await rig.newKey('connections:read');
      await rig.visit({ demoKey: false }, async (page) => {
        await open(page, `#key=${key}`, '.pane-row');
        await page.waitForURL('**/console/numbers');
        expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toEqual([
          'Numbers',
        ]);
        await page.locator('.pane-row').first().click();
        await page.getByText('The number sends and receives.').waitFor();
        expect(await page.getByText('Business profile').count()).toBe(0);
        expect(await page.getByRole('link', { name: 'Messages' }).count()).toBe(0);
      });
      const { key: reader } = await rig.newKey('connections:read,templates:read');
      await rig.visit({ demoKey: false }, async (page) => {
        await open(page, `/templates/order_update#key=${reader}`, '.template-view');
        for (const name of ['Change', 'Delete']) expect(await page.getByRole('button', { name }).count()).toBe(0);
        expect(await page.getByRole('link', { name: 'New' }).count()).toBe(0);
      });
      const { key: looker } = await rig.newKey('media:read');
      await rig.visit({ demoKey: false }, async (page) => {
        await open(page, `/media#key=${looker}`, '.pane-row');
        expect(await page.locator('.upload').count()).toBe(0);
        await page.locator('.pane-row').first().click();
        await page.getByText('SHA-256').waitFor();
        expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
        expect(await page.getByText('Used by').count()).toBe(0);
      });
    },
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility, wide and narrow, light and dark',
    async () => {
      await rig.visitEach(async (page) => {
        await open(page, `/numbers/${rig.demo.connection_id}`, '.profile-card');
        await rig.expectAccessible(page);
        await page.getByRole('button', { name: 'Edit' }).click();
        await rig.expectAccessible(page);
        await open(page, '/templates', '.pane-row');
        await rig.expectAccessible(page);
        await open(page, '/templates/order_update', '.template-view');
        await rig.expectAccessible(page);
        await open(page, '/media', '.pane-row');
        await rig.expectAccessible(page);
        await page.locator('.pane-row').first().click();
        await page.getByText('SHA-256').waitFor();
        await rig.expectAccessible(page);
        await open(page, '/templates?new=1', '.template-form');
        await page.getByRole('button', { name: 'Add a button' }).click();
        await page.getByRole('button', { name: 'Hand in for review' }).click();
        await rig.expectAccessible(page);
        await page.getByLabel('Key').selectOption({ index: 0 });
        await page.waitForURL('**/codes');
        await page.getByRole('button', { name: 'Send a code' }).waitFor();
        await rig.expectAccessible(page);
      });
    },
    8 * PATIENCE_MS,
  );
});
