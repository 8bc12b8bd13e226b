import { ApiClient } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { type Browser, type PeopleApp, startPeople } from './fixture.js';

let people: PeopleApp;
let operator: Browser;
let admin: Browser;
const ADMIN = '/api/admin/v1';

beforeAll(async () => {
  people = await startPeople();
  operator = await people.person('otto', { groups: ['operators'] });
  admin = await people.person('ada', { groups: ['admins'] });
});
afterAll(() => people?.stop());

const at = (index: 0 | 1 = 0): string => `${ADMIN}/workspaces/${people.workspaces[index].id}`;
const call = (browser: Browser, method: string, path: string, body?: unknown) =>
  browser.request({ method, path, ...(body !== undefined && { body }) });
const idOf = async (browser: Browser): Promise<string> =>
  (await browser.get('/auth/session')).body.data.person.id as string;
const invite = (browser: Browser, email: string, role: string, index: 0 | 1 = 0) =>
  call(browser, 'POST', `${at(index)}/invitations`, { email, role });
const trail = async (action: string): Promise<Record<string, unknown>[]> =>
  people.test.database.query(
    'select actor_kind, actor, organization_id, target, details from audit_event where action = $1 order by id',
    [action],
  );
/** Signs in who has no group, and says where it ended. */
const visit = async (id: string, account: object = {}): Promise<{ browser: Browser; ended: string }> => {
  const whole = { email: `${id}@example.com`, email_verified: true, name: `The ${id}`, groups: [], ...account };
  people.issuer.accounts.set(id, whole);
  const browser = people.browser();
  return { browser, ended: await browser.signIn(id) };
};

it('a person with the role operator makes operator keys of any scope, which stay; others make none', async () => {
  const path = `${ADMIN}/operator-keys`;
  const made = await call(operator, 'POST', path, { name: 'of Otto', scopes: ['audit:read'] });
  expect([made.status, made.body.data]).toMatchObject([201, { scopes: ['audit:read'], expires_at: null }]);
  expect((await trail('operator_key.created')).at(-1)).toMatchObject({
    actor_kind: 'person',
    actor: await idOf(operator),
    organization_id: null,
    target: made.body.data.id,
  });
  expect((await call(operator, 'DELETE', `${path}/${made.body.data.id}`)).status).toBe(200);
  for (const [method, of] of [
    ['GET', path],
    ['POST', path],
    ['DELETE', `${path}/${made.body.data.id}`],
    ['POST', `${at()}/erasures`],
  ] as const) {
    const refused = await call(admin, method, of, method === 'POST' ? { number: '15550008888' } : undefined);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'SCOPE_REQUIRED']);
  }
});

