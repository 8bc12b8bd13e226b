import 'reflect-metadata';
import { ConsoleLogger, Logger } from '@nestjs/common';

// Nest keeps the logger of the last application per process, and a worker runs many test files.
Logger.overrideLogger(new ConsoleLogger());
