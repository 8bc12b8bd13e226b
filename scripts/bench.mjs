// Measures Herald's claims beside their yardsticks: `npm run bench -- [--quick] [claim ...]`. See docs/performance.md.
import { buildIfStale } from './build-if-stale.mjs';
import { compileInstruments } from './lib/compile-instruments.mjs';

await buildIfStale();
await compileInstruments();
await import('../dist/bench/main.js');
