import { newId } from '../../src/common/ids.js';
import { CONTACTS } from '../../src/modules/conversations/windows/recipients.service.js';
import { PgNotifier } from '../../src/infrastructure/database/pg-notifier.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { WORKSPACE_CHANGED } from '../../src/modules/workspaces/workspaces.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(async () => {
  await test?.stop();
});

describe('one Idempotency-Key', () => {
  it('with two bodies at once makes one message; the other meaning is 409', async () => {
    const to = await workspace.contact();
    const key = newId();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_unused, index) =>
        workspace.send(to, { key, body: { text: { body: index % 2 === 0 ? 'one' : 'two' } } }),
      ),
    );
    const taken = answers.filter((answer) => answer.status === 202);
    const refused = answers.filter((answer) => answer.status === 409);
    expect(taken.length + refused.length).toBe(60);
    expect(taken).toHaveLength(30);
    expect(new Set(taken.map((answer) => answer.body.data.id as string)).size).toBe(1);
    expect(new Set(refused.map((answer) => answer.body.error.code))).toEqual(new Set(['IDEMPOTENCY_KEY_REUSED']));
  });

  it('answers a repeat that means the same, however it is written', async () => {
    const to = await workspace.contact();
    const key = newId();
    const first = await workspace.send(to, { key });
    const body = `{ "text": {"preview_url":false, "body":"hello"},\n "to":"+${to}", "type":"text", "connection_id":"${workspace.connection.id}"}`;
    const repeat = await workspace.api.request({
      method: 'POST',
      path: '/messages',
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': key.toUpperCase() },
    });
    expect(repeat.status).toBe(202);
    expect(repeat.body).toEqual(first.body);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
  });

  it('belongs to its workspace', async () => {
    const stranger = await sendingWorkspace(test);
    const key = newId();
    const [mine, theirs] = [
      await workspace.send(await workspace.contact(), { key }),
      await stranger.send(await stranger.contact(), { key }),
    ];
    expect([mine.status, theirs.status]).toEqual([202, 202]);
    expect(mine.body.data.id).not.toBe(theirs.body.data.id);
  });
});

describe('a repeat whose first answer was lost', () => {
  it.each<[string, (world: SendingWorkspace, conversationId: string) => Promise<unknown>]>([
    [
      'the window closed',
      async (_world, conversationId) => {
        await test.factories.age('conversation', conversationId, 24 * 3_600, 'last_inbound_at');
        // An open window is remembered: in life nothing but time closes it.
        await test.app.get(PgNotifier, { strict: false }).publish(CONTACTS, conversationId);
      },
    ],
    [
      'the subscription ended',
      async ({ organizationId }) => {
        await test.database.execute(
          `update organization set api_paid_until = now() - interval '1 second' where id = $1`,
          [organizationId],
        );
        await test.app.get(PgNotifier, { strict: false }).publish(WORKSPACE_CHANGED, organizationId);
      },
    ],
    [
      'the number was disconnected',
      ({ organizationId, connection }) =>
        test.app.get(ConnectionsService, { strict: false }).disconnect(organizationId, connection.id),
    ],
  ])('answers its 202 after %s, while a new request is refused', async (_name, change) => {
    const world = await sendingWorkspace(test);
    const { id: conversationId, phone } = await test.factories.conversation({ connection: world.connection });
    const key = newId();
    const first = await world.send(phone, { key });
    expect(first.status).toBe(202);
    await change(world, conversationId);
    await waitFor(async () => [402, 409, 422].includes((await world.send(phone)).status), { everyMs: 100 });
    const repeat = await world.send(phone, { key });
    expect([repeat.status, repeat.body]).toEqual([202, first.body]);
    const changed = await world.send(phone, { key, body: { text: { body: 'other' } } });
    expect([changed.status, changed.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });
});
