import { newKey } from '../../src/modules/keys/api-key-format.js';
import { OperatorKeysService } from '../../src/modules/keys/operator/operator-keys.service.js';
import { startTestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startAdminApp, type AdminApp } from './fixture.js';

const LIST = '/api/admin/v1/workspaces';

describe('operator keys', () => {
  let admin: AdminApp;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
  });

  afterAll(() => admin?.test.stop());

  const codeWith = async (key: string | null): Promise<string> => {
    const { status, body } = await admin.test.api.get(LIST, { key });
    return status === 200 ? '200' : `${status} ${body.error.code}`;
  };

  it('open the admin API, and nothing else does', async () => {
    const { key } = await admin.operator({ scopes: ['workspaces:read'] });
    expect(key).toMatch(/^hrld_admin_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
    expect(await codeWith(key)).toBe('200');
    expect(await codeWith(null)).toBe('401 API_KEY_MISSING');
    expect(await codeWith(newKey('admin').text)).toBe('401 API_KEY_INVALID');
    expect(await codeWith(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).toBe('401 API_KEY_INVALID');
    const sender = await admin.test.sender();
    expect(await codeWith(sender.key.text)).toBe('401 OPERATOR_KEY_REQUIRED');
    const there = await admin.test.api.get('/messages', { key });
    expect([there.status, there.body.error.code]).toEqual([401, 'API_KEY_INVALID']);
  });

  it('say what they may do', async () => {
    const { id: workspace } = await admin.test.factories.workspace();
    const limited = await admin.operator({ scopes: ['usage:read'], workspaceIds: [workspace] });
    const { status, body } = await limited.get('/key');
    expect([status, body.data]).toEqual([
      200,
      {
        id: limited.keyId,
        name: 'test',
        scopes: ['usage:read'],
        workspace_ids: [workspace],
        expires_at: null,
        version: expect.any(String),
      },
    ]);
  });

  it('have the headers of the other API', async () => {
    const { key } = await admin.operator();
    const { headers } = await admin.test.api.get(LIST, { key });
    expect(headers.get('x-herald-api-version')).toBe('v1');
    expect(headers.get('ratelimit-policy')).toMatch(/^"default";q=/);
    expect(headers.get('x-request-id')).not.toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('are stored as a hash only, and note when they were used', async () => {
    const { key, keyId } = await admin.operator();
    const secret = key.slice(24, 56);
    const [row] = await admin.test.database.query<{ text: string }>(
      'select row_to_json(k)::text as text from operator_key k where id = $1',
      [keyId],
    );
    expect(row?.text).toContain(keyId);
    expect(row?.text).not.toContain(secret);
    await codeWith(key);
    const keys = admin.test.app.get(OperatorKeysService);
    await waitFor(async () => (await keys.getById(keyId)).lastUsedAt !== null);
  });

  it('end at once where they are revoked, and within the cache time where another process revokes them', async () => {
    const { key, keyId } = await admin.operator();
    expect(await codeWith(key)).toBe('200');
    await admin.test.database.execute('update operator_key set revoked_at = clock_timestamp() where id = $1', [keyId]);
    await waitFor(async () => (await codeWith(key)) === '401 API_KEY_REVOKED');
    const other = await admin.operator();
    expect(await codeWith(other.key)).toBe('200');
    await admin.test.app.get(OperatorKeysService).revoke(other.keyId);
    await waitFor(async () => (await codeWith(other.key)) === '401 API_KEY_REVOKED');
  });

  it('rotate with an overlap, and end by time', async () => {
    const keys = admin.test.app.get(OperatorKeysService);
    const old = await admin.operator({ scopes: ['audit:read', 'workspaces:read'] });
    const fresh = await keys.rotate(old.keyId, 3_600);
    expect(fresh).toMatchObject({ name: 'test', scopes: ['audit:read', 'workspaces:read'], workspaceIds: null });
    expect([await codeWith(old.key), await codeWith(fresh.key)]).toEqual(['200', '200']);
    await admin.test.database.execute('update operator_key set expires_at = clock_timestamp() where id = $1', [
      old.keyId,
    ]);
    await waitFor(async () => (await codeWith(old.key)) === '401 API_KEY_EXPIRED');
    const last = await keys.rotate(fresh.id, 0);
    await waitFor(async () => (await codeWith(fresh.key)) === '401 API_KEY_REVOKED');
    await expect(keys.rotate(fresh.id)).rejects.toThrow("was revoked and can't be rotated");
    expect(await codeWith(last.key)).toBe('200');
  });

  it('have one successor, also where they are rotated twice at once', async () => {
    const keys = admin.test.app.get(OperatorKeysService);
    for (let round = 0; round < 5; round++) {
      const { id } = await keys.create({ name: 'twice', scopes: ['audit:read'], workspaceIds: null });
      const rotated = await Promise.allSettled([keys.rotate(id, 0), keys.rotate(id, 0)]);
      expect(rotated.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('are limited to existing workspaces', async () => {
    const keys = admin.test.app.get(OperatorKeysService);
    const given = {
      name: 'x',
      scopes: ['workspaces:read'] as const,
      workspaceIds: ['01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f'],
    };
    await expect(keys.create(given)).rejects.toThrow('there is no workspace');
  });

  it('are guessed 20 times a minute and address at the most', async () => {
    const guarded = await startTestApp({
      roles: ['api'],
      shareWith: admin.test,
      env: { AUTH_FAILURES_PER_MINUTE: '20' },
    });
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 21; i++) statuses.push((await guarded.api.get(LIST, { key: newKey('admin').text })).status);
      expect(statuses).toEqual([...Array<number>(20).fill(401), 429]);
      const { key } = await admin.operator();
      expect((await guarded.api.get(LIST, { key })).status).toBe(200);
    } finally {
      await guarded.stop();
    }
  });

  it('open nothing where ADMIN_API is off: its routes and its description do not exist', async () => {
    const closed = await startTestApp({ roles: ['api'], shareWith: admin.test, env: { ADMIN_API: 'false' } });
    try {
      const { key } = await admin.operator();
      for (const path of [LIST, '/api/admin/v1', '/api/admin', '/api/admin/v2/workspaces']) {
        const { status, body } = await closed.api.get(path, { key });
        expect([path, status, body.error.code]).toEqual([path, 404, 'ROUTE_NOT_FOUND']);
      }
      const put = await closed.api.request({ method: 'PUT', path: LIST, key });
      expect([put.status, put.body.error.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
      expect((await closed.api.get('/docs/admin')).status).toBe(404);
      expect((await fetch(`${closed.baseUrl}/openapi-admin.json`)).status).toBe(404);
    } finally {
      await closed.stop();
    }
    expect((await admin.test.api.get('/api/admin/v2/workspaces')).body.error.code).toBe('API_VERSION_NOT_SUPPORTED');
    expect((await admin.test.api.get('/api/admin/workspaces')).body.error.code).toBe('ROUTE_NOT_FOUND');
    expect((await admin.test.api.request({ method: 'PUT', path: LIST })).body.error.code).toBe('METHOD_NOT_ALLOWED');
  });
});
