import { randomUUID } from 'node:crypto';
import { approvedTemplate } from '../otp/fixture.js';
import { countUsage } from '../support/count-usage.js';
import { insertMessage } from '../support/message-factory.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

const MONTH = new Date().toISOString().slice(0, 7);
const HEADER = 'countries,category,tier_from,price,currency,valid_from';
const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

describe('codes and money over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp();
    api = await admin.operator();
  });

  afterAll(() => admin?.test.stop());

  const workspace = async (): Promise<string> => (await admin.test.factories.workspace()).id;

  describe('OTP projects', () => {
    it('are made and listed, and get packages', async () => {
      const path = `/workspaces/${await workspace()}/otp-projects`;
      const made = await api.post(path, { name: 'Login', mode: 'live', allowed_countries: ['DE', 'US', 'DE'] });
      expect([made.status, made.body.data]).toMatchObject([
        201,
        { name: 'Login', mode: 'live', template_language: 'en_US', allowed_countries: ['DE', 'US'] },
      ]);
      expect((await api.get(path)).body).toEqual({ data: [made.body.data] });
      const packages = `${path}/${made.body.data.id}/packages`;
      expect((await api.get(packages)).body).toEqual({ data: { allowances: [], months: [] } });
      const set = await api.call('PUT', `${packages}/DE`, { monthly_limit: 50 });
      expect([set.status, set.body]).toEqual([
        200,
        { data: { allowances: [{ country: 'DE', monthly_limit: 50 }], months: [] } },
      ]);
      const refused = await api.call('PUT', `${packages}/FR`, { monthly_limit: 50 });
      expect([refused.status, refused.body.error.code]).toEqual([409, 'OTP_PACKAGE_NOT_POSSIBLE']);
      const unknown = await api.call('PUT', `${packages}/QQ`, { monthly_limit: 50 });
      expect([unknown.status, unknown.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
      const sandbox = (await api.post(path, { name: 'Test', mode: 'sandbox' })).body.data.id;
      const useless = await api.call('PUT', `${path}/${sandbox}/packages/DE`, { monthly_limit: 50 });
      expect(useless.body.error.code).toBe('OTP_PACKAGE_NOT_POSSIBLE');
    });

    it('of another workspace are as unknown ones', async () => {
      const [own, other] = [await workspace(), await workspace()];
      const { id } = (await api.post(`/workspaces/${other}/otp-projects`, { name: 'x', mode: 'live' })).body.data;
      for (const each of [id, UNKNOWN, 'x']) {
        const path = `/workspaces/${own}/otp-projects/${each}/packages`;
        for (const answer of [await api.get(path), await api.call('PUT', `${path}/DE`, { monthly_limit: 1 })]) {
          expect([answer.status, answer.body.error.code]).toEqual([404, 'OTP_PROJECT_NOT_FOUND']);
        }
      }
    });

    it.each([
      [{ mode: 'live' }, 'name'],
      [{ name: 'x', mode: 'test' }, 'mode'],
      [{ name: 'x', mode: 'live', allowed_countries: ['DE', 'QQ'] }, 'allowed_countries[1]'],
      [{ name: 'x', mode: 'live', template_language: 'english' }, 'template_language'],
    ])('are not made of %j', async (body, field) => {
      const answer = await api.post(`/workspaces/${await workspace()}/otp-projects`, body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
      expect(answer.body.error.details?.map((detail) => detail.field)).toEqual([field]);
    });
  });

  it('the sender of codes is checked with the platform, set and read, without its token', async () => {
    expect((await api.get('/otp-sender')).body.error.code).toBe('OTP_SENDER_NOT_SET');
    const [phone_number_id, waba_id] = ['123456789012388', '543210987654388'];
    const facts = { phoneNumberId: phone_number_id, wabaId: waba_id, displayPhoneNumber: '+15550109988' };
    admin.test.simulator.registerNumber({ ...facts, verifiedName: 'Codes' });
    const token = `secret-${randomUUID()}`;
    const body = { phone_number_id, waba_id, template: 'hello_world', token };
    const wrong = await api.call('PUT', '/otp-sender', body);
    expect([wrong.status, wrong.body.error.code]).toEqual([422, 'OTP_SENDER_REFUSED']);
    expect(wrong.body.error.message).toContain('not of the category AUTHENTICATION');
    const nothing = await api.call('PUT', '/otp-sender', { ...body, phone_number_id: '99999999' });
    expect([nothing.status, nothing.body.error.code]).toEqual([422, 'NUMBER_REFUSED']);
    await approvedTemplate(admin.test.simulatorUrl ?? '', waba_id, 'login_code');
    const set = await api.call('PUT', '/otp-sender', { ...body, template: 'login_code', throughput_per_second: 5 });
    expect([set.status, set.body.data]).toEqual([
      200,
      {
        phone_number_id,
        phone_number: '15550109988',
        template: 'login_code',
        throughput_per_second: 5,
        status: 'connected',
        languages: ['en_US'],
      },
    ]);
    expect((await api.get('/otp-sender')).body.data).toEqual({ ...set.body.data, languages: null });
    const trail = await api.get('/audit?action=otp_sender.set');
    expect(JSON.stringify([set.body, trail.body])).not.toContain(token);
    expect(trail.body.data).toMatchObject([{ actor: api.keyId, workspace_id: null }]);
  });

  it('prices are replaced and read; a line that is wrong is named, and changes nothing', async () => {
    const csv = `${HEADER}\nDE,marketing,1,0.1131,EUR,2026-01-01\n`;
    const set = await api.call('PUT', '/rates', { csv });
    expect([set.status, set.body.data]).toEqual([200, { prices: 1, unpriced: [] }]);
    const read = await api.get('/rates');
    expect(read.body.data).toMatchObject([
      { countries: ['DE'], category: 'marketing', tier_from: 1, currency: 'EUR', valid_from: '2026-01-01' },
    ]);
    const wrong = await api.call('PUT', '/rates', { csv: `${HEADER}\nDE,marketing,1,free,EUR,2026-01-01` });
    expect([wrong.status, wrong.body.error.code]).toEqual([422, 'RATES_INVALID']);
    expect(wrong.body.error.message).toContain('line 2: column 4');
    expect((await api.get('/rates')).body).toEqual(read.body);
    const id = await workspace();
    const limited = await api.call('PATCH', `/workspaces/${id}`, { spend_per_month: '250.00' });
    expect([limited.status, limited.body.data.spend_per_month]).toEqual([200, '250.00']);
    const dollars = await api.call('PUT', '/rates', { csv: csv.replace('EUR', 'USD') });
    expect([dollars.status, dollars.body.error.code]).toEqual([409, 'RATES_IN_USE']);
  });

  it('usage of a month is of all workspaces, or of those of the key; as JSON in pages and as CSV', async () => {
    const senders = [await admin.test.sender(), await admin.test.sender(), await admin.test.sender()];
    for (const { connection } of senders) await insertMessage(admin.test.database, { connection, status: 'read' });
    await countUsage(admin.test);
    const ids = senders.map((sender) => sender.workspace.id);
    const workspacesOf = async (client: AdminClient) =>
      (await client.pages<{ workspace_id: string }>(`/usage?month=${MONTH}`)).map((line) => line.workspace_id);
    expect(await workspacesOf(api)).toEqual(ids.toReversed());
    const limited = await admin.operator({ workspaceIds: ids.slice(0, 2) });
    expect(await workspacesOf(limited)).toEqual(ids.slice(0, 2).toReversed());
    for (const id of [ids[2], UNKNOWN]) {
      const answer = await limited.get(`/usage?month=${MONTH}&workspace_id=${id}`);
      expect(answer.body).toEqual({ data: [], pagination: { next_before: null, next_before_id: null } });
    }
    const csv = await limited.get<string>(`/usage?month=${MONTH}&format=csv`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header, ...lines] = csv.body.trimEnd().split('\n');
    expect(header).toMatch(/^month,workspace_id,workspace,number,/);
    expect(lines.map((line) => line.split(',').slice(0, 2))).toEqual(
      ids
        .slice(0, 2)
        .toReversed()
        .map((id) => [MONTH, id]),
    );
    const empty = await api.get('/usage?month=2020-01');
    expect(empty.body.data).toEqual([]);
    expect((await api.get('/usage?month=2026-13')).body.error.code).toBe('INVALID_REQUEST');
  });
});
