import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Backlogs } from '../../../infrastructure/operations/backlogs.js';
import { Metrics } from '../../../infrastructure/operations/metrics/metrics.js';
import { QueueStatusRepository } from './queue-status.repository.js';

/** What the lanes of messages show to Prometheus. */
@Injectable()
export class MessageGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly queue: QueueStatusRepository,
    private readonly backlogs: Backlogs,
  ) {}

  onModuleInit(): void {
    this.backlogs.add('messages', async () => {
      const { queued, processing } = await this.queue.depth();
      return { waiting: queued, inFlight: processing, oldestDueSeconds: await this.queue.oldestDueSeconds() };
    });
    this.metrics.add({
      name: 'messages_waiting',
      help: 'Messages that are queued, and those on their way to the platform; counted up to 100000.',
      labelNames: ['status'],
      collect: async () => {
        const { queued, processing } = await this.queue.depth();
        return [
          { labels: { status: 'queued' }, value: queued },
          { labels: { status: 'processing' }, value: processing },
        ];
      },
    });
    this.metrics.add({
      name: 'messages_oldest_due_seconds',
      help: 'How long the oldest message whose turn has come has waited, of numbers that can send; 0: none waits.',
      collect: async () => [{ value: await this.queue.oldestDueSeconds() }],
    });
  }
}
