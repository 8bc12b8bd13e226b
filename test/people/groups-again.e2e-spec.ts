import { jest } from '@jest/globals';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { GrantsRepository } from '../../src/modules/people/sign-in/grants.repository.js';
import { Issuers } from '../../src/modules/people/sign-in/issuers.service.js';
import { waitFor } from '../support/wait-for.js';
import { type Browser, ISSUER, type PeopleApp, startPeople } from './fixture.js';

let people: PeopleApp;

beforeAll(async () => {
  people = await startPeople();
  people.issuer.refreshes = true;
});
afterAll(() => people?.stop());
afterEach(() => {
  people.issuer.isAway = false;
});

const personOf = async (browser: Browser): Promise<string> =>
  (await browser.get<{ data: { person: { id: string } } }>('/auth/session')).body.data.person.id;

const setGroups = (id: string, ...groups: string[]): void => {
  people.issuer.accounts.set(id, { email: `${id}@example.com`, email_verified: true, name: `The ${id}`, groups });
};

/** Makes the time of a check pass for all, and lets them run. */
async function checkAll(): Promise<void> {
  await makeDue();
  await run();
}

const makeDue = () => people.test.database.execute('update person_grant set check_due_at = clock_timestamp()');

const run = () => people.test.app.get(Sweeps, { strict: false }).runNow('person groups');

const grants = () =>
  people.test.database.query<{ id: string; minutes: number; text: string }>(
    `select id, extract(epoch from check_due_at - clock_timestamp())::float8 / 60 as minutes, encode(grant_ciphertext, 'escape') as text
     from person_grant order by id`,
  );

const codeOf = async (browser: Browser, workspaceId: string) => {
  const { status, body } = await browser.in(workspaceId).get('/key');
  return status === 200 ? (body.data.person.role as string) : body.error.code;
};

describe('groups of a person who is signed in', () => {
  it('are read again: what a group gave ends without a sign-in, and what another one gives begins', async () => {
    const [first, second] = people.workspaces;
    const ada = await people.person('ada', { groups: ['agents', 'second'] });
    expect(await codeOf(ada, second.id)).toBe('agent');
    setGroups('ada', 'developers');
    await checkAll();
    await waitFor(async () => (await codeOf(ada, second.id)) === 'SESSION_WORKSPACE_UNKNOWN');
    expect(await codeOf(ada, first.id)).toBe('developer');
    const id = await personOf(ada);
    const [event] = await people.test.database.query<{ details: object; kind: string }>(
      `select details, actor_kind as kind from audit_event where action = 'person.groups_changed' and target = $1`,
      [id],
    );
    expect(event).toEqual({
      details: { is_operator: false, roles: { [first.id]: 'developer' }, by: 'issuer' },
      kind: 'service',
    });
  });

  it('end the role operator, in every browser', async () => {
    const ben = await people.person('ben', { groups: ['operators', 'viewers'] });
    const other = await people.person('ben', { groups: ['operators', 'viewers'] });
    const admin = async (browser: Browser) => (await browser.get('/api/admin/v1/workspaces')).status;
    expect([await admin(ben), await admin(other)]).toEqual([200, 200]);
    setGroups('ben', 'viewers');
    await checkAll();
    await waitFor(async () => (await admin(ben)) === 403 && (await admin(other)) === 403);
    expect(await codeOf(ben, people.workspaces[0].id)).toBe('viewer');
  });

  it('end all sessions with the last of them', async () => {
    const browsers = [
      await people.person('cem', { groups: ['agents'] }),
      await people.person('cem', { groups: ['agents'] }),
    ];
    setGroups('cem');
    await checkAll();
    for (const browser of browsers) await waitFor(async () => (await browser.get('/key')).status === 401);
    // The step can be repeated, and says who can mend it.
    expect(await people.browser().signIn('cem')).toContain('problem=NO_ACCESS');
    setGroups('cem', 'agents');
    expect(await people.browser().signIn('cem')).toBe('/console');
  });

  it('of a session that ends at this moment are not kept', async () => {
    const { database, app } = people.test;
    const eda = await people.person('eda', { groups: ['agents'] });
    const [session] = await database.query<{ id: string }>('select id from person_session where person_id = $1', [
      await personOf(eda),
    ]);
    const id = session?.id ?? '';
    const ending = await database.pool.connect();
    try {
      await ending.query('begin');
      await ending.query('delete from person_session where id = $1', [id]);
      const kept = app.get(GrantsRepository, { strict: false }).keep(id, Buffer.from('sealed'), 5);
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into person_grant%'`;
      await waitFor(async () => (await database.query(waits)).length === 1, { what: 'the grant to wait for the end' });
      await ending.query('commit');
      await kept;
    } finally {
      ending.release();
    }
    expect(await database.query('select from person_grant where id = $1', [id])).toEqual([]);
  });

  it('leave what an invitation gave', async () => {
    const [first, second] = people.workspaces;
    const dee = await people.person('dee', { groups: ['agents'] });
    await people.test.database.execute(
      `insert into membership (organization_id, person_id, source, role) values ($1, $2, 'invitation', 'viewer')`,
      [second.id, await personOf(dee)],
    );
    setGroups('dee');
    await checkAll();
    await waitFor(async () => (await codeOf(dee, first.id)) === 'SESSION_WORKSPACE_UNKNOWN');
    expect(await codeOf(dee, second.id)).toBe('viewer');
  });

  it('are asked for once in 15 minutes, with a refresh token that works once, and that nothing shows', async () => {
    const eli = await people.person('eli', { groups: ['agents'] });
    const asked = jest.spyOn(people.test.app.get(Issuers, { strict: false }), 'askAgain');
    try {
      await makeDue();
      await run();
      const calls = asked.mock.calls.length;
      await run();
      expect(asked).toHaveBeenCalledTimes(calls);
      const tokens = asked.mock.calls.map(([, grant]) => grant.refreshToken);
      const rows = await grants();
      for (const { minutes } of rows) {
        expect(minutes).toBeGreaterThan(14);
        expect(minutes).toBeLessThanOrEqual(15);
      }
      await checkAll();
      const next = asked.mock.calls.slice(calls).map(([, grant]) => grant.refreshToken);
      expect(next.filter((token) => tokens.includes(token))).toEqual([]);
      const stored = JSON.stringify([
        rows,
        await people.test.database.query('select to_jsonb(a)::text from audit_event a'),
        await people.test.database.query('select to_jsonb(s)::text from person_session s'),
      ]);
      expect([...tokens, ...next].filter((token) => stored.includes(token))).toEqual([]);
      expect(await codeOf(eli, people.workspaces[0].id)).toBe('agent');
    } finally {
      asked.mockRestore();
    }
  });

  it('are not asked for by two processes at once', async () => {
    await people.person('fin', { groups: ['agents'] });
    await makeDue();
    const repository = people.test.app.get(GrantsRepository, { strict: false });
    const taken = (await Promise.all([repository.claim(50, 2), repository.claim(50, 2)])).flat();
    expect(new Set(taken.map(({ sessionId }) => sessionId)).size).toBe(taken.length);
    expect(taken.length).toBe((await grants()).length);
  });
});

