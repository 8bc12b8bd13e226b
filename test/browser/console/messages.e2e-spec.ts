import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runHerald } from '../../support/herald-process.js';
import { ROOT } from '../../support/project-files.js';
import { waitFor } from '../../support/wait-for.js';
import { CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

const MAX_SCRIPT_BYTES = 150 * 1024;
const MAX_ALL_SCRIPT_BYTES = 220 * 1024;

describe('the size of the console', () => {
  const folder = join(ROOT, 'dist/console');
  const sizeOf = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, 'assets', name))).length, 0);
  const scripts = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.js'));

  it('stays below 150 KB of compressed script at first view', () => {
    const [entry = ''] = /[\w.-]+\.js/.exec(readFileSync(join(folder, 'index.html'), 'utf8')) ?? [];
    // With the page that opens first, the messages, and the phone beside them.
    const found = new Set([entry, ...scripts.filter((name) => /^(overview|messages|phone)-/.test(name))]);
    expect(found.size).toBe(4);
    for (const name of found) {
      const text = readFileSync(join(folder, 'assets', name), 'utf8');
      for (const [, imported = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
        found.add(imported);
    }
    expect(sizeOf([...found])).toBeLessThan(MAX_SCRIPT_BYTES);
  });

  it('stays below 220 KB of compressed script in all', () => {
    expect(sizeOf(scripts)).toBeLessThan(MAX_ALL_SCRIPT_BYTES);
  });
});

