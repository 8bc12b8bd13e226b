// Makes the pictures of Swagger UI in docs/pictures from a running program of its own: `npm run pictures`. Needs Chromium
// (CHROMIUM_PATH names another program than the usual ones).
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
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

const executablePath = PLACES.find((path) => path && existsSync(path));
if (executablePath === undefined) throw new Error('no Chromium found: install it, or name it in CHROMIUM_PATH');
await buildIfStale();
const dataDir = mkdtempSync(join(tmpdir(), 'herald-pictures-'));
const herald = await startDemoHerald(dataDir);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
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