describe('an invitation', () => {
  it('makes a member of who signs in first with the verified address, once', async () => {
    expect((await visit('ivy')).ended).toBe('/console?problem=NO_ACCESS');
    const made = await invite(admin, 'IVY@Example.com', 'agent');
    expect(made.status).toBe(201);
    expect(made.body.data).toMatchObject({
      workspace_id: people.workspaces[0].id,
      email: 'ivy@example.com',
      role: 'agent',
      status: 'open',
      accepted_at: null,
      person_id: null,
      revoked_at: null,
      sign_in_url: `${people.test.baseUrl}/console`,
    });
    const { browser: ivy, ended } = await visit('ivy');
    expect(ended).toBe('/console');
    const { id } = (await ivy.get('/auth/session')).body.data.person;
    expect((await ivy.get('/auth/session')).body.data.workspaces).toEqual([
      { id: people.workspaces[0].id, name: people.workspaces[0].name, role: 'agent' },
    ]);
    const listed = (await admin.get(`${at()}/invitations`)).body.data[0];
    expect(listed).toMatchObject({ id: made.body.data.id, status: 'accepted', person_id: id });
    // Another account of the same address finds nothing left.
    const second = await visit('ivy-again', { email: 'ivy@example.com' });
    expect(second.ended).toBe('/console?problem=NO_ACCESS');
    expect((await trail('invitation.accepted')).at(-1)).toMatchObject({
      actor_kind: 'person',
      actor: id,
      organization_id: people.workspaces[0].id,
      target: made.body.data.id,
    });
    expect((await trail('invitation.created')).at(-1)).toMatchObject({
      actor_kind: 'person',
      actor: await idOf(admin),
    });
    expect(JSON.stringify(await trail('invitation.created'))).not.toContain('@');
    const revoked = await call(admin, 'DELETE', `${at()}/invitations/${made.body.data.id}`);
    expect([revoked.status, revoked.body.error.code]).toEqual([409, 'INVITATION_USED']);
  });

  it('is taken by one of two who sign in at once', async () => {
    const { status } = await invite(admin, 'twin@example.com', 'viewer');
    expect(status).toBe(201);
    const both = await Promise.all([
      visit('twin-1', { email: 'twin@example.com' }),
      visit('twin-2', { email: 'twin@example.com' }),
    ]);
    expect(both.map(({ ended }) => ended).toSorted()).toEqual(['/console', '/console?problem=NO_ACCESS']);
  });

  it('is for the verified address alone', async () => {
    await invite(admin, 'kim@example.com', 'admin');
    const unverified = await visit('mallory-1', { email: 'kim@example.com', email_verified: false });
    expect(unverified.ended).toBe('/console?problem=EMAIL_UNVERIFIED');
    // The sign of Kelvin, whose lower case is a k of ASCII.
    const alike = await visit('mallory-2', { email: '\u212Aim@example.com' });
    expect(alike.ended).toBe('/console?problem=NO_ACCESS');
    const sub = await visit('mallory-3', { email: 'kim@example.com.evil.example' });
    expect(sub.ended).toBe('/console?problem=NO_ACCESS');
    expect((await visit('kim')).ended).toBe('/console');
  });

  it('ends by its time and when it is revoked', async () => {
    const late = (await invite(admin, 'late@example.com', 'agent')).body.data.id as string;
    await people.test.database.execute("update invitation set expires_at = now() - interval '1 second' where id = $1", [
      late,
    ]);
    expect((await visit('late')).ended).toBe('/console?problem=NO_ACCESS');
    const gone = (await invite(admin, 'gone@example.com', 'agent')).body.data.id as string;
    for (let time = 0; time < 2; time++) {
      const { status, body } = await call(admin, 'DELETE', `${at()}/invitations/${gone}`);
      expect([status, body.data.status]).toEqual([200, 'revoked']);
    }
    expect((await visit('gone')).ended).toBe('/console?problem=NO_ACCESS');
    const rows = (await admin.get(`${at()}/invitations`)).body.data as { id: string; status: string }[];
    expect(rows.find(({ id }) => id === late)?.status).toBe('expired');
    expect((await trail('invitation.revoked')).filter(({ target }) => target === gone)).toHaveLength(1);
  });

  it('takes the place of one that waits for the same address', async () => {
    const first = (await invite(admin, 'twice@example.com', 'viewer')).body.data;
    const second = (await invite(operator, 'twice@example.com', 'developer')).body.data;
    expect(second).toMatchObject({ id: first.id, role: 'developer' });
    const { browser } = await visit('twice');
    expect((await browser.get('/key')).body.data.person.role).toBe('developer');
  });

  it('says the same of known and unknown addresses', async () => {
    const shape = async (email: string) => {
      const { status, body } = await invite(admin, email, 'viewer', 0);
      const { id: _id, email: _email, created_at: _made, expires_at: _ends, ...rest } = body.data;
      return { status, rest };
    };
    // `otto` is a person who is no member here.
    expect(await shape('otto@example.com')).toEqual(await shape('unknown@example.com'));
    expect((await admin.get(`${ADMIN}/people?email=otto%40example.com`)).body.error.code).toBe('SCOPE_REQUIRED');
  });

  it('refuses what is no address, no role, and no time', async () => {
    const refused = async (body: object) => {
      const answer = await call(admin, 'POST', `${at()}/invitations`, { email: 'a@b', role: 'agent', ...body });
      return [answer.status, answer.body.error.details?.[0]?.field];
    };
    expect(await refused({ email: 'none' })).toEqual([400, 'email']);
    expect(await refused({ email: 'a b@c' })).toEqual([400, 'email']);
    expect(await refused({ role: 'operator' })).toEqual([400, 'role']);
    expect(await refused({ expires_in: 299 })).toEqual([400, 'expires_in']);
    expect(await refused({ expires_in: 2_592_001 })).toEqual([400, 'expires_in']);
  });

  it('goes with its workspace, and no one accepts it while that is deleted', async () => {
    const { id } = await people.test.factories.workspace();
    const path = `${ADMIN}/workspaces/${id}/invitations`;
    await call(operator, 'POST', path, { email: 'moved@example.com', role: 'admin' });
    await people.test.database.execute('update organization set deletion_requested_at = now() where id = $1', [id]);
    expect((await visit('moved')).ended).toBe('/console?problem=NO_ACCESS');
  });
});

