import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Restoration } from '../../../infrastructure/lanes/restoration.js';
import { RestoreRepository } from './restore.repository.js';

/** Messages of a restored backup end in `outcome_unknown`: only who confirms it sends them, perhaps again. */
@Injectable()
export class MessageRestoration implements OnModuleInit {
  constructor(
    private readonly restoration: Restoration,
    private readonly messages: RestoreRepository,
  ) {}

  onModuleInit(): void {
    this.restoration.add({
      name: 'messages',
      count: (before) => this.messages.count(before),
      mark: (before) => this.messages.mark(before),
    });
  }
}
