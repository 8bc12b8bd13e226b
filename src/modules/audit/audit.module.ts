import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../../infrastructure/config/config.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { AuditTrail } from '../../infrastructure/operations/audit-trail.js';
import { AuditAdminController } from './admin/audit-admin.controller.js';
import { AuditRepository } from './audit.repository.js';
import { Audit } from './audit.service.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

/** The audit trail, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  controllers: [AuditAdminController],
  providers: [AuditRepository, Audit, { provide: AuditTrail, useExisting: Audit }],
  exports: [Audit, AuditTrail],
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
