import { jest } from '@jest/globals';
import { newId } from '../../common/ids.js';
import { gate } from '../../../test/support/gate.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { Counters } from '../operations/counters.js';
import { oneLane } from './due-lanes.js';
import type { Claim, ClaimRequest, Grant } from './lane-grant.js';
import type { QueueKind } from './queue-kind.js';
import { QueueProcessor, type QueueParts } from './queue-processor.js';

const PACE = { ratePerSecond: 1_000_000, burstSeconds: 1 };
const GRANT: Grant = { slots: 1, paused: false, pausedMs: null, unusedRows: 1_000 };
const DENIED = { grant: null, items: [] };

/** Answers the claims of each lane in turn; the last answer again and again. */
class AnsweringKind implements QueueKind<string> {
  readonly name = 'answering';
  readonly maxPerLane = 1;
  readonly claims: string[] = [];
  readonly done: string[] = [];
  readonly work;

  constructor(
    private readonly answers: Record<string, Claim<string>[]>,
    until: Promise<void> = Promise.resolve(),
  ) {
    this.work = (item: string) => until.then(() => (this.done.push(item), null));
  }

  pace() {
    return Promise.resolve(PACE);
  }

  claim(requests: readonly ClaimRequest[]): Promise<Claim<string>[]> {
    return Promise.resolve(
      requests.map(({ laneKey }) => {
        this.claims.push(laneKey);
        const answers = this.answers[laneKey] ?? [];
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? { grant: GRANT, items: [] };
      }),
    );
  }

  stop(): void {
    // Nothing waits.
  }
}

class Processor extends QueueProcessor<string> {}

function processorOf(kind: QueueKind<string>, { maxInFlight = 10, hasOthers = true } = {}) {
  const announced: string[] = [];
  const done = () => Promise.resolve();
  const parts = {
    lanes: { ensure: done, missed: () => undefined, release: done },
    database: null,
    sweeps: { add: () => undefined },
    counters: new Counters(),
    config: { process: { roles: ['worker'], shutdownTimeoutMs: 20_000 } },
    wakes: {
      on: () => undefined,
      announce: (_kind: string, laneKey: string, hearers: string) => void announced.push(`${laneKey} to ${hearers}`),
    },
    owner: { id: newId(), hasOthers },
  } as unknown as QueueParts;
  const dueLanes = oneLane(parts.database, 'lane', () => 'false');
  const processor = new (Processor as unknown as new (...given: unknown[]) => Processor)(
    { kind, maxInFlight, dueLanes, waitsFor: [], leftAtStop: String },
    parts,
  );
  return { processor, announced };
}

const jobFor = (laneKey: string) => ({ data: { laneKey } });

describe('a job that says that a lane has due rows', () => {
  it('is passed on to all others by a process that stops', async () => {
    const { opened, open } = gate();
    const kind = new AnsweringKind({ busy: [{ grant: GRANT, items: ['row'] }] }, opened);
    const { processor, announced } = processorOf(kind);
    processor.wake('busy');
    await waitFor(() => kind.claims.length > 0);
    processor.beginStop();
    await processor.process(jobFor('lane'));
    expect([announced, kind.claims.includes('lane')]).toEqual([['lane to all'], false]);
    open();
    await processor.beforeApplicationShutdown();
    expect(kind.done).toEqual(['row']);
  });

  it.each([
    [true, ['lane to all']],
    [false, []],
  ])('is passed on too where no slot is free and others work: %s', async (hasOthers, expected) => {
    const { opened, open } = gate();
    const kind = new AnsweringKind({ busy: [{ grant: GRANT, items: ['row'] }] }, opened);
    const { processor, announced } = processorOf(kind, { maxInFlight: 1, hasOthers });
    processor.wake('busy');
    await waitFor(() => kind.claims.length > 0);
    await new Promise(setImmediate);
    const drain = processor.process(jobFor('lane'));
    expect(announced).toEqual(expected);
    open();
    processor.beginStop();
    await Promise.all([drain, processor.beforeApplicationShutdown()]);
  });

  it('is tried once more where its owner was about to release the lane', async () => {
    const kind = new AnsweringKind({ lane: [DENIED, { grant: GRANT, items: ['row'] }, { grant: GRANT, items: [] }] });
    const { processor } = processorOf(kind);
    void processor.process(jobFor('lane'));
    await waitFor(() => kind.done.length > 0);
    processor.beginStop();
    await processor.beforeApplicationShutdown();
    expect(kind.done).toEqual(['row']);
  });

  it('is left to the owner of the lane where it is denied twice', async () => {
    jest.useFakeTimers();
    const kind = new AnsweringKind({ lane: [DENIED] });
    const { processor } = processorOf(kind);
    let ended = false;
    void processor.process(jobFor('lane')).then(() => (ended = true));
    await jest.advanceTimersByTimeAsync(10_000);
    jest.useRealTimers();
    expect([ended, kind.claims]).toEqual([true, ['lane', 'lane']]);
  });
});
