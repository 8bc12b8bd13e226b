import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { Retention } from '../lanes/retention.js';
import { Audit } from './audit.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

/** The audit trail, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [Audit],
  exports: [Audit],
})
export class AuditModule {
  constructor(audit: Audit, retention: Retention, config: Config) {
    retention.add({
      name: 'audit events',
      days: config.retention.auditDays,
      clear: (before, limit) => audit.remove(before, limit),
    });
  }
}
