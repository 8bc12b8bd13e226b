import { stripVTControlCharacters } from 'node:util';
import { clock } from '../output.js';
import type { Live } from '../runner.js';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import { isOver, watchMessage } from './message.js';

const TIMES = {
  queued_at: '2026-07-01T10:00:00.000Z',
  processing_at: '2026-07-01T10:00:01.250Z',
  accepted_at: '2026-07-01T10:00:02.500Z',
  sent_at: '2026-07-01T10:00:03.000Z',
  delivered_at: '2026-07-01T10:00:05.000Z',
  read_at: '2026-07-01T10:01:00.000Z',
};

describe('watching a message', () => {
  it('shows each status at its own time, however many one look finds', async () => {
    const data = { id: 'm1', status: 'read', error: null, failure_category: null, attempt_count: 1, failed_at: null };
    const said: { text: string; at: unknown }[] = [];
    const live = {
      say: (text: string, { at }: { at: unknown }) => said.push({ text: stripVTControlCharacters(text), at }),
    };
    const api = { messages: { get: () => Promise.resolve({ ...data, ...TIMES }) } };
    const options = { until: isOver, timeoutMs: 1_000 };
    await watchMessage(api as unknown as HeraldClient, 'm1', live as unknown as Live, options);
    expect(said.map(({ at }) => at)).toEqual(Object.values(TIMES));
    for (const { text, at } of said) expect(text.startsWith(clock(new Date(String(at))))).toBe(true);
    expect(said.at(-1)?.text).toMatch(/read +\+60\.0 s$/);
  });
});
