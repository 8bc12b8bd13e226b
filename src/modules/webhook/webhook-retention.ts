import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lowestIdSince } from '../../common/ids.js';
import { Config } from '../../platform/config/config.js';
import { Retention } from '../../platform/lanes/retention.js';
import { DispatchRepository } from './dispatch/dispatch.repository.js';

/** Forgets old events, whose data is what messages said, and the log of their deliveries. */
@Injectable()
export class WebhookRetention implements OnModuleInit {
  constructor(
    private readonly dispatches: DispatchRepository,
    private readonly retention: Retention,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const { webhookDays: days } = this.config.retention;
    this.retention.add({
      name: 'webhook events',
      days,
      clear: (before, limit) => this.dispatches.removeOld('webhook_event', lowestIdSince(before), limit),
    });
    this.retention.add({
      name: 'webhook deliveries',
      days,
      clear: (before, limit) => this.dispatches.removeOld('webhook_delivery', lowestIdSince(before), limit),
    });
  }
}
