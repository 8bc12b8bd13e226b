import { Global, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { Retention } from '../lanes/retention.js';
import { Audit } from './audit.js';
import { AuditRepository } from './audit.repository.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

@Injectable()
class AuditMaintenance implements OnModuleInit {
  constructor(
    private readonly events: AuditRepository,
    private readonly retention: Retention,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.retention.add({
      name: 'audit events',
      days: this.config.retention.auditDays,
      clear: (before, limit) => this.events.remove(before, limit),
    });
  }
}

/** The audit trail, for every module. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [Audit, AuditRepository, AuditMaintenance],
  exports: [Audit],
})
export class AuditModule {}
