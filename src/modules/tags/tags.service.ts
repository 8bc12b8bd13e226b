import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { describeError } from '../../common/describe-error.js';
import { mapAtOnce } from '../../common/map-at-once.js';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { OUTBOUND_STATUSES } from '../messages/message/message-state.js';
import { MessagesService } from '../messages/messages.service.js';
import { SendingService } from '../sending/sending.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { tagsErrors } from './tags.errors.js';
import { MAX_COUNTED, type Moved, type TagWork, TagsRepository, WORK_WAITS } from './tags.repository.js';
import type { TagAction, TagKey, TagStatus, TagSummary } from './tags.types.js';

const SWEEP_EVERY_MS = 1_000;
/** Of one round of the sweep, which begins again where it has not finished. */
const ROUND_MS = 8_000;
const RETRIES_AT_ONCE = 4;
/** What is not an answer about the message: it is asked again in the next round. */
const LATER = new Set(['unavailable', 'platform_unavailable', 'platform_timeout', 'internal']);

/**
 * Groups of messages. An action is one row (`message_tag`), which the claim of messages reads where one with a tag is due:
 * a pause holds with its commit. The sweep does the rest in batches: it takes rows of paused tags out of the queue, so
 * that claims do not read them and later messages to their recipients pass (what was tried before stays, and is not due);
 * puts them back; cancels; retries. A round that ends anywhere is continued by the next one.
 */
@Injectable()
export class TagsService implements OnModuleInit {
  private readonly logger = new Logger(TagsService.name);

  constructor(
    private readonly tags: TagsRepository,
    private readonly messages: MessagesService,
    private readonly sending: SendingService,
    private readonly webhook: WebhookService,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'tags',
      everyMs: SWEEP_EVERY_MS,
      hasWork: WORK_WAITS,
      run: (signal) => this.round(signal),
    });
  }

  /** @throws TAG_NOT_FOUND (404). */
  async get(key: TagKey): Promise<TagSummary> {
    const [status, parts] = await Promise.all([this.tags.status(key), this.tags.parts(key)]);
    const [first] = parts;
    if (first === undefined) throw tagsErrors.TAG_NOT_FOUND();
    const counts: Record<string, number> = Object.fromEntries(OUTBOUND_STATUSES.map((name) => [name, 0]));
    const failures: Record<string, number> = {};
    let [messages, scheduled] = [0, 0];
    let { firstAcceptedAt, lastActivityAt } = first;
    for (const part of parts) {
      messages += part.messages;
      scheduled += part.scheduled;
      counts[part.status] = (counts[part.status] ?? 0) + part.messages;
      if (part.status === 'failed') {
        const category = part.failureCategory ?? 'unknown';
        failures[category] = (failures[category] ?? 0) + part.messages;
      }
      if (part.firstAcceptedAt < firstAcceptedAt) firstAcceptedAt = part.firstAcceptedAt;
      if (part.lastActivityAt > lastActivityAt) lastActivityAt = part.lastActivityAt;
    }
    const waiting = parts.filter((part) => part.status === 'queued');
    const isHeld = status === 'paused' || status === 'canceling';
    const estimatedEndAt = isHeld || waiting.length === 0 ? null : await this.tags.estimateEnd(key, waiting);
    return {
      tag: key.tag,
      status,
      messages,
      counts,
      scheduled,
      failures,
      firstAcceptedAt,
      lastActivityAt,
      estimatedEndAt,
      isComplete: messages < MAX_COUNTED,
    };
  }

  /**
   * Takes an action; it is done in the background.
   *
   * @param category of the failed messages that are to be retried; null: all but a few.
   * @throws TAG_NOT_FOUND (404).
   */
  async act(key: TagKey, action: TagAction, category: string | null): Promise<TagStatus> {
    const status = await this.tags.act(key, action, category);
    if (status === null) throw tagsErrors.TAG_NOT_FOUND();
    return status;
  }

  /** A step of each tag in turn, until none has work. */
  private async round(signal: AbortSignal): Promise<number> {
    const until = performance.now() + ROUND_MS;
    let total = 0;
    for (let open = await this.tags.work(); open.length > 0;) {
      const left: TagWork[] = [];
      for (const work of open) {
        if (signal.aborted || performance.now() > until) return total;
        const moved = await this.step(work);
        total += moved;
        if (moved > 0) left.push(work);
      }
      open = left;
    }
    return total;
  }

  private async step(work: TagWork): Promise<number> {
    if (work.isCanceling) return this.moved(await this.tags.cancel(work));
    let moved = 0;
    if (work.isPaused) moved += this.moved(await this.tags.putAside(work));
    else if (work.isResuming) moved += this.moved(await this.tags.putBack(work));
    if (work.isRetrying) moved += await this.retry(work);
    return moved;
  }

  /** What left the queue may have stood before others. */
  private moved({ messages, connectionIds, hasEvents }: Moved): number {
    for (const id of connectionIds) this.sending.wake(id);
    if (hasEvents !== null) this.webhook.wake([hasEvents]);
    return messages;
  }

  private async retry(key: TagKey): Promise<number> {
    const page = await this.tags.failed(key);
    if (page === null) return 0;
    // Whether there are limits is looked up for each.
    const sender = { organizationId: key.organizationId, apiPaidUntil: null, limited: true };
    try {
      await mapAtOnce(page.ids, RETRIES_AT_ONCE, (id) => this.retryOne(sender, id));
    } catch (error) {
      this.logger.warn(`failed messages of a tag could not be retried, and are in a second: ${describeError(error)}`);
      return 0;
    }
    await this.tags.retried(key, page);
    return page.looked;
  }

  /** What may not be sent as things are stays failed. */
  private async retryOne(
    sender: { organizationId: string; apiPaidUntil: null; limited: boolean },
    id: string,
  ): Promise<void> {
    try {
      await this.messages.retry(sender, id, { confirmOutcomeUnknown: false, idempotencyKey: null });
    } catch (error) {
      if (!(error instanceof AppError) || LATER.has(error.kind)) throw error;
    }
  }
}
