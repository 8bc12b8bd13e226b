import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { AccessLog } from './access-log.js';
import { Backlogs } from './backlogs.js';
import { Counters } from './counters.js';
import { DatabaseCheck, MigrationsCheck } from './database-check.js';
import { HealthController } from './health.controller.js';
import { Heartbeats } from './heartbeats.js';
import { HeraldLogger } from './logger.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { Metrics } from './metrics/metrics.js';
import { PlatformGauges } from './metrics/platform-gauges.js';
import { Readiness } from './readiness.js';

/** What those who run Herald look at: health, logs, counters. */
@Global()
@Module({
  controllers: [HealthController, MetricsController],
  providers: [
    AccessLog,
    Backlogs,
    Counters,
    Metrics,
    PlatformGauges,
    { provide: HeraldLogger, inject: [Config], useFactory: (config: Config) => new HeraldLogger(config.process) },
    {
      provide: Heartbeats,
      inject: [Database, Config],
      useFactory: (database: Database, config: Config) => new Heartbeats(database, config),
    },
    {
      provide: Readiness,
      inject: [Database, Heartbeats],
      useFactory: (database: Database, heartbeats: Heartbeats) => {
        const readiness = new Readiness();
        for (const check of [new DatabaseCheck(database), new MigrationsCheck(database), heartbeats]) {
          readiness.register(check);
        }
        return readiness;
      },
    },
  ],
  exports: [AccessLog, Backlogs, Counters, Heartbeats, HeraldLogger, Metrics, Readiness],
})
export class OperationsModule {}
