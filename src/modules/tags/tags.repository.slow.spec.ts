import { Factories } from '../../../test/support/factories.js';
import { seedQueued } from '../../../test/support/rig/seed-messages.js';
import { rowsRead } from '../../../test/support/rows-read.js';
import { TAG, MANY, opened, tags, sends, connection, keyOf, claim, act } from '../../../test/support/fixtures/tags.js';
import { anyHas } from '../../infrastructure/queue/turns.js';
import { WORK_ROWS } from './tags.repository.js';

describe('a pause', () => {
  it('costs nothing while it lasts: no look and no claim reads what it holds', async () => {
    const others = await new Factories(opened.database).connection({ organizationId: connection.organizationId });
    const waiting = { count: MANY, tries: 1 };
    await seedQueued(opened.database, connection, { ...waiting, tag: TAG });
    await seedQueued(opened.database, others, { ...waiting, recipients: MANY / 4, tag: TAG });
    expect(await act('pause')).toBe('paused');
    await opened.database.execute('vacuum analyze message_queue');
    const work: Record<string, () => Promise<unknown>> = {
      claim: () => claim(),
      'due lanes': () => sends.dueConnections(2_000, null),
      marks: () => sends.dueConnections.moveMarks(),
      'what is to be paused': () => opened.database.query(`select ${anyHas(WORK_ROWS)}`),
      pause: () => tags.hold(keyOf()),
    };
    const read: Record<string, number> = {};
    for (const [name, run] of Object.entries(work)) read[name] = await rowsRead(opened.database, 'message_queue', run);
    expect(Object.entries(read).filter(([, rows]) => rows > 20)).toEqual([]);
    expect(await act('cancel')).toBe('active');
  });
});
