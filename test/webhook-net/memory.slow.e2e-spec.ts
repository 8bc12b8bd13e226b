import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clientFor, closeAll, deliver, HOST, issue } from './delivery-stage.js';
import { RawReceiver } from './receiver.js';

/** A longer run: `BAD_CERTIFICATE_DELIVERIES=50000`. */
const DELIVERIES = Number(process.env.BAD_CERTIFICATE_DELIVERIES ?? 600);
const WARM_UP = Math.max(500, DELIVERIES / 10);
const AT_ONCE = 16;
const GROWTH_BYTES = 20 * 1_048_576;

const ROUNDS = 3;

interface Memory {
  rss: number;
  heap: number;
}

function isBounded(before: Memory, after: Memory): boolean {
  return after.heap - before.heap < GROWTH_BYTES / 2 && after.rss - before.rss < GROWTH_BYTES;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Resident memory once garbage is gone, and what of it is JavaScript's. */
function memory(): Memory {
  collect();
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

it(
  `${DELIVERIES} deliveries that meet a bad certificate leave nothing behind`,
  async () => {
    const receiver = await RawReceiver.start(() => {}, issue([HOST], { fromHours: -48, untilHours: -1 }));
    const client = clientFor(receiver.port);
    const run = async (count: number): Promise<void> => {
      let left = count;
      const turn = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const result = await deliver(client, { endpoint: 'one' });
          expect(result).toMatchObject({ kind: 'failed', error: 'tls: certificate has expired' });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, turn));
    };
    const mebibytes = (bytes: number): number => Math.round(bytes / 1_048_576);
    await run(WARM_UP);
    let before = memory();
    await run(DELIVERIES);
    let after = memory();
    // A process grows by some MiB whenever it likes; what is left behind is left behind by every round.
    for (let round = 2; round <= ROUNDS && !isBounded(before, after); round++) {
      before = after;
      await run(DELIVERIES);
      after = memory();
    }
    process.stderr.write(
      `bad certificates: resident ${mebibytes(before.rss)} -> ${mebibytes(after.rss)} MiB, ` +
        `JavaScript ${mebibytes(before.heap)} -> ${mebibytes(after.heap)} MiB over ${DELIVERIES} deliveries\n`,
    );
    expect(receiver.bytes).toBe(0);
    expect(client.inFlight).toBe(0);
    expect({ before, after, isBounded: isBounded(before, after) }).toMatchObject({ isBounded: true });
    await closeAll();
    await receiver.stop();
  },
  Math.max(180_000, DELIVERIES * 60),
);