describe('people of a workspace', () => {
  it('are listed with their roles, by admins and operators', async () => {
    const own = await people.person('una', { groups: ['second'] });
    const listed = (await operator.get(`${at(1)}/people`)).body.data as { id: string }[];
    const ownId = await idOf(own);
    expect(listed.find(({ id }) => id === ownId)).toMatchObject({
      name: 'The una',
      email: 'una@example.com',
      role: 'agent',
      group_role: 'agent',
      given_role: null,
    });
    const seen = (await admin.get(`${at()}/people`)).body.data as { email: string }[];
    expect(seen.map(({ email }) => email)).not.toContain('una@example.com');
    expect(seen.map(({ email }) => email)).not.toContain('otto@example.com');
  });

  it('are listed in pages, each once', async () => {
    for (const each of ['p1', 'p2', 'p3', 'p4']) {
      await invite(operator, `${each}@example.com`, 'viewer', 1);
      // A group and an invitation: one entry.
      await visit(each, { groups: ['second'] });
    }
    const all = (await operator.get(`${at(1)}/people`)).body.data as { id: string }[];
    const paged: string[] = [];
    for (let place = ''; ;) {
      const { data, pagination } = (await operator.get(`${at(1)}/people?limit=2${place}`)).body;
      paged.push(...(data as { id: string }[]).map(({ id }) => id));
      if (pagination.next_before === null) break;
      place = `&before=${encodeURIComponent(pagination.next_before)}&before_id=${pagination.next_before_id}`;
    }
    expect(paged).toEqual(all.map(({ id }) => id));
    expect(new Set(paged).size).toBe(paged.length);
    expect(all.length).toBeGreaterThan(4);
  });

  it('get another role, at once', async () => {
    await invite(admin, 'rob@example.com', 'viewer');
    const { browser: rob } = await visit('rob');
    const id = await idOf(rob);
    const changed = await call(admin, 'PATCH', `${at()}/people/${id}`, { role: 'agent' });
    expect(changed.body.data).toMatchObject({ id, role: 'agent', given_role: 'agent', group_role: null });
    await waitFor(async () => (await rob.get('/key')).body.data.person.role === 'agent');
    expect((await trail('membership.changed')).at(-1)).toMatchObject({
      actor: await idOf(admin),
      target: id,
      details: { role: 'agent', before: 'viewer' },
    });
    expect((await call(admin, 'DELETE', `${at()}/people/${id}`)).status).toBe(204);
    await waitFor(async () => (await rob.get('/key')).status !== 200);
    expect((await trail('membership.removed')).at(-1)).toMatchObject({ target: id, details: { before: 'agent' } });
    expect((await visit('rob')).ended).toBe('/console?problem=NO_ACCESS');
    const again = await call(admin, 'DELETE', `${at()}/people/${id}`);
    expect([again.status, again.body.error.code]).toEqual([404, 'PERSON_NOT_FOUND']);
  });

  it('keep what a group of the issuer gives', async () => {
    const gus = await idOf(await people.person('gus', { groups: ['developers'] }));
    const code = async (method: string, body?: object) => {
      const answer = await call(admin, method, `${at()}/people/${gus}`, body);
      return [answer.status, answer.body?.error?.code ?? answer.body?.data.role];
    };
    expect(await code('PATCH', { role: 'viewer' })).toEqual([409, 'ROLE_BY_GROUP']);
    expect(await code('DELETE')).toEqual([409, 'ROLE_BY_GROUP']);
    expect(await code('PATCH', { role: 'admin' })).toEqual([200, 'admin']);
  });

  it('of another workspace are as unknown ones', async () => {
    const far = await idOf(await people.person('far', { groups: ['second'] }));
    const seen = async (id: string) => {
      const answers = [
        await call(admin, 'PATCH', `${at()}/people/${id}`, { role: 'admin' }),
        await call(admin, 'DELETE', `${at()}/people/${id}`),
        await call(admin, 'DELETE', `${at()}/people/${id}/sessions`),
      ];
      return answers.map(({ status, body }) => [status, JSON.stringify(body).replaceAll(body.error.request_id, 'id')]);
    };
    const unknown = await seen('01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f');
    expect(unknown.map(([status]) => status)).toEqual([404, 404, 404]);
    expect(await seen(far)).toEqual(unknown);
    const invited = (await invite(operator, 'far-too@example.com', 'agent', 1)).body.data.id as string;
    const revoke = await call(admin, 'DELETE', `${at()}/invitations/${invited}`);
    expect([revoke.status, revoke.body.error.code]).toEqual([404, 'INVITATION_NOT_FOUND']);
  });

  it('are signed out everywhere by an admin, and by an operator', async () => {
    const eve = await people.person('eve', { groups: ['agents'] });
    const id = await idOf(eve);
    const over = (browser: Browser) =>
      waitFor(async () => (await browser.get('/key')).body.error?.code === 'SESSION_ENDED');
    expect((await call(admin, 'DELETE', `${at()}/people/${id}/sessions`)).status).toBe(204);
    await over(eve);
    expect((await trail('person.signed_out_everywhere')).at(-1)).toMatchObject({
      actor: await idOf(admin),
      organization_id: people.workspaces[0].id,
      target: id,
    });
    const again = await people.person('eve', { groups: ['agents'] });
    const person = (await operator.get(`${ADMIN}/people/${id}`)).body.data;
    expect(person).toMatchObject({ email: 'eve@example.com', is_operator: false, workspaces: [{ role: 'agent' }] });
    expect(person.sessions).toHaveLength(1);
    expect((await call(operator, 'DELETE', `${ADMIN}/people/${id}/sessions`)).status).toBe(204);
    await over(again);
    const found = (await operator.get(`${ADMIN}/people?email=EVE%40example.com`)).body.data;
    expect(found).toMatchObject([{ id, email: 'eve@example.com', issuer: people.issuer.url }]);
  });
});

