import { jest } from '@jest/globals';
import { commonErrors } from '../../common/common.errors.js';
import type { SweepInTurns, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { messagesErrors } from '../messages/messages.errors.js';
import type { MessagesService } from '../messages/messages.service.js';
import type { SendingService } from '../sending/sending.service.js';
import type { WebhookService } from '../webhook/webhook.service.js';
import type { FailedPage, TagsRepository, TagWork } from './tags.repository.js';
import { TagsService } from './tags.service.js';

const WORKSPACE = 'a';
const BEFORE = '2026-11-28 10:00:00+00';
const END = { at: '2026-11-28T09:00:00Z', id: 'end' };
const IDS = ['m1', 'm2', 'm3', 'm4', 'm5'];

const placeOf = (id: string) => ({ at: `2026-11-28T08:00:0${id.slice(1)}Z`, id });
const page: FailedPage = { failed: IDS.map(placeOf), looked: 500, before: BEFORE, last: END };

/** One turn of a workspace whose tag is retried. */
async function turnWith(retry: (id: string, stop: AbortController) => Promise<unknown>, given = page) {
  const work: TagWork = {
    organizationId: WORKSPACE,
    tag: 'sale',
    isPaused: false,
    isResuming: false,
    isCanceling: false,
    isRetrying: true,
  };
  const retried = jest.fn<TagsRepository['retried']>(() => Promise.resolve());
  const tags = { work: () => Promise.resolve([work]), failed: () => Promise.resolve(given), retried };
  const stop = new AbortController();
  const begun: string[] = [];
  const messages = {
    retry: (_: unknown, id: string) => {
      begun.push(id);
      return retry(id, stop);
    },
  };
  let added: SweepInTurns | undefined;
  const sweeps = { addInTurns: (sweep: SweepInTurns) => void (added = sweep) };
  new TagsService(
    tags as unknown as TagsRepository,
    messages as unknown as MessagesService,
    {} as SendingService,
    {} as WebhookService,
    sweeps as unknown as Sweeps,
  ).onModuleInit();
  const rows = await added?.turn(WORKSPACE, stop.signal);
  return { rows, begun, reached: retried.mock.calls.map(([, , last]) => last?.id) };
}

describe('a retry of a tag', () => {
  it('goes on behind the page that it has done', async () => {
    const { rows, begun, reached } = await turnWith(() => Promise.resolve());
    expect([begun, reached]).toEqual([IDS, ['end']]);
    expect(rows).toBe(506);
  });

  it('ends where its turn does, and goes on there', async () => {
    const { rows, begun, reached } = await turnWith(async (id, stop) => {
      if (id === 'm3') stop.abort();
    });
    expect(begun.length).toBeLessThan(IDS.length);
    expect(reached).toEqual([begun.at(-1)]);
    expect(rows).toBe(begun.length);
  });

  it('does one message at least', async () => {
    const { begun, reached } = await turnWith(async (_, stop) => stop.abort());
    expect(reached).toEqual([begun.at(-1)]);
  });

  it('passes over what may not be sent, and stays before what could not be tried', async () => {
    const { begun, reached } = await turnWith(async (id) => {
      if (id === 'm1') throw messagesErrors.MESSAGE_NOT_FOUND();
      if (id === 'm3') throw commonErrors.SERVICE_UNAVAILABLE(undefined);
    });
    expect(begun).not.toContain('m5');
    expect(reached).toEqual(['m2']);
  });

  it('stays where it is when not even the first could be tried, and can do nothing for now', async () => {
    const { rows, reached } = await turnWith(() => Promise.reject(new Error('no connection')));
    expect([rows, reached]).toEqual([0, []]);
  });
});
