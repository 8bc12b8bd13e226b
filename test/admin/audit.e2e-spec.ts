import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

interface Event {
  id: string;
  occurred_at: string;
  action: string;
  workspace_id: string | null;
  target: string | null;
  actor_kind: string;
  actor: string | null;
}

describe('the audit trail over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;
  let own: string[];
  let foreign: string;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    api = await admin.operator();
    const make = async (name: string) => (await api.post('/workspaces', { name })).body.data.id as string;
    own = [await make('one'), await make('two')];
    foreign = await make('three');
    for (const id of [...own, foreign])
      await api.post(`/workspaces/${id}/keys`, { name: 'k', scopes: ['messages:read'] });
  });

  afterAll(() => admin?.test.stop());

  const eventsOf = async (client: AdminClient, query = ''): Promise<Event[]> =>
    (await client.get(`/audit${query}`)).body.data;

  it('has each change with who made it, newest first, by workspace, actor, action and time', async () => {
    const [newest, ...rest] = await eventsOf(api, `?workspace_id=${own[0]?.toUpperCase()}`);
    expect(newest).toMatchObject({
      action: 'key.created',
      workspace_id: own[0],
      actor_kind: 'operator_key',
      actor: api.keyId,
    });
    expect(rest.map(({ action }) => action)).toEqual(['workspace.created']);
    const made = await eventsOf(api, '?action=workspace.created');
    expect(made.map(({ target }) => target)).toEqual([foreign, own[1], own[0]]);
    expect(await eventsOf(api, `?actor=${api.keyId}`)).toHaveLength(6);
    expect(await eventsOf(api, '?actor=nobody')).toEqual([]);
    const at = encodeURIComponent(made[1]?.occurred_at ?? '');
    const since = await eventsOf(api, `?action=workspace.created&since=${at}`);
    expect(since.map(({ target }) => target)).toContain(own[1]);
    expect((await eventsOf(api, `?action=workspace.created&until=${at}`)).map(({ target }) => target)).not.toContain(
      own[1],
    );
  });

  it('comes in pages, which together are the whole', async () => {
    const all = await eventsOf(api);
    const paged = await api.pages<Event>('/audit?format=json');
    expect(paged).toEqual(all);
  });

  it('comes as lines, which go on behind the last one', async () => {
    const first = await api.get<string>('/audit?format=ndjson&limit=3');
    expect(first.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
    const lines = first.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    expect(lines).toHaveLength(3);
    const last = lines.at(-1) as Event;
    const place = `&before=${encodeURIComponent(last.occurred_at)}&before_id=${last.id}`;
    const rest = await api.get<string>(`/audit?format=ndjson&limit=10000${place}`);
    const all = await eventsOf(api);
    expect([
      ...lines,
      ...rest.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Event),
    ]).toEqual(all);
  });

  it('of a key that is limited to two workspaces has no other, and not what concerns the whole service', async () => {
    const limited = await admin.operator({ workspaceIds: own });
    const seen = await eventsOf(limited);
    expect(new Set(seen.map((event) => event.workspace_id))).toEqual(new Set(own));
    expect(seen).toHaveLength(4);
    expect((await eventsOf(api)).some((event) => event.workspace_id === null)).toBe(true);
    for (const id of [foreign, '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f']) {
      const answer = await limited.get(`/audit?workspace_id=${id}`);
      expect(answer.body).toEqual({ data: [], pagination: { next_before: null, next_before_id: null } });
    }
    expect(await eventsOf(limited, `?actor=${api.keyId}&action=workspace.created`)).toHaveLength(2);
    const lines = await limited.get<string>('/audit?format=ndjson&limit=1000');
    expect(lines.body).not.toContain(foreign);
  });

  it.each([
    'limit=101',
    'limit=0',
    'action=all',
    'workspace_id=x',
    'since=today',
    'before_id=5',
    'format=csv',
    'other=1',
  ])('refuses ?%s', async (query) => {
    const answer = await api.get(`/audit?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  });
});
