#!/usr/bin/env node
// The command `herald`: builds dist/ first where this is a source tree and a source is newer, then runs it.
import { existsSync } from 'node:fs';

process.setSourceMapsEnabled(true);
if (existsSync(new URL('../src', import.meta.url))) {
  const { buildIfStale } = await import('./build-if-stale.mjs');
  await buildIfStale();
}
await import('../dist/src/cli/main.js');
