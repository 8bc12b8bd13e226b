import { randomUUID } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { InboundRepository } from '../../src/modules/inbound/inbound.repository.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { WorkspaceErasure } from '../../src/modules/workspaces/erasure/workspace-erasure.service.js';
import { waitFor } from '../support/wait-for.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

describe('workspaces over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    api = await admin.operator();
  });

  afterAll(() => admin?.test.stop());

  it('are made and read, with the limits that hold', async () => {
    const made = await api.post('/workspaces', { name: '  Lighthouse Coffee ', external_id: 'customer-1' });
    expect(made.status).toBe(201);
    expect(made.body.data).toMatchObject({
      name: 'Lighthouse Coffee',
      external_id: 'customer-1',
      state: 'active',
      deletion_requested_at: null,
      api_paid_until: null,
      rate_per_second: null,
      time_zone: 'UTC',
      storage_used_bytes: 0,
      effective: { needs_subscription: true, rate_per_second: 1_000_000 },
    });
    const read = await api.get(`/workspaces/${made.body.data.id}`);
    expect([read.status, read.body]).toEqual([200, made.body]);
  });

  it('have an external_id of their own, by which they are found', async () => {
    const external_id = `customer ${randomUUID()}`;
    const { body } = await api.post('/workspaces', { name: 'First', external_id });
    const again = await api.post('/workspaces', { name: 'Second', external_id });
    expect([again.status, again.body.error.code]).toEqual([409, 'WORKSPACE_EXTERNAL_ID_TAKEN']);
    const found = await api.get(`/workspaces?external_id=${encodeURIComponent(external_id)}`);
    expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([body.data.id]);
    const other = await api.post('/workspaces', { name: 'Other' });
    const taken = await api.call('PATCH', `/workspaces/${other.body.data.id}`, { external_id });
    expect([taken.status, taken.body.error.code]).toEqual([409, 'WORKSPACE_EXTERNAL_ID_TAKEN']);
    const freed = await api.call('PATCH', `/workspaces/${body.data.id}`, { external_id: null });
    expect(freed.body.data.external_id).toBeNull();
    expect((await api.call('PATCH', `/workspaces/${other.body.data.id}`, { external_id })).status).toBe(200);
  });

  it('are changed whole or not at all, and what is left out stays', async () => {
    const { id } = (await api.post('/workspaces', { name: 'Before' })).body.data;
    const change = {
      name: 'After',
      api_paid_until: '2027-12-31T23:59:59.000Z',
      rate_per_second: 7,
      rate_burst: 9,
      storage_limit_bytes: 1_000,
      messages_per_day: 10,
      marketing_per_recipient_per_week: 2,
      time_zone: 'Europe/Berlin',
    };
    const changed = await api.call('PATCH', `/workspaces/${id}`, change);
    expect([changed.status, changed.body.data]).toMatchObject([200, { ...change, effective: { rate_per_second: 7 } }]);
    // Without prices no amount can be estimated, so that nothing else of the request is done either.
    const refused = await api.call('PATCH', `/workspaces/${id}`, { name: 'Half', spend_per_month: '10.00' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'SPEND_LIMIT_NEEDS_PRICES']);
    const reset = await api.call('PATCH', `/workspaces/${id}`, { rate_per_second: null, api_paid_until: null });
    expect(reset.body.data).toMatchObject({
      name: 'After',
      rate_per_second: null,
      rate_burst: 9,
      api_paid_until: null,
    });
    const actions = await admin.test.database.query<{ action: string; actor_kind: string; actor: string }>(
      'select action, actor_kind, actor from audit_event where organization_id = $1 order by id',
      [id],
    );
    expect(actions.map(({ action }) => action)).toEqual([
      'workspace.created',
      'workspace.changed',
      'workspace.limits_changed',
      'workspace.subscription_changed',
      'workspace.limits_changed',
      'workspace.subscription_changed',
    ]);
    expect(new Set(actions.map(({ actor_kind, actor }) => `${actor_kind} ${actor}`))).toEqual(
      new Set([`operator_key ${api.keyId}`]),
    );
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'x', external_id: '' }, 'external_id'],
    [{ name: 'x', external_id: 5 }, 'external_id'],
    [{ name: 'x', limit: 5 }, 'limit'],
  ])('refuses %j', async (body, field) => {
    const answer = await api.post('/workspaces', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  it.each([
    [{ name: null }, 'name'],
    [{ rate_per_second: 0 }, 'rate_per_second'],
    [{ rate_burst: 1.5 }, 'rate_burst'],
    [{ messages_per_day: '5' }, 'messages_per_day'],
    [{ spend_per_month: 10 }, 'spend_per_month'],
    [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ time_zone: null }, 'time_zone'],
    [{ api_paid_until: 'tomorrow' }, 'api_paid_until'],
  ])('refuses the change %j', async (body, field) => {
    const { id } = await admin.test.factories.workspace();
    const answer = await api.call('PATCH', `/workspaces/${id}`, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  it('are listed in pages, newest first, and by the beginning of their name', async () => {
    const word = `Zz%_\\${randomUUID().slice(0, 8)}`;
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await api.post('/workspaces', { name: `${word} ${i}` })).body.data.id);
    await api.post('/workspaces', { name: `A ${word}` });
    const listed = await api.pages<{ id: string }>(`/workspaces?name=${encodeURIComponent(word.toUpperCase())}`);
    expect(listed.map(({ id }) => id)).toEqual(made);
  });

  it('that do not exist are 404, whatever the id', async () => {
    for (const id of [UNKNOWN, 'nothing', '%00']) {
      const answer = await api.get(`/workspaces/${id}`);
      expect([id, answer.status, answer.body.error.code]).toEqual([id, 404, 'WORKSPACE_NOT_FOUND']);
    }
  });

  describe('deleted', () => {
    it('answer 202 at once, take no changes meanwhile, and are gone in the end', async () => {
      const key = randomUUID();
      const { id } = (await api.post('/workspaces', { name: 'To go' }, key)).body.data;
      await api.post(`/workspaces/${id}/keys`, { name: 'k', scopes: ['messages:read'] }, randomUUID());
      const first = await api.call('DELETE', `/workspaces/${id}`);
      expect([first.status, first.body.data.state]).toEqual([202, 'deleting']);
      const again = await api.call('DELETE', `/workspaces/${id}`);
      expect([again.status, again.body]).toEqual([202, first.body]);
      expect((await api.get(`/workspaces/${id}`)).body.data.state).toBe('deleting');
      for (const refused of [
        await api.call('PATCH', `/workspaces/${id}`, { name: 'x' }),
        await api.post(`/workspaces/${id}/keys`, { name: 'x', scopes: ['messages:read'] }),
      ]) {
        expect([refused.status, refused.body.error.code]).toEqual([409, 'WORKSPACE_DELETING']);
      }
      // What the sweep of a worker does, without its wait.
      await admin.test.app.get(WorkspaceErasure).deleteRequested({ quietMs: 0, waitMs: 1_000 });
      const gone = await api.get(`/workspaces/${id}`);
      expect([gone.status, gone.body.error.code]).toEqual([404, 'WORKSPACE_NOT_FOUND']);
      const rows = await admin.test.database.query<{ count: string }>(
        'select count(*) from operator_repeat where organization_id = $1',
        [id],
      );
      expect(rows[0]?.count).toBe('0');
      const actions = await admin.test.database.query<{ action: string }>(
        `select action from audit_event where organization_id = $1 and action like 'workspace.%' order by id`,
        [id],
      );
      expect(actions.map(({ action }) => action)).toEqual([
        'workspace.created',
        'workspace.subscription_changed',
        'workspace.deletion_started',
        'workspace.deleted',
      ]);
    });

    it('wait for no other one that has to wait', async () => {
      const { app, factories } = admin.test;
      const waiting = (await factories.workspace()).id;
      const { phoneNumberId } = await factories.connection({ organizationId: waiting });
      const status = { id: newId(), state: 'stored', unread: null, person: null } as const;
      // Of a message that another program sent from the number: it may still turn out to be known, for a day.
      await app.get(InboundRepository, { strict: false }).store({ ...status, body: Buffer.from(phoneNumberId) });
      const { id } = (await api.post('/workspaces', { name: 'Behind' })).body.data;
      for (const each of [waiting, id]) await api.call('DELETE', `/workspaces/${each}`);
      const erasure = app.get(WorkspaceErasure);
      const turn = (): Promise<unknown> => erasure.deleteRequested({ quietMs: 0, waitMs: 0 }).catch(() => undefined);
      for (let turns = 0; turns < 3; turns++) await turn();
      expect((await api.get(`/workspaces/${id}`)).status).toBe(404);
      expect((await api.get(`/workspaces/${waiting}`)).body.data.state).toBe('deleting');
      await admin.test.database.execute(`update platform_notification set state = 'unmatched' where id = $1`, [
        status.id,
      ]);
      await turn();
      expect((await api.get(`/workspaces/${waiting}`)).status).toBe(404);
    });

    it('are found by the sweep of workers', async () => {
      const { id } = (await api.post('/workspaces', { name: 'Swept' })).body.data;
      await api.call('DELETE', `/workspaces/${id}`);
      const erasure = admin.test.app.get(WorkspaceErasure);
      const asked: string[] = [];
      const spy = import.meta.jest.spyOn(erasure, 'delete').mockImplementation((each) => {
        asked.push(each);
        return Promise.resolve({});
      });
      expect(await admin.test.app.get(Sweeps).runNow('workspace deletions')).toBe(1);
      spy.mockRestore();
      expect(asked).toEqual([id]);
      await erasure.deleteRequested({ quietMs: 0, waitMs: 1_000 });
      await waitFor(async () => (await api.get(`/workspaces/${id}`)).status === 404);
    });
  });

  describe('to a key that is limited to two', () => {
    it('are those two, in lists, filters and reads; others are as unknown ones, byte by byte', async () => {
      const own = [
        (await api.post('/workspaces', { name: 'Own one', external_id: randomUUID() })).body.data,
        (await api.post('/workspaces', { name: 'Own two' })).body.data,
      ];
      const foreign = (await api.post('/workspaces', { name: 'Own foreign', external_id: randomUUID() })).body.data;
      const limited = await admin.operator({ workspaceIds: own.map(({ id }: { id: string }) => id) });
      const idsOf = async (query: string) =>
        (await limited.get(`/workspaces${query}`)).body.data.map(({ id }: { id: string }) => id).toSorted();
      const ids = own.map(({ id }: { id: string }) => id).toSorted();
      expect(await idsOf('')).toEqual(ids);
      expect(await idsOf('?name=own')).toEqual(ids);
      expect(await idsOf(`?external_id=${own[0].external_id}`)).toEqual([own[0].id]);
      expect(await idsOf(`?external_id=${foreign.external_id}`)).toEqual([]);
      const made = await limited.post('/workspaces', { name: 'More' });
      expect([made.status, made.body.error.code]).toEqual([403, 'OPERATOR_KEY_LIMITED']);
      expect((await limited.get(`/workspaces/${own[1].id}`)).status).toBe(200);
      // By it a product finds its customers: neither another's nor a free one.
      for (const external_id of [foreign.external_id, randomUUID(), null]) {
        const named = await limited.call('PATCH', `/workspaces/${own[1].id}`, { external_id });
        expect([named.status, named.body.error.code]).toEqual([403, 'WORKSPACE_EXTERNAL_ID_FIXED']);
      }
    });
  });
});
