import { Injectable, type OnModuleInit } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { LRUCache } from 'lru-cache';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { OUTBOUND_STATUSES } from '../message-state/message-state.types.js';
import { QUEUED, RetriesService } from '../messages/retry/retries.service.js';
import { SendingService } from '../sending/sending.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { tagsErrors } from './tags.errors.js';
import { HAS_NEW_COUNTS, TagCountsRepository } from './tag-counts.repository.js';
import { type Moved, TAGS_OF_TURN, type TagWork, TagsRepository, WORK_ROWS } from './tags.repository.js';
import { KEPT_FAILURES, type TagAction, type TagCounts, type TagKey, type TagPart } from './tags.types.js';
import type { TagPlan, TagRow, TagSummary } from './tags.types.js';

const SWEEP_EVERY_MS = 1_000;
/** Limit of workspaces whose last served tag is cached. */
const MAX_LASTS = 1_000;

/**
 * Groups of messages. An action is one row (`message_tag`), which claims read for messages with a tag: a pause takes
 * effect with its commit. The sweep does the rest in batches: it holds rows of paused tags, so that claims do not read
 * them and later messages to their recipients are sent; it resumes, cancels and retries. Workspaces get turns, and in a
 * turn each tag gets one bounded step; the next turn continues unfinished work.
 */
@Injectable()
export class TagsService implements OnModuleInit {
  /** Each workspace's tag with the last step. */
  private readonly lasts = new LRUCache<string, string>({ max: MAX_LASTS });

  constructor(
    private readonly tags: TagsRepository,
    private readonly counts: TagCountsRepository,
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
    this.sweeps.add({
      name: 'tag_starts',
      everyMs: SWEEP_EVERY_MS,
      // A time that a caller gave is meant as it is, whatever the clock does.
      hasWork: 'exists (select from message_tag where started_at is null and not paused and start_at <= now())',
      run: () => this.tags.start(),
    });
    this.sweeps.add({
      name: 'tag_counts',
      everyMs: SWEEP_EVERY_MS,
      hasWork: HAS_NEW_COUNTS,
      run: () => this.counts.fold(),
    });
  }

  /** @throws TAG_NOT_FOUND (404). */
  async get(key: TagKey): Promise<{ tag: TagSummary; estimatedEndAt: Date | null }> {
    const row = await this.tags.find(key);
    if (row === null) throw tagsErrors.TAG_NOT_FOUND();
    const parts = await this.parts(key);
    const tag = { ...row, ...countsOf(parts) };
    return { tag, estimatedEndAt: await this.estimateEnd(key, row, parts) };
  }

  /** Newest first. */
  async list(
    organizationId: string,
    cursor: ListCursor,
    limit: number,
  ): Promise<{ tags: TagSummary[]; next: TagRow | null }> {
    const found = await this.tags.list(organizationId, cursor, limit + 1);
    const page = found.slice(0, limit);
    const names = page.map(({ tag }) => tag);
    const parts = await this.counts.parts(organizationId, names);
    const tags = page.map((row) => ({ ...row, ...countsOf(parts.get(row.tag) ?? []) }));
    return { tags, next: found.length > limit ? (page.at(-1) ?? null) : null };
  }

  /**
   * Creates a tag before its first message, or changes one.
   *
   * @throws TAG_STARTED (409) where it has started and gets another start.
   */
  async put(key: TagKey, plan: TagPlan): Promise<{ tag: TagSummary; estimatedEndAt: Date | null }> {
    if ((await this.tags.put(key, plan)) === null) throw tagsErrors.TAG_STARTED();
    return this.get(key);
  }

  /**
   * Starts an action, which is done in the background.
   *
   * @param category of the failed messages to retry; null: all but a few.
   * @returns how many messages it concerns, by the present counts.
   * @throws TAG_NOT_FOUND (404).
   */
  async act(key: TagKey, action: TagAction, category: string | null): Promise<{ tag: TagRow; messages: number }> {
    const tag = await this.tags.act(key, action, category);
    if (tag === null) throw tagsErrors.TAG_NOT_FOUND();
    const { counts, failures } = countsOf(await this.parts(key));
    if (action !== 'retry') return { tag, messages: counts.queued ?? 0 };
    const retried = Object.entries(failures).filter(([name]) =>
      category === null ? !KEPT_FAILURES.some((kept) => kept === name) : name === category,
    );
    return { tag, messages: retried.reduce((total, [, messages]) => total + messages, 0) };
  }

