import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
// Not its `request`: with a form as body that sends nothing on Node 24.
import { request } from 'undici';
import type { GraphAnswer } from '../../../test/support/simulator/simulator-client.js';
import { type SimulatorRig, startRig } from '../../../test/support/simulator/simulator-rig.js';

const KIB = 1024;

describe('media', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig({ mediaAddressMs: 60_000 });
  });
  afterAll(() => rig.stop());
  afterEach(() => rig.client.control('POST', 'reset'));
  const get = (id: string, query = '') => rig.client.call('GET', `/v26.0/${id}${query}`);
  const addressOf = async (id: string) => String((await get(id)).json.url);
  const codes = ({ status, json }: GraphAnswer) => [status, json.error?.code, json.error?.error_subcode];

  it('of 100 MiB is never in memory as a whole', async () => {
    const size = 100 * KIB * KIB;
    const limit = 80 * KIB * KIB;
    const before = process.memoryUsage().arrayBuffers;
    const inUse = () => process.memoryUsage().arrayBuffers - before;
    let most = 0;
    const watch = setInterval(() => {
      // Both ends are in this process, and on a busy machine the collector comes late.
      if (inUse() >= limit) collect();
      most = Math.max(most, inUse());
    }, 5);
    const id = String((await rig.client.uploadPieces(piecesOf(size), 'application/pdf')).json.id);
    expect((await get(id)).json.file_size).toBe(size);
    const response = await request(await addressOf(id), { headers: { authorization: 'Bearer token' } });
    let bytes = 0;
    for await (const chunk of response.body) bytes += (chunk as Buffer).length;
    clearInterval(watch);
    expect(bytes).toBe(size);
    expect(most).toBeLessThan(limit);
    const larger = await rig.client.uploadPieces(piecesOf(size + 1), 'application/pdf');
    expect(codes(larger)).toEqual([400, 100, undefined]);
  });
});

/** Removes what is no longer used. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** A PDF of some size, made as it is read. */
function* piecesOf(size: number): Generator<Buffer> {
  const piece = Buffer.alloc(64 * KIB, 'x');
  yield Buffer.from('%PDF-');
  for (let left = size - 5; left > 0; left -= piece.length) {
    yield piece.subarray(0, left);
  }
}
