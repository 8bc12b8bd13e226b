import { randomUUID } from 'node:crypto';
import { waitFor } from '../support/wait-for.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

describe('keys of a workspace over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;
  let keys: string;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    api = await admin.operator();
    keys = `/workspaces/${(await admin.test.factories.workspace()).id}/keys`;
  });

  afterAll(() => admin?.test.stop());

  const codeWith = async (key: string): Promise<string> => {
    const { status, body } = await admin.test.api.get('/messages', { key });
    return status === 200 ? '200' : `${status} ${body.error.code}`;
  };

  it('are made with their text in one answer, and listed without it', async () => {
    const made = await api.post(keys, { name: ' orders ', scopes: ['messages:read'], expires_in: 3_600 });
    expect(made.status).toBe(201);
    const { key, ...shown } = made.body.data;
    expect(key).toMatch(/^hrld_live_/);
    expect(shown).toMatchObject({ name: 'orders', scopes: ['messages:read'], otp_project_id: null, revoked_at: null });
    expect(await codeWith(key)).toBe('200');
    const listed = await api.get(keys);
    expect(
      listed.body.data.map(({ last_used_at: _used, ...each }: object & { last_used_at: unknown }) => each),
    ).toEqual([expect.objectContaining({ id: shown.id, name: 'orders', expires_at: shown.expires_at })]);
    expect(JSON.stringify(listed.body)).not.toContain(key.slice(23));
  });

  it('are listed in pages, newest first', async () => {
    const { id } = await admin.test.factories.workspace();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      made.unshift((await api.post(`/workspaces/${id}/keys`, { name: `${i}`, scopes: ['media:read'] })).body.data.id);
    }
    const listed = await api.pages<{ id: string }>(`/workspaces/${id}/keys?`);
    expect(listed.map((key) => key.id)).toEqual(made);
  });

  it('are changed: name, scopes and end; the text stays', async () => {
    const { id, key } = (await api.post(keys, { name: 'a', scopes: ['messages:read'], expires_in: 60 })).body.data;
    const changed = await api.call('PATCH', `${keys}/${id}`, { name: 'b', scopes: ['media:read'], expires_in: null });
    expect([changed.status, changed.body.data]).toMatchObject([
      200,
      { name: 'b', scopes: ['media:read'], expires_at: null },
    ]);
    await waitFor(async () => (await codeWith(key)) === '403 SCOPE_REQUIRED');
    const kept = await api.call('PATCH', `${keys}/${id}`, {});
    expect(kept.body.data).toMatchObject({ name: 'b', scopes: ['media:read'] });
  });

  it('keep a change that is made at the same time as another', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = (await api.post(keys, { name: 'a', scopes: ['messages:read', 'messages:write'] })).body.data;
      const answers = await Promise.all([
        api.call('PATCH', `${keys}/${id}`, { scopes: ['messages:read'] }),
        api.call('PATCH', `${keys}/${id}`, { name: 'b' }),
        api.post(`${keys}/${id}/rotate`, { overlap_seconds: 3_600 }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 201]);
      const listed = await api.get<{ data: { id: string }[] }>(`${keys}?limit=100`);
      expect(listed.body.data.find((key) => key.id === id)).toMatchObject({
        name: 'b',
        scopes: ['messages:read'],
        expires_at: expect.any(String),
      });
    }
  });

  it('with an id that is none are 404', async () => {
    for (const id of ['%00', 'a', "'"]) expect((await api.call('DELETE', `${keys}/${id}`)).status).toBe(404);
  });

  it('are rotated with an overlap, and revoked', async () => {
    const old = (await api.post(keys, { name: 'a', scopes: ['messages:read'] })).body.data;
    const fresh = await api.post(`${keys}/${old.id}/rotate`, { overlap_seconds: 60 });
    expect([fresh.status, fresh.body.data]).toMatchObject([201, { name: 'a', scopes: ['messages:read'] }]);
    expect([await codeWith(old.key), await codeWith(fresh.body.data.key)]).toEqual(['200', '200']);
    const revoked = await api.call('DELETE', `${keys}/${old.id}`);
    expect([revoked.status, revoked.body.data.revoked_at]).toEqual([200, expect.any(String)]);
    await waitFor(async () => (await codeWith(old.key)) === '401 API_KEY_REVOKED');
    expect((await api.call('DELETE', `${keys}/${old.id}`)).body).toEqual(revoked.body);
    for (const ended of [
      await api.post(`${keys}/${old.id}/rotate`),
      await api.call('PATCH', `${keys}/${old.id}`, { name: 'x' }),
    ]) {
      expect([ended.status, ended.body.error.code]).toEqual([409, 'KEY_ENDED']);
    }
  });

  it('of an OTP project are made with scopes of codes only', async () => {
    const { id } = await admin.test.factories.workspace();
    const project = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0';
    await admin.test.database.execute(
      `insert into otp_project (id, organization_id, name, mode, template_language) values ($1, $2, 'p', 'sandbox', 'en_US')`,
      [project, id],
    );
    const made = await api.post(`/workspaces/${id}/keys`, { name: 'k', scopes: ['otp:send'], otp_project_id: project });
    expect([made.status, made.body.data.otp_project_id]).toEqual([201, project]);
    expect(made.body.data.key).toMatch(/^hrld_test_/);
    for (const [body, code] of [
      [{ name: 'k', scopes: ['messages:read'], otp_project_id: project }, 'KEY_SCOPES_MIXED'],
      [{ name: 'k', scopes: ['otp:send'] }, 'KEY_SCOPES_MIXED'],
    ] as const) {
      const refused = await api.post(`/workspaces/${id}/keys`, body);
      expect([refused.status, refused.body.error.code]).toEqual([422, code]);
    }
    const foreign = await api.post(keys, { name: 'k', scopes: ['otp:send'], otp_project_id: project });
    expect([foreign.status, foreign.body.error.code]).toEqual([422, 'KEY_PROJECT_NOT_FOUND']);
  });

  it('of another workspace are as unknown ones', async () => {
    const { id } = (await api.post(keys, { name: 'a', scopes: ['messages:read'] })).body.data;
    const other = `/workspaces/${(await admin.test.factories.workspace()).id}/keys`;
    for (const each of [id, '000000000000', 'x']) {
      for (const answer of [
        await api.call('PATCH', `${other}/${each}`, { name: 'x' }),
        await api.call('DELETE', `${other}/${each}`),
        await api.post(`${other}/${each}/rotate`),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([404, 'KEY_NOT_FOUND']);
      }
    }
  });

  it.each([
    [{ scopes: ['messages:read'] }, 'name'],
    [{ name: 'x' }, 'scopes'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['workspaces:read'] }, 'scopes[0]'],
    [{ name: 'x', scopes: ['messages:read'], expires_in: 0 }, 'expires_in'],
    [{ name: 'x', scopes: ['messages:read'], otp_project_id: 'x' }, 'otp_project_id'],
  ])('are not made of %j', async (body, field) => {
    const answer = await api.post(keys, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  describe('with an Idempotency-Key', () => {
    const body = { name: 'once', scopes: ['messages:read'] };

    it('are made once; a repeat answers the same key without its text, which is stored nowhere', async () => {
      const repeat = randomUUID();
      const first = await api.post(keys, body, repeat);
      const again = await api.post(keys, body, repeat);
      expect([again.status, again.body]).toEqual([201, { data: { ...first.body.data, key: null } }]);
      expect(first.headers.get('idempotency-replayed')).toBeNull();
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      const rows = await admin.test.database.query<{ text: string }>(
        'select row_to_json(r)::text as text from operator_repeat r where key = $1',
        [repeat],
      );
      expect(rows).toHaveLength(1);
      expect(rows[0]?.text).not.toContain(first.body.data.key.slice(23));
    });

    it('are made once by many at the same time', async () => {
      const repeat = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => api.post(keys, { ...body, name: repeat }, repeat)),
      );
      expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
      expect(answers.filter((answer) => answer.body.data.key !== null)).toHaveLength(1);
      const count = await admin.test.database.query('select 1 from api_key where name = $1', [repeat]);
      expect(count).toHaveLength(1);
    });

    it('refuse another request, and keep nothing of one that failed', async () => {
      const repeat = randomUUID();
      const refused = await api.post(keys, { name: 'x', scopes: ['otp:send'] }, repeat);
      expect(refused.status).toBe(422);
      expect((await api.post(keys, body, repeat)).status).toBe(201);
      const other = await api.post(keys, { ...body, name: 'other' }, repeat);
      expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
      const elsewhere = await api.post('/workspaces', { name: 'x' }, repeat);
      expect(elsewhere.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
      // Another operator's key is another name space.
      expect((await (await admin.operator()).post('/workspaces', { name: 'x' }, repeat)).status).toBe(201);
    });

    it.each(['short', 'x'.repeat(129), 'with a \u00e4 in it', ' begins with a space'])(
      'do not take %j',
      async (repeat) => {
        const headers = { 'idempotency-key': repeat };
        const raw = await admin.test.api.as(api.key).post(`/api/admin/v1${keys}`, body, { headers });
        // fetch takes spaces at the ends of a header away.
        if (repeat.startsWith(' ')) expect(raw.status).toBe(201);
        else expect([raw.status, raw.body.error.code]).toEqual([400, 'IDEMPOTENCY_KEY_INVALID']);
      },
    );
  });
});
