import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Sweeps, type Sweep } from '../../platform/lanes/sweeps.js';
import { TemplateAccountsRepository } from './template-accounts.repository.js';
import { TemplateSync } from './template-sync.js';

const BATCH = 50;
const MAX_AT_ONCE = 8;

/** Syncs each account once an hour, and within seconds where its mirror is known to differ from the platform. */
@Injectable()
export class TemplatesSweep implements Sweep, OnModuleInit {
  readonly name = 'templates';
  readonly everyMs = 10_000;

  constructor(
    private readonly accounts: TemplateAccountsRepository,
    private readonly sync: TemplateSync,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add(this);
  }

  async run(signal: AbortSignal): Promise<number> {
    const due = await this.accounts.listDue(BATCH);
    // A sync may take longer than a round: it goes on, and counts among those of the next.
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const syncs: Promise<void>[] = [];
    for (const account of due) {
      if (this.sync.active >= MAX_AT_ONCE && syncs.length > 0) await Promise.race([...syncs, over]);
      if (signal.aborted || this.sync.active >= MAX_AT_ONCE) break;
      syncs.push(this.sync.start(account));
    }
    await Promise.race([Promise.all(syncs), over]);
    return syncs.length;
  }
}
