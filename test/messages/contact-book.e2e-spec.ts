import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { envelope, notify, secondsNow } from '../inbound/fixture.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
});

afterAll(() => test?.stop());

/** The worker's rounds are seconds apart. */
const round = () => test.app.get(Sweeps, { strict: false }).runNow('contact_book');

interface Row {
  user_id: string;
  tries: number;
}

it('an erased person is removed from the contact book of the platform, later where that fails at first', async () => {
  const { connection, organizationId } = await sendingWorkspace(test);
  const phone = testPhone();
  const userId = `ES.${phone}`;
  const message = {
    from: phone,
    from_user_id: userId,
    timestamp: String(secondsNow()),
    type: 'text',
    text: { body: 'oi' },
  };
  const contacts = [{ wa_id: phone, user_id: userId, profile: { name: 'Ana' } }];
  await notify(test, envelope(connection, { contacts, messages: [{ ...message, id: `wamid.${phone}` }] }));
  const waiting = () => test.database.query<Row>('select user_id, tries from contact_book_removal');

  test.simulator.applyFaults({ down: true });
  try {
    // It does not wait for the platform.
    await test.app.get(Erasure).erase(organizationId, phone);
    await waitFor(
      async () => {
        await round();
        return ((await waiting())[0]?.tries ?? 0) > 0;
      },
      { what: 'the first try' },
    );
    expect((await waiting()).map(({ user_id }) => user_id)).toEqual([userId]);
    expect(test.simulator.people.removedContacts()).toEqual([]);
  } finally {
    test.simulator.applyFaults({ down: false });
  }
  await waitFor(
    async () => {
      await test.database.execute('update contact_book_removal set due_at = clock_timestamp()');
      await round();
      return test.simulator.people.removedContacts().includes(userId);
    },
    { what: 'the removal' },
  );
  await waitFor(async () => (await waiting()).length === 0, { what: 'no row that names the person' });
});

it('one that is refused is given up in the end, and not kept', async () => {
  const { connection, organizationId } = await sendingWorkspace(test);
  await test.database.execute(
    `insert into contact_book_removal (connection_id, user_id, organization_id, tries) values ($1, 'no user id', $2, 27)`,
    [connection.id, organizationId],
  );
  await waitFor(
    async () => {
      await round();
      return (await test.database.query('select from contact_book_removal where tries >= 0')).length === 0;
    },
    { what: 'the row to go' },
  );
  expect(test.simulator.people.removedContacts()).not.toContain('no user id');
});