describeConsole('the console in Chromium', (rig) => {
  it(
    'shows what came between its first look and its connection',
    () =>
      rig.visit({}, async (page) => {
        let go: () => void = () => undefined;
        const held = new Promise<void>((resolve) => (go = resolve));
        await page.route('**/api/v1/events?*after=now*', async (route) => {
          await held;
          await route.continue();
        });
        await rig.send(CUSTOMER, 'Before');
        await page.goto(`${rig.demo.base_url}/console/messages`);
        const row = (text: string) => page.locator('.message-row', { hasText: text });
        await row('Before').waitFor();
        await rig.send(CUSTOMER, 'Between');
        // Nothing more happens to it.
        const sent = () => rig.call<Record<string, unknown>[]>('GET', `/messages?to=${CUSTOMER.slice(1)}`);
        await waitFor(async () => (await sent()).some(({ body, status }) => body === 'Between' && status === 'read'));
        go();
        await page.locator('.connection.is-live').waitFor();
        await row('Between').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends, sees the message read on the phone, and gets the answer',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await page.locator('.connection.is-live').waitFor();
        await page.getByRole('link', { name: 'Send', exact: true }).click();
        await page.locator('textarea').fill('Is eight o’clock fine?');
        await page.locator('form button[type=submit]').first().click();
        await page.locator('.panel .status.is-read').waitFor();
        const phone = page.getByRole('log', { name: 'Chat' });
        await phone.getByText('Is eight o’clock fine?').waitFor();
        await page.getByLabel('Write as the customer').fill('Yes, thank you!');
        await page.getByLabel('Send as the customer').click();
        const row = page.locator('.message-row', { hasText: 'received' }).first();
        await page.getByLabel('Close', { exact: true }).click();
        await page.locator('.message-row', { hasText: 'Yes, thank you!' }).waitFor();
        await row.click();
        await page.getByRole('button', { name: 'Answer' }).waitFor();
        await page.goBack();
        await page.waitForURL('**/console/messages');
      }),
    3 * PATIENCE_MS,
  );

  it(
    'finds why one customer did not get one message, from the number alone',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages`);
        const search = page.getByLabel('Search messages');
        await search.fill('0171 1234567');
        await page.getByText('Write the whole number with its country code').waitFor();
        await search.fill('555 010 0002');
        await page.getByText('No message to or from +5550100002').waitFor();
        await search.fill('00 1 (555) 010-0002');
        await page.waitForURL('**/messages?q=*');
        // What the customer wrote is found too; a filter narrows it down.
        await page.locator('.message-row', { hasText: 'received' }).waitFor();
        expect(await page.locator('.message-row').count()).toBe(2);
        await page.getByLabel('Status', { exact: true }).selectOption('failed');
        await page.locator('.message-row', { hasText: 'received' }).waitFor({ state: 'detached' });
        await page.locator('.message-row', { hasText: 'failed' }).click();
        await page.getByText('The recipient can fix this.').waitFor();
        expect(page.url()).toContain('q=');
        await page.getByRole('button', { name: 'Send again' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.locator('.waterfall .step', { hasText: 'retried' }).first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'answers in a conversation, and marks it as read by a button where the answer does not',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/conversations`);
        await page.locator('.conversation-row', { hasText: '1 unread' }).last().click();
        await page.getByLabel('Answering marks as read').uncheck();
        await page.getByLabel('Answer', { exact: true }).fill('See you tomorrow.');
        await page.keyboard.press('Enter');
        await page.locator('.thread .bubble.is-mine', { hasText: 'See you tomorrow.' }).waitFor();
        await page.getByRole('button', { name: 'Mark as read' }).click();
        await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'joins the messages to and from a number over several pages, each once, in the order of the journal',
    () =>
      rig.visit({}, async (page) => {
        const customer = '+15550100012';
        for (let count = 0; count < 6; count++) await rig.send(customer, `Message ${count}`);
        const [to, from] = [`to=${customer.slice(1)}`, `from=${customer.slice(1)}`];
        // Each is answered at once.
        await waitFor(async () => (await rig.list(from)).length > 6, { what: 'the answers' });
        const wanted = [...(await rig.list(to)), ...(await rig.list(from))]
          .sort((a, b) => (`${a.created_at} ${a.id}` < `${b.created_at} ${b.id}` ? 1 : -1))
          .map(({ id }) => id);
        await page.route('**/api/v1/messages?*', (route) =>
          route.continue({ url: route.request().url().replace('limit=100', 'limit=3') }),
        );
        await page.goto(`${rig.demo.base_url}/console/messages?q=${encodeURIComponent(customer)}`);
        await page.locator('.message-row').first().waitFor();
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'CSV' }).click(),
        ]);
        const [, ...rows] = readFileSync(await file.path(), 'utf8')
          .trim()
          .split('\r\n');
        expect(rows.map((row) => row.split(',')[0])).toEqual(wanted);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says in a conversation why a message failed, in the words of its own page',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages?q=status:failed`);
        await page.locator('.message-row').first().click();
        const said = (await page.locator('.explanation p').first().textContent()) ?? '';
        expect(said).toContain('cannot be reached');
        await page.getByRole('link', { name: 'Conversation' }).click();
        await page.locator('.thread .bubble', { hasText: 'failed' }).getByText(said).waitFor();
        expect(await page.locator('.thread .bubble').filter({ hasNotText: 'failed' }).locator('.reason').count()).toBe(
          0,
        );
      }),
    2 * PATIENCE_MS,
  );

  it(
    'finds the conversation of a number, by its beginning and its end, however it is written',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/conversations?show=all`);
        await page.locator('.conversation-row', { hasText: '+15550100001' }).waitFor();
        const search = page.getByLabel('Search by name or number');
        await search.fill('10 0003');
        await page.locator('.conversation-row', { hasText: '+15550100001' }).waitFor({ state: 'detached' });
        await page.locator('.conversation-row', { hasText: '+15550100003' }).click();
        await page.locator('.thread-name', { hasText: '+15550100003' }).waitFor();
        expect(page.url()).toContain('search=10+0003');
        await search.fill('001 555 010 0003');
        await page.locator('.conversation-row', { hasText: '+15550100003' }).waitFor();
        expect(await page.locator('.conversation-row').count()).toBe(1);
        await search.fill('+49 151 12345678');
        await page.getByText('No conversation matches').waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'works by keyboard: from any page to the search, from the form to the message that was sent',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        const focused = (): Promise<string> =>
          page.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
        await page.goto(`${rig.demo.base_url}/console/overview`);
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        expect(await focused()).toBe('page');
        // At once: the page of the messages is not loaded yet.
        await page.keyboard.type('/+15550100002');
        await page.waitForURL('**/messages?q=*');
        expect(await page.locator('#search:focus').inputValue()).toBe('+15550100002');
        await page.goto(`${rig.demo.base_url}/console/send`);
        await page.locator('textarea').focus();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.locator('.panel .status.is-read').waitFor();
        expect(await focused()).toBe('Message');
      }),
    2 * PATIENCE_MS,
  );

  it(
    'shows what others wrote as text',
    () =>
      rig.visit({}, async (page) => {
        await rig.writeAttack();
        await page.goto(`${rig.demo.base_url}/console/messages?q=direction:in`);
        await page.locator('.message-row', { hasText: '<b>bold</b>' }).first().click();
        await page.locator('.panel .bubble', { hasText: '<img src=x' }).waitFor();
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility, wide and narrow, light and dark',
    async () => {
      await rig.visitEach(async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages?q=status:failed`);
        await page.locator('.message-row').first().waitFor();
        await rig.expectAccessible(page);
        await page.locator('.message-row').first().click();
        await page.locator('.explanation').waitFor();
        await rig.expectAccessible(page);
        await page.goto(`${rig.demo.base_url}/console/conversations`);
        await page.locator('.conversation-row').first().click();
        await page.locator('.thread .bubble').first().waitFor();
        await rig.expectAccessible(page);
        await page.goto(`${rig.demo.base_url}/console/send`);
        await page.getByRole('heading', { name: 'Send a message' }).waitFor();
        await page.getByLabel('Template').check();
        await page.getByRole('option', { name: /order_update/ }).waitFor({ state: 'attached' });
        await rig.expectAccessible(page);
      });
    },
    6 * PATIENCE_MS,
  );

  it(
    'shows a key only what its scopes allow, and keeps nothing of it',
    async () => {
      const { key } = await rig.newKey('messages:read');
      await rig.visit({ demoKey: false }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages#key=${key}`);
        await page.locator('.message-row').first().waitFor();
        expect(page.url()).not.toContain(key);
        await page.locator('.connection.is-polling').waitFor();
        expect(await page.getByRole('link', { name: 'Send' }).count()).toBe(0);
        await page.locator('.message-row', { hasText: 'failed' }).first().click();
        await page.locator('.explanation').waitFor();
        expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
        const kept = await page.evaluate(
          'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
        );
        expect(kept).not.toContain(key);
        await page.goto(`${rig.demo.base_url}/console/send`);
        await page.getByLabel('API key').waitFor();
      });
    },
    2 * PATIENCE_MS,
  );

  it(
    'stays signed in on its tab where that was chosen, and signs a revoked key out at its next call',
    async () => {
      const { id, key } = await rig.newKey('messages:read,messages:write');
      await rig.visit({ demoKey: false, quiet: true }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await page.getByLabel('API key').waitFor();
        await rig.expectOneScreen(page);
        await page.getByLabel('API key').fill('hrld_live_nothing');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('Herald does not know this key').waitFor();
        await page.getByLabel('API key').fill(key);
        await page.getByLabel('Stay signed in on this tab').check();
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.locator('.message-row').first().waitFor();
        await page.reload();
        await page.locator('.message-row').first().waitFor();
        expect((await runHerald(['key', 'revoke', id], rig.env)).code).toBe(0);
        await page.getByText('The key is no longer valid').waitFor();
        expect(await page.evaluate('sessionStorage.length')).toBe(0);
      });
    },
    2 * PATIENCE_MS,
  );

  it(
    'says that it reconnects while the service is away, and recovers',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await page.locator('.connection.is-live').waitFor();
        const startAgain = await rig.kill();
        await page.getByText('reconnecting').waitFor();
        // A page whose file was never loaded cannot be shown; the others can.
        await page.getByRole('link', { name: 'Templates' }).click();
        await page.getByText('This page could not be shown').waitFor();
        await page.getByRole('link', { name: 'Messages' }).click();
        await page.getByLabel('Search messages').waitFor();
        await startAgain();
        await page.locator('.connection.is-live').waitFor();
      }),
    4 * PATIENCE_MS,
  );

  it(
    'serves its page and files with the policy, and the simulator to no other origin',
    async () => {
      const page = await fetch(`${rig.demo.base_url}/console/messages/some-id`);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none';script-src 'self'");
      expect(page.headers.get('cache-control')).toBe('no-store');
      const script = /\/console\/assets\/[\w.-]+\.js/.exec(await page.text())?.[0] ?? '';
      const asset = await fetch(`${rig.demo.base_url}${script}`);
      expect(asset.headers.get('cache-control')).toContain('immutable');
      expect((await fetch(`${rig.demo.base_url}/console/assets/none.js`)).status).toBe(404);
      const forwarded = { headers: { 'x-forwarded-for': '203.0.113.7' } };
      expect((await fetch(`${rig.demo.base_url}/console/demo.json`, forwarded)).status).toBe(204);
      expect((await fetch(`${rig.demo.base_url}/console/simulator/numbers`, forwarded)).status).toBe(404);
      expect((await fetch(`${rig.demo.base_url}/console/simulator/numbers`)).status).toBe(200);
      expect((await fetch(`${rig.demo.base_url}/console/simulator/..%2f..%2fv26.0/x`)).status).toBeGreaterThanOrEqual(
        400,
      );
    },
    PATIENCE_MS,
  );
});