  private async parts({ organizationId, tag }: TagKey): Promise<TagPart[]> {
    return (await this.counts.parts(organizationId, [tag])).get(tag) ?? [];
  }

  private async estimateEnd(key: TagKey, row: TagRow, parts: readonly TagPart[]): Promise<Date | null> {
    const waiting = parts.filter(({ status, messages }) => status === 'queued' && messages > 0);
    if (row.isPaused || row.status === 'canceling' || waiting.length === 0) return null;
    const start = row.isStarted ? null : row.startAt;
    const byNumbers = await this.counts.estimateEnd(key.organizationId, waiting, start);
    if (byNumbers === null) return null;
    const from = Math.max(databaseClock.now(), start?.getTime() ?? 0);
    const paced = waiting.reduce((total, { messages, scheduled }) => total + messages - scheduled, 0);
    const byPace = row.messagesPerMinute === null ? 0 : (paced * 60_000) / row.messagesPerMinute;
    return new Date(Math.max(byNumbers.getTime(), from + byPace));
  }

  /** One step for each tag of a workspace, starting after the last served one. */
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
    // All tags were served: the next turn begins with the first.
    if (open.length < TAGS_OF_TURN && this.lasts.get(organizationId) === open.at(-1)?.tag)
      this.lasts.delete(organizationId);
    return total;
  }

  private async step(work: TagWork, signal: AbortSignal): Promise<number> {
    if (work.isCanceling) return this.moved(await this.tags.cancel(work));
    let moved = 0;
    if (work.isHeld) moved += this.moved(await this.tags.hold(work));
    else {
      if (work.isResuming) moved += this.moved(await this.tags.resume(work));
      if (work.isPaced) moved += this.moved(await this.tags.pace(work));
    }
    if (work.isRetrying) moved += await this.retry(work, signal);
    return moved;
  }

  /** The removed messages may have been first for their recipients. */
  private moved({ rows, connectionIds, hasEvents }: Moved): number {
    for (const id of connectionIds) this.sending.wake(id);
    if (hasEvents !== null) this.webhook.wake([hasEvents]);
    return rows;
  }

  /** The next step continues after the decided messages. */
  private async retry(key: TagKey, signal: AbortSignal): Promise<number> {
    const page = await this.tags.failed(key);
    if (page === null) return 0;
    const ids = page.failed.map(({ id }) => id);
    const isWanted = () => this.tags.keepRetrying(key, page.before);
    const decided = ids.length === 0 ? [] : await this.retries.retryPage(key.organizationId, ids, signal, isWanted);
    // All that were queued, even after an undecided one: the next page does not contain them.
    const queued = decided.filter((code) => code === QUEUED).length;
    const open = decided.indexOf(null);
    if (open === 0) {
      if (queued > 0) await this.tags.note(key, 'retry', queued);
      return queued;
    }
    const skipped: Record<string, number> = {};
    for (const code of open < 0 ? decided : decided.slice(0, open))
      if (code !== null && code !== QUEUED) skipped[code] = (skipped[code] ?? 0) + 1;
    const last = open < 0 ? page.last : (page.failed[open - 1] ?? null);
    await this.tags.retried(key, page.before, last, queued, skipped);
    return open < 0 ? page.failed.length + page.looked + 1 : Math.max(open, queued);
  }
}

function countsOf(parts: readonly TagPart[]): TagCounts {
  const counts: Record<string, number> = Object.fromEntries(OUTBOUND_STATUSES.map((name) => [name, 0]));
  const failures: Record<string, number> = {};
  let [messages, scheduled] = [0, 0];
  let firstAcceptedAt: Date | null = null;
  let lastActivityAt: Date | null = null;
  for (const part of parts) {
    messages += part.messages;
    scheduled += part.scheduled;
    counts[part.status] = (counts[part.status] ?? 0) + part.messages;
    if (part.status === 'failed' && part.messages > 0) {
      const category = part.failureCategory ?? 'unknown';
      failures[category] = (failures[category] ?? 0) + part.messages;
    }
    const { firstAcceptedAt: first, lastActivityAt: last } = part;
    if (first !== null && (firstAcceptedAt === null || first < firstAcceptedAt)) firstAcceptedAt = first;
    if (lastActivityAt === null || last > lastActivityAt) lastActivityAt = last;
  }
  return { messages, counts, scheduled, failures, firstAcceptedAt, lastActivityAt };
}
