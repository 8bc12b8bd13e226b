import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clientFor, closeClients, deliver, HOST, issue } from './delivery-stage.js';
import { RawReceiver } from './receiver.js';

/** A longer run: `BAD_CERTIFICATE_DELIVERIES=50000`. */
const DELIVERIES = Number(process.env.BAD_CERTIFICATE_DELIVERIES ?? 600);
const WARM_UP = Math.max(500, DELIVERIES / 10);
const AT_ONCE = 16;
const GROWTH_BYTES = 20 * 1_048_576;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Resident memory once garbage is gone, and what of it is JavaScript's. */
function memory(): { rss: number; heap: number } {
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
    await run(WARM_UP);
    const before = memory();
    await run(DELIVERIES);
    const after = memory();
    const mebibytes = (bytes: number): number => Math.round(bytes / 1_048_576);
    process.stderr.write(
      `bad certificates: resident ${mebibytes(before.rss)} -> ${mebibytes(after.rss)} MiB, ` +
        `JavaScript ${mebibytes(before.heap)} -> ${mebibytes(after.heap)} MiB over ${DELIVERIES} deliveries\n`,
    );
    expect(receiver.bytes).toBe(0);
    expect(client.inFlight).toBe(0);
    expect(after.heap - before.heap).toBeLessThan(GROWTH_BYTES / 2);
    expect(after.rss - before.rss).toBeLessThan(GROWTH_BYTES);
    await closeClients();
    await receiver.stop();
  },
  Math.max(60_000, DELIVERIES * 20),
);
