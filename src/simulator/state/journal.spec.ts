import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TakenMessage } from '../messages/taken-message.js';
import { Journal } from './journal.js';
import { StateStore } from './state-store.js';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'simulator-journal-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function message(sequence: number, rest: Partial<TakenMessage> = {}): TakenMessage {
  return {
    sequence,
    id: `wamid.${sequence}`,
    phoneNumberId: '106540352242922',
    to: '4915112345678',
    waId: '4915112345678',
    callback: `try\t${sequence}\n"é`,
    type: 'text',
    pricing: 'service',
    takenAt: 1_767_000_000_000 + sequence,
    plan: 'all',
    rawBody: '{"text":{"body":"tab\\tand\tanother é"}}',
    doneSteps: 0,
    toldSteps: 0,
    ...rest,
  };
}

const segments = () => readdirSync(dataDir).sort();
const written = (journal: Journal) => new Promise<void>((resolve) => journal.whenWritten(resolve));

describe('the journal', () => {
  it('gives back what was written, as it was', async () => {
    const journal = new Journal(dataDir, 100);
    journal.open();
    const taken = [message(1), message(2, { waId: null, to: 'DE.1', callback: null, plan: 'sent_only' })];
    for (const one of taken) journal.message(one);
    journal.done([
      [1, 0b001],
      [2, 0b001],
    ]);
    journal.done([[1, 0b100]]);
    journal.queued({ kind: 'raw', sequence: 3, body: { a: 'é\t' } });
    journal.queued({ kind: 'raw', sequence: 4, body: {} });
    journal.acknowledged({ kind: 'raw', sequence: 4, body: {} });
    journal.inbound({ id: 'wamid.in', phoneNumberId: '1', party: '49', writtenAt: 5 });
    await written(journal);
    const recovered = {
      messages: [
        { ...taken[0], doneSteps: 0b101 },
        { ...taken[1], doneSteps: 0b001 },
      ],
      queued: [{ kind: 'raw', sequence: 3, body: { a: 'é\t' } }],
      inbound: [{ id: 'wamid.in', phoneNumberId: '1', party: '49', writtenAt: 5 }],
      lastSequence: 4,
    };
    expect(new Journal(dataDir, 100).open()).toEqual(recovered);
    // The second start read what the first had rewritten as one file.
    expect(new Journal(dataDir, 100).open()).toEqual(recovered);
    expect(segments()).toHaveLength(1);
  });

  it('holds a promise back until its line is written', async () => {
    const journal = new Journal(dataDir, 100);
    journal.open();
    let released = false;
    journal.message(message(1));
    journal.whenWritten(() => (released = true));
    expect(released).toBe(false);
    await written(journal);
    expect(released).toBe(true);
    expect(readFileSync(join(dataDir, segments()[0] as string), 'utf8')).toContain('wamid.1');
    let atOnce = false;
    journal.whenWritten(() => (atOnce = true));
    expect(atOnce).toBe(true);
  });

  it('passes over a line that a kill cut in two', async () => {
    const journal = new Journal(dataDir, 100);
    journal.open();
    journal.message(message(1));
    await written(journal);
    appendFileSync(join(dataDir, segments()[0] as string), 'm\t2\t0\twamid.2\t10654');
    expect(new Journal(dataDir, 100).open().messages.map(({ id }) => id)).toEqual(['wamid.1']);
    expect(new Journal(dataDir, 100).open().messages).toHaveLength(1);
  });

  it('drops files whose messages are no longer wanted', async () => {
    const journal = new Journal(dataDir, 50, 2_000);
    journal.open();
    for (let i = 1; i <= 400; i++) {
      journal.message(message(i));
      if (i % 5 === 0) await written(journal);
    }
    await written(journal);
    expect(segments().length).toBeLessThan(12);
    const { messages, lastSequence } = new Journal(dataDir, 50).open();
    expect(messages.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 50 }, (_, i) => 351 + i));
    expect(lastSequence).toBe(400);
  });

  it('forgets everything but the counter on reset', async () => {
    const journal = new Journal(dataDir, 100);
    journal.open();
    journal.message(message(1));
    await written(journal);
    journal.message(message(2));
    journal.reset(2);
    journal.message(message(3));
    await written(journal);
    const { messages, lastSequence } = new Journal(dataDir, 100).open();
    expect(messages.map(({ sequence }) => sequence)).toEqual([3]);
    expect(lastSequence).toBe(3);
  });

  it('without a folder is no obstacle', () => {
    const journal = new Journal(null, 100);
    expect(journal.open()).toEqual({ messages: [], queued: [], inbound: [], lastSequence: 0 });
    journal.message(message(1));
    let atOnce = false;
    journal.whenWritten(() => (atOnce = true));
    expect(atOnce).toBe(true);
    journal.reset(1);
    journal.close();
  });
});

describe('the state', () => {
  const noLog = () => undefined;

  it('is on disk once flushed, and only ever as a whole file', async () => {
    const state = new StateStore(dataDir, noLog);
    expect(state.load()).toBe(false);
    state.collection<{ n: number }>('things').set('a', { n: 1 });
    expect(state.dirty).toBe(true);
    await Promise.all([state.flush(), state.flush()]);
    expect(state.dirty).toBe(false);
    expect(readdirSync(dataDir)).toEqual(['state.json']);
    const again = new StateStore(dataDir, noLog);
    expect(again.load()).toBe(true);
    const things = again.collection<{ n: number }>('things');
    expect([things.get('a'), things.has('b'), things.size, things.values()]).toEqual([{ n: 1 }, false, 1, [{ n: 1 }]]);
    expect([things.delete('a'), things.delete('a')]).toEqual([true, false]);
  });

  it('is saved a moment later by itself, changes during a write too', async () => {
    const state = new StateStore(dataDir, noLog, 1);
    const things = state.collection<number>('things');
    for (let i = 0; i < 50; i++) {
      things.set(`k${i}`, i);
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (state.dirty) await new Promise((resolve) => setTimeout(resolve, 2));
    const again = new StateStore(dataDir, noLog);
    again.load();
    expect(again.collection<number>('things').size).toBe(50);
  });
});
