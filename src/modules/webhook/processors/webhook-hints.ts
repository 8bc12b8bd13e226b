import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { setTimeout as pause } from 'node:timers/promises';
import { Counters } from '../../../infrastructure/operations/counters.js';

export const WEBHOOK_QUEUE = 'webhook';

/** A process gives at most one hint in this time. */
const HINT_EVERY_MS = 25;

/**
 * Tells the workers that there may be due events: one job of the whole queue waits at a time, whatever its reason. Hints
 * are never awaited and may get lost: the sweep finds due events by itself.
 */
@Injectable()
export class WebhookHints {
  private resting = false;
  private again = false;

  constructor(
    @InjectQueue(WEBHOOK_QUEUE) private readonly queue: Queue,
    private readonly counters: Counters,
  ) {}

  /** Gives a hint now, or soon together with those that come meanwhile. */
  send(): void {
    this.again = true;
    if (!this.resting) void this.add();
  }

  private async add(): Promise<void> {
    this.resting = true;
    while (this.again) {
      this.again = false;
      const deduplication = { id: 'look', keepLastIfActive: true };
      // While the queue is away this waits for it, and so do all later hints.
      const added = this.queue.add('look', {}, { removeOnComplete: true, removeOnFail: true, deduplication });
      await Promise.all([added.catch(() => this.counters.increment('webhook_wakes_failed')), pause(HINT_EVERY_MS)]);
    }
    this.resting = false;
  }
}
