import { clientFor, deliver, FakeResolver } from './delivery-stage.js';
import { guardReceiver } from './guarded-receiver.js';

const guarded = guardReceiver();

describe('a name that changes its mind', () => {
  it('at every question gets nowhere 2,000 times', async () => {
    const resolver = new FakeResolver((_host, question) =>
      question % 2 === 0 ? ['127.0.0.1'] : [guarded.wires[question % guarded.wires.length]?.address ?? '', '127.0.0.1'],
    );
    const client = clientFor(guarded.receiver.port, { resolver });
    const counts: Record<string, number> = {};
    let left = 2_000;
    const turn = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const result = await deliver(client, { endpoint: 'one' });
        const what = result.kind === 'answered' ? String(result.status) : result.error;
        counts[what] = (counts[what] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, turn));
    expect(counts).toEqual({ 204: 1_000, private_address: 1_000 });
    // One question each: what was checked is what is connected to.
    expect(resolver.asked).toBe(2_000);
  });
});
