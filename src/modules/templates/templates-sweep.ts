import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Sweeps, type Sweep } from '../../infrastructure/lanes/sweeps.js';
import { HAS_DUE, LEASE_SECONDS, TemplateAccountsRepository } from './template-accounts.repository.js';
import { TemplateSync } from './template-sync.js';

const BATCH = 50;
const MAX_AT_ONCE = 8;

/** A platform that does not answer must not make the round a long one: its age is part of readiness. */
const ROUND_MS = 5_000;

/** Syncs each account once an hour, and within seconds where its mirror is known to differ from the platform. */
@Injectable()
export class TemplatesSweep implements Sweep, OnModuleInit {
  readonly name = 'templates';
  readonly everyMs = 10_000;
  readonly hasWork = HAS_DUE;
  readonly waitsFor = [
    { table: 'template_account', column: 'sync_until', leaveSeconds: LEASE_SECONDS },
    { table: 'template_account', column: 'tried_at' },
  ];

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
    const round = AbortSignal.any([signal, AbortSignal.timeout(ROUND_MS)]);
    let started = 0;
    const work = async (): Promise<void> => {
      while (!round.aborted && this.sync.active < MAX_AT_ONCE) {
        const next = due.shift();
        if (next === undefined) return;
        started++;
        await this.sync.start(next);
      }
    };
    // A sync may take longer than the round: it goes on, and takes a place in the next one.
    const over = new Promise<void>((resolve) => round.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([Promise.all(Array.from({ length: MAX_AT_ONCE }, work)), over]);
    return started;
  }
}
