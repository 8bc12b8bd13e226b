import { runHerald } from './bootstrap/run-herald.js';

await runHerald();
