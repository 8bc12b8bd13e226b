// Makes each fault and waits for its alert, with the rules of deploy/prometheus in a real Prometheus:
// `npm run test:alerts -- [--quick] [--write] [fault ...]`. Needs the Debian package prometheus.
import { buildIfStale } from './build-if-stale.mjs';
import { compileInstruments } from './lib/compile-instruments.mjs';

await buildIfStale();
await compileInstruments();
await import('../dist/test/alerts/main.js');
