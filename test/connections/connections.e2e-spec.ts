import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { connectionAtSimulator } from '../messages/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import type { ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

describe('GET /connections', () => {
  let test: TestApp;
  let organizationId: string;
  let api: ApiClient;
  let first: ConnectionRow;
  let second: ConnectionRow;

  beforeAll(async () => {
    test = await startTestApp();
    organizationId = (await test.factories.workspace()).id;
    api = test.api.as((await test.factories.apiKey({ organizationId })).text);
    first = await connectionAtSimulator(test, organizationId);
    second = await connectionAtSimulator(test, organizationId, { wabaId: first.wabaId });
  });
  afterAll(async () => test?.stop());

  const connection = async (id = first.id) => {
    const { body } = await api.get('/connections');
    return (body.data as { id: string }[]).find((each) => each.id === id);
  };
  const control = async (path: string, body: object) => {
    const response = await fetch(`${test.simulatorUrl}/_simulator/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  };
  /** As when the hour is over; once more where a round of the worker's own took a number at that very moment. */
  const refresh = async (...ids: string[]) => {
    for (let taken = 0; taken < ids.length;) {
      await test.database.execute('update connection set facts_due_at = clock_timestamp() where id = any($1::uuid[])', [
        ids,
      ]);
      taken = await test.app.get(Sweeps).runNow('connection_facts');
    }
  };
  const sealedToken = async (id: string): Promise<string> =>
    (await test.app.get(ConnectionsService).forSending(id))?.token ?? '';

  it("lists the workspace's numbers, oldest first, and no others", async () => {
    await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
    const { status, body } = await api.get('/connections');
    expect(status).toBe(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
    expect(body.data[0]).toEqual({
      id: first.id,
      phone_number: first.phoneNumber,
      verified_name: 'Test number',
      status: 'connected',
      status_reason: null,
      quality_rating: null,
      messaging_limit: null,
      throughput_per_second: 1_000,
      service_charged_since: null,
      marketing_route: 'auto',
      marketing_status: null,
      timezone: null,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
    });
  });

  it('needs a key, and the scope', async () => {
    expect((await test.api.get('/connections')).status).toBe(401);
    const other = await test.factories.apiKey({ organizationId, scopes: ['messages:read'] });
    const { status, body } = await test.api.as(other.text).get('/connections');
    expect([status, body.error.required_scope]).toEqual([403, 'connections:read']);
  });

  it('takes over what the platform says, when the hour is over', async () => {
    await control(`numbers/${first.phoneNumberId}`, {
      quality_rating: 'YELLOW',
      throughput: 'HIGH',
      messaging_limit: 'TIER_10K',
      verified_name: 'Renamed',
      notify: false,
    });
    await refresh(first.id, second.id);
    expect(await connection()).toMatchObject({
      quality_rating: 'YELLOW',
      throughput_per_second: 1_000,
      messaging_limit: 'TIER_10K',
      verified_name: 'Renamed',
    });
    expect(await connection(second.id)).toMatchObject({ quality_rating: 'GREEN', throughput_per_second: 80 });
  });

  it('sends 20 a second from a number that is in the WhatsApp Business app too', async () => {
    const change = (on_biz_app: string) =>
      control(`numbers/${first.phoneNumberId}`, { on_biz_app, throughput: 'HIGH' });
    await change('YES');
    await refresh(first.id);
    expect(await connection()).toMatchObject({ throughput_per_second: 20 });
    await change('NO');
    await refresh(first.id);
    expect(await connection()).toMatchObject({ throughput_per_second: 1_000 });
  });

  it('hears of a new limit by notification, at once', async () => {
    await control(`numbers/${second.phoneNumberId}`, { messaging_limit: 'TIER_100K' });
    await waitFor(
      async () => ((await connection(second.id)) as { messaging_limit?: string }).messaging_limit === 'TIER_100K',
    );
  });

  it('asks again within seconds when the platform reports a change', async () => {
    await control(`numbers/${first.phoneNumberId}`, { quality_rating: 'RED', former_events: true });
    const isRed = async () => ((await connection()) as { quality_rating?: string }).quality_rating === 'RED';
    const soon = `select from connection where id = $1 and facts_due_at < clock_timestamp() + interval '10 seconds'`;
    // Unless a round of the worker's own took it.
    await waitFor(async () => (await test.database.query(soon, [first.id])).length === 1 || (await isRed()));
    await refresh(first.id);
    expect(await isRed()).toBe(true);
  });

  it('shows a restriction of the account, which lasts for its time whatever the number says', async () => {
    const notice = (value: object) =>
      control('notify', {
        body: {
          object: 'whatsapp_business_account',
          entry: [{ id: first.wabaId, changes: [{ field: 'account_update', value }] }],
        },
      });
    const expiration = Math.floor(Date.now() / 1_000) + 600;
    await notice({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration }],
    });
    await waitFor(async () => ((await connection()) as { status?: string }).status === 'restricted');
    await refresh(first.id, second.id);
    expect(await connection()).toMatchObject({ status: 'restricted', status_reason: 'platform' });
    await notice({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } });
    await waitFor(async () => ((await connection()) as { status?: string }).status === 'connected');
    expect(await connection()).toMatchObject({ status_reason: null });
  });

  it('a revoked token disconnects the number; a new one connects it, and a late refusal of the old one changes nothing', async () => {
    const connections = test.app.get(ConnectionsService);
    const old = await connections.forSending(first.id);
    if (old === null) throw new Error('no connection');
    await control('tokens', { token: old.token, valid: false });
    await refresh(first.id);
    expect(await connection()).toMatchObject({ status: 'disconnected', status_reason: 'token_refused' });

    const { wabaId, phoneNumberId, phoneNumber } = first;
    await connections.add({ organizationId, wabaId, phoneNumberId, phoneNumber, token: 'a-new-token' });
    expect(await connection()).toMatchObject({ status: 'connected', status_reason: null });
    await connections.tokenRefused(old);
    expect(await connection()).toMatchObject({ status: 'connected' });
    expect(await sealedToken(first.id)).toBe('a-new-token');
  });

  it('what the operator has disconnected stays so, whatever the platform says', async () => {
    const connections = test.app.get(ConnectionsService);
    await connections.disconnect(organizationId, second.id);
    await refresh(second.id);
    expect(await connection(second.id)).toMatchObject({
      status: 'disconnected',
      status_reason: 'disconnected_by_operator',
    });
    await connections.setStatus(organizationId, second.id, 'connected');
  });

  it("a platform that is down, and a token that can't be decrypted, leave everything as it was", async () => {
    const before = await connection(second.id);
    const broken = await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
    await test.database.execute('update connection set token_ciphertext = $2 where id = $1', [
      broken.id,
      Buffer.from('not a sealed token, but long enough to be one'),
    ]);
    await control('faults', { down: true });
    try {
      await refresh(broken.id, second.id);
    } finally {
      await control('faults', { down: false });
    }
    expect(await connection(second.id)).toEqual(before);
    await refresh(second.id);
    expect(await connection(second.id)).toMatchObject({ status: 'connected' });
  });

  it('keeps the pace that the operator chose', async () => {
    const { wabaId, phoneNumberId, phoneNumber } = second;
    const connections = test.app.get(ConnectionsService);
    const token = 'slow-token';
    const add = { organizationId, wabaId, phoneNumberId, phoneNumber, token };
    await connections.add({ ...add, throughputPerSecond: 5, throughputFixed: true });
    await refresh(second.id);
    expect(await connection(second.id)).toMatchObject({ throughput_per_second: 5 });
  });
});
