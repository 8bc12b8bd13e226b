import { newId } from '../../src/common/ids.js';
import { followedWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { insertMessage } from '../support/message-factory.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { counter, entries, notify } from './fixture.js';
import type { Expected, Kind, Scene } from './notification-kinds.js';

/** The runner of the table: a new kind of notification is a row of it, and a bug of a kind too. */
export interface KindStage {
  readonly test: TestApp;
  readonly workspace: SendingWorkspace;
  readonly scene: Scene;
  come(kind: Kind): Promise<void>;
  expectEvents(expected: [string, object][]): Promise<void>;
}

/** Adds a test for each kind; the stage is there while they run. */
export function testKinds(kinds: readonly Kind[]): KindStage {
  let test: TestApp;
  let workspace: SendingWorkspace;
  let scene: Scene;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'] });
  });
  afterAll(() => test.stop());

  beforeEach(async () => {
    workspace = await followedWorkspace(test);
    const { connection } = workspace;
    const phone = await workspace.contact();
    const metaId = `wamid.${newId()}`;
    const { id } = await insertMessage(test.database, { connection, status: 'delivered', recipient: phone });
    await test.database.execute(
      `insert into message_attempt (message_id, id, organization_id, number, started_at, answer, answered_at, meta_message_id)
     select message_id, uuid_v7(), organization_id, 1, now(), 'accepted', now(), $2 from message_state where message_id = $1
     on conflict do nothing`,
      [id, metaId],
    );
    scene = { connection, phone, message: { id, metaId }, newMetaId: `wamid.${newId()}` };
  });

  type Shown = Record<string, unknown> & { id: string };

  const templates = (): string => `/connections/${scene.connection.id}/templates/order_update`;

  async function versionOf(): Promise<Shown | undefined> {
    const { body } = await workspace.api.get(templates());
    return (body.data as unknown as { versions: Shown[] }).versions[0];
  }

  /** Posts the changes as one notification, twice unless they are `isOnce`. */
  async function come({ changes, isOnce = false }: Kind): Promise<void> {
    // The account's time of now: its facts were read before.
    const time = Math.floor(Date.now() / 1_000) + 60;
    const payload = entries([{ id: scene.connection.wabaId, time, changes: changes(scene) }]);
    await notify(test, payload);
    if (!isOnce) await notify(test, payload);
  }

  async function expectRows(rows: object[]): Promise<void> {
    const { data } = (await workspace.api.get('/messages?limit=100')).body;
    const found = (data as Shown[]).filter(({ id }) => id !== scene.message.id).toReversed();
    expect(found).toMatchObject(rows);
    for (const [index, { id }] of found.entries()) expect(await workspace.message(id)).toMatchObject(rows[index] ?? {});
  }

  /** As they are written: GET /events shows them once no earlier transaction of any test is open. */
  async function expectEvents(expected: [string, object][]): Promise<void> {
    const read = () =>
      test.database.query('select type, data from webhook_event_view where organization_id = $1 order by id', [
        workspace.organizationId,
      ]);
    // On a slow machine a worker applies the notification later.
    if (expected.length > 0)
      await waitFor(async () => (await read()).length >= expected.length, { what: 'the events' });
    expect(await read()).toMatchObject(expected.map(([type, data]) => ({ type, data })));
  }

  async function expectTimeline(entry: object): Promise<void> {
    const { body } = await workspace.api.get(`/messages/${scene.message.id}/timeline`);
    const { event } = entry as { event: string };
    const noted = (body.data as unknown as { event: string }[]).filter((one) => one.event === event);
    expect(noted).toEqual([expect.objectContaining(entry)]);
  }

  /** How many names were met that Herald does not know, and that it does not use. */
  const counted = () => ({
    unknown: counter(test, 'notifications_unknown'),
    unused: counter(test, 'notifications_unused'),
  });

  async function expectNames({ unknown = [], unused = [] }: Expected): Promise<void> {
    const [row] = await test.database.query('select state, unread from platform_notification order by id desc limit 1');
    const names = [...unknown, ...unused];
    expect(row).toEqual({ state: 'applied', unread: names.length === 0 ? null : names });
  }

  async function expectAll(expected: Expected): Promise<void> {
    const unchanged = { status: 'delivered', failure_category: null };
    await expectEvents(expected.events ?? []);
    await expectRows(expected.rows ?? []);
    expect(await workspace.message(scene.message.id)).toMatchObject(expected.message ?? unchanged);
    if (expected.timeline !== undefined) await expectTimeline(expected.timeline);
    if (expected.number !== undefined) {
      expect((await workspace.api.get('/connections')).body.data).toMatchObject([expected.number]);
    }
    if (expected.template !== undefined) expect(await versionOf()).toMatchObject(expected.template);
    await expectNames(expected);
  }

  it.each(kinds.map((kind) => [kind.label, kind] as const))('%s', async (_label, kind) => {
    const expected = kind.expected(scene);
    // A change of a template is told where its state before is known.
    if (expected.template !== undefined) expect(await versionOf()).toMatchObject({ status: 'approved' });
    const before = counted();
    await come(kind);
    await expectAll(expected);
    const times = kind.isOnce ? 1 : 2;
    expect(counted()).toEqual({
      unknown: before.unknown + times * (expected.unknown ?? []).length,
      unused: before.unused + times * (expected.unused ?? []).length,
    });
  });

  return {
    get test() {
      return test;
    },
    get workspace() {
      return workspace;
    },
    get scene() {
      return scene;
    },
    come,
    expectEvents,
  };
}
