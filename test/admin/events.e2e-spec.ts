import pg from 'pg';
import { lowestIdSince } from '../../src/common/ids.js';
import { Restoration } from '../../src/infrastructure/queue/restoration.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Audit } from '../../src/modules/audit/audit.service.js';
import { MAX_OF_OPERATOR } from '../../src/modules/audit/events/operator-event-waits.service.js';
import { MAX_SCANNED, OperatorEventsRepository } from '../../src/modules/audit/events/operator-events.repository.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { OperatorKeysService } from '../../src/modules/keys/operator/operator-keys.service.js';
import { WorkspaceErasure } from '../../src/modules/workspaces/erasure/workspace-erasure.service.js';
import type { ApiResponse } from '../support/api-client.js';
import { costOf } from '../support/rows-read.js';
import { waitFor } from '../support/wait-for.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

interface Event {
  id: string;
  type: string;
  workspace_id: string | null;
  external_id: string | null;
  cursor: string;
  data: { id: string | null; operator_key_id: string | null; changes: Record<string, unknown> | null };
}
interface Page {
  data: Event[];
  next: string;
  done: boolean;
}

const LONG = '25';

describe("the operator's events", () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api', 'worker', 'simulator'], env: { CONNECTIONS_PER_ADDRESS: '1000' } });
    api = await admin.operator();
  });
  afterAll(() => admin?.test.stop());

  const read = (client: AdminClient, query: Record<string, string> = {}): Promise<ApiResponse> =>
    client.get(`/events?${new URLSearchParams(query).toString()}`);

  async function page(client: AdminClient, query: Record<string, string> = {}): Promise<Page> {
    const { status, body } = await read(client, query);
    if (status !== 200) throw new Error(`GET /events: ${status} ${JSON.stringify(body)}`);
    return body as unknown as Page;
  }

  /** Reads on to the end; other tests of the same server may hold it back for a while. */
  async function rest(client: AdminClient, after: string, more: Record<string, string> = {}) {
    const events: Event[] = [];
    let next = after;
    await waitFor(
      async () => {
        const answer = await page(client, { ...more, after: next });
        events.push(...answer.data);
        next = answer.next;
        return answer.done;
      },
      { what: 'the last event' },
    );
    return { events, next };
  }

  /** The place behind all that was stored before, which other tests of the same server may hold back for a while. */
  const now = async (client = api): Promise<string> =>
    (await rest(client, (await page(client, { after: 'now' })).next)).next;
  const workspace = async (name = 'Coffee'): Promise<string> => (await api.post('/workspaces', { name })).body.data.id;
  const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);
  const record = (workspaceId: string) =>
    admin.test.app.get(Database).transaction(() =>
      admin.test.app.get(Audit).record({
        action: 'setup.completed',
        organizationId: workspaceId,
        target: 'link',
        details: { connection_id: 'one' },
      }),
    );

  it('report each change of a workspace, its keys and numbers, as it was made', async () => {
    const start = await now();
    const made = await api.post('/workspaces', { name: 'Coffee', external_id: 'customer-1' });
    const id: string = made.body.data.id;
    await api.call('PATCH', `/workspaces/${id}`, { name: 'Tea', messages_per_day: 5, time_zone: 'Europe/Berlin' });
    const key = (await api.post(`/workspaces/${id}/keys`, { name: 'shop', scopes: ['messages:read'] })).body.data;
    await api.call('PATCH', `/workspaces/${id}/keys/${key.id}`, { name: 'shops' });
    const rotated = (await api.post(`/workspaces/${id}/keys/${key.id}/rotate`, { overlap_seconds: 60 })).body.data;
    await api.call('DELETE', `/workspaces/${id}/keys/${rotated.id}`);
    const facts = { phoneNumberId: '71717171', wabaId: '81818181', displayPhoneNumber: '+15550171717' };
    admin.test.simulator.registerNumber({ ...facts, verifiedName: 'Tea' });
    const body = { phone_number_id: facts.phoneNumberId, waba_id: facts.wabaId, token: 'secret-token' };
    const number = (await api.post(`/workspaces/${id}/connections`, body)).body.data;
    await api.call('PATCH', `/workspaces/${id}/connections/${number.id}`, { marketing_route: 'messages' });
    await api.call('DELETE', `/workspaces/${id}/connections/${number.id}`);
    await record(id);

    const { events } = await rest(api, start);
    expect(events.map(({ type, data }) => [type, data.id])).toEqual([
      ['workspace.created', id],
      ['workspace.changed', id],
      ['workspace.changed', id],
      ['key.created', key.id],
      ['key.changed', key.id],
      ['key.created', rotated.id],
      ['key.ending', key.id],
      ['key.revoked', rotated.id],
      ['connection.added', number.id],
      ['connection.changed', number.id],
      ['connection.removed', number.id],
      ['setup.completed', 'link'],
    ]);
    for (const event of events) expect(event).toMatchObject({ workspace_id: id, external_id: 'customer-1' });
    expect(new Set(events.slice(0, -1).map(({ data }) => data.operator_key_id))).toEqual(new Set([api.keyId]));
    expect(events.at(-1)?.data).toMatchObject({ operator_key_id: null, changes: { connection_id: 'one' } });
    expect(events[6]?.data.changes).toMatchObject({ replaced_by: rotated.id, expires_at: expect.any(String) });
    const text = JSON.stringify(events);
    for (const secret of [key.key, rotated.key, body.token]) expect(text).not.toContain(secret);
    expect(await rest(api, events.at(-1)?.cursor ?? '')).toMatchObject({ events: [] });

    const some = await rest(api, start, { types: 'key.ending,setup.completed' });
    expect(typesOf(some.events)).toEqual(['key.ending', 'setup.completed']);
    const first = await page(api, { after: start, limit: '1' });
    expect(first).toMatchObject({ data: [{ id: events[0]?.id }], next: events[0]?.cursor, done: false });
  });

  it('are of the audit trail, and of the change, by any caller', async () => {
    const start = await now();
    const id = await workspace();
    const { events } = await rest(api, start);
    const trail = (await api.get(`/audit?workspace_id=${id}`)).body.data;
    expect(events.map((event) => event.id)).toEqual(trail.map((each: { id: string }) => each.id));
  });

  it('have what the platform reports of a number', async () => {
    const sender = await admin.test.sender();
    const start = await now();
    const connections = admin.test.app.get(ConnectionsService);
    const sending = await connections.forSending(sender.connection.id);
    if (sending === null) throw new Error('the number is gone');
    await connections.tokenRefused(sending);
    await connections.tokenRefused(sending);
    const { events } = await rest(api, start);
    expect(events).toMatchObject([
      {
        type: 'connection.changed',
        workspace_id: sender.connection.organizationId,
        data: { id: sender.connection.id, operator_key_id: null, changes: { status: 'disconnected' } },
      },
    ]);
  });

  it('end with the deletion of a workspace, without what may name a person', async () => {
    const id = await workspace('Person GmbH');
    const start = await now();
    await api.call('DELETE', `/workspaces/${id}`);
    await admin.test.app.get(WorkspaceErasure).delete(id, { quietMs: 0, waitMs: 60_000 });
    expect((await api.get(`/workspaces/${id}`)).status).toBe(404);
    const { events } = await rest(api, start);
    expect(events.map(({ type }) => type)).toContain('workspace.deletion_started');
    expect(events.at(-1)).toMatchObject({ type: 'workspace.deleted', workspace_id: id, external_id: null });
    for (const { data } of events) expect(data.changes).toBeNull();
  });

  it('say once, a week before, that a key ends; again where its end is moved', async () => {
    const id = await workspace();
    const keys = `/workspaces/${id}/keys`;
    const make = async (seconds: number) =>
      (await api.post(keys, { name: 'k', scopes: ['messages:read'], expires_in: seconds })).body.data.id as string;
    const [soon] = [await make(3 * 86_400), await make(30 * 86_400)];
    const start = await now();
    const sweep = async () => admin.test.app.get(Sweeps).runNow('keys that end');
    await sweep();
    await sweep();
    const told = await rest(api, start);
    expect(told.events).toMatchObject([{ type: 'key.ending', data: { id: soon, changes: { name: 'k' } } }]);
    await api.call('PATCH', `${keys}/${soon}`, { expires_in: 86_400 });
    await sweep();
    expect(typesOf((await rest(api, told.next)).events)).toEqual(['key.changed', 'key.ending']);
    const { next } = await rest(api, start);
    await api.call('PATCH', `${keys}/${soon}`, { expires_in: null });
    await sweep();
    expect(typesOf((await rest(api, next)).events)).toEqual(['key.changed']);
  });

  describe('of a key that is limited to two workspaces', () => {
    it('are those of the two: the answers are the same, whatever happens in a third', async () => {
      const [one, two, third] = [await workspace(), await workspace(), await workspace()];
      const limited = await admin.operator({ workspaceIds: [one, two] });
      expect(typesOf((await rest(limited, (await page(limited)).next)).events)).toEqual([]);
      const start = await now(limited);
      const before = await page(limited, { after: start });
      await record(third);
      await rest(api, await now());
      expect(await page(limited, { after: start })).toEqual(before);
      await record(two);
      await record(one);
      await record(third);
      const { events, next } = await rest(limited, start);
      expect(events.map((event) => event.workspace_id)).toEqual([two, one]);
      expect(next).toBe(events[1]?.cursor);
      const all = await page(limited, { limit: '250' });
      expect(new Set(all.data.map((event) => event.workspace_id))).toEqual(new Set([one, two]));
    });

    it('end no wait of it, where they are of a third', async () => {
      const [one, third] = [await workspace(), await workspace()];
      const limited = await admin.operator({ workspaceIds: [one] });
      const start = await now(limited);
      const answer = page(limited, { after: start, wait: LONG });
      await record(third);
      await rest(api, await now());
      await record(one);
      expect((await answer).data).toMatchObject([{ workspace_id: one }]);
    });
  });

  it('have no gap: one that began before the others is waited for, and comes in the order of its transaction', async () => {
    const [first, second] = [await workspace(), await workspace()];
    const start = await now();
    const long = new pg.Client({ connectionString: admin.test.databaseUrl });
    await long.connect();
    try {
      await long.query('begin');
      await long.query(
        `insert into audit_event (organization_id, action, actor_kind) values ($1, 'key.revoked', 'service')`,
        [first],
      );
      await record(second);
      const held = await page(api, { after: start });
      expect(held).toMatchObject({ data: [], done: false });
      const waiting = page(api, { after: held.next, wait: LONG });
      await long.query('commit');
      const found = await waiting;
      const { events } = await rest(api, found.next);
      expect([...found.data, ...events].map((event) => event.workspace_id)).toEqual([first, second]);
    } finally {
      await long.end();
    }
  });

  it('end a wait as soon as one is there, and not for other types', async () => {
    const id = await workspace();
    const start = await now();
    const answer = page(api, { after: start, types: 'key.created', wait: LONG });
    await record(id);
    await api.post(`/workspaces/${id}/keys`, { name: 'k', scopes: ['messages:read'] });
    expect(typesOf((await answer).data)).toEqual(['key.created']);
    const end = await now();
    expect(await page(api, { after: end, wait: '1' })).toMatchObject({ data: [], done: true });
  });

  it('answer a key that was revoked while it waited 401', async () => {
    const id = await workspace();
    const other = await admin.operator();
    const answer = read(other, { after: await now(other), wait: LONG });
    await admin.test.app.get(OperatorKeysService).revoke(other.keyId);
    await waitFor(async () => (await other.get('/key')).status === 401, { what: 'this process to know' });
    await record(id);
    expect(await answer).toMatchObject({ status: 401, body: { error: { code: 'API_KEY_REVOKED' } } });
  });

  it(`let ${MAX_OF_OPERATOR} calls of a key wait`, async () => {
    const id = await workspace();
    const start = await now();
    const calls = Array.from({ length: MAX_OF_OPERATOR + 1 }, () => read(api, { after: start, wait: LONG }));
    const refused = await Promise.race(calls);
    expect(refused).toMatchObject({ status: 429, body: { error: { scope: 'waiting_readers' } } });
    await record(id);
    const answers = await Promise.all(calls);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAX_OF_OPERATOR);
  });

  it('pass over many changes that are no events in bounded steps, by an index', async () => {
    const id = await workspace();
    const start = await now();
    const insert = `insert into audit_event (organization_id, action, actor_kind)
      select $1, 'webhook.changed', 'service' from generate_series(1, $2::integer)`;
    await admin.test.database.execute(insert, [id, MAX_SCANNED + 10]);
    await record(id);
    await rest(api, await now());
    const passed = await page(api, { after: start });
    expect(passed).toMatchObject({ data: [], done: false });
    const events = admin.test.app.get(OperatorEventsRepository);
    const place = { kind: 'transaction', transaction: '0', id: lowestIdSince(new Date()) } as const;
    for (const workspaceIds of [null, [id]]) {
      const cost = await costOf(admin.test.database, 'audit_event', async () => {
        await events.page({ after: place, actions: ['setup.completed'], workspaceIds }, 100);
      });
      expect(cost).toMatchObject({ scans: 0 });
      expect(cost.entries).toBeLessThan(3 * MAX_SCANNED);
    }
    expect(typesOf((await rest(api, passed.next)).events)).toEqual(['setup.completed']);
  });

  it('are kept as long as the audit trail: an older cursor is answered 410', async () => {
    const id = await workspace();
    const limited = await admin.operator({ workspaceIds: [id] });
    await admin.test.database.execute(
      `insert into audit_event (organization_id, action, actor_kind, occurred_at)
       values ($1, 'key.revoked', 'service', clock_timestamp() - interval '401 days')`,
      [id],
    );
    const { events } = await rest(limited, (await page(limited, { limit: '1' })).next);
    const old = events.at(-1)?.cursor ?? '';
    const { status, body } = await read(limited, { after: old });
    expect({ status, ...body.error }).toMatchObject({ status: 410, code: 'EVENT_CURSOR_EXPIRED', reason: 'retention' });
  });

  it('of a restored dump are read from the transaction of the restore on', async () => {
    const id = await workspace();
    const limited = await admin.operator({ workspaceIds: [id] });
    const start = await now(limited);
    await admin.test.database.execute(
      `insert into audit_event (organization_id, action, actor_kind, transaction_id)
       values ($1, 'key.revoked', 'service', '900000000')`,
      [id],
    );
    expect(await page(limited, { after: start })).toMatchObject({ data: [], done: false });
    await admin.test.app.get(Restoration).adopt();
    expect(typesOf((await rest(limited, start)).events)).toEqual(['key.revoked']);
  });

  it.each<[string, Record<string, string>, string]>([
    ['limit', { limit: '0' }, 'range'],
    ['wait', { wait: '26' }, 'range'],
    ['types', { types: 'message.received' }, 'one_of'],
    ['after', { after: 'x'.repeat(44) }, 'cursor'],
  ])('refuse %s: %j', async (field, query, rule) => {
    const { status, body } = await read(api, query);
    expect([status, body.error.details]).toEqual([400, [{ field, rule, message: expect.any(String) }]]);
  });

  it('refuse the cursor of a workspace as any text', async () => {
    const sender = await admin.test.sender();
    const { body } = await sender.api.get<{ next: string }>('/events?after=now');
    const answers = [await read(api, { after: body.next }), await read(api, { after: 'A'.repeat(44) })];
    expect(answers.map(({ status, body: { error } }) => ({ status, ...error, request_id: '' }))).toEqual(
      Array.from({ length: 2 }, () => expect.objectContaining({ status: 400, code: 'INVALID_REQUEST' })),
    );
  });
});
