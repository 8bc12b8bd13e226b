import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { ClockWatch } from './clock-watch.js';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { Partitions } from './partitions.js';
import { PgNotifier } from './pg-notifier.js';
import { Standbys } from './standbys.js';

/** PostgreSQL for every module. Entities come with `TypeOrmModule.forFeature` of their own module. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Config],
      useFactory: ({ database }: Config) => ({
        ...dataSourceOptions(database),
        autoLoadEntities: true,
        retryAttempts: 1,
      }),
    }),
  ],
  providers: [Database, ClockWatch, Partitions, PgNotifier, Standbys],
  exports: [Database, Partitions, PgNotifier, Standbys],
})
export class DatabaseModule {}
