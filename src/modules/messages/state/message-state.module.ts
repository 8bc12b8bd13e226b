import { Module } from '@nestjs/common';
import { FactsRepository } from './facts.repository.js';

/** The state of messages, and the one way to change it, for the modules that learn something of a message or decide over it. */
@Module({ providers: [FactsRepository], exports: [FactsRepository] })
export class MessageStateModule {}
