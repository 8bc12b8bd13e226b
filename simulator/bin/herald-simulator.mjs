#!/usr/bin/env node
// The command `herald-simulator`: builds dist/ first where a source is newer, then runs it.
import { buildIfStale } from '../../scripts/build-if-stale.mjs';

process.setSourceMapsEnabled(true);
await buildIfStale();
await import('../../dist/simulator/src/main.js');
