import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { Retention } from '../lanes/retention.js';
import { Audit } from './audit.js';
import { AuditRepository } from './audit.repository.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

/** The audit trail, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [Audit, AuditRepository],
  exports: [Audit],
})
export class AuditModule {
  constructor(events: AuditRepository, retention: Retention, config: Config) {
    retention.add({
      name: 'audit events',
      days: config.retention.auditDays,
      clear: (before, limit) => events.remove(before, limit),
    });
  }
}
