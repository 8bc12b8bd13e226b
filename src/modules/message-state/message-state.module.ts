import { Module } from '@nestjs/common';
import { FactsRepository } from './facts.repository.js';
import { FactsService } from './facts.service.js';

/**
 * The state of messages, and the only way to change it. For modules that learn something about messages or act on them.
 */
@Module({ providers: [FactsService, FactsRepository], exports: [FactsService] })
export class MessageStateModule {}
