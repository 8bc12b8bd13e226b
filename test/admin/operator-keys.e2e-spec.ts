import { OPERATOR_SCOPES, type OperatorScope } from '../../src/infrastructure/http/scopes.js';
import { OperatorKeysService } from '../../src/modules/keys/operator/operator-keys.service.js';
import type { ApiResponse } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { AdminClient, type AdminApp, startAdminApp } from './fixture.js';

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';
const MANAGER = ['operator-keys:read', 'operator-keys:write', 'workspaces:read'] as const satisfies OperatorScope[];

interface Listed {
  id: string;
  name: string;
}

describe('operator keys over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    api = await admin.operator();
  });

  afterAll(() => admin?.test.stop());

  const codeOf = ({ status, body }: ApiResponse): string =>
    status < 300 ? `${status}` : `${status} ${body.error.code}`;
  /** All of an answer that a caller sees, without what is new in each. */
  const seen = ({ status, headers, body }: ApiResponse) => ({
    status,
    text: JSON.stringify(body).replaceAll(body.error.request_id, 'id'),
    headers: [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit)$/.test(name)),
  });
  const workspace = async (): Promise<string> => (await admin.test.factories.workspace()).id;
  const stored = async (): Promise<number> => (await admin.test.database.query('select id from operator_key')).length;
  const clientOf = ({ body }: ApiResponse): AdminClient =>
    new AdminClient(admin.test.api.as(body.data.key), body.data.id, body.data.key);
  const listed = (by: AdminClient): Promise<Listed[]> => by.pages<Listed>(`/operator-keys?`);

  it('are made, read, listed and revoked, with their text once', async () => {
    const own = await workspace();
    const given = { name: ' support ', scopes: ['usage:read', 'usage:read'], workspace_ids: [own.toUpperCase()] };
    const made = await api.post('/operator-keys', { ...given, expires_in: 3_600 }, 'make the key of support');
    expect(made.status).toBe(201);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const { key, ...rest } = made.body.data;
    expect(key).toMatch(new RegExp(`^hrld_admin_${rest.id}_[0-9A-Za-z]{38}$`));
    expect(rest).toEqual({
      id: expect.any(String),
      name: 'support',
      scopes: ['usage:read'],
      workspace_ids: [own],
      expires_at: expect.any(String),
      revoked_at: null,
      last_used_at: null,
      created_at: expect.any(String),
    });
    expect(Date.parse(rest.expires_at) - Date.parse(rest.created_at)).toBeGreaterThan(3_500_000);
    const again = await api.post('/operator-keys', { ...given, expires_in: 3_600 }, 'make the key of support');
    expect([again.status, again.body.data]).toEqual([201, { ...rest, key: null }]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await api.get(`/operator-keys/${rest.id}`)).body.data).toEqual(rest);
    expect(await listed(api)).toContainEqual(rest);
    expect((await clientOf(made).get('/key')).body.data).toMatchObject({ id: rest.id, workspace_ids: [own] });

    const revoked = await api.call('DELETE', `/operator-keys/${rest.id}`);
    expect([revoked.status, revoked.body.data]).toMatchObject([200, { id: rest.id, revoked_at: expect.any(String) }]);
    expect((await api.call('DELETE', `/operator-keys/${rest.id}`)).body.data.revoked_at).toBe(
      revoked.body.data.revoked_at,
    );
    await waitFor(async () => codeOf(await clientOf(made).get('/key')) === '401 API_KEY_REVOKED');

    const trail = (await api.get(`/audit?actor=${api.keyId}&limit=100`)).body.data as Record<string, unknown>[];
    const events = trail.filter(({ target }) => target === rest.id);
    expect(events.map(({ action, actor_kind: kind }) => [action, kind])).toEqual([
      ['operator_key.revoked', 'operator_key'],
      ['operator_key.created', 'operator_key'],
    ]);
    const kept = await admin.test.database.query(
      `select row_to_json(e)::text from audit_event e union all select row_to_json(r)::text from operator_repeat r`,
    );
    expect(JSON.stringify(kept)).toContain(rest.id);
    expect(JSON.stringify(kept)).not.toContain(key);
  });

  it('come in pages, newest first, which together are the whole', async () => {
    for (const name of ['a', 'b', 'c']) await api.post('/operator-keys', { name, scopes: ['usage:read'] });
    const whole = (await api.get(`/operator-keys?limit=100`)).body.data as Listed[];
    expect(whole.slice(0, 3).map(({ name }) => name)).toEqual(['c', 'b', 'a']);
    expect(await listed(api)).toEqual(whole);
  });

  it.each([
    [{ scopes: ['usage:read'] }, 'name'],
    [{ name: ' ', scopes: ['usage:read'] }, 'name'],
    [{ name: 'x' }, 'scopes'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['messages:read'] }, 'scopes[0]'],
    [{ name: 'x', scopes: ['usage:read'], workspace_ids: [] }, 'workspace_ids'],
    [{ name: 'x', scopes: ['usage:read'], workspace_ids: ['x'] }, 'workspace_ids[0]'],
    [{ name: 'x', scopes: ['usage:read'], workspace_ids: UNKNOWN }, 'workspace_ids'],
    [{ name: 'x', scopes: ['usage:read'], expires_in: 0 }, 'expires_in'],
    [{ name: 'x', scopes: ['usage:read'], expires_at: null }, 'expires_at'],
  ])('are not made of %j', async (body, field) => {
    const { status, body: answer } = await api.post('/operator-keys', body);
    expect([status, answer.error.details?.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
  });

  it('give no scope that they lack, and none is made', async () => {
    const manager = await admin.operator({ scopes: MANAGER });
    const before = await stored();
    for (const scope of OPERATOR_SCOPES) {
      const answer = await manager.post('/operator-keys', { name: 'x', scopes: ['workspaces:read', scope] });
      const isOwn = (MANAGER as readonly OperatorScope[]).includes(scope);
      expect([scope, codeOf(answer)]).toEqual([scope, isOwn ? '201' : '403 OPERATOR_KEY_BEYOND']);
      if (!isOwn) expect(answer.body.error.message).toContain(`(${scope})`);
    }
    expect(await stored()).toBe(before + MANAGER.length);
  });

  it('that are limited to workspaces give only some of these, and see, rotate and revoke only keys that are', async () => {
    const [one, two, foreign] = [await workspace(), await workspace(), await workspace()];
    const limited = await admin.operator({ workspaceIds: [one, two] });
    const make = (by: AdminClient, ids: string[] | null | undefined) =>
      by.post('/operator-keys', { name: 'x', scopes: ['usage:read'], workspace_ids: ids });
    expect((await make(limited, [two])).body.data.workspace_ids).toEqual([two]);
    const before = await stored();
    for (const all of [null, undefined]) expect(codeOf(await make(limited, all))).toBe('403 OPERATOR_KEY_LIMITED');
    const unknown = seen(await make(limited, [UNKNOWN]));
    expect(unknown.status).toBe(422);
    expect(seen(await make(limited, [foreign]))).toEqual(unknown);
    expect(seen(await make(limited, [one, foreign]))).toEqual(unknown);
    expect(codeOf(await make(api, [UNKNOWN]))).toBe('422 KEY_WORKSPACE_NOT_FOUND');
    expect(await stored()).toBe(before);

    const seenKeys = [(await make(api, [one])).body.data.id, (await make(api, [two, one])).body.data.id] as string[];
    const hidden = [
      (await make(api, [one, foreign])).body.data.id,
      (await make(api, [foreign])).body.data.id,
      api.keyId,
    ] as string[];
    const ids = (await listed(limited)).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([limited.keyId, ...seenKeys]));
    expect(ids.filter((id) => hidden.includes(id))).toEqual([]);
    const calls: ((id: string) => Promise<ApiResponse>)[] = [
      (id) => limited.get(`/operator-keys/${id}`),
      (id) => limited.call('DELETE', `/operator-keys/${id}`),
      (id) => limited.post(`/operator-keys/${id}/rotate`),
    ];
    for (const call of calls) {
      const none = seen(await call('000000000000'));
      expect(none.text).toContain('OPERATOR_KEY_NOT_FOUND');
      for (const id of [...hidden, 'x', '%00']) expect(seen(await call(id))).toEqual(none);
    }
    for (const id of hidden) expect((await api.get(`/operator-keys/${id}`)).body.data.revoked_at).toBeNull();
    expect(codeOf(await limited.call('DELETE', `/operator-keys/${seenKeys[0]}`))).toBe('200');
    expect(codeOf(await limited.post(`/operator-keys/${seenKeys[1]}/rotate`))).toBe('201');
    // What concerns no workspace of theirs is in no trail of theirs.
    const trail = (await limited.get('/audit?action=operator_key.created')).body.data;
    expect(trail).toEqual([]);
  });

  it('make none that outlives them, also by rotation', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const ending = await admin.operator({ expiresAt });
    const make = (expiresIn?: number) =>
      ending.post('/operator-keys', { name: 'x', scopes: ['usage:read'], expires_in: expiresIn });
    expect(codeOf(await make(3_000))).toBe('201');
    for (const later of [3_700, undefined]) {
      const refused = await make(later);
      expect(codeOf(refused)).toBe('403 OPERATOR_KEY_BEYOND');
      expect(refused.body.error.message).toContain(expiresAt.toISOString());
    }
    const endless = await admin.operator();
    const rotated = await ending.post(`/operator-keys/${endless.keyId}/rotate`, { overlap_seconds: 60 });
    expect(rotated.body.data).toMatchObject({ expires_at: expiresAt.toISOString() });
    const itself = await ending.post(`/operator-keys/${ending.keyId}/rotate`, { overlap_seconds: 60 });
    expect(itself.body.data).toMatchObject({ name: 'test', expires_at: expiresAt.toISOString() });
    const next = clientOf(itself);
    const soon = (await api.get(`/operator-keys/${ending.keyId}`)).body.data.expires_at as string;
    expect(Date.parse(soon)).toBeLessThan(expiresAt.getTime());
    // In its last minute it gives no more than this minute.
    const last = await ending.post(`/operator-keys/${ending.keyId}/rotate`);
    expect(last.body.data.expires_at).toBe(soon);
    const free = await api.post(`/operator-keys/${next.keyId}/rotate`, { overlap_seconds: 0 });
    expect(free.body.data).toMatchObject({ expires_at: null });
    await waitFor(async () => codeOf(await next.get('/key')) === '401 API_KEY_REVOKED');
    expect(codeOf(await api.post(`/operator-keys/${next.keyId}/rotate`))).toBe('409 OPERATOR_KEY_ENDED');
  });

  it('end themselves, and others that have no more scopes, whenever these end', async () => {
    const manager = await admin.operator({ scopes: MANAGER, expiresAt: new Date(Date.now() + 3_600_000) });
    const stronger = await admin.operator({ scopes: [...MANAGER, 'billing:write'] });
    const equal = await admin.operator({ scopes: MANAGER });
    for (const refused of [
      await manager.call('DELETE', `/operator-keys/${stronger.keyId}`),
      await manager.post(`/operator-keys/${stronger.keyId}/rotate`),
    ]) {
      expect(codeOf(refused)).toBe('403 OPERATOR_KEY_BEYOND');
      expect(refused.body.error.message).toContain('billing:write');
    }
    expect((await api.get(`/operator-keys/${stronger.keyId}`)).body.data).toMatchObject({
      revoked_at: null,
      expires_at: null,
    });
    const made = await manager.post('/operator-keys', { name: 'x', scopes: ['workspaces:read'], expires_in: 60 });
    expect(codeOf(await manager.call('DELETE', `/operator-keys/${equal.keyId}`))).toBe('200');
    expect(codeOf(await manager.call('DELETE', `/operator-keys/${manager.keyId}`))).toBe('200');
    await waitFor(async () => codeOf(await manager.get('/key')) === '401 API_KEY_REVOKED');
    // What it made stays; the trail says which these are.
    expect(codeOf(await clientOf(made).get('/key'))).toBe('200');
    const trail = (await api.get(`/audit?action=operator_key.created&actor=${manager.keyId}`)).body.data;
    expect(trail.map(({ target }: { target: string }) => target)).toEqual([made.body.data.id]);
  });

  it('that were revoked or have expired change nothing, also before every process knows of it', async () => {
    const keys = admin.test.app.get(OperatorKeysService);
    const given = { name: 'x', scopes: ['usage:read'], workspaceIds: null } as const;
    const [ended, expired, other] = [await admin.operator(), await admin.operator(), await admin.operator()];
    await keys.revoke(ended.keyId);
    await admin.test.database.execute(
      `update operator_key set expires_at = clock_timestamp() - interval '1 second' where id = $1`,
      [expired.keyId],
    );
    const before = await stored();
    for (const [by, code] of [
      [ended.keyId, 'API_KEY_REVOKED'],
      [expired.keyId, 'API_KEY_EXPIRED'],
      ['000000000000', 'API_KEY_INVALID'],
    ] as const) {
      await expect(keys.create(given, by)).rejects.toMatchObject({ code });
      await expect(keys.rotate(other.keyId, 0, by)).rejects.toMatchObject({ code });
      await expect(keys.revoke(other.keyId, by)).rejects.toMatchObject({ code });
    }
    expect(await stored()).toBe(before);
    expect((await keys.getById(other.keyId)).revokedAt).toBeNull();
  });

  it('revoke each other at once: one of them does', async () => {
    const keys = admin.test.app.get(OperatorKeysService);
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await admin.operator(), await admin.operator()];
      const done = await Promise.allSettled([keys.revoke(a.keyId, b.keyId), keys.revoke(b.keyId, a.keyId)]);
      expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(done.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'API_KEY_REVOKED' } });
    }
  });

  it('are rotated also where a workspace of theirs was deleted', async () => {
    const [kept, gone] = [await workspace(), await workspace()];
    const { keyId } = await admin.operator({ workspaceIds: [kept, gone] });
    await admin.test.database.execute('delete from organization where id = $1', [gone]);
    const rotated = await api.post(`/operator-keys/${keyId}/rotate`);
    expect([rotated.status, rotated.body.data.workspace_ids]).toEqual([201, [kept, gone]]);
  });
});
