import type { Job } from 'bullmq';
import { gate } from '../../../test/support/gate.js';
import { waitFor } from '../../../test/support/wait-for.js';
import type { ClaimRequest } from './lane-grant.js';
import type { DrainJob } from './lane-wakes.js';
import type { QueueKind } from './queue-kind.js';
import { type QueueParts, QueueProcessor } from './queue-processor.js';

/** A lane with one row, whose work ends with `work`. */
class OneRow implements QueueKind<null> {
  readonly work = () => this.mayEnd.then(() => null);
  readonly maxPerLane = 1;
  isStopped = false;
  isInFlight = false;

  constructor(
    readonly name: string,
    private readonly mayEnd: Promise<void>,
  ) {}

  pace() {
    return Promise.resolve({ ratePerSecond: 1_000, burstSeconds: 1 });
  }

  claim(requests: readonly ClaimRequest[]) {
    const items = this.isInFlight ? [] : [null];
    this.isInFlight = true;
    const grant = { slots: 1, paused: false, pausedMs: null, unusedRows: 1 };
    return Promise.resolve(requests.map(() => ({ grant, items })));
  }

  stop(): void {
    this.isStopped = true;
  }
}

class Processor extends QueueProcessor<null> {
  readonly told: string[];

  constructor(readonly kind: OneRow) {
    const told: string[] = [];
    const done = () => Promise.resolve();
    const parts = {
      lanes: { ensure: done, missed: done, release: done },
      sweeps: { add: () => undefined },
      config: { process: { roles: ['worker'], shutdownTimeoutMs: 60_000 } },
      wakes: { on: () => undefined, announce: (...of: string[]) => void told.push(of.join(' ')) },
      owner: { id: 'owner', hasOthers: true },
    };
    const dueLanes = Object.assign(() => Promise.resolve({ lanes: [], last: null }), { hasWork: () => 'true' });
    const options = { kind, maxInFlight: 1, dueLanes, waitsFor: [], leftAtStop: () => '' };
    super(options as never, parts as unknown as QueueParts);
    this.told = told;
  }
}

const jobOf = (laneKey: string) => ({ data: { laneKey } }) as Job<DrainJob>;

it('a job of a process that is full, or stops, is passed on to all', async () => {
  const { opened, open } = gate();
  const queue = new Processor(new OneRow('queue', opened));
  const draining = queue.process(jobOf('first'));
  await waitFor(() => queue.kind.isInFlight);
  expect(queue.told).toEqual([]);
  const waits = queue.process(jobOf('second'));
  expect(queue.told).toEqual(['queue second all']);
  queue.beginStop();
  await queue.process(jobOf('third'));
  expect(queue.told).toEqual(['queue second all', 'queue third all']);
  open();
  await Promise.all([draining, waits, queue.beforeApplicationShutdown()]);
});
