import { type PeopleApp, ISSUER, startPeople } from './fixture.js';

let people: PeopleApp;

beforeAll(async () => {
  people = await startPeople();
});
afterAll(() => people?.stop());

const problemOf = (at: string): string | null => new URLSearchParams(at.split('?')[1]).get('problem');

describe('a sign-in', () => {
  it('makes a caller of the person, with the scopes of the role', async () => {
    const ann = await people.person('ann', { groups: ['agents'] });
    const { status, body } = await ann.get('/key');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      workspace: { id: people.workspaces[0].id },
      name: 'The ann',
      otp_project: null,
      person: { email: 'ann@example.com', name: 'The ann', role: 'agent' },
    });
    expect(body.data.scopes).toContain('messages:write');
    expect(body.data.scopes).not.toContain('templates:write');
  });

  it('leaves a cookie that no script reads and no other site sends, and only a hash in the database', async () => {
    const browser = people.browser();
    people.issuer.accounts.set('bea', { email: 'bea@example.com', email_verified: true, groups: ['viewers'] });
    const { response } = await browser.walk(`${people.test.baseUrl}/auth/sign-in/${encodeURIComponent(ISSUER)}`, 'bea');
    const [set = ''] = response.headers.getSetCookie().filter((line) => line.startsWith('__Host-herald='));
    expect(set).toMatch(/^__Host-herald=[\w-]{43}; Max-Age=28800; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    const token = browser.cookies().get('__Host-herald') ?? '';
    expect([...browser.cookies().keys()]).toEqual(['__Host-herald']);
    const rows = await people.test.database.query('select to_jsonb(s)::text as row from person_session s');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(token).toString('hex'));
  });

  it('opens the page that was asked for, and no other site', async () => {
    await people.person('cid', { groups: ['viewers'] });
    expect(await people.browser().signIn('cid', '/console/messages/01')).toBe('/console/messages/01');
    for (const to of ['https://evil.example', '//evil.example', '/console//evil.example', '/consoles', '/docs']) {
      expect(await people.browser().signIn('cid', to)).toBe('/console');
    }
  });

  it.each([
    ['without an e-mail address', { email: undefined }, 'EMAIL_MISSING'],
    ['with one that is not verified', { email_verified: false }, 'EMAIL_UNVERIFIED'],
    ['with one of which it is not known', { email_verified: undefined }, 'EMAIL_UNVERIFIED'],
    ['without a group', { groups: [] }, 'NO_ACCESS'],
    ['of a group that has no role', { groups: ['others', 'Agents', 'agents '] }, 'NO_ACCESS'],
  ])('of an account %s says what to do, and leaves nothing', async (_what, claims, code) => {
    const count = () => people.test.database.count('select count(*)::int as count from person');
    const before = await count();
    people.issuer.accounts.set('dora', {
      email: 'dora@example.com',
      email_verified: true,
      groups: ['agents'],
      ...claims,
    });
    const browser = people.browser();
    expect(problemOf(await browser.signIn('dora'))).toBe(code);
    expect(browser.cookies().has('__Host-herald')).toBe(false);
    expect(await count()).toBe(before);
    const { body } = await people.test.api.get<{ problems: Record<string, string> }>('/auth/issuers');
    expect(body.problems[code]).toMatch(/[a-z].{20,}/);
  });

  it('that is cancelled at the issuer says so', async () => {
    expect(problemOf(await people.browser().signIn(''))).toBe('SIGN_IN_DECLINED');
  });

  it('succeeds where the issuer replaced its keys meanwhile, and right after another one', async () => {
    await people.person('eve', { groups: ['viewers'] });
    people.issuer.rotate();
    expect(await people.browser().signIn('eve')).toBe('/console');
    // Between the way there and the way back.
    const browser = people.browser();
    const begun = await browser.open(`${people.test.baseUrl}/auth/sign-in/${encodeURIComponent(ISSUER)}`);
    people.issuer.rotate();
    expect((await browser.walk(begun.headers.get('location') ?? '', 'eve')).url).toBe('/console');
  });

  it('while the issuer is away says so, and can be repeated', async () => {
    await people.person('fay', { groups: ['viewers'] });
    const browser = people.browser();
    const begun = await browser.open(`${people.test.baseUrl}/auth/sign-in/${encodeURIComponent(ISSUER)}`);
    people.issuer.isAway = true;
    try {
      // The issuer's page is gone: what a person sees there is its own answer.
      const secrets = new URL(begun.headers.get('location') ?? '').searchParams;
      const back = `${people.test.baseUrl}/auth/callback/${encodeURIComponent(ISSUER)}`;
      const query = new URLSearchParams({ code: 'x', state: secrets.get('state') ?? '', iss: people.issuer.url });
      expect(problemOf((await browser.walk(`${back}?${query.toString()}`, 'fay')).url)).toBe('ISSUER_AWAY');
      // What was known of the issuer is not trusted any more.
      expect(problemOf(await people.browser().signIn('fay'))).toBe('ISSUER_AWAY');
    } finally {
      people.issuer.isAway = false;
    }
    expect(await browser.signIn('fay')).toBe('/console');
  });

  it('takes no answer that is another browser’s, is changed, or comes twice', async () => {
    await people.person('gus', { groups: ['viewers'] });
    const path = `${people.test.baseUrl}/auth/sign-in/${encodeURIComponent(ISSUER)}`;
    const browser = people.browser();
    let back = '';
    // Up to the way back.
    for (let at = path; back === '';) {
      const isForm = new URL(at).pathname.startsWith('/interaction/');
      const form = { method: 'POST', body: new URLSearchParams({ account: 'gus' }) };
      const response = await browser.open(at, isForm ? form : {});
      at = new URL(response.headers.get('location') ?? at, at).href;
      if (at.includes('/auth/callback/')) back = at;
    }
    const stranger = people.browser();
    expect(problemOf((await stranger.walk(back, 'gus')).url)).toBe('SIGN_IN_EXPIRED');
    expect(stranger.cookies().has('__Host-herald')).toBe(false);
    const kept = browser.cookies().get('__Host-herald-sign-in') ?? '';
    expect(problemOf((await browser.walk(back.replace(/state=[\w-]+/, 'state=another'), 'gus')).url)).toBe(
      'SIGN_IN_EXPIRED',
    );
    browser.cookies().set('__Host-herald-sign-in', kept);
    expect((await browser.walk(back, 'gus')).url).toBe('/console');
    browser.cookies().set('__Host-herald-sign-in', kept);
    expect(problemOf((await browser.walk(back, 'gus')).url)).toBe('SIGN_IN_EXPIRED');
  });

  it('knows no other issuer', async () => {
    const { status, body } = await people.test.api.get('/auth/sign-in/Another');
    expect([status, body.error.code]).toEqual([404, 'ISSUER_NOT_FOUND']);
  });
});

describe('where an issuer does not know Herald', () => {
  it('the sign-in says who can mend it', async () => {
    const settings = people.issuer.settings(ISSUER, { client_secret: 'another secret than that of the client' });
    const wrong = await startPeople({ env: { OIDC_ISSUERS: JSON.stringify([settings]) } });
    try {
      people.issuer.accounts.set('hal', { email: 'hal@example.com', email_verified: true, groups: ['viewers'] });
      people.issuer.register(wrong.test.baseUrl, ISSUER);
      expect(problemOf(await wrong.browser().signIn('hal'))).toBe('ISSUER_REFUSED');
    } finally {
      await wrong.stop();
    }
  });
});
