// Measures what row-level security would cost (docs/adr): node scripts/row-level-security.mjs, a minute on two cores.
import { compileInstruments } from './lib/compile-instruments.mjs';

await compileInstruments();
await import('../dist/bench/row-level-security.main.js');
