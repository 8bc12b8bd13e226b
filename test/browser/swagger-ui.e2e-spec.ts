import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLE_IDEMPOTENCY_KEY } from '../../src/common/example-ids.js';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { readProjectFile } from '../support/project-files.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { isInTheDemo } from '../support/demo-resources.js';
import { waitFor } from '../support/wait-for.js';
import { findChromium, launchChromium } from './chromium.js';
import { overflowOf, SwaggerOperation } from './swagger-page.js';

/*
 * Swagger UI in a real browser, against the built program with its demo. Left out where no Chromium is installed, unless
 * REQUIRE_CHROMIUM=true asks for it.
 */
const program = findChromium();
const required = process.env.REQUIRE_CHROMIUM === 'true';
if (program === null && !required) process.stderr.write('left out: no chromium (test/browser)\n');

/** For one step, on a machine that does much else. */
const PATIENCE_MS = 45_000;

const WIDTHS = [400, 1_400];

interface Demo {
  base_url: string;
  api_key: string;
}

/** In an order in which each finds what it needs; the last ones take things away. All others come after them. */
const OPERATIONS = [
  'connections_list',
  'messages_send',
  'messages_sendBatch',
  'messages_check',
  'messages_list',
  'messages_get',
  'messages_cancel',
  'messages_timeline',
  'messages_retry',
  'messages_read',
  'tags_get',
  'tags_pause',
  'tags_resume',
  'tags_cancel',
  'tags_retry',
  'conversations_list',
  'conversations_get',
  'optOuts_put',
  'optOuts_list',
  'optOuts_remove',
  'usage_messages',
  'usage_codes',
  'templates_list',
  'templates_create',
  'templates_get',
  'templates_preview',
  'templates_edit',
  'profile_get',
  'profile_update',
  'media_upload',
  'media_list',
  'media_get',
  'media_link',
  'webhook_put',
  'webhook_get',
  'webhook_test',
  'webhook_verify',
  'webhook_deliveries',
  'webhook_delivery',
  'webhook_replay',
  'replays_start',
  'replays_get',
  'webhook_rotateSecret',
  'events_list',
  'destinations_list',
  'keys_get',
  'otp_send',
  'otp_verify',
  'otp_get',
  'media_delete',
  'templates_remove',
  'webhook_remove',
];

/**
 * The demo's numbers have no second responder, to whom a conversation could be passed (test/messages/routing.e2e-spec.ts), and
 * it has no broker: the host of an example must have an address (test/destinations).
 */
const OUTSIDE_THE_DEMO = [
  'conversations_control',
  ...['create', 'get', 'change', 'remove', 'pause', 'resume', 'test', 'replay'].map(
    (action) => `destinations_${action}`,
  ),
];

describe('a browser for these tests', () => {
  it('is there where it is asked for', () => {
    expect(required && program === null).toBe(false);
  });
});

