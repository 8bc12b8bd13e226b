import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../../infrastructure/config/config.js';
import { Restoration } from '../../infrastructure/queue/restoration.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { AuditTrail } from '../../infrastructure/operations/audit-trail.js';
import { AuditAdminController } from './admin/audit-admin.controller.js';
import { AuditRepository } from './audit.repository.js';
import { Audit } from './audit.service.js';
import { OperatorEventWaits } from './events/operator-event-waits.service.js';
import { EventsAdminController } from './events/events-admin.controller.js';
import { OperatorEventsRepository } from './events/operator-events.repository.js';
import { OperatorEventsService } from './events/operator-events.service.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

/** The audit trail, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  controllers: [AuditAdminController, EventsAdminController],
  providers: [
    AuditRepository,
    OperatorEventsRepository,
    OperatorEventWaits,
    OperatorEventsService,
    Audit,
    { provide: AuditTrail, useExisting: Audit },
  ],
  exports: [Audit, AuditTrail],
})
export class AuditModule {
  constructor(
    events: AuditRepository,
    operatorEvents: OperatorEventsRepository,
    retention: Retention,
    restoration: Restoration,
    config: Config,
  ) {
    restoration.onConfirm(() => operatorEvents.renumber());
    retention.add({
      name: 'audit events',
      days: config.retention.auditDays,
      clear: (before, limit) => events.remove(before, limit),
    });
  }
}
