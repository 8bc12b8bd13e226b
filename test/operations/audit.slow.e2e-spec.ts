import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { ApiKeysService } from '../../src/modules/keys/keys.service.js';
import { WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import { Audit } from '../../src/modules/audit/audit.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../../src/modules/workspaces/erasure/workspace-erasure.service.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { runHerald } from '../support/herald-process.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';

interface Event {
  action: string;
  target: string | null;
  actor_kind: string;
  actor: string | null;
  address: string | null;
  details: Record<string, unknown> | null;
}

const HOOK = { url: 'http://127.0.0.1:9/hook/of-the-receiver', active: false };

describe('the audit trail', () => {
  let test: TestApp;
  let sender: TestSender;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'worker'], env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
    sender = await test.sender();
  });
  afterAll(async () => test?.stop());

  const herald = async (...args: string[]) => {
    const env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir };
    const { code, stdout } = await runHerald([...args, '--json'], env);
    expect([args.join(' '), code, stdout]).toEqual([args.join(' '), 0, stdout]);
    return JSON.parse(stdout) as unknown;
  };
  const eventsOf = (organizationId: string) =>
    test.database.query<Event>('select * from audit_event where organization_id = $1 order by id', [organizationId]);
  const add = (organizationId: string, days: number) =>
    test.database.execute(
      `insert into audit_event (organization_id, action, actor_kind, actor, address, details, occurred_at)
       values ($1, 'key.created', 'operator', 'ann', '198.51.100.7', '{"name": "Ann"}', clock_timestamp() - make_interval(days => $2))`,
      [organizationId, days],
    );

  it('names the key and the address of who changes the webhook, and no secret', async () => {
    const { api, key, workspace } = sender;
    const put = await api.request<{ data: { id: string; secret: string } }>({
      method: 'PUT',
      path: '/webhook',
      body: HOOK,
    });
    await api.request({ method: 'PUT', path: '/webhook', body: { ...HOOK, active: true } });
    await api.request({ method: 'PUT', path: '/webhook', body: { ...HOOK, active: true } });
    const rotated = await api.post<{ data: { secret: string } }>('/webhook/rotate-secret', {});
    await api.request({ method: 'DELETE', path: '/webhook' });
    expect([put.status, rotated.status]).toEqual([200, 200]);
    const events = await eventsOf(workspace.id);
    const by = {
      actor_kind: 'key',
      actor: key.id,
      address: expect.stringMatching(/127\.0\.0\.1$/),
      target: expect.any(String),
    };
    const details = { origin: 'http://127.0.0.1:9', events: expect.any(Array), active: false };
    expect(events).toMatchObject([
      { ...by, action: 'webhook.created', details },
      { ...by, action: 'webhook.changed', details: { active: true } },
      { ...by, action: 'webhook.secret_rotated', details: null },
      { ...by, action: 'webhook.removed', details: null },
    ]);
    const text = JSON.stringify(events);
    for (const secret of [put.body.data.secret, rotated.body.data.secret, 'of-the-receiver', key.text]) {
      expect(text).not.toContain(secret);
    }
  });

  it('names the operator and the machine on the command line, and shows it with herald audit', async () => {
    const { id } = (await herald('workspace', 'create', '--name', 'Audited')) as { id: string };
    const key = (await herald('key', 'create', '--workspace', id, '--name', 'Shop')) as { id: string; key: string };
    const shown = (await herald('audit', '--workspace', id, '--since', '2026-01-01', '--limit', '50')) as Event[];
    const by = { actor_kind: 'operator', actor: userInfo().username, address: hostname() };
    expect(shown).toMatchObject([
      { ...by, action: 'key.created', target: key.id, details: { name: 'Shop', scopes: expect.any(Array) } },
      { ...by, action: 'workspace.created', details: { name: 'Audited' } },
    ]);
    expect(JSON.stringify(shown)).not.toContain(key.key.slice(-20));
  });

  it('distinguishes rotation from revocation, says what a limit is now, and is selected by workspace, action and time', async () => {
    const workspaces = test.app.get(WorkspacesService);
    const keys = test.app.get(ApiKeysService);
    const { id: organizationId } = await workspaces.create('Selected');
    const key = await keys.create({ organizationId, name: 'Shop', scopes: ['messages:read'] });
    const next = await keys.rotate(key.id);
    await keys.revoke(next.id);
    await keys.revoke(next.id);
    await workspaces.setLimits(organizationId, { ratePerSecond: 7 });
    const by = { actorKind: 'service', actor: null, organizationId };
    const audit = test.app.get(Audit);
    expect(await audit.list({ organizationId, limit: 50 })).toMatchObject([
      { ...by, action: 'workspace.limits_changed', details: { rate_per_second: 7 } },
      { ...by, action: 'key.revoked', target: next.id },
      { ...by, action: 'key.rotated', target: key.id, details: { replaced_by: next.id } },
      { ...by, action: 'key.created', target: next.id },
      { ...by, action: 'key.created', target: key.id },
      { ...by, action: 'workspace.created' },
    ]);
    const since = new Date(Date.now() + 3_600_000);
    expect(await audit.list({ organizationId, action: 'key.created', limit: 50 })).toHaveLength(2);
    expect(await audit.list({ organizationId, limit: 2 })).toHaveLength(2);
    expect(await audit.list({ organizationId, since, limit: 50 })).toEqual([]);
    expect(await audit.list({ organizationId, until: since, limit: 50 })).toHaveLength(6);
    expect(await audit.list({ organizationId: randomUUID(), limit: 50 })).toEqual([]);
  });

  it('is written with the change or not at all, and a change without it is none', async () => {
    const keys = test.app.get(ApiKeysService);
    const { length: before } = await eventsOf(sender.workspace.id);
    const nowhere = randomUUID();
    await expect(keys.create({ organizationId: nowhere, name: 'x', scopes: ['messages:read'] })).rejects.toThrow();
    expect(await eventsOf(nowhere)).toEqual([]);
    const failing = import.meta.jest.spyOn(test.app.get(Audit), 'record').mockRejectedValueOnce(new Error('no trail'));
    const organizationId = sender.workspace.id;
    await expect(keys.create({ organizationId, name: 'unseen', scopes: ['messages:read'] })).rejects.toThrow(
      'no trail',
    );
    failing.mockRestore();
    expect((await keys.list(organizationId)).map(({ name }) => name)).not.toContain('unseen');
    expect(await eventsOf(organizationId)).toHaveLength(before);
    await expect(test.app.get(Audit).record({ action: 'key.created', organizationId })).rejects.toThrow('transaction');
  });

  it.each([
    ['update', `update audit_event set actor = 'eve'`],
    ['update', `update audit_event set address = null, details = null`],
    ['delete', 'delete from audit_event'],
    ['truncate', 'truncate audit_event'],
  ])('refuses every %s by the database itself: %s', async (word, sql) => {
    await add(sender.workspace.id, 29);
    await expect(test.database.execute(sql)).rejects.toMatchObject({
      code: '23001',
      message: expect.stringContaining(word),
    });
  });

  it('goes after AUDIT_RETENTION_DAYS', async () => {
    const workspace = await test.app.get(WorkspacesService).create('Old');
    for (const days of [399, 401]) await add(workspace.id, days);
    await test.app.get(Sweeps).runNow('retention');
    expect((await eventsOf(workspace.id)).map(({ action }) => action)).toEqual(['workspace.created', 'key.created']);
  });

  it('says that a contact was erased, and not whom', async () => {
    await test.openWindow(sender, '15550109999');
    await test.app.get(Erasure).erase(sender.workspace.id, '15550109999');
    const events = (await eventsOf(sender.workspace.id)).slice(-2);
    expect(events).toMatchObject([
      { action: 'contact.erasure_started', target: null, details: null },
      { action: 'contact.erased', target: null, details: { contacts: 1 } },
    ]);
    expect(JSON.stringify(events)).not.toContain('15550109999');
  });

  it('outlives its workspace without addresses and details, and says who deleted it', async () => {
    const workspace = await test.app.get(WorkspacesService).create('Gone');
    await add(workspace.id, 0);
    await test.app.get(WorkspaceErasure).delete(workspace.id, { quietMs: 0, waitMs: 1_000 });
    const blank = { address: null, details: null };
    expect(await eventsOf(workspace.id)).toMatchObject([
      { action: 'workspace.created', ...blank },
      { action: 'key.created', actor: 'ann', ...blank },
      { action: 'workspace.subscription_changed', ...blank },
      { action: 'workspace.deletion_started', ...blank },
      { action: 'workspace.deleted', target: workspace.id },
    ]);
  });

  it('keeps no addresses with LOG_ADDRESSES=false', async () => {
    const other = await startTestApp({
      roles: ['api'],
      shareWith: test,
      env: { LOG_ADDRESSES: 'false', WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
    });
    try {
      await other.api.as(sender.key.text).request({ method: 'PUT', path: '/webhook', body: HOOK });
    } finally {
      await other.stop();
    }
    expect((await eventsOf(sender.workspace.id)).at(-1)).toMatchObject({ actor: sender.key.id, address: null });
  });
});
