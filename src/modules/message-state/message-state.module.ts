import { Module } from '@nestjs/common';
import { FactsRepository } from './facts.repository.js';
import { FactsService } from './facts.service.js';

/** The state of messages, and the one way to change it, for the modules that learn something of a message or decide over it. */
@Module({ providers: [FactsService, FactsRepository], exports: [FactsService] })
export class MessageStateModule {}
