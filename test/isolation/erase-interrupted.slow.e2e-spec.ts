import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import { Database } from '../../src/infrastructure/database/database.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { OptOutsService } from '../../src/modules/opt-outs/opt-outs.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { makePlace, type Place, writeLives } from '../support/rig/erased-person.js';
import { rowsWith } from './traces.js';

let test: TestApp;
let own: TestSender;
let place: Place;

/** Statements that a run may still make; after the last one its process is dead. */
const life = new AsyncLocalStorage<{ left: number }>();

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
  own = await test.sender();
  place = await makePlace(test.database, own.connection);
  const someone = { phone: '15550009999', userId: null, category: 'marketing', reason: null } as const;
  await test.app.get(OptOutsService, { strict: false }).put(own.workspace.id, someone);
  const statements = Database.prototype as unknown as { send: (...args: unknown[]) => Promise<unknown> };
  const { send } = statements;
  jest.spyOn(statements, 'send').mockImplementation(async function (this: Database, ...args) {
    const run = life.getStore();
    if (run?.left === 0) throw new Error('killed');
    const result = await send.apply(this, args);
    if (run !== undefined && --run.left === 0) throw new Error('killed');
    return result;
  });
});
afterAll(async () => test?.stop());

it('an erasure that is killed, whichever statement it is at, goes on by itself and leaves nothing that names the person', async () => {
  const erasure = test.app.get(Erasure);
  const sweeps = test.app.get(Sweeps, { strict: false });
  let steps = 0;
  for (let statements = 1, killed = true; killed; statements++) {
    const phone = `1555${String(7_000_000 + statements)}`;
    await writeLives(place, 6, `'${phone}'::text`);
    const { id } = await test.factories.message({ connection: own.connection, recipient: phone, body: `to ${phone}` });
    killed = await life.run({ left: statements }, () =>
      erasure.erase(own.workspace.id, phone).then(
        () => false,
        (error: Error) => {
          if (error.message !== 'killed') throw error;
          return true;
        },
      ),
    );
    const begun = await test.database.query('select from erasure');
    if (begun.length > 0) {
      await test.database.execute('update erasure set due_at = clock_timestamp()');
      await waitFor(async () => {
        await sweeps.runNow('erasure');
        return (await test.database.query('select from erasure')).length === 0;
      });
    }
    await test.database.execute('delete from contact_book_removal');
    const left = await rowsWith(test.database, [phone]);
    // One that had not begun has changed nothing.
    const isErased = begun.length > 0 || !killed;
    expect([statements, isErased ? left : left.includes('public.message')]).toEqual([statements, isErased ? [] : true]);
    if (!isErased) await erasure.erase(own.workspace.id, phone);
    const [message] = await test.database.query('select error_code from message_state where message_id = $1', [id]);
    expect(message).toEqual({ error_code: 'ERASED' });
    expect(statements).toBeLessThan(300);
    steps = statements;
  }
  expect(steps).toBeGreaterThan(40);
  const trail = await test.database.query<{ action: string }>(
    `select action from audit_event where organization_id = $1 and action like 'contact.%'`,
    [own.workspace.id],
  );
  const count = (action: string) => trail.filter((each) => each.action === action).length;
  expect(count('contact.erased')).toBe(count('contact.erasure_started'));
}, 600_000);
