import { newId } from '../../src/common/ids.js';
import { ConnectionsRepository } from '../../src/modules/connections/connections.repository.js';
import { entries, notify } from '../inbound/fixture.js';
import { costOf } from '../support/rows-read.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

describe('over the admin API', () => {
  let admin: AdminApp;
  let api: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api', 'worker', 'simulator'] });
    api = await admin.operator();
  });
  afterAll(() => admin?.test.stop());

  describe('opt-out keywords', () => {
    const workspace = async () => (await admin.test.factories.workspace()).id;
    const list = async (id: string) => (await api.get(`/workspaces/${id}/opt-out-keywords`)).body;
    const put = (id: string, language: string, body: object) =>
      api.call('PUT', `/workspaces/${id}/opt-out-keywords/${language}`, body);
    const remove = async (id: string, language: string) =>
      (await api.call('DELETE', `/workspaces/${id}/opt-out-keywords/${language}`)).body;

    it('are set, listed and removed by language, as by the command', async () => {
      const id = await workspace();
      const german = { language: 'de', out: ['stopp', 'keine werbung'], in: ['start'] };
      const set = await put(id, 'de', { out: ['Stopp!', 'Keine Werbung'], in: ['START'] });
      expect([set.status, set.body]).toEqual([200, { data: [german] }]);
      await put(id, 'fr', { out: ['arrêt'], in: [] });
      expect(await list(id)).toEqual({ data: [german, { language: 'fr', out: ['arrêt'], in: [] }] });
      expect(await remove(id, 'fr')).toEqual({ data: [german] });
      expect(await remove(id, 'fr')).toEqual({ data: [german] });
    });

    it.each([
      ['no-language-at-all', { out: ['a'], in: [] }, 'is no language'],
      ['%20', { out: ['a'], in: [] }, 'is no language'],
      ['de', { out: ['ja'], in: ['JA'] }, 'cannot opt out and in'],
      ['de', { out: ['...'], in: [] }, 'a keyword has 1 to 64 characters'],
    ])('of %s refuse %j with 422', async (language, body, says) => {
      const id = await workspace();
      const answer = await put(id, language, body);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'OPT_OUT_KEYWORDS_INVALID']);
      expect(answer.body.error.message).toContain(says);
      expect(await list(id)).toEqual({ data: [] });
    });

    it.each([
      [{ out: 'stop', in: [] }, 'out'],
      [{ out: ['a'] }, 'in'],
      [{ out: Array.from({ length: 21 }, (_, n) => `w${n}`), in: [] }, 'out'],
      [{ out: [1], in: [] }, 'out[0]'],
    ])('refuse %j with 400', async (body, field) => {
      const { status, body: answer } = await put(await workspace(), 'de', body);
      expect([status, answer.error.details?.[0]?.field]).toEqual([400, field]);
    });
  });

  describe('the history of the WhatsApp Business app', () => {
    it('is asked for once, and imported in parts that go on where the last one ended', async () => {
      const sender = await admin.test.sender();
      const { organizationId, phoneNumberId, phoneNumber, wabaId, id } = sender.connection;
      const path = `/workspaces/${organizationId}/connections/${id}/history`;
      const refused = await api.post(`${path}/request`);
      expect([refused.status, refused.body.error.code]).toEqual([422, 'HISTORY_REFUSED']);
      for (const n of [1, 2]) {
        const said = {
          from: '34600',
          to: phoneNumber,
          id: `wamid.past${n}${id}`,
          timestamp: '1700000000',
          type: 'text',
        };
        const messages = [{ ...said, text: { body: `past ${n}` }, history_context: { status: 'READ' } }];
        const value = {
          messaging_product: 'whatsapp',
          metadata: { phone_number_id: phoneNumberId, display_phone_number: phoneNumber },
          history: [{ metadata: { phase: 0, chunk_order: n, progress: n * 50 }, threads: [{ id: '34600', messages }] }],
        };
        await notify(admin.test, entries([{ id: wabaId, changes: [{ field: 'history', value }] }]));
      }
      const imported = await api.post(`${path}/import`);
      const all = {
        notifications: 2,
        found: 2,
        imported: 2,
        unreadable: 0,
        progress: 100,
        declined: false,
        next: null,
      };
      expect([imported.status, imported.body]).toEqual([200, { data: all }]);
      expect((await api.post(`${path}/import`, {})).body.data).toEqual({ ...all, imported: 0 });
      expect((await api.post(`${path}/import`, { after: newId() })).body.data).toMatchObject({ notifications: 0 });
      expect((await api.post(`${path}/import`, { after: 'x' })).status).toBe(400);
      const { body } = await sender.api.get<{ data: { body: string }[] }>('/messages?source=history');
      expect(body.data).toHaveLength(2);
    });

    it('of a number of another workspace does not exist', async () => {
      const [sender, other] = [await admin.test.sender(), await admin.test.sender()];
      for (const id of [other.connection.id, UNKNOWN, 'x']) {
        for (const what of ['request', 'import']) {
          const answer = await api.post(
            `/workspaces/${sender.connection.organizationId}/connections/${id}/history/${what}`,
          );
          expect([answer.status, answer.body.error.code]).toEqual([404, 'CONNECTION_NOT_FOUND']);
        }
      }
    });
  });

  describe('a number that another workspace has', () => {
    it('is as an unknown one to a token that is none for it', async () => {
      const [own, other] = [await admin.test.factories.workspace(), await admin.test.factories.workspace()];
      // The platform, which is asked first, knows neither.
      const known = await admin.test.factories.connection({ organizationId: other.id });
      const limited = await admin.operator({ workspaceIds: [own.id] });
      const seen = async (phoneNumberId: string) => {
        const body = { phone_number_id: phoneNumberId, waba_id: known.wabaId, token: 'of nobody' };
        const { status, body: answer } = await limited.post(`/workspaces/${own.id}/connections`, body);
        const text = JSON.stringify({ ...answer.error, request_id: '' }).replaceAll(phoneNumberId, '<number>');
        return { status, text };
      };
      const unknown = await seen(`${known.phoneNumberId.slice(0, -1)}${known.phoneNumberId.endsWith('0') ? '1' : '0'}`);
      expect(unknown).toEqual({ status: 422, text: expect.stringContaining('NUMBER_REFUSED') });
      expect(await seen(known.phoneNumberId)).toEqual(unknown);
    });

    it('is found by a key that sees all workspaces, and by no other', async () => {
      const sender = await admin.test.sender();
      const { organizationId, phoneNumberId } = sender.connection;
      const own = await admin.test.factories.workspace();
      const path = `/connections?phone_number_id=${phoneNumberId}`;
      expect((await api.get(path)).body.data).toMatchObject([{ workspace_id: organizationId }]);
      const limited = await admin.operator({ workspaceIds: [own.id] });
      expect((await limited.get(path)).body.data).toEqual([]);
      expect((await limited.get(`/connections?workspace_id=${organizationId}`)).body.data).toEqual([]);
    });
  });

  describe('numbers of all workspaces', () => {
    it('come in pages, by state and workspace, and are read by an index', async () => {
      const { database, factories } = admin.test;
      const [one, two] = [await factories.workspace(), await factories.workspace()];
      await database.execute(
        `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext, facts_due_at, created_at)
         select gen_random_uuid(), case when n % 1000 = 0 then $1::uuid else $2::uuid end, '5' || (1000000 + n), '777', '4915' || (1000000 + n),
           case when n % 1000 = 0 then 'restricted' else 'connected' end, ''::bytea, 'infinity', clock_timestamp() - make_interval(secs => n)
         from generate_series(1, 10000) n`,
        [one.id, two.id],
      );
      await database.execute('analyze connection');
      const restricted = await api.pages<{ workspace_id: string; status: string }>('/connections?status=restricted');
      expect(restricted).toHaveLength(10);
      expect(new Set(restricted.map((each) => each.workspace_id))).toEqual(new Set([one.id]));
      expect(await api.pages(`/connections?workspace_id=${one.id.toUpperCase()}`)).toHaveLength(10);
      expect((await api.get('/connections?status=gone')).status).toBe(400);
      const connections = admin.test.app.get(ConnectionsRepository, { strict: false });
      const first = { before: null, beforeId: null, limit: 51, only: null };
      const middle = new Date(Date.now() - 5_000_000);
      for (const filter of [
        first,
        { ...first, before: middle },
        { ...first, status: 'restricted' as const },
        { ...first, only: [one.id] },
      ]) {
        const cost = await costOf(database, 'connection', async () => void (await connections.page(filter)));
        expect(cost).toMatchObject({ scans: 0 });
        expect(cost.entries).toBeLessThan(1_500);
      }
    });
  });

  it('the state of the installation has what is ready, who works and what waits', async () => {
    const sender = await admin.test.sender();
    await admin.test.factories.message({ connection: sender.connection, status: 'queued', recipient: '4915112345678' });
    const { status, body } = await api.get('/installation');
    expect([status, body.data]).toMatchObject([200, { ready: true, workers: 1, held: false, outcome_unknown: 0 }]);
    expect(body.data.parts).toContainEqual(expect.objectContaining({ name: 'database', ok: true }));
    expect(body.data.queues.map(({ queue }: { queue: string }) => queue)).toContain('messages');
  });
});
