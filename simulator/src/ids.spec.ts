import { IdSource } from './ids.js';
import { MessageLog } from './messages/message-log.js';
import { Store } from './store.js';

const noStore = () => new Store(null, new MessageLog(1), () => undefined);

function source(seed: string, store = noStore()): IdSource {
  return new IdSource(seed, store);
}

describe('ids', () => {
  it('have the bytes of real ones, with the number and upper-case hexadecimal inside', () => {
    const id = source('a').outboundWamid(1, '4915112345678');
    expect(id).toMatch(/^wamid\.HBgN[A-Za-z0-9+/]+=*$/);
    const bytes = Buffer.from(id.slice(6), 'base64');
    expect([...bytes.subarray(0, 3)]).toEqual([0x1c, 0x18, 13]);
    expect(bytes.subarray(3, 16).toString()).toBe('4915112345678');
    expect([...bytes.subarray(16, 22)]).toEqual([0x15, 0x02, 0x00, 0x11, 0x18, 18]);
    expect(bytes.subarray(22, 40).toString()).toMatch(/^[0-9A-F]{18}$/);
    expect([...bytes.subarray(40)]).toEqual([0]);
  });

  it('mark what a customer wrote', () => {
    const bytes = Buffer.from(source('a').inboundWamid(1, '4915112345678').slice(6), 'base64');
    expect(bytes[19]).toBe(0x12);
    expect(bytes.subarray(22, 42).toString()).toMatch(/^3A[0-9A-F]{18}$/);
  });

  it('stay within 128 characters for the longest user id', () => {
    expect(source('a').outboundWamid(1, `DE.${'9'.repeat(128)}`).length).toBeLessThanOrEqual(128);
  });

  it('are the same for the same seed, others for another, and never twice', () => {
    const ids = (seed: string) => {
      const from = source(seed);
      return Array.from({ length: 20_000 }, (_, n) => from.outboundWamid(n, '491'));
    };
    const first = ids('a');
    expect(ids('a').join()).toBe(first.join());
    expect(new Set([...first, ...ids('b')]).size).toBe(40_000);
  });

  it('of objects go on after a restart with the same state', () => {
    const state = noStore();
    const before = source('a', state).newObjectId();
    const after = source('a', state).newObjectId();
    expect(before).toMatch(/^\d{16}$/);
    expect(after).not.toBe(before);
  });
});
