import { jest } from '@jest/globals';
import { newId } from '../../src/common/ids.js';
import { InboundService } from '../../src/modules/inbound/inbound.service.js';
import { gate } from '../support/gate.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { bytesOf, envelope, leaveStored, rowOf, statusOf, waitForStates } from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp();
  sender = await test.sender();
});

afterAll(() => test.stop());

async function leaveStatus(status: string): Promise<{ id: string; marker: string; messageId: string }> {
  const message = await test.factories.message({ connection: sender.connection, status: 'accepted' });
  const id = newId();
  await leaveStored(test, id, bytesOf(envelope(sender.connection, { statuses: [statusOf(message, status)] })));
  return { id, marker: message.id, messageId: message.id };
}

it('a worker applies what was left stored, and the queue is empty then', async () => {
  const { id, marker, messageId } = await leaveStatus('read');
  await waitForStates(test, marker, ['applied']);
  expect(await rowOf(test, 'message_view', messageId)).toMatchObject({ status: 'read' });
  expect(await test.database.query('select 1 from notification_queue where notification_id = $1', [id])).toEqual([]);
});

it('a notification that hangs keeps no other waiting', async () => {
  const service = test.app.get(InboundService, { strict: false });
  const { opened, open } = gate();
  const takeAgain = service.takeAgain.bind(service);
  const hanging = newId();
  let hangs = false;
  const spy = jest.spyOn(service, 'takeAgain').mockImplementation(async (notification) => {
    if (notification.id === hanging) {
      hangs = true;
      await opened;
    }
    return takeAgain(notification);
  });
  try {
    await leaveStored(test, hanging, bytesOf(envelope(sender.connection, { statuses: [] })));
    await waitFor(() => hangs);
    const { marker } = await leaveStatus('delivered');
    await waitForStates(test, marker, ['applied']);
    expect(await rowOf(test, 'platform_notification', hanging)).toMatchObject({ state: 'stored' });
  } finally {
    open();
    spy.mockRestore();
  }
  await waitFor(async () => (await rowOf(test, 'platform_notification', hanging)).state === 'applied');
});

it('what a worker could not apply has its next try at its time, and is applied then', async () => {
  const service = test.app.get(InboundService, { strict: false });
  const spy = jest.spyOn(service, 'takeAgain').mockResolvedValueOnce(false);
  try {
    const { id, marker } = await leaveStatus('delivered');
    await waitFor(() => spy.mock.calls.length > 0);
    await waitFor(async () => {
      const sql = 'select due_at > now() as later, tries from notification_queue where notification_id = $1';
      return (await test.database.row<{ later: boolean; tries: number }>(sql, [id])).tries === 1;
    });
    await test.database.execute('update notification_queue set due_at = now() where notification_id = $1', [id]);
    await waitForStates(test, marker, ['applied']);
    expect(spy.mock.calls.map(([{ tries }]) => tries)).toEqual([1, 2]);
  } finally {
    spy.mockRestore();
  }
});
