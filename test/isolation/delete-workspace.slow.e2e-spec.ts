import { randomUUID } from 'node:crypto';
import { png } from '../media/samples.js';
import { filesOf, uploaded } from '../media/fixture.js';
import { envelope, notify, secondsNow } from '../inbound/fixture.js';
import { mobile, otpApp, setSender } from '../otp/fixture.js';
import { ErasureBusyError } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../../src/modules/workspaces/erasure/workspace-erasure.service.js';
import { countUsage } from '../support/count-usage.js';
import { runHerald } from '../support/herald-process.js';
import { killWaiting } from '../support/kill-waiting.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { settle } from '../support/settle.js';
import { rowsWith } from './traces.js';

const HOOK = { url: 'http://127.0.0.1:9/hook', active: false };
const SOON = { quietMs: 0, waitMs: 100 };

describe('deletion of a workspace', () => {
  let test: TestApp;
  let env: Record<string, string>;

  beforeAll(async () => {
    test = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
    env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir, WHATSAPP_API_URL: test.simulatorUrl ?? '' };
    await setSender(test);
  });
  afterAll(async () => test?.stop());

  /** A workspace that has used everything, and the texts by which it and its contacts can be recognised. */
  async function lived(): Promise<{ sender: TestSender; traces: string[]; otpKeys: string[]; codeId: string }> {
    const sender = await test.sender();
    const { workspace, connection, api } = sender;
    const phone = mobile().slice(1);
    const word = `secret-${randomUUID().slice(0, 8)}`;
    await api.request({ method: 'PUT', path: '/webhook', body: HOOK });
    const message = { from: phone, timestamp: String(secondsNow()), id: `wamid.${word}` };
    await notify(
      test,
      envelope(connection, {
        contacts: [{ wa_id: phone, user_id: `DE.${phone}`, profile: { name: word } }],
        messages: [{ ...message, type: 'text', text: { body: word } }],
      }),
    );
    const file = await uploaded(test, sender, { file: png(), filename: `${word}.png` });
    const window = () => api.get(`/messages?from=${phone}`);
    await waitFor(async () => (await window()).body.data.length > 0);
    const send = (body: object) =>
      api.post(
        '/messages',
        { connection_id: connection.id, to: phone, ...body },
        { headers: { 'idempotency-key': randomUUID() } },
      );
    for (const body of [
      { type: 'text', text: { body: word } },
      { type: 'image', media: { id: file.id, caption: word } },
    ]) {
      const answer = await send(body);
      expect([answer.status, answer.body.error]).toEqual([202, undefined]);
      await waitFor(async () => (await api.get(`/messages/${answer.body.data.id}`)).body.data.status === 'read');
    }
    const live = await otpApp(test, 'live', { organizationId: workspace.id, packages: { DE: 10 } });
    const sandbox = await otpApp(test, 'sandbox', { organizationId: workspace.id });
    const codes = mobile().slice(1);
    const code = await live.send(`+${codes}`, { key: `login-${word}` });
    await live.reaches(code.body.data.id, 'read');
    await sandbox.send(mobile());
    await test.factories.message({
      connection,
      recipient: phone,
      body: word,
      nextAttemptAt: new Date(Date.now() + 3.6e6),
    });
    await waitFor(
      async () =>
        (await test.database.query(`select 1 from platform_notification where state = 'stored'`)).length === 0,
    );
    const { id: organizationId } = workspace;
    const traces = [organizationId, connection.id, connection.phoneNumberId, connection.wabaId, phone, word, codes];
    return { sender, traces, otpKeys: [live.key, sandbox.key], codeId: code.body.data.id as string };
  }

  const filesBy = async () => (await filesOf(test.dataDir)).map(({ path }) => path).sort();
  const rowsOf = async (organizationId: string) => (await rowsWith(test.database, [organizationId])).sort();
  const deletion = () => test.app.get(WorkspaceErasure);
  /** The audit trail keeps the ids: `test/operations/audit.slow.e2e-spec.ts`. */
  const leftOf = async (traces: string[]) =>
    (await rowsWith(test.database, traces)).filter((place) => place !== 'public.audit_event');

  it('leaves no trace in any table or folder, and every other workspace as it is', async () => {
    const before = await filesBy();
    const { sender, traces, otpKeys } = await lived();
    const own = (await filesBy()).filter((path) => !before.includes(path));
    expect(own).toHaveLength(1);
    const other = await lived();
    // Else it is counted at some moment between the looks below.
    await countUsage(test);
    const others = await rowsOf(other.sender.workspace.id);
    const { id } = sender.workspace;
    const tables = new Set(await rowsWith(test.database, traces));
    // The search finds what is there.
    for (const table of [
      'api_key',
      'connection',
      'conversation',
      'lane',
      'media_object',
      'media_platform_id',
      'media_usage',
      'message',
      'message_state',
      'otp_challenge',
      'otp_package',
      'otp_recipient',
      'platform_notification',
      'usage',
      'webhook_event',
    ]) {
      expect([table, tables.has(`public.${table}`)]).toEqual([table, true]);
    }

    const counted = await runHerald(['workspace', 'delete', id, '--dry-run', '--json'], env);
    const { deleted, counts } = JSON.parse(counted.stdout) as { deleted: boolean; counts: Record<string, number> };
    expect([counted.code, deleted]).toEqual([0, false]);
    expect(counts).toMatchObject({ message: 4, media_object: 1, otp_challenge: 2, api_key: 3, connection: 1 });
    expect(new Set(await rowsWith(test.database, traces))).toEqual(tables);
    const unasked = await runHerald(['workspace', 'delete', id, '--json'], env);
    expect([unasked.code, unasked.stdout]).toEqual([1, expect.stringContaining('--yes')]);
    expect((await sender.api.get('/messages')).status).toBe(200);

    const done = await runHerald(['workspace', 'delete', id, '--yes', '--json'], env);
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(done.stdout)).toMatchObject({
      deleted: true,
      counts: { message: 4, media_object: 1, connection: 1 },
    });
    expect(await leftOf(traces)).toEqual([]);
    const [, , ...names] = traces;
    expect(await rowsWith(test.database, names)).toEqual([]);
    expect(await filesBy()).toEqual((await filesBy()).filter((path) => !own.includes(path)));
    for (const key of [sender.key.text, ...otpKeys]) {
      expect((await test.api.as(key).get('/messages')).status).toBe(401);
    }
    const again = await runHerald(['workspace', 'delete', id, '--yes', '--json'], env);
    expect([again.code, again.stdout]).toEqual([1, expect.stringContaining('WORKSPACE_NOT_FOUND')]);

    expect(await rowsOf(other.sender.workspace.id)).toEqual(others);
    expect((await other.sender.api.get('/messages')).body.data).toHaveLength(4);
    const { id: fileId } = (await other.sender.api.get('/media')).body.data[0];
    const { url } = (await other.sender.api.get(`/media/${fileId}/url`)).body.data;
    expect((await fetch(url)).status).toBe(200);
  }, 180_000);

  it('goes on where it was killed', async () => {
    const { sender, traces } = await lived();
    const { id } = sender.workspace;
    const lock = { sql: 'select 1 from conversation where organization_id = $1 for update', params: [id] };
    const error = await killWaiting(test.databaseUrl, lock, () => deletion().delete(id, { ...SOON, waitMs: 10_000 }));
    expect(error.message).toMatch(/terminat/i);
    expect(await rowsWith(test.database, [id])).toContain('public.organization');
    await deletion().delete(id, { ...SOON, waitMs: 10_000 });
    expect(await leftOf(traces)).toEqual([]);
  });

  it('waits for what is being sent, and sends nothing more', async () => {
    const sender = await test.sender();
    const { connection, workspace } = sender;
    const lease = { status: 'processing', leaseUntil: new Date(Date.now() + 600_000) } as const;
    const { id } = await test.factories.message({ connection, ...lease });
    await expect(deletion().delete(workspace.id, SOON)).rejects.toThrow(ErasureBusyError);
    await expect(deletion().delete(workspace.id, SOON)).rejects.toThrow('1 message is being sent');
    expect((await sender.api.get('/messages')).status).toBe(401);
    const rows = await test.database.query('select status, status_reason from connection where id = $1', [
      connection.id,
    ]);
    expect(rows).toEqual([{ status: 'disconnected', status_reason: 'disconnected_by_operator' }]);
    await settle(test.database, id);
    expect(await deletion().delete(workspace.id, SOON)).toMatchObject({ message: 1 });
    expect(await leftOf([workspace.id])).toEqual([]);
  });

  it('walks tables of any size', async () => {
    const [own, other] = [await test.sender(), await test.sender()];
    for (const { workspace, connection } of [own, other]) {
      await test.database.execute(
        `with made as (
           insert into message (id, organization_id, connection_id, direction, type, created_at)
           select uuid_v7(), $1, $2, 'outbound', 'text', clock_timestamp() from generate_series(1, 8000)
           returning *
         ), contents as (
           insert into message_content (message_id, body, content) select id, repeat('x', 1500), '{}' from made
         )
         insert into message_state (message_id, organization_id, connection_id, created_at, status, event_count,
           queued_at, attempt_number)
         select id, organization_id, connection_id, created_at, 'read', 1, created_at, 1 from made`,
        [workspace.id, connection.id],
      );
    }
    expect(await deletion().count(own.workspace.id)).toMatchObject({ message: 8_000 });
    expect(await deletion().delete(own.workspace.id, SOON)).toMatchObject({ message: 8_000 });
    expect(await deletion().count(other.workspace.id)).toMatchObject({ message: 8_000 });
  });
});
