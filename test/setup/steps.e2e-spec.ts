import { randomUUID } from 'node:crypto';
import { OTHER_PIN } from '../../simulator/src/numbers/signup.routes.js';
import { waitFor } from '../support/wait-for.js';
import { SetupApp, type SetupVisitor, type Step } from './fixture.js';

const statesOf = (steps: readonly Step[]): string => steps.map(({ name, state }) => `${name} ${state}`).join(', ');

describe('a business connects its number', () => {
  let setup: SetupApp;

  beforeAll(async () => {
    setup = await SetupApp.start({ roles: ['api', 'worker', 'simulator'] });
  });

  afterAll(() => setup?.stop());

  const row = async (link: SetupVisitor): Promise<Record<string, unknown>> => {
    const [found] = await setup.admin.test.database.query<Record<string, unknown>>(
      'select * from setup_link where id = $1',
      [link.linkId],
    );
    return found as Record<string, unknown>;
  };
  const connected = async (link: SetupVisitor): Promise<string> => {
    for (const step of ['subscribe', 'register']) await link.took(step);
    const answer = await link.step('connect');
    expect(answer.body.data.connection).toMatchObject({ status: 'connected' });
    return answer.body.data.continuation;
  };

  it('by the dialog: access, notifications, registration, connection; then it can send', async () => {
    const link = await setup.link({ return_url: 'https://app.example.com/back?tab=2#top' });
    const opened = await link.state();
    expect([opened.status, opened.body.data]).toMatchObject([
      200,
      {
        signup: 'cloud',
        dialog: { app_id: '670843887433847', config_id: '1', simulator_url: setup.admin.test.simulatorUrl },
        return_url: `https://app.example.com/back?tab=2&setup=${link.linkId}&status=open#top`,
        connection: null,
        continuation: null,
      },
    ]);
    const given = await link.dialog();
    const { simulator } = setup.admin.test;
    expect(simulator.numbers.isSubscribed(given.waba_id)).toBe(false);
    for (const [step, body] of [['access', given], ['subscribe'], ['register']] as const) {
      expect(await link.took(step, body)).toMatchObject({ state: 'done', problem: null });
      expect(await setup.connections(link.workspaceId)).toEqual([]);
    }
    expect(simulator.numbers.isSubscribed(given.waba_id)).toBe(true);
    expect(simulator.numbers.factsOf(given.phone_number_id ?? '').status).toBe('CONNECTED');
    const last = await link.step('connect');
    expect(last.body.data).toMatchObject({
      return_url: `https://app.example.com/back?tab=2&setup=${link.linkId}&status=completed#top`,
      connection: { verified_name: 'Lighthouse Coffee', status: 'connected' },
    });
    expect(statesOf(last.body.data.steps)).toBe('access done, subscribe done, register done, connect done, test open');
    const [connection] = await setup.connections(link.workspaceId);
    expect(connection).toMatchObject({ phone_number_id: given.phone_number_id, status: 'connected' });
    const shown = await setup.api.get(`/workspaces/${link.workspaceId}/setup-links/${link.linkId}`);
    expect(shown.body.data).toMatchObject({ status: 'completed', connection_id: connection?.id });
    expect(shown.body.data.opened_at).not.toBeNull();
    const told = async (): Promise<object[]> => {
      const { body } = await setup.api.get<{ data: { workspace_id: string }[] }>('/events?types=setup.completed');
      return body.data.filter((event) => event.workspace_id === link.workspaceId);
    };
    await waitFor(async () => (await told()).length === 1);
    expect(await told()).toMatchObject([
      {
        type: 'setup.completed',
        data: { id: link.linkId, changes: { signup: 'cloud', connection_id: connection?.id } },
      },
    ]);

    const key = await setup.admin.test.factories.apiKey({ organizationId: link.workspaceId });
    const sent = await setup.admin.test.api.as(key.text).post(
      '/messages',
      {
        connection_id: connection?.id,
        to: '+15550001234',
        type: 'template',
        template: { name: 'hello_world', language: 'en_US' },
      },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    expect(sent.status).toBe(202);
    await waitFor(() => simulator.messages.list({ to: '15550001234' }).length === 1);
  });

  it('and a test message and no second number come of the used link', async () => {
    const link = await setup.link();
    await link.took('access', await link.dialog());
    const continuation = await connected(link);
    for (const again of [
      await link.state(),
      await link.step('connect'),
      await link.step('test', { to: '+15550004321' }),
    ]) {
      expect([again.status, again.body.error.code, again.body.error.status]).toEqual([
        410,
        'SETUP_LINK_ENDED',
        'completed',
      ]);
    }
    const wrong = await link.step('test', { to: '+15550004321', continuation: `${continuation.slice(1)}A` });
    expect(wrong.status).toBe(410);
    expect(await link.took('test', { to: '+15550004321', continuation })).toMatchObject({ state: 'done' });
    await waitFor(() => setup.admin.test.simulator.messages.list({ to: '15550004321' }).length === 1);
    const { access_token_ciphertext: token } = await row(link);
    expect(token).toBeNull();
    expect((await link.step('connect', { continuation })).status).toBe(410);
    const database = setup.admin.test.database;
    await database.execute("update setup_link set completed_at = now() - interval '2 hours' where id = $1", [
      link.linkId,
    ]);
    expect((await link.step('test', { to: '+15550004321', continuation })).status).toBe(410);
  });

  it('with a number that stays in the app: nothing is registered, and its history comes', async () => {
    const link = await setup.link({ signup: 'app' });
    expect(statesOf((await link.state()).body.data.steps)).toBe(
      'access open, subscribe open, connect open, history open, test open',
    );
    // The dialog of such a number may leave out its id.
    const { phone_number_id: number, ...given } = await link.dialog({ feature: 'whatsapp_business_app_onboarding' });
    await link.took('access', given);
    expect((await link.step('register')).status).toBe(409);
    await link.took('subscribe');
    const { continuation } = (await link.step('connect')).body.data;
    expect(await link.took('history', { continuation })).toMatchObject({ state: 'done' });
    expect((await setup.connections(link.workspaceId))[0]).toMatchObject({ phone_number_id: number });
    const again = await link.took('history', { continuation });
    expect(again.problem).toMatchObject({ code: 'history_refused', mended_by: 'business' });
    expect(again.problem?.platform_message).toContain('asked for once');
  });

  it('by ids and a token that are pasted', async () => {
    const link = await setup.link({ signup: 'manual' });
    const { data } = await setup.dialog();
    const token = `secret-${randomUUID()}`;
    expect((await link.state()).body.data.dialog).toBeNull();
    const step = await link.took('access', { ...data, access_token: ` ${token}\n` });
    expect(step.state).toBe('done');
    await connected(link);
    expect(await setup.connections(link.workspaceId)).toHaveLength(1);
    const trail = await setup.api.get(`/audit?workspace_id=${link.workspaceId}`);
    expect(trail.body.data.map(({ action, actor_kind: by }: Record<string, string>) => `${action} ${by}`)).toEqual([
      'setup.completed setup_link',
      'connection.added setup_link',
      'setup_link.created operator_key',
    ]);
    expect(trail.body.data[0].actor).toBe(link.linkId);
    expect(JSON.stringify([trail.body, await row(link)])).not.toContain(token);
  });

  describe('a failed step says who can mend it, and is repeated alone:', () => {
    it('a wrong PIN', async () => {
      const link = await setup.link();
      const given = await link.dialog({ outcome: 'wrong_pin' });
      await link.took('access', given);
      await link.took('subscribe');
      expect(await link.took('register')).toMatchObject({
        state: 'failed',
        problem: { code: 'pin_wrong', mended_by: 'business', field: 'pin' },
      });
      expect((await link.step('connect')).body.error).toMatchObject({ code: 'SETUP_STEP_EARLY', before: 'register' });
      // Another visit goes on where the first one ended.
      expect(statesOf((await link.state()).body.data.steps)).toBe(
        'access done, subscribe done, register failed, connect open, test open',
      );
      expect((await link.took('register', { pin: '111111' })).problem?.code).toBe('pin_wrong');
      expect((await link.took('register', { pin: OTHER_PIN })).state).toBe('done');
      expect((await link.took('connect')).state).toBe('done');
    });

    it('a number that is registered elsewhere', async () => {
      const link = await setup.link();
      const given = await link.dialog({ outcome: 'elsewhere' });
      await link.took('access', given);
      await link.took('subscribe');
      expect((await link.took('register')).problem).toMatchObject({ code: 'number_elsewhere', mended_by: 'business' });
      await link.took('access', await link.dialog({ phone_number_id: given.phone_number_id ?? '' }));
      await connected(link);
    });

    it('an app that may not use the account', async () => {
      const link = await setup.link();
      const step = await link.took('access', await link.dialog({ outcome: 'app_not_allowed' }));
      expect(step.problem).toMatchObject({ code: 'app_not_allowed', mended_by: 'business' });
      expect(step.problem?.message).toContain('another app owns it');
      expect((await row(link)).access_token_ciphertext).toBeNull();
      await link.took('access', await link.dialog());
      await connected(link);
    });

    it('a code that was used, or is too old', async () => {
      const link = await setup.link();
      const old = await link.took('access', await link.dialog({ outcome: 'code_refused' }));
      expect(old.problem).toMatchObject({
        code: 'code_refused',
        platform_message: 'This authorization code has expired.',
      });
      const given = await link.dialog();
      await link.took('access', given);
      const used = await link.took('access', given);
      expect(used.problem).toMatchObject({ code: 'code_refused', mended_by: 'business' });
    });

    it('a dialog without a number', async () => {
      const link = await setup.link();
      const { phone_number_id: _one, ...given } = await link.dialog({ outcome: 'no_number' });
      const second = await setup.dialog();
      // An account with more numbers than one: which one is not said.
      setup.admin.test.simulator.registerNumber({
        phoneNumberId: `${second.data.phone_number_id}7`,
        wabaId: given.waba_id,
        displayPhoneNumber: '+16505550007',
        verifiedName: 'Two',
      });
      expect((await link.took('access', given)).problem).toMatchObject({
        code: 'number_missing',
        mended_by: 'business',
      });
    });

    it('a number of another workspace', async () => {
      const other = await setup.link();
      const given = await other.dialog();
      await other.took('access', given);
      await connected(other);
      const link = await setup.link({ signup: 'manual' });
      const { code: _code, ...ids } = given;
      const step = await link.took('access', { ...ids, access_token: 'of-someone' });
      expect(step.problem).toMatchObject({ code: 'number_taken', mended_by: 'operator' });
      expect(JSON.stringify(step)).not.toContain(other.workspaceId);
      expect(await setup.connections(link.workspaceId)).toEqual([]);
    });

    it('the same number in the same workspace gets the new access, and is registered with the same PIN', async () => {
      const first = await setup.link();
      const given = await first.dialog();
      await first.took('access', given);
      await connected(first);
      const { numbers } = setup.admin.test.simulator;
      const pin = numbers.stateOf(given.phone_number_id ?? '').pin;
      expect(pin).toMatch(/^\d{6}$/);
      numbers.change(given.phone_number_id ?? '', { status: 'DISCONNECTED' });
      const again = await setup.link({}, first.workspaceId);
      await again.took('access', await again.dialog({ phone_number_id: given.phone_number_id ?? '' }));
      await connected(again);
      expect(await setup.connections(first.workspaceId)).toHaveLength(1);
      const stored = await setup.admin.test.database.query<{ text: string }>(
        'select number_pin::text as text from number_pin where phone_number_id = $1',
        [given.phone_number_id],
      );
      expect(stored).toHaveLength(1);
      expect(stored[0]?.text).not.toContain(Buffer.from(pin ?? '').toString('hex'));
    });

    it.each([
      ['access_token', 'token_refused', (given: object) => ({ ...given, access_token: 'expired-token' })],
      ['waba_id', 'account_unknown', (given: object) => ({ ...given, waba_id: '99999999' })],
      ['phone_number_id', 'number_unknown', (given: object) => ({ ...given, phone_number_id: '99999999' })],
      [
        'phone_number_id',
        'number_not_in_account',
        (given: object) => ({ ...given, phone_number_id: '106540352242922' }),
      ],
      ['access_token', 'token_permission', (given: object) => ({ ...given, access_token: 'narrow-token' })],
      ['access_token', 'other_app', (given: object) => ({ ...given, access_token: 'foreign-token' })],
    ])('the pasted %s: %s', async (field, code, wrong) => {
      const { tokens } = setup.admin.test.simulator;
      tokens.setValid('expired-token', false);
      tokens.setForeign('foreign-token', true);
      tokens.deny('narrow-token');
      const link = await setup.link({ signup: 'manual' });
      const right = { ...(await setup.dialog()).data, access_token: `token-${randomUUID()}` };
      const step = await link.took('access', wrong(right));
      expect(step).toMatchObject({ state: 'failed', problem: { code, field, mended_by: 'business' } });
      expect((await link.took('access', right)).state).toBe('done');
    });

    it('WhatsApp that is away', async () => {
      const link = await setup.link();
      await link.took('access', await link.dialog());
      const { simulator } = setup.admin.test;
      simulator.applyFaults({ down: true });
      try {
        expect((await link.took('subscribe')).problem).toMatchObject({ code: 'platform_away', mended_by: 'time' });
      } finally {
        simulator.applyFaults({ down: false });
      }
      expect((await link.took('subscribe')).state).toBe('done');
    });

    it('and the operator sees it', async () => {
      const link = await setup.link();
      await link.took('access', await link.dialog({ outcome: 'app_not_allowed' }));
      const shown = await setup.api.get(`/workspaces/${link.workspaceId}/setup-links/${link.linkId}`);
      expect(shown.body.data).toMatchObject({ status: 'open', connection_id: null });
      expect(shown.body.data.steps[0]).toMatchObject({
        name: 'access',
        state: 'failed',
        problem: { code: 'app_not_allowed', mended_by: 'business' },
      });
    });
  });
});
