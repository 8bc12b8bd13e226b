import { ConnectionCheckService } from '../../src/modules/connections/connection-check.service.js';
import { SetupRepository } from '../../src/modules/setup/setup.repository.js';
import { SignupPlatform } from '../../src/modules/setup/signup-platform.js';
import { SetupApp } from './fixture.js';

describe('a setup link', () => {
  let setup: SetupApp;

  beforeAll(async () => {
    setup = await SetupApp.start();
  });

  afterAll(() => setup?.stop());

  const codeOf = async (path: string, method = 'GET'): Promise<string> => {
    const { status, body } = await setup.admin.test.api.request({
      method,
      path,
      ...(method === 'POST' && { body: {} }),
    });
    const { code = '', status: how = '' } = (body?.error ?? {}) as { code?: string; status?: string };
    return `${status} ${code} ${how}`.trim();
  };
  const change = (id: string, to: string): Promise<unknown> =>
    setup.admin.test.database.execute(`update setup_link set ${to} where id = $1`, [id]);

  it('that is none, or was revoked, or whose time is over, opens nothing and says why', async () => {
    const link = await setup.link();
    const revoked = await setup.link();
    await setup.api.call('DELETE', `/workspaces/${revoked.workspaceId}/setup-links/${revoked.linkId}`);
    const over = await setup.link();
    await change(over.linkId, "expires_at = now() - interval '1 second'");
    const wrong = `/setup/hrld_setup_${'A'.repeat(43)}`;
    for (const [path, code] of [
      [revoked.path, '410 SETUP_LINK_ENDED revoked'],
      [over.path, '410 SETUP_LINK_ENDED expired'],
      [wrong, '404 SETUP_LINK_UNKNOWN'],
      ['/setup/x', '404 SETUP_LINK_UNKNOWN'],
      [`/setup/${link.linkId}`, '404 SETUP_LINK_UNKNOWN'],
    ] as const) {
      expect(await codeOf(`${path}/state`)).toBe(code);
      expect(await codeOf(`${path}/steps/subscribe`, 'POST')).toBe(code);
    }
    expect((await link.state()).status).toBe(200);
  });

  it('answers an unknown token as one that has no form of a token, byte by byte', async () => {
    const seen = await Promise.all(
      ['x', `hrld_setup_${'A'.repeat(43)}`, `hrld_setup_${'B'.repeat(43)}`].map(async (token) => {
        const { status, body, headers } = await setup.admin.test.api.get(`/setup/${token}/state`);
        const names = [...headers.keys()].filter((name) => !/^(date|x-request-id)$/.test(name));
        return { status, text: JSON.stringify(body).replaceAll(body.error.request_id, 'id'), names };
      }),
    );
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  it('of a workspace that is being deleted is as unknown', async () => {
    const link = await setup.link();
    await setup.api.call('DELETE', `/workspaces/${link.workspaceId}`);
    expect((await link.state()).body.error.code).toBe('SETUP_LINK_UNKNOWN');
  });

  it('takes steps in their order, of its own kind, one at a time', async () => {
    const link = await setup.link();
    expect((await link.step('register')).body.error).toMatchObject({ code: 'SETUP_STEP_EARLY', before: 'access' });
    expect((await link.step('history')).body.error.code).toBe('SETUP_STEP_EARLY');
    expect((await link.step('test', { to: '+15550001234' })).body.error.code).toBe('SETUP_STEP_EARLY');
    expect((await link.step('pay')).status).toBe(404);
    await link.took('access', await link.dialog());
    await change(link.linkId, "busy_until = now() + interval '1 minute'");
    expect((await link.step('subscribe')).body.error.code).toBe('SETUP_STEP_BUSY');
    // A process that died in the middle of a step.
    await change(link.linkId, "busy_until = now() - interval '1 second'");
    expect((await link.took('subscribe')).state).toBe('done');
  });

  it('that is opened in two windows connects one number once', async () => {
    const link = await setup.link();
    await link.took('access', await link.dialog());
    for (const step of ['subscribe', 'register']) await link.took(step);
    const answers = await Promise.all([1, 2, 3].map(() => link.step('connect')));
    const codes = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(codes[0]).toBe(200);
    expect(codes.slice(1).every((status) => status === 409 || status === 410)).toBe(true);
    expect(await setup.connections(link.workspaceId)).toHaveLength(1);
    const events = await setup.admin.test.database.query(
      "select 1 from audit_event where target = $1 and action = 'setup.completed'",
      [link.linkId],
    );
    expect(events).toHaveLength(1);
  });

  it('loses its token of the account when it is revoked, and within a minute after its end', async () => {
    const tokens = async (): Promise<number> =>
      (await setup.admin.test.database.query('select 1 from setup_link where access_token_ciphertext is not null'))
        .length;
    const [one, two] = [await setup.link(), await setup.link()];
    const before = await tokens();
    for (const link of [one, two]) await link.took('access', await link.dialog());
    expect(await tokens()).toBe(before + 2);
    await setup.api.call('DELETE', `/workspaces/${one.workspaceId}/setup-links/${one.linkId}`);
    expect(await tokens()).toBe(before + 1);
    await change(two.linkId, "expires_at = now() - interval '1 second'");
    const repository = setup.admin.test.app.get(SetupRepository, { strict: false });
    expect(await repository.clearTokens(10)).toBe(1);
    expect(await tokens()).toBe(before);
  });

  it('that is revoked while its access is being gained keeps no token', async () => {
    const link = await setup.link();
    const given = await link.dialog();
    const platform = setup.admin.test.app.get(SignupPlatform, { strict: false });
    const number = platform.number.bind(platform);
    const spy = import.meta.jest.spyOn(platform, 'number').mockImplementation(async (...asked) => {
      await setup.api.call('DELETE', `/workspaces/${link.workspaceId}/setup-links/${link.linkId}`);
      return number(...asked);
    });
    const answer = await link.step('access', given);
    spy.mockRestore();
    const [stored] = await setup.admin.test.database.query<{ token: unknown }>(
      'select access_token_ciphertext as token from setup_link where id = $1',
      [link.linkId],
    );
    expect([answer.status, answer.body.error?.status, stored?.token]).toEqual([410, 'revoked', null]);
  });

  it('that is revoked while it connects its number connects none', async () => {
    const link = await setup.link();
    await link.took('access', await link.dialog());
    for (const step of ['subscribe', 'register']) await link.took(step);
    const numbers = setup.admin.test.app.get(ConnectionCheckService, { strict: false });
    const check = numbers.check.bind(numbers);
    let revoked = 0;
    const spy = import.meta.jest.spyOn(numbers, 'check').mockImplementation(async (...asked) => {
      const answer = await setup.api.call('DELETE', `/workspaces/${link.workspaceId}/setup-links/${link.linkId}`);
      revoked = answer.status;
      return check(...asked);
    });
    const answer = await link.step('connect');
    spy.mockRestore();
    expect([revoked, answer.status, await setup.connections(link.workspaceId)]).toEqual([200, 410, []]);
  });

  it('that was used is revoked no more', async () => {
    const link = await setup.link();
    await link.took('access', await link.dialog());
    for (const step of ['subscribe', 'register', 'connect']) await link.took(step);
    const refused = await setup.api.call('DELETE', `/workspaces/${link.workspaceId}/setup-links/${link.linkId}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'SETUP_LINK_USED']);
  });

  it.each([
    ['cloud', 'access', {}, ['code', 'waba_id']],
    ['manual', 'access', { code: 'x' }, ['access_token', 'waba_id', 'phone_number_id']],
    ['manual', 'access', { access_token: '  ', waba_id: '12345', phone_number_id: '12345' }, ['access_token']],
    ['manual', 'access', { waba_id: 'x', phone_number_id: '1/2', access_token: 't' }, ['waba_id', 'phone_number_id']],
    ['cloud', 'register', { pin: '12345' }, ['pin']],
    ['cloud', 'register', { pin: 123456 }, ['pin']],
    ['cloud', 'test', { to: 'me' }, ['to']],
    ['cloud', 'test', {}, ['to']],
    ['cloud', 'connect', { organization_id: 'x' }, ['organization_id']],
  ])('of %s refuses for the step %s %j', async (signup, step, body, fields) => {
    const link = await setup.link({ signup });
    const answer = await link.step(step, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field).toSorted()).toEqual(fields.toSorted());
  });

  it('leads nowhere once the operator has taken the origin away', async () => {
    const link = await setup.link({ return_url: 'https://app.example.com/' });
    const origins = setup.admin.test.config.whatsapp.setupReturnOrigins;
    const kept = origins.splice(0);
    try {
      expect((await link.state()).body.data.return_url).toBeNull();
    } finally {
      origins.push(...kept);
    }
  });

  it('that is guessed at too often says nothing any more to this address; a right one is answered', async () => {
    const env = { AUTH_FAILURES_PER_MINUTE: '3' };
    const strict = await SetupApp.start({ roles: ['api'], shareWith: setup.admin.test, env });
    try {
      const { api } = strict.admin.test;
      const codes = [];
      for (let i = 0; i < 5; i++) {
        codes.push((await api.get(`/setup/hrld_setup_${String(i).repeat(43)}/state`)).status);
      }
      expect(codes).toEqual([404, 404, 404, 429, 429]);
      const link = await setup.link();
      expect((await api.get(`${link.path}/state`)).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });

  it('takes thirty requests at once, then one a second', async () => {
    const link = await setup.link();
    const answers = await Promise.all(Array.from({ length: 45 }, () => link.state()));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(30);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error.code).toBe('RATE_LIMITED');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
