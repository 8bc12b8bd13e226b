import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRig, WABA_ID } from '../../test/support/simulator/simulator-rig.js';
import { MessageLog, type TakenMessage } from './messages/message-log.js';
import { Store } from './store.js';

let dataDir: string;
let open: Store[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'simulator-store-'));
  open = [];
});
afterEach(() => {
  for (const store of open) store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function start(keep = 100, rewriteAfterBytes?: number): { store: Store; messages: MessageLog } {
  const messages = new MessageLog(keep);
  const store = new Store(dataDir, messages, () => undefined, rewriteAfterBytes);
  open.push(store);
  return { store, messages };
}

function message(sequence: number, rest: Partial<TakenMessage> = {}): TakenMessage {
  return {
    sequence,
    id: `wamid.${sequence}`,
    phoneNumberId: '106540352242922',
    to: '4915112345678',
    waId: '4915112345678',
    callback: `try\t${sequence}\n"é\u2028`,
    type: 'text',
    pricing: 'service',
    takenAt: 1_767_000_000_000 + sequence,
    plan: 'all',
    rawBody: '{"text":{"body":"tab\\tand\tanother é"}}',
    doneSteps: 0,
    postedSteps: 0,
    ...rest,
  };
}

const file = () => join(dataDir, 'state.jsonl');
const written = (store: Store) => new Promise<void>((resolve) => store.whenWritten(resolve));

function take(store: Store, messages: MessageLog, taken: TakenMessage): void {
  messages.add(taken);
  store.sequence = taken.sequence;
  store.record(['message', taken]);
}

describe('the store', () => {
  it('gives back what was written, as it was, at the next start and the one after', async () => {
    const { store, messages } = start();
    store.open();
    const taken = [message(1), message(2, { waId: null, to: 'DE.1', callback: null, plan: 'sent_only' })] as const;
    for (const one of taken) take(store, messages, { ...one, postedSteps: 1 });
    store.record(['done', [[1, 0b001], [2, 0b001]]]); // prettier-ignore
    store.record(['done', [[1, 0b100]]]);
    const things = store.table<{ n: string }>('things');
    things.set('a', { n: 'é\t' }).set('b', { n: '' });
    things.delete('b');
    store.table('others').set('c', 1);
    store.table('others').clear();
    store.record(['sequence', 7]);
    await written(store);
    for (let again = 0; again < 2; again++) {
      const { store: next, messages: found } = start();
      expect(found.all()).toEqual([
        { ...taken[0], doneSteps: 0b101 },
        { ...taken[1], doneSteps: 0b001 },
      ]);
      expect([...next.table('things')]).toEqual([['a', { n: 'é\t' }]]);
      expect(next.table('others').size).toBe(0);
      expect(next.sequence).toBe(7);
      next.open();
      expect(readdirSync(dataDir)).toEqual(['state.jsonl']);
    }
  });

  it('holds a promise back until its line is written', async () => {
    const { store } = start();
    store.open();
    let released = false;
    store.table('things').set('a', 'marker');
    store.whenWritten(() => (released = true));
    expect(released).toBe(false);
    await written(store);
    expect(released).toBe(true);
    expect(readFileSync(file(), 'utf8')).toContain('marker');
    let atOnce = false;
    store.whenWritten(() => (atOnce = true));
    expect(atOnce).toBe(true);
  });

  it('passes over a line that a kill cut in two', async () => {
    const { store, messages } = start();
    store.open();
    take(store, messages, message(1));
    await written(store);
    appendFileSync(file(), '["message",{"sequence":2,"id":"wamid.2","rawBo');
    const again = start();
    expect(again.messages.all().map(({ id }) => id)).toEqual(['wamid.1']);
    again.store.open();
    expect(start().messages.all()).toHaveLength(1);
  });

  it('is rewritten when it has grown, without the messages that are no longer wanted', async () => {
    const { store, messages } = start(50, 10_000);
    store.open();
    let largest = 0;
    for (let i = 1; i <= 400; i++) {
      take(store, messages, message(i));
      if (i % 5 > 0) continue;
      await written(store);
      largest = Math.max(largest, statSync(file()).size);
    }
    expect(largest).toBeLessThan(50_000);
    const again = start(50);
    expect(again.messages.all().at(-1)?.id).toBe('wamid.400');
    expect(again.messages.all().length).toBeLessThan(100);
    expect(again.store.sequence).toBe(400);
  });

  it('without a folder is no obstacle', () => {
    const store = new Store(null, new MessageLog(1), () => undefined);
    store.open();
    store.table('things').set('a', 1);
    let atOnce = false;
    store.whenWritten(() => (atOnce = true));
    expect(atOnce).toBe(true);
    store.rewrite();
    store.close();
  });

  it('takes over the tables of an earlier version, says that its messages are gone, and gives no id out twice', async () => {
    const number = {
      phoneNumberId: '5550001',
      wabaId: WABA_ID,
      displayPhoneNumber: '+44 1632 960001',
      verifiedName: 'A',
    };
    writeFileSync(
      join(dataDir, 'state.json'),
      JSON.stringify({ version: 1, collections: { numbers: { '5550001': number } } }),
    );
    writeFileSync(join(dataDir, 'journal-000001.log'), 'm\t1\t0\twamid.1');
    const lines: string[] = [];
    const rig = await startRig({ dataDir, log: (line) => lines.push(line) });
    const fresh = await startRig();
    const to = { to: '+4915112345678' };
    expect(rig.simulator.numbers.get('5550001')).toEqual(number);
    expect(lines).toEqual([expect.stringContaining('messages are not')]);
    expect(readdirSync(dataDir).sort()).toEqual(['media', 'state.jsonl']);
    expect(await rig.client.sendTaken(to)).not.toBe(await fresh.client.sendTaken(to));
    await rig.stop();
    await fresh.stop();
  });
});