describe('keys that people make', () => {
  const body = { name: 'orders', scopes: ['messages:write', 'messages:read'] };

  it('work, are never wider than the role, and name the person in the audit trail', async () => {
    const dev = await people.person('dev', { groups: ['developers'] });
    const made = await call(dev, 'POST', `${at()}/keys`, body);
    expect(made.status).toBe(201);
    const { id, key } = made.body.data;
    const api = new ApiClient(people.test.baseUrl);
    expect((await api.get('/key', { key })).body.data).toMatchObject({ scopes: body.scopes, person: null });
    expect((await trail('key.created')).at(-1)).toMatchObject({
      actor_kind: 'person',
      actor: await idOf(dev),
      target: id,
    });
    const otp = await call(dev, 'POST', `${at()}/keys`, { name: 'codes', scopes: ['otp:send'] });
    expect([otp.status, otp.body.error.code]).toEqual([403, 'KEY_BEYOND_ROLE']);
    const rotated = await call(dev, 'POST', `${at()}/keys/${id}/rotate`, { overlap_seconds: 0 });
    expect(rotated.status).toBe(201);
    expect((await call(dev, 'DELETE', `${at()}/keys/${rotated.body.data.id}`)).status).toBe(200);
  });

  it('of a project of codes are not changed and not rotated, but revoked', async () => {
    const { id } = people.workspaces[0];
    const project = await call(operator, 'POST', `${at()}/otp-projects`, { name: 'Login', mode: 'sandbox' });
    const given = { name: 'codes', scopes: ['otp:send'], otp_project_id: project.body.data.id };
    const made = (await call(operator, 'POST', `${ADMIN}/workspaces/${id}/keys`, given)).body.data.id as string;
    const codes = [
      await call(admin, 'POST', `${at()}/keys`, given),
      await call(admin, 'PATCH', `${at()}/keys/${made}`, { name: 'mine', expires_in: null }),
      await call(admin, 'POST', `${at()}/keys/${made}/rotate`, {}),
    ];
    expect(codes.map(({ status, body: { error } }) => [status, error.code])).toEqual(
      Array.from({ length: 3 }, () => [403, 'KEY_BEYOND_ROLE']),
    );
    expect((await call(admin, 'DELETE', `${at()}/keys/${made}`)).status).toBe(200);
  });

  it('are refused to who may not make any, and from a page of another origin', async () => {
    const agent = await people.person('aga', { groups: ['agents'] });
    const refused = await call(agent, 'POST', `${at()}/keys`, body);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'SCOPE_REQUIRED']);
    const foreign: Record<string, string>[] = [{ 'sec-fetch-site': 'same-site' }, { 'x-herald-console': '' }];
    for (const headers of foreign) {
      const answer = await admin.request({ method: 'POST', path: `${at()}/keys`, body, headers });
      expect([answer.status, answer.body.error.code]).toEqual([403, 'SESSION_FROM_ANOTHER_PAGE']);
      const invited = await admin.request({ method: 'POST', path: `${at()}/invitations`, body: {}, headers });
      expect(invited.body.error.code).toBe('SESSION_FROM_ANOTHER_PAGE');
    }
  });

  it('end for who is demoted', async () => {
    await invite(operator, 'dora@example.com', 'developer');
    const { browser: dora } = await visit('dora');
    expect((await dora.get('/key')).body.data.person.admin_scopes).toEqual(['keys:read', 'keys:write']);
    expect((await call(dora, 'GET', `${at()}/keys`)).status).toBe(200);
    await call(admin, 'PATCH', `${at()}/people/${await idOf(dora)}`, { role: 'agent' });
    await waitFor(async () => (await call(dora, 'GET', `${at()}/keys`)).status === 403);
  });
});
