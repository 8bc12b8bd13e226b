import { jest } from '@jest/globals';
import pg from 'pg';
import { newId } from '../../src/common/ids.js';
import { GroupCommit } from '../../src/infrastructure/database/group-commit.js';
import { InboundService } from '../../src/modules/inbound/inbound.service.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { bytesOf, envelope, inboundOf, notify, secondsNow, statesOf, statusOf, tryUntil } from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
  sender = await test.sender();
});

afterAll(() => test.stop());

const make = () => test.factories.message({ connection: sender.connection, status: 'accepted' });
const textOf = (id: string) => ({
  from: testPhone(),
  id,
  timestamp: String(secondsNow()),
  type: 'text',
  text: { body: 'oi' },
});
const take = (value: object) =>
  test.app.get(InboundService, { strict: false }).take(bytesOf(envelope(sender.connection, value)));

/** The transactions that wrote the rows as they are now, each once. */
async function writersOf(messageId: string, ...markers: string[]): Promise<string[]> {
  const rows = await test.database.query<{ writer: string }>(
    `select xmin::text as writer from message_state where message_id = $1
     union select xmin::text from platform_notification where position($2::bytea in body) > 0
     union select xmin::text from platform_notification where position($3::bytea in body) > 0`,
    [messageId, Buffer.from(markers[0] ?? ''), Buffer.from(markers[1] ?? markers[0] ?? '')],
  );
  return rows.map(({ writer }) => writer);
}

it('a notification and what it reports are one transaction', async () => {
  const message = await make();
  await notify(test, envelope(sender.connection, { statuses: [statusOf(message, 'sent')] }));
  expect(await statesOf(test, message.attemptId ?? '')).toEqual(['applied']);
  expect(await writersOf(message.id, message.attemptId ?? '')).toHaveLength(1);
});

it('statuses are gathered for a moment, unless many are under way', async () => {
  const message = await make();
  const statuses = Array.from({ length: 300 }, () => statusOf(message, 'sent'));
  const submit = jest.spyOn(GroupCommit.prototype, 'submit');
  await Promise.all([take({ statuses }), take({ statuses })]);
  await take({ statuses });
  const gathered = submit.mock.calls.filter(([item]) => 'reports' in Object(item)).map(([, mayWait]) => mayWait);
  submit.mockRestore();
  expect(gathered).toEqual([true, false, true]);
});

it('notifications that come together are one transaction, and what they say of one message one change of it', async () => {
  const message = await make();
  const text = `wamid.${newId()}`;
  const steps = ['sent', 'delivered', 'read'];
  await Promise.all([
    ...steps.map((status) => take({ statuses: [statusOf(message, status)] })),
    take({ messages: [textOf(text)] }),
  ]);
  expect(await statesOf(test, message.attemptId ?? '')).toEqual(['applied', 'applied', 'applied']);
  expect(await writersOf(message.id, message.attemptId ?? '', text)).toHaveLength(1);
  const { body } = await sender.api.get(`/messages/${message.id}`);
  expect(body.data).toMatchObject({ status: 'read', sent_at: expect.any(String), delivered_at: expect.any(String) });
});

it('one that can’t be applied harms no other, and nothing else that it says', async () => {
  const [bad, good, beside] = [`wamid.bad.${newId()}`, `wamid.${newId()}`, `wamid.${newId()}`];
  const message = await make();
  await test.database.execute(
    `alter table message add constraint bad check (meta_message_id not like 'wamid.bad%') not valid`,
  );
  try {
    await Promise.all([
      take({ messages: [textOf(good)] }),
      take({ messages: [textOf(bad), textOf(beside)], statuses: [statusOf(message, 'sent')] }),
    ]);
    expect(await statesOf(test, good)).toEqual(['applied']);
    expect(await statesOf(test, bad)).toEqual(['stored']);
    const ids = (await inboundOf(test, sender.connection)).map((row) => row.meta_message_id);
    expect(ids).toEqual(expect.arrayContaining([good, beside]));
    expect(ids).not.toContain(bad);
    expect((await sender.api.get(`/messages/${message.id}`)).body.data.status).toBe('sent');
  } finally {
    await test.database.execute('alter table message drop constraint bad');
  }
  await tryUntil(test, bad, ['applied']);
});

it('one whose message is locked for long is stored and acknowledged, and keeps no other waiting', async () => {
  const [locked, free] = [await make(), await make()];
  const foreign = new pg.Client({ connectionString: test.config.database.url ?? '' });
  await foreign.connect();
  try {
    await foreign.query('begin');
    await foreign.query('select 1 from message_state where message_id = $1 for update', [locked.id]);
    const waiting = take({ statuses: [statusOf(locked, 'sent')] });
    await take({ statuses: [statusOf(free, 'sent')] });
    expect(await statesOf(test, free.attemptId ?? '')).toEqual(['applied']);
    await waiting;
    expect(await statesOf(test, locked.attemptId ?? '')).toEqual(['stored']);
  } finally {
    await foreign.end();
  }
  await tryUntil(test, locked.attemptId ?? '', ['applied']);
  expect((await sender.api.get(`/messages/${locked.id}`)).body.data.status).toBe('sent');
});
