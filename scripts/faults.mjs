// Kills what Herald runs on and counts what was lost or sent twice: `npm run faults -- [--quick] [scenario ...]`.
import { buildIfStale } from './build-if-stale.mjs';
import { compileInstruments } from './lib/compile-instruments.mjs';

await buildIfStale();
await compileInstruments();
await import('../dist/test/faults/main.js');
