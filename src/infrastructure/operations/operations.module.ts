import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Standbys } from '../database/standbys.js';
import { Backlogs } from './backlogs.js';
import { Counters } from './counters.js';
import { HealthController } from './health.controller.js';
import { AccessLog, HeraldLogger } from './logger.js';
import { InfrastructureGauges } from './metrics/infrastructure-gauges.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { Metrics } from './metrics/metrics.js';
import { Tracing } from './tracing.js';
import { databaseAnswers, Heartbeats, migrationsRan, Readiness } from './readiness.js';

/** Interfaces for operators: health, logs, metrics. */
@Global()
@Module({
  controllers: [HealthController, MetricsController],
  providers: [
    AccessLog,
    Backlogs,
    Counters,
    Metrics,
    InfrastructureGauges,
    { provide: HeraldLogger, inject: [Config], useFactory: (config: Config) => new HeraldLogger(config.process) },
    {
      provide: Tracing,
      inject: [Config, Counters],
      useFactory: (config: Config, counters: Counters) => Tracing.open(config, counters),
    },
    Heartbeats,
    {
      provide: Readiness,
      inject: [Database, Heartbeats, Standbys],
      useFactory: (database: Database, heartbeats: Heartbeats, standbys: Standbys) => {
        const readiness = new Readiness();
        readiness.register('database', () => databaseAnswers(database));
        readiness.register('migrations', migrationsRan(database));
        readiness.register('sweeps', () => heartbeats.check());
        // Without standbys the primary is read, so they never make a process unready.
        if (standbys.all.length > 0) readiness.register('standbys', async () => ({ ok: true, detail: standbys.state }));
        return readiness;
      },
    },
  ],
  exports: [AccessLog, Backlogs, Counters, Heartbeats, HeraldLogger, Metrics, Readiness, Tracing],
})
export class OperationsModule {}
