import { rowsRead } from '../../../../test/support/rows-read.js';
import {
  opened,
  connection,
  queue,
  waitingOf,
  aheadOf,
  send,
} from '../../../../test/support/fixtures/queue-estimate.js';
import { MAX_AHEAD } from '../sending.types.js';

describe('the place in the queue', () => {
  // Some recipients have many messages, most have one; more than a claim looks at all at once.
  const crowd = (size: number): string[] =>
    Array.from({ length: size }, (_, n) => String(1_000 + ((n * 7_919) % (n % 3 === 0 ? 11 : size))));

  it('of each of 140 messages is the order in which they leave', async () => {
    const ids = await queue(crowd(140));
    const foretold = await aheadOf(ids);
    const left = await send(ids.length);
    expect(ids.map((id, index) => [left.indexOf(id), foretold[index]])).toEqual(
      ids.map((_id, index) => [foretold[index], foretold[index]]),
    );
  });

  it('is right in the midst of the walk too', async () => {
    const ids = await queue(crowd(140));
    const gone = await send(45);
    const rest = ids.filter((id) => !gone.includes(id));
    const foretold = await aheadOf(rest);
    const left = await send(rest.length);
    expect(foretold).toEqual(rest.map((id) => left.indexOf(id)));
  });

  it('is counted up to ten thousand, and reads no more than that of a longer queue', async () => {
    const ids = await queue(Array.from({ length: 3 * MAX_AHEAD }, (_, n) => String(100_000 + n)));
    await opened.database.execute('vacuum analyze message_queue');
    expect(await waitingOf(ids[MAX_AHEAD - 1] ?? '')).toMatchObject({ ahead: MAX_AHEAD - 1 });
    const last = ids.at(-1) ?? '';
    expect(await waitingOf(last)).toMatchObject({ reason: 'number_pace', ahead: MAX_AHEAD, estimatedSendAt: null });
    const read = await rowsRead(opened.database, 'message_queue', () => waitingOf(last));
    expect(read).toBeLessThan(2.5 * MAX_AHEAD);
  });

  it('passes over what is not due, however much it is', async () => {
    const ids = await queue(Array.from({ length: 2 * MAX_AHEAD }, (_, n) => String(100_000 + n)));
    const last = ids.at(-1) ?? '';
    await opened.database.execute(
      `update message_queue set due_at = clock_timestamp() + interval '1 day'
       where connection_id = $1 and message_id <> $2`,
      [connection.id, last],
    );
    await opened.database.execute('vacuum analyze message_queue');
    expect(await waitingOf(last)).toMatchObject({ ahead: 0, reason: 'due', estimatedSendAt: expect.any(Date) });
    const read = await rowsRead(opened.database, 'message_queue', () => waitingOf(last));
    expect(read).toBeLessThan(100);
  });
});
