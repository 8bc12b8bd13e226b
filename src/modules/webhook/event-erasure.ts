import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Erasure } from '../../platform/erasure/erasure.js';
import { EventErasureRepository } from './event-erasure.repository.js';

/** Events bear what messages said and to whom: those of an erased contact go, delivered or not. */
@Injectable()
export class EventErasure implements OnModuleInit {
  constructor(
    private readonly events: EventErasureRepository,
    private readonly erasure: Erasure,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'webhook events',
      batch: (subject, cursor, erase) => this.events.batch(subject, cursor, erase),
    });
  }
}
