import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Erasure } from '../../infrastructure/erasure/erasure.js';
import { WorkspaceErasure } from '../../infrastructure/erasure/workspace-erasure.js';
import { EventErasureRepository } from './event-erasure.repository.js';
import { WebhookService } from './webhook.service.js';

/** Events bear what messages said and to whom: those of an erased contact go, delivered or not. */
@Injectable()
export class EventErasure implements OnModuleInit {
  constructor(
    private readonly events: EventErasureRepository,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
    private readonly webhook: WebhookService,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'webhook events',
      batch: (subject, cursor, erase) => this.events.batch(subject, cursor, erase),
    });
    this.workspaces.add({ stop: async (organizationId) => void (await this.webhook.removeIfAny(organizationId)) });
  }
}
