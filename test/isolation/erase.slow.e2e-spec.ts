import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { withMediaEvents } from '../../src/modules/media/media.repository.js';
import { MessagesMaintenanceRepository } from '../../src/modules/messages/maintenance/messages-maintenance.repository.js';
import { OtpMaintenanceRepository } from '../../src/modules/otp/otp-maintenance.repository.js';
import { envelope, notify, secondsNow, statusOf } from '../inbound/fixture.js';
import { otpApp } from '../otp/fixture.js';
import { runHerald } from '../support/herald-process.js';
import { beside } from '../support/beside.js';
import { killWaiting } from '../support/kill-waiting.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { settle } from '../support/settle.js';
import { rowsWith as tracesOf } from './traces.js';

const NUMBER = '5511987654321';
/** The platform's spelling of the same contact, as it happens in Brazil. */
const SPELLING = '551187654321';
const USER = 'BR.1234567890123456';
const OTHER = '15550007777';
const HOOK = { url: 'http://127.0.0.1:9/hook', active: false };

describe('erasure of a phone number', () => {
  let test: TestApp;
  let own: TestSender;
  let foreign: TestSender;

  beforeAll(async () => {
    test = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
    [own, foreign] = [await test.sender(), await test.sender()];
    for (const { api } of [own, foreign]) await api.request({ method: 'PUT', path: '/webhook', body: HOOK });
  });
  afterAll(async () => test?.stop());

  const erasure = () => test.app.get(Erasure);

  /** A life of the contact in a workspace: what it wrote and sent, what was sent to it, codes, events, notifications. */
  async function live(sender: TestSender, phone: string): Promise<string[]> {
    const { connection, api, workspace } = sender;
    const contact = { wa_id: phone, user_id: `${USER}${phone}`, profile: { name: `Ana ${phone}` } };
    const message = (fields: object) => ({
      contacts: [contact],
      messages: [{ from: phone, from_user_id: contact.user_id, timestamp: String(secondsNow()), ...fields }],
    });
    const wamid = () => `wamid.${Buffer.from(`${phone}${randomUUID()}`).toString('base64')}`;
    await notify(test, envelope(connection, message({ id: wamid(), type: 'text', text: { body: `I am ${phone}` } })));
    await notify(
      test,
      envelope(
        connection,
        message({ id: wamid(), type: 'image', image: { id: '55', caption: phone, url: 'https://x' } }),
      ),
    );
    const sent: string[] = [];
    for (const text of ['one', 'two']) {
      const answer = await api.post(
        '/messages',
        {
          connection_id: connection.id,
          to: phone,
          type: 'text',
          text: { body: `${text} to ${phone}` },
          client_message_id: `for-${phone}`,
        },
        { headers: { 'idempotency-key': randomUUID() } },
      );
      expect([answer.status, answer.body.error]).toEqual([202, undefined]);
      sent.push(answer.body.data.id as string);
    }
    // Notifications overtake one another: the last of all is there when each has set its time.
    for (const id of sent) {
      await waitFor(async () => {
        const { data } = (await api.get(`/messages/${id}`)).body;
        return [data.sent_at, data.delivered_at, data.read_at].every((time) => typeof time === 'string');
      });
    }
    const otp = await otpApp(test, 'sandbox', { organizationId: workspace.id });
    expect((await otp.send(`+${phone}`, { key: `login-${phone}` })).status).toBe(202);
    await test.database.execute(`update message_attempt set text = 'to ' || $2 where message_id = any($1::uuid[])`, [
      sent,
      phone,
    ]);
    return sent;
  }

  const rowsWith = async (texts: readonly string[], organizationId?: string) => {
    // The platform's contact book is asked afterwards; the user id is kept until it has answered.
    await waitFor(async () => (await test.database.query('select from contact_book_removal')).length === 0);
    return tracesOf(test.database, texts, organizationId);
  };

  /** Notifications are marked as applied a moment after they were. */
  const settled = () =>
    waitFor(async () => {
      const rows = await test.database.query(`select 1 from platform_notification where state = 'stored' limit 1`);
      return rows.length === 0;
    });

  it('leaves nothing of it anywhere, and all other data', async () => {
    const names = [NUMBER, SPELLING, USER + SPELLING];
    // The contact is written to by one spelling, and answers by another.
    const sent = await live(own, SPELLING);
    await live(own, OTHER);
    await live(foreign, SPELLING);
    await test.database.execute(`update conversation set phone = $2 where connection_id = $1 and wa_id = $3`, [
      own.connection.id,
      NUMBER,
      SPELLING,
    ]);
    const { connection, api, workspace } = own;
    const waiting = await test.factories.message({
      connection,
      recipient: NUMBER,
      nextAttemptAt: new Date(Date.now() + 3_600_000),
      body: `later to ${NUMBER}`,
    });
    await settled();
    const others = async () =>
      JSON.stringify([
        await test.database.query(
          `select * from message_view where recipient = $1 or sender = $1 or organization_id = $2 order by id`,
          [OTHER, foreign.workspace.id],
        ),
        await test.database.query(`select * from conversation where wa_id = $1 or organization_id = $2 order by id`, [
          OTHER,
          foreign.workspace.id,
        ]),
        await test.database.query(`select id from webhook_event where organization_id = $1 order by id`, [
          foreign.workspace.id,
        ]),
      ]);
    const before = await others();
    const tables = new Set(await rowsWith(names, workspace.id));
    // The search finds what is there.
    for (const table of ['message', 'conversation', 'webhook_event', 'otp_challenge', 'otp_recipient']) {
      expect([table, tables.has(`public.${table}`)]).toEqual([table, true]);
    }

    const talkedTo = async (to: string) => (await api.get(`/conversations?to=${to}`)).body.data as { id: string }[];
    const [conversation] = await talkedTo(NUMBER);
    expect(conversation?.id).toEqual(expect.any(String));

    // Another process does it, as an operator would; without --yes it only counts.
    const env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir };
    const command = ['data', 'erase', '--workspace', workspace.id, '--number', `+${NUMBER}`, '--json'];
    const counted = await runHerald(command, env);
    expect({ code: counted.code, stderr: counted.stderr }).toEqual({ code: 0, stderr: '' });
    const preview = JSON.parse(counted.stdout) as { erased: boolean; names: number; counts: Record<string, number> };
    expect(preview).toMatchObject({ erased: false, names: 3 });
    expect(preview.counts).toMatchObject({
      cancelled_messages: 1,
      messages: 4,
      received_files: 1,
      one_time_codes: 1,
      contacts: 1,
    });
    expect(new Set(await rowsWith(names, workspace.id))).toEqual(tables);

    const report = await erasure().erase(workspace.id, NUMBER);
    expect(report.counts).toMatchObject(preview.counts);
    expect(await rowsWith(names, workspace.id)).toEqual([]);
    // No raw notification either, whosesoever it was.
    expect((await rowsWith(names)).filter((table) => table === 'public.platform_notification')).toEqual([]);
    expect(await others()).toBe(before);
    // Of the names only the two ways to write the number that was asked for.
    expect((await erasure().count(workspace.id, NUMBER)).names).toBe(2);

    const cancelled = (await api.get(`/messages/${waiting.id}`)).body.data;
    expect(cancelled).toMatchObject({ status: 'failed', to: null, body: null, error: { code: 'ERASED' } });
    const blanked = (await api.get(`/messages/${sent[0]}`)).body.data;
    expect(blanked).toMatchObject({ to: null, body: null, client_message_id: null, conversation_id: null });
    expect((await api.post(`/messages/${waiting.id}/retry`)).body.error.code).toBe('MESSAGE_NOT_RETRYABLE');
    expect((await api.get('/messages')).status).toBe(200);
    const gone = await api.get(`/conversations/${conversation?.id}`);
    expect([gone.status, gone.body.error.code]).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    expect([await talkedTo(NUMBER), await talkedTo(SPELLING)]).toEqual([[], []]);
    expect((await talkedTo(OTHER)).length).toBe(1);
    const left = (await api.get('/conversations?limit=100')).body.data as { id: string }[];
    expect(left.map(({ id }) => id)).not.toContain(conversation?.id);
    // An erased contact has no open window any more, in running processes either.
    await waitFor(async () => {
      const answer = await api.post(
        '/messages',
        { connection_id: connection.id, to: SPELLING, body: 'Hello' },
        { headers: { 'idempotency-key': randomUUID() } },
      );
      return answer.body.error?.code === 'SERVICE_WINDOW_CLOSED';
    });
  }, 180_000);

  it('a status that comes afterwards finds its message and restores no contact', async () => {
    const phone = '15550008801';
    const { connection, workspace } = own;
    const { id: conversationId } = await test.factories.conversation({ connection, phone });
    const message = await test.factories.message({ connection, conversationId, recipient: phone, status: 'sent' });
    await erasure().erase(workspace.id, phone);
    await notify(test, envelope(connection, { statuses: [statusOf(message, 'delivered', { recipient_id: phone })] }));
    await settled();
    expect((await own.api.get(`/messages/${message.id}`)).body.data).toMatchObject({ status: 'delivered', to: null });
    expect(await rowsWith([phone])).toEqual(['public.platform_notification']);
    await erasure().erase(workspace.id, phone);
    expect(await rowsWith([phone])).toEqual([]);
  });

  it('waits for a message that is being sent, and says so where it does not end', async () => {
    const phone = '15550008802';
    const { connection, workspace } = own;
    const { id: conversationId } = await test.factories.conversation({ connection, phone });
    const spec = { connection, conversationId, recipient: phone };
    const { id } = await test.factories.message({
      ...spec,
      status: 'processing',
      leaseUntil: new Date(Date.now() + 600_000),
    });
    await test.factories.message({ ...spec, status: 'read' });
    await expect(erasure().erase(workspace.id, phone, 100)).rejects.toThrow('1 message is being sent');
    // The names stay, so that the next run finds the rest.
    expect(await rowsWith([phone])).toContain('public.conversation');
    const done = erasure().erase(workspace.id, phone, 60_000);
    await settle(test.database, id);
    expect((await done).counts.messages).toBe(2);
    expect(await rowsWith([phone])).toEqual([]);
  });

  it('withdraws what came back into the queue while it waited', async () => {
    const { workspace, connection } = own;
    const phone = '15550008809';
    const { id } = await test.factories.message({ connection, recipient: phone, status: 'processing' });
    const messages = test.app.get(MessagesMaintenanceRepository, { strict: false });
    const put = jest.spyOn(messages, 'withdraw');
    put.mockImplementationOnce(async (subject) => {
      const withdrawn = await MessagesMaintenanceRepository.prototype.withdraw.call(messages, subject);
      // As the record of an outcome that puts it off, and as the release of a scheduled message.
      await test.database.execute(
        `update message_queue set attempt_id = null, claimed_at = null, lease_until = null,
           due_at = clock_timestamp() + interval '1 hour' where message_id = $1`,
        [id],
      );
      return withdrawn;
    });
    try {
      const { counts } = await erasure().erase(workspace.id, phone, 20_000);
      expect(counts).toMatchObject({ cancelled_messages: 1 });
    } finally {
      put.mockRestore();
    }
    const [state] = await test.database.query('select error_code from message_state where message_id = $1', [id]);
    expect(state).toEqual({ error_code: 'ERASED' });
  });

  it('goes on where it was killed', async () => {
    const phone = '15550008803';
    const { connection, workspace } = own;
    const { id: conversationId } = await test.factories.conversation({ connection, phone });
    const made = [];
    for (let n = 0; n < 3; n++) {
      made.push(await test.factories.message({ connection, conversationId, recipient: phone, status: 'read' }));
    }
    const lock = { sql: 'select 1 from message where id = $1 for update', params: [made[1]?.id] };
    const error = await killWaiting(test.databaseUrl, lock, () => erasure().erase(workspace.id, phone));
    expect(error.message).toMatch(/terminat/i);
    expect(await rowsWith([phone])).toContain('public.conversation');
    expect((await erasure().erase(workspace.id, phone)).counts).toMatchObject({ messages: 3, contacts: 1 });
    expect(await rowsWith([phone])).toEqual([]);
  });

  it('reaches a contact known by its user id alone, and by it a linked number, and the other way round', async () => {
    const { connection, workspace, api } = own;
    const inbound = async (of: TestSender, user: string, phone: string | null) =>
      notify(
        test,
        envelope(of.connection, {
          contacts: [{ user_id: user, ...(phone && { wa_id: phone }), profile: { name: `Name of ${user}` } }],
          messages: [
            {
              id: `wamid.${Buffer.from(`${user}${randomUUID()}`).toString('base64')}`,
              from_user_id: user,
              ...(phone && { from: phone }),
              timestamp: String(secondsNow()),
              type: 'text',
              text: { body: `I am ${user}` },
            },
          ],
        }),
      );
    const alone = 'DE.1795100000004711';
    const [linked, phone] = ['DE.1795100000004712', '15550008810'];
    await inbound(own, alone, null);
    await inbound(own, linked, phone);
    await inbound(foreign, alone, null);
    await settled();
    const answer = await api.post(
      '/messages',
      { connection_id: connection.id, recipient: alone, type: 'text', text: { body: `to ${alone}` } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    expect([answer.status, answer.body.error]).toEqual([202, undefined]);
    await waitFor(async () => (await api.get(`/messages/${answer.body.data.id}`)).body.data.status === 'read');
    await settled();
    const tables = new Set(await rowsWith([alone], workspace.id));
    for (const table of ['message', 'conversation', 'webhook_event']) expect(tables).toContain(`public.${table}`);

    const env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir };
    const command = ['data', 'erase', '--workspace', workspace.id, '--user-id', alone, '--json'];
    const counted = JSON.parse((await runHerald(command, env)).stdout) as { counts: object };
    expect(counted).toMatchObject({ erased: false, names: 1, counts: { messages: 2, contacts: 1 } });
    const erased = await runHerald([...command, '--yes'], env);
    expect([erased.code, JSON.parse(erased.stdout)]).toEqual([0, expect.objectContaining({ erased: true })]);
    expect(await rowsWith([alone], workspace.id)).toEqual([]);
    expect(await rowsWith([alone], foreign.workspace.id)).toContain('public.conversation');

    expect((await erasure().erase(workspace.id, linked)).counts).toMatchObject({ messages: 1, contacts: 1 });
    expect(await rowsWith([linked, phone])).toEqual([]);
    await inbound(own, linked, phone);
    await settled();
    await erasure().erase(workspace.id, phone);
    expect(await rowsWith([linked, phone])).toEqual([]);
    const both = await runHerald([...command, '--number', '+15550008810'], env);
    expect([both.code, both.stdout]).toEqual([2, expect.stringContaining('not with both')]);
  });

  it('takes the events of received files with it, which name no contact, and leaves those of others', async () => {
    const [phone, other] = ['15550008805', '15550008806'];
    const end = (filename: string) =>
      test.database.execute(
        withMediaEvents(
          `update media_object set status = 'failed', next_attempt_at = null where filename = $1 and status = 'pending' returning *`,
        ),
        [filename],
      );
    const receive = async (from: string, fields: object = {}): Promise<void> => {
      const wamid = `wamid.${Buffer.from(`${from}${randomUUID()}`).toString('base64')}`;
      const document = {
        id: '56',
        filename: `contract of ${from}.pdf`,
        mime_type: 'application/pdf',
        url: 'https://x',
      };
      const message = { from, timestamp: String(secondsNow()), id: wamid, type: 'document', document, ...fields };
      const contact = { wa_id: from, profile: { name: `Ana ${from}` } };
      await notify(test, envelope(own.connection, { contacts: [contact], messages: [message] }));
      await waitFor(async () => (await end(document.filename)) === 1);
    };
    await receive(phone);
    await receive(phone, { group_id: 'a-group' });
    await receive(other);
    await receive(other, { group_id: 'a-group' });
    const eventsOf = async (name: string) =>
      (
        await test.database.query<{ type: string }>(
          `select type from webhook_event where organization_id = $1 and data::text like '%' || $2 || '%' order by type`,
          [own.workspace.id, name],
        )
      ).map(({ type }) => type);
    const all = ['media.failed', 'media.failed', 'message.received', 'message.received'];
    expect(await eventsOf(phone)).toEqual(all);
    await settled();
    // One that is fetched just now.
    const fetched = await test.database.execute(
      `update media_object set status = 'pending', next_attempt_at = clock_timestamp() + interval '1 hour', platform_media_id = '56'
       where id = (select id from media_object where filename like '%' || $1 || '%' limit 1)`,
      [phone],
    );
    expect(fetched).toBe(1);
    await beside(
      test.database,
      () => end(`contract of ${phone}.pdf`),
      () => erasure().erase(own.workspace.id, phone),
    );
    expect(await eventsOf(phone)).toEqual([]);
    expect(await rowsWith([phone])).toEqual([]);
    expect(await eventsOf(other)).toEqual(all);
  });

  it('removes the key of a code that has the number, long after the number itself was cleared', async () => {
    const phone = '15550008811';
    const otp = await otpApp(test, 'sandbox', { organizationId: own.workspace.id });
    expect((await otp.send(`+${phone}`, { key: `login-${phone}` })).status).toBe(202);
    await test.database.execute(
      `update otp_challenge set status = 'expired', code_ciphertext = null, lease_until = null,
         created_at = created_at - interval '60 days', expires_at = expires_at - interval '60 days' where recipient = $1`,
      [phone],
    );
    const codes = test.app.get(OtpMaintenanceRepository, { strict: false });
    await waitFor(async () => {
      await codes.blankChallenges(new Date(Date.now() - 30 * 86_400_000), 100);
      return (await test.database.query('select from otp_challenge where recipient = $1', [phone])).length === 0;
    });
    expect(await rowsWith([phone])).toContain('public.otp_challenge');
    await erasure().erase(own.workspace.id, phone);
    expect(await rowsWith([phone])).toEqual([]);
  });

  it('of an unknown number finds nothing, and of another workspace nothing either', async () => {
    const phone = '15550008804';
    await test.factories.conversation({ connection: foreign.connection, phone });
    const { counts } = await erasure().erase(own.workspace.id, phone);
    expect(Object.values(counts).every((count) => count === 0)).toBe(true);
    expect(await rowsWith([phone])).toEqual(['public.conversation']);
    expect((await erasure().count(newId(), phone)).counts.contacts).toBe(0);
  });
});
