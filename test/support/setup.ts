import 'reflect-metadata';
import { ConsoleLogger, Logger } from '@nestjs/common';
import { DatabaseClock, databaseClock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';

const YEARS_MS = 10 * 366 * 86_400_000;

// What is kept per process, and a worker runs many test files: the logger of the last application ...
Logger.overrideLogger(new ConsoleLogger());
// ... how far the clock of the last database is from this host's, and the last id, from which ids count on unless it is far ahead.
const at = performance.now();
databaseClock.measured(Date.now() + YEARS_MS, at, at);
newId();
Object.assign(databaseClock, new DatabaseClock());
