import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lowestIdSince } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Retention } from '../../../infrastructure/lanes/retention.js';
import { ContentRetentionRepository } from './content-retention.repository.js';

/** Removes what old messages said; that they were, and what became of them, the journal keeps. */
@Injectable()
export class ContentRetention implements OnModuleInit {
  constructor(
    private readonly contents: ContentRetentionRepository,
    private readonly retention: Retention,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.retention.add({
      name: 'message contents',
      days: this.config.retention.messageContentDays,
      clear: (before, limit) => this.contents.removeContents(lowestIdSince(before), limit),
    });
    this.retention.add({
      name: 'attempts',
      days: this.config.retention.attemptDays,
      clear: (before, limit) => this.contents.removeAttempts(lowestIdSince(before), limit),
    });
  }
}
