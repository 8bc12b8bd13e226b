import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';
import { SendingRepository } from './sending.repository.js';

/** What the lane of the codes shows to Prometheus. The funnel is in the counters `herald_otp_*_total`. */
@Injectable()
export class OtpGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly sending: SendingRepository,
  ) {}

  onModuleInit(): void {
    this.metrics.add({
      name: 'otp_oldest_queued_seconds',
      help: 'How long the oldest code that waits to be sent has waited; 0: none waits.',
      collect: async () => [{ value: ((await this.sending.dueForMs()) ?? 0) / 1_000 }],
    });
  }
}
