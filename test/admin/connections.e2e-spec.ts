import { randomInt, randomUUID } from 'node:crypto';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

describe('numbers over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api', 'simulator'] });
    api = await admin.operator();
  });

  afterAll(() => admin?.test.stop());

  const workspace = async (): Promise<string> => (await admin.test.factories.workspace()).id;

  /** A number that the simulator knows. */
  function number() {
    const digits = () => String(randomInt(1e12, 9e12));
    const [phone_number_id, waba_id] = [digits(), digits()];
    const displayPhoneNumber = `+1555${randomInt(1e6, 9e6)}`;
    const facts = { phoneNumberId: phone_number_id, wabaId: waba_id, displayPhoneNumber, verifiedName: 'Coffee' };
    admin.test.simulator.registerNumber(facts);
    return { body: { phone_number_id, waba_id, token: `secret-${randomUUID()}` }, digits: displayPhoneNumber.slice(1) };
  }

  it('are verified with the platform and stored; the token is shown nowhere', async () => {
    const id = await workspace();
    const { body, digits } = number();
    const added = await api.post(`/workspaces/${id}/connections`, { ...body, throughput_per_second: 7 });
    expect([added.status, added.body.data]).toMatchObject([
      201,
      {
        workspace_id: id,
        phone_number_id: body.phone_number_id,
        waba_id: body.waba_id,
        phone_number: digits,
        verified_name: 'Coffee',
        status: 'connected',
        throughput_per_second: 7,
        marketing_route: 'auto',
      },
    ]);
    const listed = await api.get(`/workspaces/${id}/connections`);
    expect(listed.body).toEqual({ data: [added.body.data] });
    const trail = await api.get(`/audit?workspace_id=${id}`);
    expect(trail.body.data[0]).toMatchObject({
      action: 'connection.added',
      actor: api.keyId,
      details: { token: 'set' },
    });
    expect(JSON.stringify([listed.body, trail.body])).not.toContain(body.token);
  });

  it('that were added again have the new token and are the same number', async () => {
    const id = await workspace();
    const { body } = number();
    const repeat = randomUUID();
    const first = await api.post(`/workspaces/${id}/connections`, body, repeat);
    await api.call('DELETE', `/workspaces/${id}/connections/${first.body.data.id}`);
    // A repeat is no new request: it answers what was answered.
    const replayed = await api.post(`/workspaces/${id}/connections`, body, repeat);
    expect([replayed.status, replayed.body]).toEqual([201, first.body]);
    expect((await api.get(`/workspaces/${id}/connections`)).body.data[0].status).toBe('disconnected');
    const again = await api.post(`/workspaces/${id}/connections`, { ...body, token: 'another' });
    expect(again.body.data).toMatchObject({ id: first.body.data.id, status: 'connected' });
  });

  it('that are added several times at once are one number', async () => {
    const id = await workspace();
    const { body } = number();
    const repeat = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => api.post(`/workspaces/${id}/connections`, body, repeat)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
    expect((await api.get(`/workspaces/${id}/connections`)).body.data).toHaveLength(1);
  });

  it('that two workspaces add at once are the number of one', async () => {
    const ids = await Promise.all([workspace(), workspace(), workspace()]);
    const { body } = number();
    const answers = await Promise.all(ids.map((id) => api.post(`/workspaces/${id}/connections`, body)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409]);
  });

  it('are changed, checked and disconnected', async () => {
    const id = await workspace();
    const { body } = number();
    const connection = (await api.post(`/workspaces/${id}/connections`, body)).body.data.id;
    const path = `/workspaces/${id}/connections/${connection}`;
    const changed = await api.call('PATCH', path, { marketing_route: 'messages' });
    expect([changed.status, changed.body.data.marketing_route]).toEqual([200, 'messages']);
    await admin.test.database.execute('update connection set verified_name = null where id = $1', [connection]);
    const checked = await api.post(`${path}/check`);
    expect([checked.status, checked.body.data.verified_name]).toEqual([200, 'Coffee']);
    const ended = await api.call('DELETE', path);
    expect([ended.status, ended.body.data]).toMatchObject([
      200,
      { status: 'disconnected', status_reason: 'disconnected_by_operator' },
    ]);
    const refused = await api.post(`${path}/check`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONNECTION_NOT_READY']);
  });

  it('that the platform refuses, or that another workspace has, leave nothing behind', async () => {
    const id = await workspace();
    const { body } = number();
    const cases = [
      [{ ...body, phone_number_id: '99999999' }, 422, 'NUMBER_REFUSED', 'does not know the number 99999999'],
      [{ ...body, waba_id: number().body.waba_id }, 422, 'NUMBER_REFUSED', `has no number ${body.phone_number_id}`],
      [{ ...body, phone_number: '4915100000000' }, 422, 'NUMBER_REFUSED', 'not 4915100000000'],
    ] as const;
    for (const [given, status, code, says] of cases) {
      const answer = await api.post(`/workspaces/${id}/connections`, given);
      expect([answer.status, answer.body.error.code]).toEqual([status, code]);
      expect(answer.body.error.message).toContain(says);
    }
    expect((await api.get(`/workspaces/${id}/connections`)).body).toEqual({ data: [] });
    await api.post(`/workspaces/${id}/connections`, body);
    const taken = await api.post(`/workspaces/${await workspace()}/connections`, body);
    expect([taken.status, taken.body.error.code]).toEqual([409, 'NUMBER_TAKEN']);
  });

  it('say 502 where the platform does not answer', async () => {
    const id = await workspace();
    const env = { WHATSAPP_API_URL: 'http://127.0.0.1:9' };
    const { body } = number();
    const away = await startAdminApp({ roles: ['api'], shareWith: admin.test, env });
    try {
      const answer = await (await away.operator()).post(`/workspaces/${id}/connections`, body);
      expect([answer.status, answer.body.error.code]).toEqual([502, 'NUMBER_REFUSED']);
      expect(answer.body.error.message).toContain('could not be asked');
    } finally {
      await away.test.stop();
    }
  });

  it('of another workspace are as unknown ones', async () => {
    const [own, other] = [await workspace(), await workspace()];
    const { id } = (await api.post(`/workspaces/${other}/connections`, number().body)).body.data;
    for (const each of [id, UNKNOWN, 'x']) {
      const path = `/workspaces/${own}/connections/${each}`;
      for (const answer of [
        await api.call('PATCH', path, { marketing_route: 'auto' }),
        await api.call('DELETE', path),
        await api.post(`${path}/check`),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([404, 'CONNECTION_NOT_FOUND']);
      }
    }
  });

  it.each([
    [{ phone_number_id: 'x' }, 'phone_number_id'],
    [{ waba_id: 5 }, 'waba_id'],
    [{ token: '' }, 'token'],
    [{ throughput_per_second: 0 }, 'throughput_per_second'],
    [{ marketing_route: 'fast' }, 'marketing_route'],
    [{ phone_number: '+1555' }, 'phone_number'],
  ])('are not added with %j', async (wrong, field) => {
    const body = { phone_number_id: '12345678', waba_id: '12345678', token: 't', ...wrong };
    const answer = await api.post(`/workspaces/${await workspace()}/connections`, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
  });
});
