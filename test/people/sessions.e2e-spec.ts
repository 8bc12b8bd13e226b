import { jest } from '@jest/globals';
import { EventWaits } from '../../src/modules/webhook/events/event-waits.service.js';
import { ApiClient } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { type Browser, ISSUER, type PeopleApp, startPeople } from './fixture.js';

let people: PeopleApp;

beforeAll(async () => {
  people = await startPeople();
});
afterAll(() => people?.stop());

const ended = (browser: Browser): Promise<true> =>
  waitFor(async () => {
    const { status, body } = await browser.get('/key');
    return status === 401 && body.error.code === 'SESSION_ENDED';
  });
const works = async (browser: Browser): Promise<boolean> => (await browser.get('/key')).status === 200;
const personOf = async (browser: Browser): Promise<string> =>
  (await browser.get('/auth/session')).body.data.person.id as string;

describe('a session', () => {
  it('says who is signed in, and which workspaces there are', async () => {
    const ina = await people.person('ina', { groups: ['both'] });
    const { status, body } = await ina.get('/auth/session');
    const [first, second] = people.workspaces;
    expect(status).toBe(200);
    expect(body.data).toEqual({
      person: { id: expect.any(String), name: 'The ina', email: 'ina@example.com', is_operator: false },
      workspaces: expect.arrayContaining([
        { id: first.id, name: first.name, role: 'agent' },
        { id: second.id, name: second.name, role: 'admin' },
      ]),
      expires_at: expect.stringMatching(/Z$/),
    });
  });

  it('of a person with several workspaces names one in each request', async () => {
    const jan = await people.person('jan', { groups: ['both'] });
    const [first, second] = people.workspaces;
    const { status, body } = await jan.get('/key');
    expect([status, body.error.code]).toEqual([400, 'SESSION_WORKSPACE_REQUIRED']);
    const roleIn = async (id: string) => (await jan.in(id).get('/key')).body.data.person.role as string;
    expect([await roleIn(first.id), await roleIn(second.id)]).toEqual(['agent', 'admin']);
    const none = await jan.in('none').get('/key');
    expect([none.status, none.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  });

  it('sees no foreign workspace, which is as an unknown one, byte by byte', async () => {
    const kim = await people.person('kim', { groups: ['agents'] });
    const seen = async (id: string) => {
      const { status, body } = await kim.in(id).get('/messages');
      return [status, JSON.stringify(body).replaceAll(body.error.request_id, 'id')];
    };
    const unknown = await seen('01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f');
    expect(unknown[0]).toBe(403);
    expect(await seen(people.workspaces[1].id)).toEqual(unknown);
  });

  it('takes no request that is not from a page of the console', async () => {
    const lea = await people.person('lea', { groups: ['agents'] });
    const cookie = lea.cookieHeader();
    const client = new ApiClient(people.test.baseUrl);
    const code = async (headers: Record<string, string>) => {
      const { status, body } = await client.get('/key', { headers: { cookie, ...headers } });
      return status === 200 ? 200 : body.error.code;
    };
    const console = { 'x-herald-console': '1' };
    const refused = 'SESSION_FROM_ANOTHER_PAGE';
    expect(await code({ ...console, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await code({ ...console, origin: people.test.baseUrl })).toBe(200);
    expect(await code({ 'sec-fetch-site': 'same-origin' })).toBe(refused);
    expect(await code(console)).toBe(refused);
    for (const site of ['same-site', 'cross-site', 'none']) {
      expect(await code({ ...console, 'sec-fetch-site': site, origin: people.test.baseUrl })).toBe(refused);
    }
    for (const origin of ['null', 'https://evil.example', `${people.test.baseUrl}.evil.example`, 'http://127.0.0.1']) {
      expect(await code({ ...console, origin })).toBe(refused);
    }
    expect(await code({ ...console, 'sec-fetch-site': 'same-origin', 'x-herald-console': 'true' })).toBe(refused);
  });

  it('gives way to a key', async () => {
    const mia = await people.person('mia', { groups: ['agents'] });
    const { key, workspace } = await people.test.sender();
    const { body } = await mia.request({ path: '/key', key: key.text });
    expect(body.data).toMatchObject({ workspace: { id: workspace.id }, person: null });
    const wrong = await mia.request({ path: '/key', key: 'hrld_live_none' });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'API_KEY_INVALID']);
  });

  it('is no key for agents of the Model Context Protocol', async () => {
    const ned = await people.person('ned', { groups: ['agents'] });
    const { status } = await ned.request({
      method: 'POST',
      path: '/mcp',
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    });
    expect(status).toBe(401);
  });

  it('spends the requests of its person, in all workspaces together', async () => {
    const slow = await startPeople({ env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' } });
    try {
      const ole = await slow.person('ole', { groups: ['both'] });
      const ids = slow.workspaces.map(({ id }) => id);
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++) statuses.push((await ole.in(ids[i % 2] ?? '').get('/key')).status);
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(4);
      const pia = await slow.person('pia', { groups: ['agents'] });
      expect(await works(pia)).toBe(true);
    } finally {
      await slow.stop();
    }
  });
});

describe('the end of a session', () => {
  it('is a sign-out in this browser', async () => {
    const one = await people.person('quin', { groups: ['agents'] });
    const other = await people.person('quin', { groups: ['agents'] });
    const kept = one.cookieHeader();
    const { status, headers } = await one.request({ method: 'DELETE', path: '/auth/session' });
    expect(status).toBe(204);
    expect(headers.getSetCookie()[0]).toMatch(/^__Host-herald=; Max-Age=0; /);
    await waitFor(async () => {
      const { status: now } = await one.request({ path: '/key', headers: { cookie: kept } });
      return now === 401;
    });
    expect(await works(other)).toBe(true);
  });

  it('is a sign-out everywhere', async () => {
    const browsers = [
      await people.person('rob', { groups: ['agents'] }),
      await people.person('rob', { groups: ['agents'] }),
    ];
    const stranger = await people.person('sam', { groups: ['agents'] });
    expect((await browsers[0]?.request({ method: 'DELETE', path: '/auth/sessions' }))?.status).toBe(204);
    for (const each of browsers) await ended(each);
    expect(await works(stranger)).toBe(true);
  });

  it('is the next sign-in in the same browser: of two texts one works', async () => {
    const tom = await people.person('tom', { groups: ['agents'] });
    const former = tom.cookieHeader();
    expect(await tom.signIn('tom')).toBe('/console');
    expect(tom.cookieHeader()).not.toBe(former);
    await waitFor(async () => (await tom.request({ path: '/key', headers: { cookie: former } })).status === 401);
    expect(await works(tom)).toBe(true);
  });

  it.each([
    ['by its age', 'expires_at'],
    ['by the time without a request', 'last_seen_at'],
  ])('comes %s', async (_how, column) => {
    const uma = await people.person('uma', { groups: ['agents'] });
    const past = column === 'expires_at' ? "interval '1 second'" : "interval '61 minutes'";
    await people.test.database.execute(
      `update person_session set ${column} = clock_timestamp() - ${past} where person_id = $1`,
      [await personOf(uma)],
    );
    expect(await ended(uma)).toBe(true);
  });

  it('comes no later than eight hours after the sign-in, whatever is asked meanwhile', async () => {
    const vic = await people.person('vic', { groups: ['agents'] });
    expect(await works(vic)).toBe(true);
    const [row] = await people.test.database.query<{ hours: number }>(
      `select extract(epoch from expires_at - created_at)::float8 / 3600 as hours from person_session where person_id = $1`,
      [await personOf(vic)],
    );
    expect(row?.hours).toBeCloseTo(8, 2);
  });

  it('comes with a group that was removed, at the next sign-in, in every browser', async () => {
    const wim = await people.person('wim', { groups: ['agents', 'second'] });
    const [first, second] = people.workspaces;
    expect((await wim.in(second.id).get('/key')).status).toBe(200);
    people.issuer.accounts.set('wim', { email: 'wim@example.com', email_verified: true, groups: ['agents'] });
    expect(await people.browser().signIn('wim')).toBe('/console');
    await waitFor(async () => (await wim.in(second.id).get('/key')).body.error?.code === 'SESSION_WORKSPACE_UNKNOWN');
    expect((await wim.in(first.id).get('/key')).status).toBe(200);
    // The last one.
    people.issuer.accounts.set('wim', { email: 'wim@example.com', email_verified: true, groups: [] });
    expect(await people.browser().signIn('wim')).toContain('problem=NO_ACCESS');
    await ended(wim);
  });

  it('comes with the workspace', async () => {
    const { test } = people;
    const xia = await people.person('xia', { groups: ['both'] });
    const [first] = people.workspaces;
    await test.database.execute('update organization set deletion_requested_at = clock_timestamp() where id = $1', [
      first.id,
    ]);
    try {
      const refused = () =>
        waitFor(async () => (await xia.in(first.id).get('/key')).body.error?.code === 'SESSION_WORKSPACE_UNKNOWN');
      expect(await refused()).toBe(true);
    } finally {
      await test.database.execute('update organization set deletion_requested_at = null where id = $1', [first.id]);
    }
  });

  it('reaches a request that waits', async () => {
    const yara = await people.person('yara', { groups: ['agents'] });
    const { body } = await yara.get<{ next: string }>('/events?after=now');
    const waits = jest.spyOn(people.test.app.get(EventWaits, { strict: false }), 'wait');
    const waiting = yara.get(`/events?after=${body.next}&wait=2`);
    await waitFor(() => waits.mock.calls.length > 0);
    await yara.request({ method: 'DELETE', path: '/auth/sessions' });
    expect((await waiting).status).toBe(401);
  });
});

describe('back-channel logout', () => {
  const path = `/auth/logout/${encodeURIComponent(ISSUER)}`;
  const send = (token: string | null) =>
    people.test.api.request({
      method: 'POST',
      path,
      body: token === null ? 'other=1' : new URLSearchParams({ logout_token: token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const sessionOf = async (browser: Browser): Promise<string> => {
    const [row] = await people.test.database.query<{ sid: string }>(
      'select issuer_session as sid from person_session where person_id = $1',
      [await personOf(browser)],
    );
    return row?.sid ?? '';
  };

  it('by the issuer itself ends the session that has ended there', async () => {
    const zoe = await people.person('zoe', { groups: ['agents'] });
    const other = await people.person('zoe', { groups: ['agents'] });
    expect(await sessionOf(zoe)).not.toBe('');
    // As a person signs out at the issuer.
    const page = await (await zoe.open(`${people.issuer.url}/session/end`)).text();
    const xsrf = /name="xsrf" value="(\w+)"/.exec(page)?.[1] ?? '';
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    const done = await zoe.open(`${people.issuer.url}/session/end/confirm`, { method: 'POST', body });
    expect(done.status).toBeLessThan(400);
    await ended(zoe);
    expect(await works(other)).toBe(true);
  });

  it('ends one session by its name, or all of a person; also right after the issuer replaced its keys', async () => {
    const browsers = [
      await people.person('abe', { groups: ['agents'] }),
      await people.person('abe', { groups: ['agents'] }),
    ];
    const [one, other] = browsers as [Browser, Browser];
    const [row] = await people.test.database.query<{ sid: string }>(
      `select issuer_session as sid from person_session where person_id = $1 order by created_at limit 1`,
      [await personOf(one)],
    );
    expect((await send(await people.issuer.logoutToken({ sid: row?.sid }))).status).toBe(200);
    await ended(one);
    expect(await works(other)).toBe(true);
    people.issuer.rotate();
    await waitFor(async () => (await send(await people.issuer.logoutToken({ sub: 'abe' }))).status === 200);
    await ended(other);
  });

  it('takes no other token', async () => {
    const bob = await people.person('bob', { groups: ['agents'] });
    const { issuer } = people;
    const now = Math.floor(Date.now() / 1_000);
    const tokens = {
      none: null,
      nothing: '',
      'what is no token': 'a.b.c',
      'another key': await issuer.logoutToken({ sub: 'bob' }, { key: issuer.otherKey() }),
      'another client': await issuer.logoutToken({ sub: 'bob', aud: 'other' }),
      'another issuer': await issuer.logoutToken({ sub: 'bob', iss: 'https://evil.example' }),
      'an ID token': await issuer.logoutToken({ sub: 'bob', nonce: 'x' }),
      'without the event': await issuer.logoutToken({ sub: 'bob', events: {} }),
      'without an id': await issuer.logoutToken({ sub: 'bob', jti: undefined }),
      'of nobody': await issuer.logoutToken({}),
      'an old one': await issuer.logoutToken({ sub: 'bob', iat: now - 600, exp: now + 600 }),
      'an expired one': await issuer.logoutToken({ sub: 'bob', exp: now - 60 }),
    };
    for (const [what, token] of Object.entries(tokens)) {
      const { status, body } = await send(token);
      expect([what, status, body.error?.code]).toEqual([what, 400, 'LOGOUT_TOKEN_INVALID']);
    }
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: 'bob' })).toString('base64url')}.`;
    expect((await send(unsigned)).status).toBe(400);
    expect(await works(bob)).toBe(true);
  });

  it('while the issuer is away can be repeated', async () => {
    const fresh = await startPeople();
    try {
      const cat = await fresh.person('cat', { groups: ['agents'] });
      const token = new URLSearchParams({ logout_token: await fresh.issuer.logoutToken({ sub: 'cat' }) }).toString();
      const sent = async () => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        return (await fresh.test.api.request({ method: 'POST', path, body: token, headers })).status;
      };
      fresh.issuer.isAway = true;
      expect(await sent()).toBe(503);
      fresh.issuer.isAway = false;
      await waitFor(async () => (await sent()) === 200);
      await ended(cat);
    } finally {
      await fresh.stop();
    }
  });
});

describe('the audit trail', () => {
  it('names the person', async () => {
    const dan = await people.person('dan', { groups: ['operators'] });
    const id = await personOf(dan);
    const [workspace] = people.workspaces;
    const name = `Named by ${id}`;
    await dan.request({ method: 'PATCH', path: `/api/admin/v1/workspaces/${workspace.id}`, body: { name } });
    await dan.request({ method: 'DELETE', path: '/auth/session' });
    const rows = await people.test.database.query<{ action: string; kind: string; target: string }>(
      'select action, actor_kind as kind, target from audit_event where actor = $1 order by id',
      [id],
    );
    expect(rows).toEqual([
      { action: 'person.signed_in', kind: 'person', target: id },
      { action: 'workspace.changed', kind: 'person', target: workspace.id },
      { action: 'person.signed_out', kind: 'person', target: id },
    ]);
  });
});

describe('without an issuer', () => {
  it('nothing is open, and a cookie is nothing', async () => {
    const fay = await people.person('fay', { groups: ['operators'] });
    const bare = await startPeople({ shareWith: people.test, env: { OIDC_ISSUERS: '', OIDC_ROLES: '' } });
    try {
      const headers = { cookie: fay.cookieHeader(), 'sec-fetch-site': 'same-origin', 'x-herald-console': '1' };
      expect((await bare.test.api.get('/auth/issuers')).body).toEqual({ data: [] });
      for (const path of ['/key', '/messages', '/api/admin/v1/workspaces', '/auth/session']) {
        const { status } = await bare.test.api.get(path, { headers });
        expect([path, status]).toEqual([path, 401]);
      }
      expect((await bare.test.api.get(`/auth/sign-in/${encodeURIComponent(ISSUER)}`)).status).toBe(404);
      expect((await bare.test.api.post(path404(), 'logout_token=x')).status).toBe(404);
    } finally {
      await bare.stop();
    }
  });
});

const path404 = (): string => `/auth/logout/${encodeURIComponent(ISSUER)}`;
