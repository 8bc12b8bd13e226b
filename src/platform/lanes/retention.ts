import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Sweeps } from './sweeps.js';

/** Something that is kept for a time only. */
export interface Kept {
  readonly name: string;
  /** Days for which it is kept; 0: for ever. */
  readonly days: number;
  /** Clears what is older than `before`, at most `limit` rows; returns how many. */
  clear(before: Date, limit: number): Promise<number>;
}

const EVERY_MS = 60_000;
const BATCH = 1_000;
/** Of one kind and round: small batches, so that nobody waits for their locks. */
const MAX_BATCHES = 20;
const DAY_MS = 86_400_000;

/** Clears what has been kept for long enough, in small batches, in one process at a time. */
@Injectable()
export class Retention implements OnModuleInit {
  private readonly kept: Kept[] = [];

  constructor(private readonly sweeps: Sweeps) {}

  onModuleInit(): void {
    this.sweeps.add({ name: 'retention', everyMs: EVERY_MS, run: (signal) => this.run(signal) });
  }

  /** Adds something that is kept for a time only; call it while the application starts. */
  add(kept: Kept): void {
    if (kept.days > 0) this.kept.push(kept);
  }

  private async run(signal: AbortSignal): Promise<number> {
    let cleared = 0;
    for (const kept of this.kept) {
      const before = new Date(Date.now() - kept.days * DAY_MS);
      for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch++) {
        const rows = await kept.clear(before, BATCH);
        cleared += rows;
        if (rows < BATCH) break;
      }
    }
    return cleared;
  }
}
