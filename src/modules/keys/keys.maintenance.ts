import { Injectable, type OnModuleInit } from '@nestjs/common';
import { inBatches, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { KEYS_ENDING } from './keys.repository.js';
import { ApiKeysService } from './keys.service.js';

const EVERY_MS = 60_000;
const BATCH = 500;

/** Maintenance of keys over time. */
@Injectable()
export class KeysMaintenance implements OnModuleInit {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'keys that end',
      everyMs: EVERY_MS,
      hasWork: `exists (select from api_key where ${KEYS_ENDING})`,
      run: (signal) => inBatches(signal, BATCH, (limit) => this.keys.noteEnding(limit)),
    });
  }
}
