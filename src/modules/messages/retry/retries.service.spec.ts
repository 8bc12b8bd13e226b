import { commonErrors } from '../../../common/common.errors.js';
import type { Database } from '../../../infrastructure/database/database.js';
import type { SendingService } from '../../sending/sending.service.js';
import type { SendPreparation } from '../accept/send-preparation.js';
import type { OutboundStatus } from '../../message-state/message-state.types.js';
import { messagesErrors } from '../messages.errors.js';
import type { Barred, MessagesRepository } from '../messages.repository.js';
import type { Message } from '../../message-state/message.types.js';
import { RetriesService } from './retries.service.js';

const IDS = ['m1', 'm2', 'm3', 'm4', 'm5'];
const away = () => commonErrors.SERVICE_UNAVAILABLE(undefined);

const messageOf = (id: string) =>
  ({
    id,
    organizationId: 'a',
    connectionId: 'number',
    direction: 'outbound',
    source: 'api',
    status: 'failed',
    content: { body: 'Hi' },
    recipient: '15550001234',
    recipientUserId: null,
  }) as unknown as Message;

interface Given {
  pay?: () => Promise<void>;
  /** What its preparation does. */
  prepare?: (id: string, stop: AbortController) => Promise<void>;
  messages?: Message[];
  /** As they are once their locks are there; default: failed, and none locked. */
  statuses?: Partial<Record<string, OutboundStatus>>;
  barred?: [string, Barred][];
  store?: (ids: readonly string[]) => void;
  /** Whether the tag's retry goes on. */
  wanted?: boolean;
}

/** A page of a workspace without limits. */
async function pageOf(given: Given = {}) {
  const { pay, prepare, messages = IDS.map(messageOf), statuses, barred = [], store, wanted = true } = given;
  const stop = new AbortController();
  const begun: string[] = [];
  const queued: string[][] = [];
  const woken: string[] = [];
  const known = statuses ?? Object.fromEntries(IDS.map((id) => [id, 'failed' as const]));
  const repository = {
    findByIds: () => Promise.resolve(messages),
    lock: (_: string, ids: string[]) =>
      Promise.resolve(new Map(ids.flatMap((id) => (known[id] === undefined ? [] : [[id, known[id]]])))),
    barred: () => Promise.resolve(new Map(barred)),
    retry: async (_: string, retries: { messageId: string }[]) => {
      const ids = retries.map(({ messageId }) => messageId);
      store?.(ids);
      queued.push(ids);
      return ids;
    },
  };
  const preparation = {
    requirePayment: pay ?? (() => Promise.resolve()),
    prepareAgain: () => async (message: Message) => {
      begun.push(message.id);
      await prepare?.(message.id, stop);
      return { body: 'Hi' };
    },
  };
  const database = { transaction: <T>(work: () => Promise<T>) => work(), query: () => Promise.resolve([]) };
  const decided = await new RetriesService(
    repository as unknown as MessagesRepository,
    preparation as unknown as SendPreparation,
    { wake: (id: string) => void woken.push(id) } as unknown as SendingService,
    database as unknown as Database,
  ).retryPage('a', IDS, stop.signal, () => Promise.resolve(wanted));
  return { begun, queued, woken, decided: IDS.filter((_, index) => decided[index] !== null) };
}

describe('a page of failed messages', () => {
  it('enters the queue together, and wakes its number once', async () => {
    expect(await pageOf()).toEqual({ begun: IDS, queued: [IDS], woken: ['number'], decided: IDS });
  });

  it('leaves out, decided, what was erased, and what WhatsApp has accepted, or may have, of an earlier attempt', async () => {
    const { queued, decided } = await pageOf({
      barred: [
        ['m2', 'erased'],
        ['m4', 'accepted'],
        ['m5', 'unknown'],
      ],
    });
    expect(queued).toEqual([['m1', 'm3']]);
    expect(decided).toEqual(IDS);
  });

  it('is not queued where the retry of its tag has ended meanwhile', async () => {
    expect(await pageOf({ wanted: false })).toEqual({ begun: IDS, queued: [], woken: [], decided: [] });
  });

  it('ends with the signal, and queues what was begun', async () => {
    const messages = [...IDS, 'm6', 'm7', 'm8', 'm9'].map(messageOf);
    const { begun, decided } = await pageOf({ messages, prepare: async (_, stop) => stop.abort() });
    expect([begun, decided]).toEqual([['m1'], ['m1']]);
  });

  it('leaves what may not be sent as it is', async () => {
    const gone = async (id: string) => {
      if (id === 'm3') throw messagesErrors.RECIPIENT_REPLACED({ phones: [], user_ids: [] });
    };
    const messages = ['m2', 'm3', 'm4', 'm5'].map(messageOf);
    Object.assign(messages[3] as object, { content: {} });
    const { queued, decided } = await pageOf({ messages, prepare: gone });
    expect([queued, decided]).toEqual([[['m2', 'm4']], IDS]);
  });

  it('is asked again from the first on that could not be checked', async () => {
    const { queued, decided } = await pageOf({
      prepare: async (id) => {
        if (id === 'm3') throw away();
      },
    });
    expect(decided.slice(0, 2)).toEqual(['m1', 'm2']);
    expect(decided).not.toContain('m3');
    expect(queued).toEqual([decided]);
  });

  it('leaves out what another transaction has locked, and what has another status by then', async () => {
    const { queued, decided } = await pageOf({ statuses: { m1: 'failed', m2: 'queued', m4: 'failed', m5: 'read' } });
    expect([queued, decided]).toEqual([[['m1', 'm4']], ['m1', 'm2', 'm4', 'm5']]);
  });

  it('is passed over where the workspace has not paid', async () => {
    const pay = () => Promise.reject(messagesErrors.MESSAGE_NOT_FOUND());
    expect(await pageOf({ pay })).toEqual({ begun: [], queued: [], woken: [], decided: IDS });
  });

  it('is stored but for the one that cannot be', async () => {
    const store = (ids: readonly string[]) => {
      if (ids.includes('m1')) throw new Error('one of them cannot be stored');
    };
    const others = IDS.filter((id) => id !== 'm1');
    expect(await pageOf({ store })).toMatchObject({ queued: others.map((id) => [id]), decided: others });
  });

  it('is asked again as a whole where the database is away', async () => {
    const store = () => {
      throw new Error('Connection terminated unexpectedly');
    };
    expect(await pageOf({ store })).toMatchObject({ queued: [], woken: [], decided: [] });
  });
});
