import { type SimulatorRig, startRig } from '../../../test/support/simulator/simulator-rig.js';
import { PHONE_NUMBER_ID } from '../../../test/support/simulator/simulator-rig.js';
import { BROKEN_KINDS } from './faults.js';

/** What a client makes of each kind. */
const SEEN = {
  cut: 'broken',
  reset: 'broken',
  truncated: 'broken',
  not_json: '200 html',
  empty: '200 nothing',
  server_error: '500 nothing',
  bad_gateway: '502 html',
  silence: 'silent',
};

describe('broken answers', () => {
  let rig: SimulatorRig;

  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(() => rig.stop());

  /** `expected` only says how long silence takes to be believed. */
  async function send(to: string, expected: string): Promise<string> {
    try {
      const response = await fetch(`${rig.url}/v26.0/${PHONE_NUMBER_ID}/messages`, {
        method: 'POST',
        signal: AbortSignal.timeout(expected === 'silent' ? 300 : 20_000),
        headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
        body: JSON.stringify({ messaging_product: 'whatsapp', to, type: 'text', text: { body: 'Hello' } }),
      });
      const text = await response.text();
      return `${response.status} ${text === '' ? 'nothing' : text.startsWith('<') ? 'html' : 'json'}`;
    } catch (error) {
      return (error as Error).name === 'TimeoutError' ? 'silent' : 'broken';
    }
  }

  it('come in eight kinds, before the message is taken and after', async () => {
    await rig.client.control('POST', 'faults', { broken_answers: 1 });
    const seen: string[] = [];
    const once = BROKEN_KINDS.map((kind) => SEEN[kind]);
    for (const [n, expected] of [...once, ...once].entries()) seen.push(await send(`4915100000${n + 110}`, expected));
    expect(seen).toEqual([...once, ...once]);
    const { json } = await rig.client.control('GET', 'count');
    expect(json).toMatchObject({ count: 8, broken: { taken: 8, not_taken: 8 } });
  });

  it('leave what is refused anyway, and everything once they are off', async () => {
    await rig.client.control('POST', 'faults', { broken_answers: 1 });
    for (const kind of BROKEN_KINDS) await send('4915100000010', SEEN[kind]);
    expect(await send('4915100000003', '400 json')).toBe('400 json');
    await rig.client.control('POST', 'faults', { broken_answers: 0 });
    expect(await send('4915100000010', '200 json')).toBe('200 json');
    const { json } = await rig.client.control('GET', 'count');
    expect(json).toMatchObject({ count: 1, broken: { taken: 0, not_taken: 8 } });
  });
});
