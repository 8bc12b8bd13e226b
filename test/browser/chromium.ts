import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The program of a browser on this machine; null where there is none. `CHROMIUM_PATH` names another. */
export function findChromium(): string | null {
  return PLACES.find((path) => path !== undefined && path !== '' && existsSync(path)) ?? null;
}

export function launchChromium(executablePath: string): Promise<Browser> {
  // Chromium refuses its sandbox to root, as whom containers run; it opens only pages of ours here.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];
  return chromium.launch({ executablePath, args, timeout: 30_000 });
}
