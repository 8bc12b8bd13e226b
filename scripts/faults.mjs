// Kills what Herald runs on and counts what was lost or sent twice: `npm run faults -- [--quick] [scenario ...]`.
import { buildIfStale, reportBuild } from './build-if-stale.mjs';
import { compileInstruments } from './lib/compile-instruments.mjs';

const startedAt = performance.now();
reportBuild(await buildIfStale(), performance.now() - startedAt);
await compileInstruments();
await import('../dist/test/faults/main.js');
