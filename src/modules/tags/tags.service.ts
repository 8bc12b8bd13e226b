import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { OUTBOUND_STATUSES } from '../message-state/message-state.types.js';
import { RetriesService } from '../messages/retry/retries.service.js';
import { SendingService } from '../sending/sending.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { tagsErrors } from './tags.errors.js';
import { MAX_COUNTED, type Moved, TAGS_OF_TURN, type TagWork, TagsRepository, WORK_ROWS } from './tags.repository.js';
import type { TagAction, TagKey, TagStatus, TagSummary } from './tags.types.js';

const SWEEP_EVERY_MS = 1_000;
/** Workspaces whose last served tag is kept. */
const MAX_LASTS = 1_000;

/**
 * Groups of messages. An action is one row (`message_tag`), which the claim of messages reads where one with a tag is due:
 * a pause holds with its commit. The sweep does the rest in batches: it holds rows of paused tags, so that claims do not read
 * them and later messages to their recipients pass; resumes them; cancels; retries. Workspaces have their turns, and in a turn each
 * tag has one bounded step; what ends anywhere is continued by the next one.
 */
@Injectable()
export class TagsService implements OnModuleInit {
  /** The tag of a workspace that had the last step. */
  private readonly lasts = new LRUCache<string, string>({ max: MAX_LASTS });

  constructor(
    private readonly tags: TagsRepository,
    private readonly retries: RetriesService,
    private readonly sending: SendingService,
    private readonly webhook: WebhookService,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.addInTurns({
      name: 'tags',
      everyMs: SWEEP_EVERY_MS,
      rows: WORK_ROWS,
      turn: (organizationId, signal) => this.turn(organizationId, signal),
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

  /** A step of each tag of a workspace, behind the one that had the last. */
  private async turn(organizationId: string, signal: AbortSignal): Promise<number> {
    const last = this.lasts.get(organizationId) ?? '';
    let open = await this.tags.work(organizationId, last);
    if (open.length === 0 && last !== '') open = await this.tags.work(organizationId, '');
    let total = 0;
    for (const work of open) {
      this.lasts.set(organizationId, work.tag);
      total += await this.step(work, signal);
      if (signal.aborted) break;
    }
    // All were served: the next turn begins with the first.
    if (open.length < TAGS_OF_TURN && this.lasts.get(organizationId) === open.at(-1)?.tag)
      this.lasts.delete(organizationId);
    return total;
  }

  private async step(work: TagWork, signal: AbortSignal): Promise<number> {
    if (work.isCanceling) return this.moved(await this.tags.cancel(work));
    let moved = 0;
    if (work.isPaused) moved += this.moved(await this.tags.hold(work));
    else if (work.isResuming) moved += this.moved(await this.tags.resume(work));
    if (work.isRetrying) moved += await this.retry(work, signal);
    return moved;
  }

  /** What left the queue may have stood before others. */
  private moved({ rows, connectionIds, hasEvents }: Moved): number {
    for (const id of connectionIds) this.sending.wake(id);
    if (hasEvents !== null) this.webhook.wake([hasEvents]);
    return rows;
  }

  /** The next step goes on behind what was decided. */
  private async retry(key: TagKey, signal: AbortSignal): Promise<number> {
    const page = await this.tags.failed(key);
    if (page === null) return 0;
    const ids = page.failed.map(({ id }) => id);
    const done = ids.length === 0 ? [] : await this.retries.retryPage(key.organizationId, ids, signal);
    const open = done.indexOf(false);
    if (open === 0) return 0;
    await this.tags.retried(key, page.before, open < 0 ? page.last : (page.failed[open - 1] ?? null));
    return open < 0 ? page.failed.length + page.looked + 1 : open;
  }
}
