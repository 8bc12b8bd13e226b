import fc from 'fast-check';
import { newId } from '../../../common/ids.js';
import { type OutgoingEvent, type Sink, SinkError } from '../sinks/sink.js';
import { writePage } from './write-page.js';

const WORKSPACE = newId();

function pageOf(conversations: readonly number[]): OutgoingEvent[] {
  return conversations.map((conversation, index) => ({
    id: newId(),
    transaction: String(1_000 + index),
    type: 'message.received',
    occurredAt: new Date(0),
    conversationId: conversation === 0 ? null : `conversation ${conversation}`,
    organizationId: WORKSPACE,
    body: '{}',
  }));
}

/** Takes what `answer` says, and keeps what it took. */
class FakeSink implements Sink {
  isOpen = true;
  readonly taken: OutgoingEvent[] = [];

  constructor(
    readonly maxAtOnce: number,
    private readonly answer: (event: OutgoingEvent) => SinkError | null,
  ) {}

  write(events: readonly OutgoingEvent[]): Promise<(SinkError | null)[]> {
    return Promise.resolve(
      events.map((event) => {
        const answer = this.answer(event);
        if (answer === null) this.taken.push(event);
        return answer;
      }),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const OPTIONS = { writtenBefore: new Set<string>(), notAfter: Infinity, isStopping: () => false };

it('writes each event once and in the order of its conversation, whatever fails in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(4), { minLength: 1, maxLength: 30 }),
      fc.array(fc.constantFrom('taken', 'failed', 'never'), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      async (conversations, answers, maxAtOnce) => {
        const page = pageOf(conversations);
        let asked = 0;
        const lost = new Set<string>();
        const sink = new FakeSink(maxAtOnce, (event) => {
          const answer = lost.has(event.id) ? 'never' : (answers[asked++] ?? 'taken');
          if (answer === 'never') lost.add(event.id);
          return answer === 'taken' ? null : new SinkError(answer, answer === 'never');
        });
        // As turns do: each begins at the cursor of the one before, and knows what is written behind it.
        let [left, ahead]: [OutgoingEvent[], string[]] = [page, []];
        let [written, counted] = [0, 0];
        for (let turn = 0; left.length > 0; turn++) {
          expect(turn).toBeLessThan(60);
          const result = await writePage(sink, left, { ...OPTIONS, writtenBefore: new Set(ahead) });
          written += result.written;
          counted += result.lost;
          const end = left.findIndex(({ id }) => id === result.cursor?.id);
          left = result.error === null ? [] : left.slice(end + 1);
          ahead = result.writtenAhead;
        }
        expect(sink.taken.map(({ id }) => id).sort()).toEqual(
          page.flatMap(({ id }) => (lost.has(id) ? [] : [id])).sort(),
        );
        expect([written, counted]).toEqual([sink.taken.length, lost.size]);
        for (const key of new Set(conversations)) {
          const of = sink.taken.filter(
            ({ conversationId }) => conversationId === (key === 0 ? null : `conversation ${key}`),
          );
          expect(of.map(({ transaction }) => Number(transaction))).toEqual(
            of.map(({ transaction }) => Number(transaction)).sort((a, b) => a - b),
          );
        }
      },
    ),
  );
});

it('holds back the rest of a conversation that fails, and nothing of another', async () => {
  const page = pageOf([1, 2, 1, 2]);
  const sink = new FakeSink(10, (event) => (event === page[0] ? new SinkError('full') : null));
  const result = await writePage(sink, page, OPTIONS);
  expect(sink.taken).toEqual([page[1], page[3]]);
  expect(result).toEqual({
    cursor: null,
    writtenAhead: [page[1]?.id, page[3]?.id],
    written: 2,
    lost: 0,
    error: new SinkError('full'),
  });
});

it.each([
  ['the time is over', { notAfter: 0 }, true, 'timeout'],
  ['this process stops', { isStopping: () => true }, true, 'stopping'],
  ['the connection is broken', {}, false, 'connection_closed'],
])('sends nothing where %s', async (_case, options, isOpen, word) => {
  const sink = new FakeSink(10, () => null);
  sink.isOpen = isOpen;
  const result = await writePage(sink, pageOf([1]), { ...OPTIONS, ...options });
  expect(sink.taken).toEqual([]);
  expect(result).toMatchObject({ cursor: null, written: 0, error: new SinkError(word) });
});
