// Measures Herald's claims beside their yardsticks: `npm run bench -- [--quick] [claim ...]`. See docs/performance.md.
import { buildIfStale, reportBuild } from './build-if-stale.mjs';
import { compileInstruments } from './lib/compile-instruments.mjs';

const startedAt = performance.now();
reportBuild(await buildIfStale(), performance.now() - startedAt);
await compileInstruments();
await import('../dist/bench/main.js');