describe('an issuer', () => {
  it('that is away ends no session, and is asked again until it answers', async () => {
    const gus = await people.person('gus', { groups: ['agents'] });
    setGroups('gus');
    people.issuer.isAway = true;
    await checkAll();
    expect(await codeOf(gus, people.workspaces[0].id)).toBe('agent');
    for (const { minutes } of await grants()) expect(minutes).toBeLessThanOrEqual(2);
    people.issuer.isAway = false;
    await checkAll();
    await waitFor(async () => (await gus.get('/key')).status === 401);
  });

  it('that replaced its keys is understood', async () => {
    const hal = await people.person('hal', { groups: ['agents'] });
    people.issuer.rotate();
    setGroups('hal', 'viewers');
    await checkAll();
    expect(await waitFor(async () => (await codeOf(hal, people.workspaces[0].id)) === 'viewer')).toBe(true);
  });

  it('that took the refresh token back has ended the session', async () => {
    const ivy = await people.person('ivy', { groups: ['agents'] });
    const id = await personOf(ivy);
    people.issuer.revokeRefreshTokens();
    await checkAll();
    await waitFor(async () => (await ivy.get('/key')).status === 401);
    const details = await people.test.database.query(
      `select details from audit_event where action = 'person.signed_out' and target = $1`,
      [id],
    );
    expect(details).toEqual([{ details: { ended: 1, by: 'issuer' } }]);
  });

  it('that does not know the account any more has ended the session', async () => {
    const joy = await people.person('joy', { groups: ['agents'] });
    people.issuer.accounts.delete('joy');
    await checkAll();
    expect(await waitFor(async () => (await joy.get('/key')).status === 401)).toBe(true);
  });

  it('that hands out no refresh token is asked at the next sign-in only', async () => {
    people.issuer.refreshes = false;
    try {
      const kay = await people.person('kay', { groups: ['agents'] });
      const id = await personOf(kay);
      const kept = await people.test.database.query(
        'select from person_grant g join person_session s on s.id = g.id where s.person_id = $1',
        [id],
      );
      expect(kept).toEqual([]);
      setGroups('kay');
      await checkAll();
      expect(await codeOf(kay, people.workspaces[0].id)).toBe('agent');
    } finally {
      people.issuer.refreshes = true;
    }
  });

  it('that the operator took away has ended its sessions', async () => {
    const lou = await people.person('lou', { groups: ['agents'] });
    const { issuers } = people.test.config.people;
    const [known] = issuers.splice(0, 1);
    try {
      await checkAll();
    } finally {
      if (known !== undefined) issuers.push(known);
    }
    await waitFor(async () => (await lou.get('/key')).status === 401);
    expect(known?.name).toBe(ISSUER);
  });
});

describe('the end of a session', () => {
  it('ends with it what the issuer handed out', async () => {
    const mia = await people.person('mia', { groups: ['agents'] });
    const id = await personOf(mia);
    const kept = () =>
      people.test.database.count(
        'select count(*)::int as count from person_grant g join person_session s on s.id = g.id where s.person_id = $1',
        [id],
      );
    expect(await kept()).toBe(1);
    await mia.request({ method: 'DELETE', path: '/auth/session' });
    expect(await kept()).toBe(0);
  });
});
