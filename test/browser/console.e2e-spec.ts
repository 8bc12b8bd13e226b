import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HeraldProcess, runHerald, temporaryDataDir } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { findChromium, launchChromium } from './chromium.js';
import { overflowOf } from './swagger-page.js';

/*
 * The console in a real browser, against the built program with its demo. Left out where no Chromium is installed, unless
 * REQUIRE_CHROMIUM=true asks for it.
 */
const program = findChromium();
const PATIENCE_MS = 45_000;
const MAX_SCRIPT_BYTES = 150 * 1024;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CUSTOMER = '+15550001234';
const ATTACK = '<img src=x onerror=alert(1)><b>bold</b>\u202Egnp.exe';

interface Demo {
  base_url: string;
  api_key: string;
  organization_id: string;
  phone_number_id: string;
  simulator_url: string;
}

describe('the size of the console', () => {
  it('stays below 150 KB of compressed script', () => {
    const folder = join(ROOT, 'dist/console/assets');
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
    const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
    expect(scripts.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(MAX_SCRIPT_BYTES);
  });
});

(program === null ? describe.skip : describe)('the console in Chromium', () => {
  const dataDir = temporaryDataDir();
  let database: TestDatabase;
  let herald: HeraldProcess;
  let demo: Demo;
  let browser: Browser;
  const env = (): Record<string, string> => ({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    DEMO: 'true',
    LOG_LEVEL: 'info',
  });

  beforeAll(async () => {
    database = await createTestDatabase();
    herald = await HeraldProcess.start(env(), 2 * PATIENCE_MS);
    browser = await launchChromium(program ?? '');
    demo = JSON.parse(readFileSync(join(dataDir.path, 'demo.json'), 'utf8')) as Demo;
  }, 5 * PATIENCE_MS);

  afterAll(async () => {
    await browser?.close();
    await herald?.end();
    await database?.drop();
    dataDir.remove();
  });

  interface Visit {
    page: Page;
    /** Errors of the console, violations of the policy, and requests to another origin. */
    complaints: string[];
  }

  /** Runs `work` in a browser of its own; with `quiet` refusals of the API are expected. */
  async function visit(
    options: { width?: number; scheme?: 'light' | 'dark'; demoKey?: boolean; quiet?: boolean },
    work: (visit: Visit) => Promise<void>,
  ): Promise<void> {
    const { width = 1_400, scheme = 'light', demoKey = true, quiet = false } = options;
    const context: BrowserContext = await browser.newContext({
      viewport: { width, height: 860 },
      colorScheme: scheme,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !(quiet && message.text().startsWith('Failed to load'))) {
        complaints.push(message.text());
      }
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'blob:' && origin !== demo.base_url) complaints.push(`request to ${request.url()}`);
    });
    if (!demoKey) await page.route('**/console/demo.json', (route) => route.fulfill({ status: 204 }));
    try {
      await work({ page, complaints });
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
    }
  }

  async function expectAccessible(page: Page): Promise<void> {
    await page.evaluate(AXE);
    const found = await page.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ' ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
    );
    expect(found).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
  }

  async function newKey(scopes: string): Promise<{ id: string; key: string }> {
    const args = ['key', 'create', '--workspace', demo.organization_id, '--name', scopes, '--scopes', scopes, '--json'];
    const { code, stdout, stderr } = await runHerald(args, env());
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as { id: string; key: string };
  }

  it(
    'sends, sees the message read on the phone, and gets the answer',
    () =>
      visit({}, async ({ page }) => {
        await page.goto(demo.base_url);
        await page.waitForURL('**/console/messages');
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
      visit({}, async ({ page }) => {
        await page.goto(`${demo.base_url}/console/messages`);
        await page.getByLabel('Search messages').fill('+1 555 010 0002');
        await page.waitForURL('**/messages?q=*');
        await page.locator('.message-row', { hasText: 'failed' }).click();
        await page.getByText('The recipient can fix this.').waitFor();
        expect(page.url()).toContain('q=');
        await page.getByRole('button', { name: 'Retry' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.locator('.waterfall .step', { hasText: 'retried' }).first().waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'answers in a conversation, and marks it as read where that is chosen',
    () =>
      visit({}, async ({ page }) => {
        await page.goto(`${demo.base_url}/console/conversations`);
        await page.locator('.conversation-row', { hasText: '1 unread' }).last().click();
        await page.getByLabel('Answer', { exact: true }).fill('See you tomorrow.');
        await page.keyboard.press('Enter');
        await page.locator('.thread .bubble.is-mine', { hasText: 'See you tomorrow.' }).waitFor();
        await page.getByRole('button', { name: 'Mark as read' }).click();
        await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'shows what others wrote as text',
    () =>
      visit({}, async ({ page }) => {
        const answer = await fetch(`${demo.simulator_url}/_simulator/inbound`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            phone_number_id: demo.phone_number_id,
            from: CUSTOMER,
            profile_name: ATTACK,
            message: { type: 'text', text: { body: ATTACK } },
          }),
        });
        expect(answer.status).toBe(200);
        await page.goto(`${demo.base_url}/console/messages?q=direction:in`);
        await page.locator('.message-row', { hasText: '<b>bold</b>' }).first().click();
        await page.locator('.panel .bubble', { hasText: '<img src=x' }).waitFor();
        expect(await page.locator('img[src="x"]').count()).toBe(0);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility, wide and narrow, light and dark',
    async () => {
      for (const width of [400, 1_400]) {
        for (const scheme of ['light', 'dark'] as const) {
          await visit({ width, scheme }, async ({ page }) => {
            await page.goto(`${demo.base_url}/console/messages?q=status:failed`);
            await page.locator('.message-row').first().waitFor();
            await expectAccessible(page);
            await page.locator('.message-row').first().click();
            await page.locator('.explanation').waitFor();
            await expectAccessible(page);
            await page.goto(`${demo.base_url}/console/conversations`);
            await page.locator('.conversation-row').first().click();
            await page.locator('.thread .bubble').first().waitFor();
            await expectAccessible(page);
            await page.goto(`${demo.base_url}/console/send`);
            await page.getByRole('heading', { name: 'Send a message' }).waitFor();
            await page.getByLabel('Template').check();
            await page.getByRole('option', { name: /order_update/ }).waitFor({ state: 'attached' });
            await expectAccessible(page);
          });
        }
      }
    },
    6 * PATIENCE_MS,
  );

  it(
    'shows a key only what its scopes allow, and keeps nothing of it',
    async () => {
      const { key } = await newKey('messages:read');
      await visit({ demoKey: false }, async ({ page }) => {
        await page.goto(`${demo.base_url}/console/messages#key=${key}`);
        await page.locator('.message-row').first().waitFor();
        expect(page.url()).not.toContain(key);
        await page.locator('.connection.is-polling').waitFor();
        expect(await page.getByRole('link', { name: 'Send' }).count()).toBe(0);
        await page.locator('.message-row', { hasText: 'failed' }).first().click();
        await page.locator('.explanation').waitFor();
        expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
        const kept = await page.evaluate(
          'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
        );
        expect(kept).not.toContain(key);
        await page.goto(`${demo.base_url}/console/send`);
        await page.getByLabel('API key').waitFor();
      });
    },
    2 * PATIENCE_MS,
  );

  it(
    'stays signed in on its tab where that was chosen, and signs a revoked key out at its next call',
    async () => {
      const { id, key } = await newKey('messages:read,messages:write');
      await visit({ demoKey: false, quiet: true }, async ({ page }) => {
        await page.goto(`${demo.base_url}/console`);
        await page.getByLabel('API key').fill('hrld_live_nothing');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('Herald does not know this key').waitFor();
        await page.getByLabel('API key').fill(key);
        await page.getByLabel('Stay signed in on this tab').check();
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.locator('.message-row').first().waitFor();
        await page.reload();
        await page.locator('.message-row').first().waitFor();
        expect((await runHerald(['key', 'revoke', id], env())).code).toBe(0);
        await page.getByText('The key is no longer valid').waitFor();
        expect(await page.evaluate('sessionStorage.length')).toBe(0);
      });
    },
    2 * PATIENCE_MS,
  );

  it(
    'says that it reconnects while the service is away, and recovers',
    () =>
      visit({ quiet: true }, async ({ page }) => {
        await page.goto(`${demo.base_url}/console/messages`);
        await page.locator('.connection.is-live').waitFor();
        const port = new URL(demo.base_url).port;
        await herald.end('SIGKILL');
        await page.getByText('reconnecting').waitFor();
        herald = await HeraldProcess.start({ ...env(), PORT: port }, 2 * PATIENCE_MS);
        await page.locator('.connection.is-live').waitFor();
      }),
    4 * PATIENCE_MS,
  );

  it(
    'serves its page and files with the policy, and the simulator to nobody else',
    async () => {
      const page = await fetch(`${demo.base_url}/console/messages/some-id`);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none';script-src 'self'");
      expect(page.headers.get('cache-control')).toBe('no-store');
      const script = /\/console\/assets\/[\w.-]+\.js/.exec(await page.text())?.[0] ?? '';
      const asset = await fetch(`${demo.base_url}${script}`);
      expect(asset.headers.get('cache-control')).toContain('immutable');
      expect((await fetch(`${demo.base_url}/console/assets/none.js`)).status).toBe(404);
      const forwarded = { headers: { 'x-forwarded-for': '203.0.113.7' } };
      expect((await fetch(`${demo.base_url}/console/demo.json`, forwarded)).status).toBe(204);
      expect((await fetch(`${demo.base_url}/console/simulator/numbers`, forwarded)).status).toBe(404);
      expect((await fetch(`${demo.base_url}/console/simulator/numbers`)).status).toBe(200);
      expect((await fetch(`${demo.base_url}/console/simulator/..%2f..%2fv26.0/x`)).status).toBeGreaterThanOrEqual(400);
    },
    PATIENCE_MS,
  );
});
