import { jest } from '@jest/globals';
import type { SweepInTurns, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { QUEUED, type RetriesService } from '../messages/retry/retries.service.js';
import type { SendingService } from '../sending/sending.service.js';
import type { WebhookService } from '../webhook/webhook.service.js';
import type { TagCountsRepository } from './tag-counts.repository.js';
import type { FailedPage, TagsRepository, TagWork } from './tags.repository.js';
import { TagsService } from './tags.service.js';

const WORKSPACE = 'a';
const BEFORE = '2026-11-28 10:00:00+00';
const END = { at: '2026-11-28T09:00:00Z', id: 'end' };
const IDS = ['m1', 'm2', 'm3', 'm4', 'm5'];

const placeOf = (id: string) => ({ at: `2026-11-28T08:00:0${id.slice(1)}Z`, id });
const page: FailedPage = { failed: IDS.map(placeOf), looked: 500, before: BEFORE, last: END };

/** One turn of a workspace whose tag is retried; `decided`: for each message of the page. */
async function turnWith(decided: readonly boolean[], given = page) {
  const work: TagWork = {
    organizationId: WORKSPACE,
    tag: 'sale',
    isHeld: false,
    isPaced: false,
    isResuming: false,
    isCanceling: false,
    isRetrying: true,
  };
  const retried = jest.fn<TagsRepository['retried']>(() => Promise.resolve());
  const note = jest.fn<TagsRepository['note']>(() => Promise.resolve());
  const tags = { work: () => Promise.resolve([work]), failed: () => Promise.resolve(given), retried, note };
  const retryPage = jest.fn<RetriesService['retryPage']>(() =>
    Promise.resolve(decided.map((each) => (each ? QUEUED : null))),
  );
  let added: SweepInTurns | undefined;
  const sweeps = { addInTurns: (sweep: SweepInTurns) => void (added = sweep), add: () => undefined };
  new TagsService(
    tags as unknown as TagsRepository,
    {} as TagCountsRepository,
    { retryPage } as unknown as RetriesService,
    {} as SendingService,
    {} as WebhookService,
    sweeps as unknown as Sweeps,
  ).onModuleInit();
  const rows = await added?.turn(WORKSPACE, new AbortController().signal);
  const asked = retryPage.mock.calls.map(([, ids]) => ids);
  const done = [...retried.mock.calls.map(([, , , count]) => count), ...note.mock.calls.map(([, , count]) => count)];
  return { rows, asked, reached: retried.mock.calls.map(([, , last]) => last?.id), done };
}

describe('a retry of a tag', () => {
  it('goes on behind the page that it has done', async () => {
    const { rows, asked, reached } = await turnWith([true, true, true, true, true]);
    expect([asked, reached]).toEqual([[IDS], ['end']]);
    expect(rows).toBe(506);
  });

  it('goes on behind a page without failed messages', async () => {
    const { rows, asked, reached } = await turnWith([], { ...page, failed: [] });
    expect([rows, asked, reached]).toEqual([501, [], ['end']]);
  });

  it('stays before the first that was not decided, whatever became of those behind it', async () => {
    const { rows, reached, done } = await turnWith([true, true, false, true, false]);
    // The fourth is queued, and no more among those that have failed: it is counted now.
    expect([rows, reached, done]).toEqual([3, ['m2'], [3]]);
  });

  it('stays where it is when the first was not decided, and counts those behind it', async () => {
    const { rows, reached, done } = await turnWith([false, true, true, true, true]);
    expect([rows, reached, done]).toEqual([4, [], [4]]);
  });

  it('can do nothing for now when none was decided', async () => {
    const { rows, reached, done } = await turnWith([false, false, false, false, false]);
    expect([rows, reached, done]).toEqual([0, [], []]);
  });
});