(program === null ? describe.skip : describe)('Swagger UI in Chromium', () => {
  const dataDir = temporaryDataDir();
  let database: TestDatabase;
  let herald: HeraldProcess;
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const elsewhere: string[] = [];

  async function newPage(): Promise<Page> {
    const made = await context.newPage();
    made.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    made.on('pageerror', (error) => complaints.push(error.message));
    made.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol !== 'data:' && hostname !== '127.0.0.1') elsewhere.push(request.url());
    });
    return made;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    // One after the other: what began beside a start that failed would never be ended.
    herald = await HeraldProcess.start(
      {
        DATABASE_URL: database.url,
        DATA_DIR: dataDir.path,
        DEMO: 'true',
        LOG_LEVEL: 'info',
        WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      },
      2 * PATIENCE_MS,
    );
    browser = await launchChromium(program ?? '');
    demo = JSON.parse(readFileSync(join(dataDir.path, 'demo.json'), 'utf8')) as Demo;
    context = await browser.newContext({ viewport: { width: 1_400, height: 900 } });
    context.setDefaultTimeout(PATIENCE_MS);
    page = await newPage();
    await page.goto(`${demo.base_url}/docs`);
    await page.locator('#herald-demo').waitFor();
  }, 5 * PATIENCE_MS);

  afterAll(async () => {
    await browser?.close();
    await herald?.end();
    await database?.drop();
    dataDir.remove();
  });

  it(
    'sends a message at the first click, and sees it read',
    async () => {
      const send = new SwaggerOperation(page, 'messages_send');
      await send.open();
      expect((await send.execute()).status).toBe(202);
      await send.close();
      const get = new SwaggerOperation(page, 'messages_get');
      await get.open();
      const deadline = Date.now() + PATIENCE_MS;
      let text = '';
      while (!text.includes('"status": "read"') && Date.now() < deadline) ({ text } = await get.execute());
      expect(text).toContain('"status": "read"');
      expect(text).toContain('"body": "Your table for two is ready');
      expect(await page.evaluate('[...document.images].every((image) => image.naturalWidth > 0)')).toBe(true);
      await get.close();
    },
    4 * PATIENCE_MS,
  );

  it(
    'answers every operation at the first click',
    async () => {
      const { paths } = JSON.parse(readProjectFile('openapi.json')) as {
        paths: Record<string, Record<string, { operationId: string }>>;
      };
      const pathOf = new Map(
        Object.entries(paths).flatMap(([path, item]) =>
          Object.values(item).map(({ operationId }) => [operationId, path] as const),
        ),
      );
      const known = [...OPERATIONS, ...OUTSIDE_THE_DEMO];
      expect([...pathOf.keys()]).toEqual(expect.arrayContaining(known));
      const others = [...pathOf.keys()].filter((id) => !known.includes(id));
      const refused: string[] = [];
      for (const id of [...OPERATIONS, ...others]) {
        const { status, text } = await firstClick(id);
        if (status === 404 && !isInTheDemo(pathOf.get(id) ?? '')) continue;
        if (status >= 400) refused.push(`${id} ${status}: ${text.slice(0, 300)}`);
      }
      expect(refused).toEqual([]);
    },
    10 * PATIENCE_MS,
  );

  async function firstClick(id: string): Promise<{ status: number; text: string }> {
    const operation = new SwaggerOperation(page, id);
    await operation.open();
    if (id === 'media_upload') await operation.attach('menu.txt', 'Soup, bread, coffee\n');
    let answer = await operation.execute();
    // The delivery to replay comes a moment after the event.
    for (let look = 0; id === 'webhook_deliveries' && look < 40 && !answer.text.includes('"event_id"'); look++) {
      await page.waitForTimeout(100);
      answer = await operation.execute();
    }
    await operation.close();
    return answer;
  }

  it(
    'finds operations and webhooks by words, and shows all again',
    async () => {
      const search = page.locator('.operation-filter-input');
      const webhooks = page.locator('.webhooks .opblock');
      const operations = page.locator('.opblock-tag-section .opblock');
      const all = [await operations.count(), await webhooks.count()];
      await search.fill('opt_out updated');
      await webhooks.filter({ hasText: 'contact.opt_out.updated' }).waitFor();
      await waitFor(async () => (await webhooks.count()) === 1, { what: 'the other webhooks to go' });
      await search.fill('no such words');
      await waitFor(async () => (await webhooks.count()) === 0, { what: 'all webhooks to go' });
      expect(await operations.count()).toBe(0);
      await search.fill('');
      await waitFor(async () => (await webhooks.count()) === all[1], { what: 'the webhooks to come back' });
      expect(await operations.count()).toBe(all[0]);
    },
    3 * PATIENCE_MS,
  );

  it(
    'shows samples in three languages, and keeps the one that was chosen',
    async () => {
      const send = new SwaggerOperation(page, 'messages_send');
      await send.open();
      const block = page.locator('.opblock[id$="-messages_send"]');
      const sample = block.locator('.herald-sample');
      for (const [label, words] of [
        ['curl', `curl -sS -X POST '${demo.base_url}/api/v1/messages'`],
        ['TypeScript', 'await herald.messages.send({'],
        ['Python', 'urllib.request.urlopen(request, timeout=15)'],
      ] as const) {
        await block.getByRole('tab', { name: label }).click();
        await sample.getByText(words, { exact: false }).first().waitFor();
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          expect({ label, width, overflow: await overflowOf(page) }).toEqual({ label, width, overflow: 0 });
        }
      }
      await block.getByRole('tab', { name: 'curl' }).click();
      const key = /Idempotency-Key: ([\da-f-]{36})'/.exec(await sample.innerText())?.[1];
      // Each page has a key of its own: two who copy the sample send two messages.
      expect([EXAMPLE_IDEMPOTENCY_KEY, undefined]).not.toContain(key);
      expect(await sample.innerText()).toContain('# Another UUID for each request');
      await block.getByRole('tab', { name: 'Python' }).click();
      await send.close();
      const list = new SwaggerOperation(page, 'connections_list');
      await list.open();
      const chosen = page.locator('.opblock[id$="-connections_list"] .herald-samples [aria-selected=true]');
      expect(await chosen.innerText()).toBe('Python');
      await list.close();
    },
    3 * PATIENCE_MS,
  );

  it(
    'fits a phone and a desk, and shows the webhooks',
    async () => {
      expect(await page.locator('.webhooks').innerText()).toContain('message.status.updated');
      const send = new SwaggerOperation(page, 'messages_send');
      await send.open();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect({ width, overflow: await overflowOf(page) }).toEqual({ width, overflow: 0 });
      }
      await send.close();
    },
    3 * PATIENCE_MS,
  );

  it(
    'shows schemas by name, on a phone too, and of headers only those that are not on every answer',
    async () => {
      const block = page.locator('.opblock[id$="-messages_send"]');
      await block.locator('.opblock-summary-control').click();
      expect(await block.locator('.headers-wrapper').innerText()).toContain('Idempotency-Replayed');
      expect(await block.locator('.headers-wrapper').innerText()).not.toContain('X-Request-Id');
      for (const part of ['.opblock-section-request-body', '.responses-wrapper'])
        await block.locator(part).getByRole('tab', { name: 'Schema' }).first().click();
      const body = block.locator('.opblock-section-request-body .json-schema-2020-12').first();
      expect(await body.innerText()).toMatch(/^SendMessage/);
      expect(await body.innerText()).not.toContain('object |');
      await body.getByRole('button', { name: 'Expand all' }).first().click();
      await body.getByText('SendText').first().waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect({ width, overflow: await overflowOf(page) }).toEqual({ width, overflow: 0 });
        for (const cell of ['.response-col_description', '.model-box']) {
          const box = await block.locator(cell).last().boundingBox();
          expect({ width, cell, wide: (box?.width ?? 0) > 200 }).toEqual({ width, cell, wide: true });
        }
      }
      await block.locator('.opblock-summary-control').click();
    },
    3 * PATIENCE_MS,
  );

  it(
    'takes another key by hand, and keeps it',
    async () => {
      const dialog = page.locator('.dialog-ux');
      await page.locator('.auth-wrapper .authorize').first().click();
      // The demo's two keys are in already.
      expect(await dialog.locator('button', { hasText: 'Logout' }).count()).toBe(2);
      await dialog.locator('button', { hasText: 'Logout' }).first().click();
      await dialog.locator('input').first().fill('hrld_live_typed');
      await dialog.locator('button.authorize[type=submit]').first().click();
      await dialog.locator('.btn-done').first().click();
      await page.reload();
      await page.locator('#herald-demo').waitFor();
      expect(await page.evaluate('localStorage.getItem("authorized")')).toContain('hrld_live_typed');
    },
    3 * PATIENCE_MS,
  );

  it('leads to a section for each error code', async () => {
    await page.goto(`${demo.base_url}/docs/errors#RATE_LIMITED`);
    expect(await page.locator('h3:target').innerText()).toBe('RATE_LIMITED');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect({ width, overflow: await overflowOf(page) }).toEqual({ width, overflow: 0 });
    }
  });

  it('sends requests to no other host, and logs no error', () => {
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
