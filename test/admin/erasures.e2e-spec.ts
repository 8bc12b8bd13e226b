import { jest } from '@jest/globals';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Erasure, ErasureUnfinishedError } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { settle } from '../support/settle.js';
import type { TestSender } from '../support/test-app.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

let phones = 15_550_310_000;

describe('erasures over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;
  let connection: TestSender['connection'];
  let path: string;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    api = await admin.operator({ scopes: ['erasures:write'] });
    ({ connection } = await admin.test.sender());
    path = `/workspaces/${connection.organizationId}/erasures`;
  });

  afterAll(() => admin?.test.stop());
  afterEach(() => jest.restoreAllMocks());

  /** A contact with a message that was read. */
  async function person(): Promise<{ phone: string; spec: object }> {
    const phone = String(++phones);
    const { id: conversationId } = await admin.test.factories.conversation({ connection, phone });
    const spec = { connection, conversationId, recipient: phone };
    await admin.test.factories.message({ ...spec, status: 'read', body: `to ${phone}` });
    return { phone, spec };
  }
  const namesLeft = async (phone: string): Promise<number> =>
    (await admin.test.database.query('select from conversation where phone = $1', [phone])).length;
  const trail = (): Promise<{ action: string; actor: string; actor_kind: string; text: string }[]> =>
    admin.test.database.query(
      `select action, actor, actor_kind, row_to_json(e)::text as text from audit_event e
       where organization_id = $1 and action like 'contact.%' order by id`,
      [connection.organizationId],
    );

  it('count with dry_run, and erase without, once for an Idempotency-Key', async () => {
    const { phone } = await person();
    const counted = await api.post(path, { number: `+${phone}`, dry_run: true });
    expect([counted.status, counted.body.data]).toEqual([
      200,
      {
        erased: false,
        more: false,
        waits_for: [],
        names: expect.any(Number),
        counts: expect.objectContaining({ messages: 1, contacts: 1 }),
      },
    ]);
    expect(await namesLeft(phone)).toBe(1);
    expect(await trail()).toEqual([]);

    const key = `erase ${counted.headers.get('x-request-id')}`;
    const erased = await api.post(path, { number: phone }, key);
    expect(erased.body.data).toMatchObject({ erased: true, more: false, waits_for: [], counts: { messages: 1 } });
    expect(Object.keys(erased.body.data.counts)).toEqual(Object.keys(counted.body.data.counts));
    expect(await namesLeft(phone)).toBe(0);
    const again = await api.post(path, { number: phone }, key);
    expect([again.status, again.body]).toEqual([200, erased.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    // There is nothing left to erase.
    expect((await api.post(path, { number: phone })).body.data).toMatchObject({
      erased: true,
      counts: { messages: 0 },
    });

    const events = await trail();
    expect(events.map(({ action, actor, actor_kind: kind }) => [action, kind, actor])).toEqual(
      ['contact.erasure_started', 'contact.erased', 'contact.erasure_started', 'contact.erased'].map((action) => [
        action,
        'operator_key',
        api.keyId,
      ]),
    );
    expect(JSON.stringify(events)).not.toContain(phone);
    const kept = await admin.test.database.query(`select row_to_json(r)::text from operator_repeat r`);
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify(kept)).not.toContain(phone);
  });

  it('find a person by the user id', async () => {
    const userId = 'DE.1795100000000931';
    await admin.test.factories.conversation({ connection, phone: null, userId });
    const { body } = await api.post(path, { user_id: userId });
    expect(body.data).toMatchObject({ erased: true, counts: { contacts: 1 } });
    expect(await admin.test.database.query('select from conversation where user_id = $1', [userId])).toEqual([]);
  });

  it.each([
    [{}, 'number'],
    [{ number: '15550001234', user_id: 'DE.1795' }, 'number'],
    [{ number: 'abc' }, 'number'],
    [{ number: null, user_id: 'DE.1795' }, 'number'],
    [{ user_id: '15550001234' }, 'user_id'],
    [{ number: '15550001234', dry_run: 'yes' }, 'dry_run'],
    [{ number: '15550001234', confirm: true }, 'confirm'],
  ])('are not made of %j', async (body, field) => {
    const { status, body: answer } = await api.post(path, body);
    expect([status, answer.error.details?.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
  });

  it('answer in time where something is in progress, go on, and are followed by a further call', async () => {
    const { phone, spec } = await person();
    const leaseUntil = new Date(Date.now() + 600_000);
    const { id } = await admin.test.factories.message({ ...spec, status: 'processing', leaseUntil } as never);
    const erasure = admin.test.app.get(Erasure);
    const before = (await trail()).length;
    const given = jest
      .spyOn(erasure, 'erase')
      .mockImplementationOnce((of, name) => Erasure.prototype.erase.call(erasure, of, name, 200));
    const first = await api.post(path, { number: phone });
    expect(given.mock.calls[0]?.[2]).toBeLessThanOrEqual(10_000);
    expect([first.status, first.body.data]).toMatchObject([
      200,
      { erased: false, more: true, waits_for: ['1 message is being sent to the contact'] },
    ]);
    expect(await namesLeft(phone)).toBe(1);
    await settle(admin.test.database, id);
    const second = await api.post(path, { number: phone });
    expect(second.body.data).toMatchObject({ erased: true, more: false, waits_for: [], counts: { messages: 2 } });
    expect(await namesLeft(phone)).toBe(0);
    expect((await trail()).slice(before).map(({ action }) => action)).toEqual([
      'contact.erasure_started',
      'contact.erased',
    ]);
  });

  it('that need more time are ended by a worker', async () => {
    const { phone } = await person();
    const erasure = admin.test.app.get(Erasure);
    const { organizationId } = connection;
    const counted = await erasure.count(organizationId, phone, 0).catch((error: unknown) => error);
    expect(counted).toMatchObject({ done: { counts: {}, names: 1 }, waitsFor: [] });
    const error = await erasure.erase(organizationId, phone, 0).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ErasureUnfinishedError);
    expect(error).toMatchObject({ done: { counts: {} }, waitsFor: [] });
    expect(await namesLeft(phone)).toBe(1);
    // It is due at once.
    await admin.test.app.get(Sweeps, { strict: false }).runNow('erasure');
    expect(await namesLeft(phone)).toBe(0);
    expect((await trail()).at(-1)?.action).toBe('contact.erased');
  });

  it('say how much they did before the time was over', async () => {
    const { phone } = await person();
    const done = { counts: { messages: 7 }, names: 3 };
    const erasure = admin.test.app.get(Erasure);
    for (const [method, body] of [
      ['erase', { number: phone }],
      ['count', { number: phone, dry_run: true }],
    ] as const) {
      jest.spyOn(erasure, method).mockRejectedValueOnce(new ErasureUnfinishedError(done, [], null));
      const { body: answer } = await api.post(path, body);
      expect(answer.data).toEqual({ erased: false, more: true, waits_for: [], names: 3, counts: { messages: 7 } });
    }
  });

  it('are refused in a workspace that is being deleted', async () => {
    const { id } = await admin.test.factories.workspace();
    await admin.test.database.execute(`update organization set deletion_requested_at = now() where id = $1`, [id]);
    const { status, body } = await api.post(`/workspaces/${id}/erasures`, { number: '15550001234' });
    expect([status, body.error.code]).toEqual([409, 'WORKSPACE_DELETING']);
  });
});
