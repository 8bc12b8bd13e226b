#!/usr/bin/env node
import { startBridge } from './bridge.js';
import { settingsFrom, SetupError } from './settings.js';
import { setUp } from './setup.js';

const USAGE = `herald-chatwoot <command>

  setup   checks the key and the token, makes the inbox in Chatwoot; repeat it as you like
  start   runs the bridge until it is stopped

Settings are environment variables; docs/chatwoot.md of Herald has them all.
`;

async function main(command: string | undefined): Promise<void> {
  if (command === 'setup') {
    await setUp(settingsFrom(process.env), (line) => process.stdout.write(`${line}\n`));
    return;
  }
  if (command !== 'start') {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const { stop } = await startBridge(settingsFrom(process.env));
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      void stop().then(() => process.exit(0));
    });
  }
}

main(process.argv[2]).catch((error: unknown) => {
  const text = error instanceof SetupError ? error.message : error instanceof Error ? error.stack : 'unknown fault';
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
