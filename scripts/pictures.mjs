// Makes the pictures of the console and of Swagger UI in docs/pictures from a running program of its own: `npm run pictures`. Needs Chromium
// (CHROMIUM_PATH names another program than the usual ones).
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { buildIfStale } from './build-if-stale.mjs';
import { startDemoHerald } from './lib/demo-herald.mjs';
import { ROOT } from './lib/root.mjs';

const OUT = join(ROOT, 'docs/pictures');
const PATIENCE_MS = 60_000;
const PLACES = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

async function openDocs(browser, url, viewport) {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${url}/docs`);
  await page.locator('#herald-demo').waitFor();
  return page;
}

async function sendMessage(page) {
  const send = page.locator('#operations-Messages-messages_send');
  await send.locator('.opblock-summary-control').click();
  await send.locator('.try-out__btn').click();
  await send.locator('.execute').click();
  await send.locator('.live-responses-table').waitFor();
  return send;
}

/** From the top of `first` to the bottom of `last`, at most `height` pixels. */
async function shootFrom(page, path, first, height) {
  await first.evaluate((element) => element.scrollIntoView());
  await page.screenshot({ path: join(OUT, path), clip: { x: 0, y: 0, width: page.viewportSize().width, height } });
}

/** The webhook with a receiver of which every third answer is a 500. */
async function shootWebhook(page, { base_url: url, api_key: key, connection_id: connection }, dataDir) {
  let count = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(++count % 3 === 0 ? 500 : 204).end();
  });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${receiver.address().port}/`;
  writeFileSync(join(dataDir, 'demo-receivers.json'), JSON.stringify([address]));
  const call = (method, path, body) =>
    fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify(body),
    });
  await call('PUT', '/webhook', { url: address });
  const text = { body: 'Your order is on its way.' };
  await call('POST', '/messages', { connection_id: connection, to: '+15550001234', type: 'text', text });
  await page.goto(`${url}/console/webhook`);
  await page.locator('.delivery-row .is-failed').first().click();
  await page.locator('.attempts a').first().waitFor();
  await page.screenshot({ path: join(OUT, 'console-webhook.png') });
  await call('DELETE', '/webhook');
  receiver.close();
  receiver.closeAllConnections();
}

async function shootCodes(browser, { base_url: url, otp_sandbox_key: key }) {
  const page = await browser.newPage({ viewport: { width: 1_400, height: 820 } });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.route('**/console/demo.json', (route) => route.fulfill({ status: 204 }));
  await page.goto(`${url}/console/codes#key=${key}`);
  await page.getByLabel('To').fill('+15550001234');
  await page.getByRole('button', { name: 'Send a code' }).click();
  await page.locator('.test-code code').waitFor();
  await page.screenshot({ path: join(OUT, 'console-codes.png') });
  await page.close();
}

async function shootConsole(browser, demo, dataDir) {
  const { base_url: url } = demo;
  const open = async (width, colorScheme, path, waitFor) => {
    const page = await browser.newPage({ viewport: { width, height: width < 500 ? 860 : 820 }, colorScheme });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${url}/console${path}`);
    await page.locator(waitFor).first().waitFor();
    return page;
  };
  const send = await open(1_400, 'light', '/send', '.send-page');
  await send.locator('.send-page button[type=submit]').click();
  await send.locator('.panel .status.is-read').waitFor();
  await send.screenshot({ path: join(OUT, 'console.png') });
  await send.goto(`${url}/console/send`);
  await send.locator('.send-page').waitFor();
  await send.screenshot({ path: join(OUT, 'console-send.png') });
  await send.goto(`${url}/console/conversations`);
  await send.locator('.conversation-row').first().click();
  await send.locator('.thread .bubble').first().waitFor();
  await send.screenshot({ path: join(OUT, 'console-conversations.png') });
  await send.goto(`${url}/console/overview`);
  await send.locator('.causes a').first().waitFor();
  await send.screenshot({ path: join(OUT, 'console-overview.png') });
  await shootWebhook(send, demo, dataDir);
  const selected = async (path, row, waitFor) => {
    await send.goto(`${url}/console/${path}`);
    await row(send);
    await send.locator(waitFor).first().waitFor();
    await send.screenshot({ path: join(OUT, `console-${path}.png`) });
  };
  const first = (page) => page.locator('.pane-row').first().click();
  await selected('numbers', first, '.profile-card');
  await selected('templates', first, '.template-view');
  const upload = (page) => page.locator('.upload input').setInputFiles(join(OUT, 'console.png'));
  await selected('media', upload, '.media-box img');
  await send.close();
  await shootCodes(browser, demo);
  for (const [width, scheme, name] of [
    [1_400, 'dark', 'console-dark'],
    [400, 'light', 'console-400'],
  ]) {
    const page = await open(width, scheme, '/messages?q=status:failed', '.message-row');
    await page.locator('.message-row').first().click();
    await page.locator('.explanation').waitFor();
    await page.screenshot({ path: join(OUT, `${name}.png`) });
    await page.close();
  }
}

const executablePath = PLACES.find((path) => path && existsSync(path));
if (executablePath === undefined) throw new Error('no Chromium found: install it, or name it in CHROMIUM_PATH');
await buildIfStale();
const dataDir = mkdtempSync(join(tmpdir(), 'herald-pictures-'));
const herald = await startDemoHerald(dataDir);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  await shootConsole(browser, herald.demo, dataDir);
  const wide = await openDocs(browser, herald.demo.base_url, { width: 1_400, height: 900 });
  await wide.screenshot({ path: join(OUT, 'swagger-ui.png') });
  const send = await sendMessage(wide);
  await shootFrom(wide, 'swagger-ui-send.png', send, 900);
  await shootFrom(wide, 'swagger-ui-answer.png', send.locator('.live-responses-table').first(), 560);
  await wide.close();

  const narrow = await openDocs(browser, herald.demo.base_url, { width: 400, height: 860 });
  await narrow.screenshot({ path: join(OUT, 'swagger-ui-400.png') });
  await shootFrom(narrow, 'swagger-ui-400-send.png', await sendMessage(narrow), 860);
  await narrow.goto(`${herald.demo.base_url}/docs/errors#SERVICE_WINDOW_CLOSED`);
  await narrow.screenshot({ path: join(OUT, 'errors-400.png') });
  process.stdout.write(`wrote docs/pictures/*.png\n`);
} finally {
  await browser.close();
  await herald.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
