#!/usr/bin/env node
// The command `herald`: builds dist/ first where this is a source tree and a source is newer, then runs it.
import { existsSync } from 'node:fs';

process.setSourceMapsEnabled(true);
if (existsSync(new URL('../src', import.meta.url))) {
  const { buildIfStale, reportBuild } = await import('./build-if-stale.mjs');
  const startedAt = performance.now();
  reportBuild(await buildIfStale(), performance.now() - startedAt);
}
await import('../dist/src/cli/main.js');
