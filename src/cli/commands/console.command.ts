import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { describeError } from '../../common/describe-error.js';
import { fetchFrom } from '../api/client.js';
import { paint } from '../output.js';
import { apiAction } from '../runner.js';

/** `console`: the link that signs in to the console. */
export function addConsoleCommand(program: Command): void {
  apiAction<{ open?: boolean }>(
    program
      .command('console')
      .description('print the link that opens the console, signed in with the key')
      .option('--open', 'open it in the browser of this machine too'),
    async ({ api, url, key: text }, { open = false }) => {
      const key = await api.key.get();
      // A browser does not send the fragment, and the page removes it from the address.
      const link = `${await consoleUrl(url)}#${new URLSearchParams({ key: text }).toString()}`;
      if (open) await openInBrowser(link);
      const data = { url: link, workspace: key.workspace, key_name: key.name, opened: open };
      const who = `Signs in to ${key.workspace.name} with the key ${key.name}.`;
      return { data, text: `${link}\n${paint.faint(`${who} The link contains the key: keep it as secret.`)}` };
    },
  );
}

const TIMEOUT_MS = 30_000;

/** @throws Error where the service has no console. */
async function consoleUrl(base: string): Promise<string> {
  const headers = { accept: 'application/json' };
  const response = await fetchFrom(base)(`${base}/`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { console_url: url } = (await response.json()) as { console_url?: string };
  if (url === undefined) throw new Error(`${base} serves no console: CONSOLE=false is set there`);
  return url;
}

/** The program that opens an address, by platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

async function openInBrowser(link: string): Promise<void> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, link], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new Error(`no browser opened (${describeError(error)}): run it without --open, and open the link yourself`, {
      cause: error,
    });
  }
  child.unref();
}
