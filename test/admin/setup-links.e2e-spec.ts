import { createHash, randomUUID } from 'node:crypto';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

describe('setup links over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    const env = { SETUP_RETURN_ORIGINS: 'https://app.example.com,http://localhost:8080' };
    admin = await startAdminApp({ roles: ['api', 'simulator'], env });
    api = await admin.operator();
  });

  afterAll(() => admin?.test.stop());

  const workspace = async (): Promise<string> => `/workspaces/${(await admin.test.factories.workspace()).id}`;
  const age = (id: string): Promise<unknown> =>
    admin.test.database.execute("update setup_link set expires_at = now() - interval '1 second' where id = $1", [id]);

  it('are made with their address in one answer; only a hash of it is stored', async () => {
    const at = await workspace();
    const made = await api.post(`${at}/setup-links`, { return_url: 'https://app.example.com/done?a=1' });
    expect(made.status).toBe(201);
    const { url, ...shown } = made.body.data;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/setup\/hrld_setup_[\w-]{43}$/);
    expect(shown).toMatchObject({
      workspace_id: at.slice(12),
      status: 'open',
      signup: 'cloud',
      locale: 'en_US',
      return_url: 'https://app.example.com/done?a=1',
      opened_at: null,
      connection_id: null,
    });
    expect(shown.steps.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`)).toEqual([
      'access open',
      'subscribe open',
      'register open',
      'connect open',
      'test open',
    ]);
    const seconds = (Date.parse(shown.expires_at) - Date.parse(shown.created_at)) / 1_000;
    expect(Math.abs(seconds - 7 * 86_400)).toBeLessThan(60);
    const token = url.slice(url.lastIndexOf('/') + 1);
    const [row] = await admin.test.database.query<{ token_hash: Buffer; whole: string }>(
      'select token_hash, to_jsonb(l)::text as whole from setup_link l where id = $1',
      [shown.id],
    );
    expect(row?.token_hash).toEqual(createHash('sha256').update(token).digest());
    const trail = await api.get(`/audit?workspace_id=${at.slice(12)}`);
    expect(trail.body.data).toMatchObject([{ action: 'setup_link.created', target: shown.id, actor: api.keyId }]);
    const later = [await api.get(`${at}/setup-links`), await api.get(`${at}/setup-links/${shown.id}`)];
    expect(later.map(({ body }) => body.data)).toEqual([[shown], shown]);
    expect(JSON.stringify([row?.whole, trail.body, later.map(({ body }) => body)])).not.toContain(token.slice(11));
  });

  it('are the same for a repeat, whose answer has no address', async () => {
    const at = await workspace();
    const repeat = randomUUID();
    const first = await api.post(`${at}/setup-links`, { signup: 'manual', expires_in: 300 }, repeat);
    const again = await api.post(`${at}/setup-links`, { signup: 'manual', expires_in: 300 }, repeat);
    expect(again.body.data).toEqual({ ...first.body.data, url: null });
    expect((await api.get(`${at}/setup-links`)).body.data).toHaveLength(1);
    const kept = await admin.test.database.query(
      "select 1 from operator_repeat where answer::text like '%hrld_setup_%'",
    );
    expect(kept).toEqual([]);
  });

  it('are listed in pages, newest first', async () => {
    const at = await workspace();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await api.post(`${at}/setup-links`, {})).body.data.id);
    const listed = await api.pages<{ id: string }>(`${at}/setup-links?`);
    expect(listed.map(({ id }) => id)).toEqual(made);
  });

  it('are revoked, once; the list says what has ended and why', async () => {
    const at = await workspace();
    const ids = [];
    for (const signup of ['manual', 'app', 'cloud']) {
      ids.push((await api.post(`${at}/setup-links`, { signup })).body.data.id);
    }
    const [revoked = '', expired = ''] = ids;
    await age(expired);
    const first = await api.call('DELETE', `${at}/setup-links/${revoked}`);
    expect([first.status, first.body.data.status]).toEqual([200, 'revoked']);
    expect((await api.call('DELETE', `${at}/setup-links/${revoked}`)).body).toEqual(first.body);
    const listed = await api.get(`${at}/setup-links`);
    expect(listed.body.data.map(({ status }: { status: string }) => status)).toEqual(['open', 'expired', 'revoked']);
    const trail = await api.get(`/audit?workspace_id=${at.slice(12)}&action=setup_link.revoked`);
    expect(trail.body.data).toMatchObject([{ target: revoked }]);
  });

  it('of another workspace are as unknown ones', async () => {
    const [own, other] = [await workspace(), await workspace()];
    const { id } = (await api.post(`${other}/setup-links`, {})).body.data;
    for (const each of [id, UNKNOWN, 'x']) {
      const path = `${own}/setup-links/${each}`;
      for (const answer of [await api.get(path), await api.call('DELETE', path)]) {
        expect([answer.status, answer.body.error.code]).toEqual([404, 'SETUP_LINK_NOT_FOUND']);
      }
    }
  });

  it.each([
    ['https://app.example.com.evil.test/', 'https://app.example.com.evil.test'],
    ['https://app.example.com:8443/', 'https://app.example.com:8443'],
    ['http://app.example.com/', 'http://app.example.com'],
    ['https://app.example.com@evil.test/', null],
    ['javascript:alert(1)', null],
    ['//app.example.com/', null],
    ['http://localhost:8080/done', 'taken'],
    ['https://APP.example.com/done', 'taken'],
  ])('with the return_url %s', async (returnUrl, origin) => {
    const answer = await api.post(`${await workspace()}/setup-links`, { return_url: returnUrl });
    if (origin === 'taken') return expect(answer.status).toBe(201);
    const code = origin === null ? 'INVALID_REQUEST' : 'SETUP_RETURN_URL_REFUSED';
    expect([answer.status, answer.body.error.code]).toEqual([origin === null ? 400 : 422, code]);
    expect(answer.body.error.message).toContain(origin ?? 'return_url');
  });

  it.each([
    [{ signup: 'qr' }, 'signup'],
    [{ expires_in: 299 }, 'expires_in'],
    [{ expires_in: 30 * 86_400 + 1 }, 'expires_in'],
    [{ locale: 'english' }, 'locale'],
    [{ return_url: 7 }, 'return_url'],
  ])('are not made with %j', async (body, field) => {
    const answer = await api.post(`${await workspace()}/setup-links`, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });

  it('are made by hand only, and say so, where embedded signup is not set up', async () => {
    const env = { WHATSAPP_API_URL: 'http://127.0.0.1:9' };
    const other = await startAdminApp({ roles: ['api'], shareWith: admin.test, env });
    try {
      const key = await other.operator();
      const at = await workspace();
      expect((await key.post(`${at}/setup-links`, {})).body.data.signup).toBe('manual');
      const refused = await key.post(`${at}/setup-links`, { signup: 'app' });
      expect([refused.status, refused.body.error.code]).toEqual([422, 'SETUP_SIGNUP_OFF']);
      expect(refused.body.error.message).toContain('META_CONFIG_ID');
      const back = await key.post(`${at}/setup-links`, { return_url: 'https://app.example.com/' });
      expect(back.body.error.message).toContain('SETUP_RETURN_ORIGINS');
    } finally {
      await other.test.stop();
    }
  });
});
