import { jest } from '@jest/globals';
import { databaseClock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import { NO_MARK } from '../../src/infrastructure/queue/lane.repository.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { CloudApiClient } from '../../src/infrastructure/whatsapp/cloud-api-client.js';
import type { ApiResponse } from '../support/api-client.js';
import { RecipientsService } from '../../src/modules/conversations/windows/recipients.service.js';
import { SendPreparation } from '../../src/modules/messages/accept/send-preparation.js';
import { SendProcessor } from '../../src/modules/sending/processors/send.processor.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { deferred } from '../support/deferred.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventsOf, listenFor } from '../support/webhook-events.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, templateBody } from './platform-templates.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());
afterEach(() => jest.restoreAllMocks());

const HOUR_MS = 3_600_000;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

async function schedule(to: string, fields: Record<string, unknown> = {}): Promise<string> {
  const response = await workspace.send(to, { body: { send_at: inMs(HOUR_MS), ...fields } });
  expect(response.body).toMatchObject({ data: { status: 'queued' } });
  return (response.body.data as { id: string }).id;
}

const cancel = (id: string): Promise<ApiResponse> => workspace.api.post(`/messages/${id}/cancel`);

/** It is looked at now, `ago` milliseconds after its time: released, failed or deferred. */
async function becomesDue(id: string, agoMs = 0): Promise<void> {
  await test.database.execute(
    `update message_queue set scheduled_for = clock_timestamp() - make_interval(secs => $2::float8 / 1000),
       held_until = clock_timestamp(),
       expires_at = clock_timestamp() - make_interval(secs => $2::float8 / 1000) + (expires_at - scheduled_for)
     where message_id = $1`,
    [id, agoMs],
  );
  await releaseDue();
}

async function releaseDue(): Promise<void> {
  await test.app.get(Sweeps, { strict: false }).runNow('schedule_due');
  const due = 'select 1 from message_queue where held_until <= clock_timestamp()';
  await waitFor(async () => (await test.database.query(due)).length === 0, { what: 'nothing scheduled to be due' });
}

/** Messages to the number that the platform took, in their order. */
const taken = (to: string): string[] =>
  test.simulator.messages.list({ to }).map(({ callback }) => callback?.split('.')[0] ?? '');

function details(response: ApiResponse): { status: number; details: unknown } {
  return { status: response.status, details: response.body.error?.details };
}

describe('send_at', () => {
  it('keeps a message until its time, which it shows, and sends it then', async () => {
    const to = await workspace.contact();
    const sendAt = inMs(2 * HOUR_MS);
    const id = await schedule(to, { send_at: sendAt });
    expect(await workspace.message(id)).toMatchObject({
      status: 'queued',
      scheduled_for: sendAt,
      next_attempt_at: sendAt,
      attempt_count: 0,
      attempts: [],
    });
    await releaseDue();
    expect(taken(to)).toEqual([]);

    await becomesDue(id);
    const sent = await workspace.reaches(id, 'read');
    expect(sent).not.toHaveProperty('scheduled_for');
    expect(sent).toMatchObject({ attempt_count: 1 });
    expect(taken(to)).toEqual([id]);
  });

  it('is sent by itself when its time has come', async () => {
    const id = await schedule(await workspace.contact());
    const [row] = await test.database.query<{ due: Date }>(
      `update message_queue set scheduled_for = clock_timestamp(), held_until = clock_timestamp()
       where message_id = $1 returning scheduled_for as due`,
      [id],
    );
    const sent = await workspace.reaches(id, 'read');
    expect(Date.parse(sent.processing_at as string)).toBeGreaterThanOrEqual(row?.due.getTime() ?? NaN);
  });

  it('does not hold up what is sent to the recipient meanwhile, and joins their order when it is due', async () => {
    const to = await workspace.contact();
    const later = await schedule(to);
    const first = await workspace.sendText(to);
    await workspace.reaches(first, 'read');
    await becomesDue(later);
    const last = await workspace.sendText(to);
    await workspace.reaches(last, 'read');
    expect(taken(to)).toEqual([first, later, last]);
  });

  it('sends those of one recipient in the order of their times', async () => {
    const to = await workspace.contact();
    const ids = [await schedule(to), await schedule(to), await schedule(to)];
    await test.database.execute(
      `update message_queue set scheduled_for = clock_timestamp() - place * interval '1 second',
         held_until = clock_timestamp() - place * interval '1 second'
       from unnest($1::uuid[]) with ordinality as given (id, place) where message_id = id`,
      [ids],
    );
    await releaseDue();
    for (const id of ids) await workspace.reaches(id, 'read');
    expect(taken(to)).toEqual(ids.toReversed());
  });

  it.each([
    ['too near', () => inMs(9_000)],
    ['past', () => inMs(-HOUR_MS)],
  ])('422 where it is %s, with the earliest time that is allowed', async (_name, sendAt) => {
    const response = await workspace.send(await workspace.contact(), { body: { send_at: sendAt() } });
    expect(response).toMatchObject({
      status: 422,
      body: { error: { code: 'SEND_AT_PASSED', message: expect.stringMatching(/Leave it out to send at once/) } },
    });
    const { earliest_send_at: earliest } = response.body.error as unknown as { earliest_send_at: string };
    expect(Date.parse(earliest)).toBeGreaterThan(Date.now());
  });

  it.each([
    ['too far', () => inMs(35 * 24 * HOUR_MS + 60_000), 'range', /10 seconds to 35 days ahead/],
    ['without a zone', () => '2026-11-24T09:00:00', 'format', /date-time with its zone, such as/],
    ['no text', () => 5, 'type', /must be a string/],
  ])('422 where it is %s', async (_name, sendAt, rule, message) => {
    const response = await workspace.send(await workspace.contact(), { body: { send_at: sendAt() } });
    expect(details(response)).toEqual({
      status: 422,
      details: [{ field: 'send_at', rule, message: expect.stringMatching(message) }],
    });
  });

  it.each([
    ['too short', 29, 'range'],
    ['too long', 2_592_001, 'range'],
    ['no whole number', 60.5, 'type'],
  ])('422 where ttl_seconds is %s', async (_name, ttl, rule) => {
    const response = await workspace.send(await workspace.contact(), { body: { ttl_seconds: ttl } });
    expect(details(response)).toMatchObject({ status: 422, details: [{ field: 'ttl_seconds', rule }] });
  });

  it('belongs to what an Idempotency-Key stands for, and a repeat passes however late it comes', async () => {
    const to = await workspace.contact();
    const [key, sendAt] = [newId(), inMs(HOUR_MS)];
    const body = { send_at: sendAt, ttl_seconds: 600 };
    const first = await workspace.send(to, { key, body });
    const repeat = (fields: Record<string, unknown>) => workspace.send(to, { key, body: { ...body, ...fields } });
    const zoned = `${new Date(Date.parse(sendAt) + HOUR_MS).toISOString().slice(0, -1)}+01:00`;
    expect((await repeat({ send_at: zoned })).body).toEqual(first.body);
    for (const other of [{ send_at: inMs(2 * HOUR_MS) }, { ttl_seconds: 601 }, { send_at: undefined }]) {
      expect((await repeat(other)).body.error?.code).toBe('IDEMPOTENCY_KEY_REUSED');
    }
    jest.spyOn(databaseClock, 'now').mockReturnValue(Date.parse(sendAt) + HOUR_MS);
    const late = await repeat({});
    expect([late.status, late.body]).toEqual([202, first.body]);
  });

  it('is listed with what is queued, by number, contact and status, and with its time', async () => {
    const own = await sendingWorkspace(test);
    const to = await own.contact();
    const response = await own.send(to, { body: { send_at: inMs(HOUR_MS), client_message_id: 'later' } });
    const { id } = response.body.data as { id: string };
    const [{ conversation_id: conversation }] = (await own.api.get('/messages?limit=1')).body.data;
    for (const filter of [
      'status=queued',
      `status=queued&connection_id=${own.connection.id}`,
      `status=queued&conversation_id=${conversation}`,
      `status=queued&to=${to}`,
      'status=queued&client_message_id=later',
      `to=${to}`,
    ]) {
      const { body } = await own.api.get(`/messages?${filter}`);
      expect([filter, body.data.map((item: { id: string }) => item.id)]).toEqual([filter, [id]]);
      expect(body.data[0]).toMatchObject({ status: 'queued', scheduled_for: expect.any(String) });
    }
    for (const status of ['processing', 'failed', 'sent']) {
      expect((await own.api.get(`/messages?client_message_id=later&status=${status}`)).body.data).toEqual([]);
    }
  });
});

describe('at its time', () => {
  const failure = async (id: string) => {
    await becomesDue(id);
    const { status, failure_category: category, error, attempt_count: attempts } = await workspace.message(id);
    return { status, category, code: error?.code, attempts };
  };

  it('fails where the window has closed', async () => {
    const to = await workspace.contact();
    const id = await schedule(to);
    await test.database.execute(
      `update conversation set last_inbound_at = now() - interval '25 hours' where phone = $1`,
      [to],
    );
    jest.spyOn(test.app.get(RecipientsService, { strict: false }), 'peekOpen').mockReturnValue(null);
    expect(await failure(id)).toEqual({
      status: 'failed',
      category: 'service_window_closed',
      code: 'SERVICE_WINDOW_CLOSED',
      attempts: 0,
    });
    expect(taken(to)).toEqual([]);
  });

  it('fails where the template is no longer approved', async () => {
    const components = [{ type: 'BODY', text: 'See you later.' }];
    const template = await approvedTemplate(test, workspace, { name: 'later', components });
    const id = await schedule(await workspace.contact(), templateBody('later'));
    await template.review('PAUSED');
    const path = `/connections/${workspace.connection.id}/templates/later`;
    await waitFor(async () => (await workspace.api.get(path)).body.data?.versions[0]?.status === 'paused', {
      what: 'Herald to know that it is paused',
    });
    expect(await failure(id)).toMatchObject({ category: 'template_unavailable', code: 'TEMPLATE_NOT_APPROVED' });
  });

  it('fails where the workspace has not paid, or the number is disconnected', async () => {
    const own = await sendingWorkspace(test);
    const to = await own.contact();
    const made = async (): Promise<string> =>
      ((await own.send(to, { body: { send_at: inMs(HOUR_MS) } })).body.data as { id: string }).id;
    const [unpaid, unconnected] = [await made(), await made()];
    await test.database.execute('update organization set api_paid_until = now() where id = $1', [own.organizationId]);
    await becomesDue(unpaid);
    expect(await own.message(unpaid)).toMatchObject({
      status: 'failed',
      failure_category: 'account_restricted',
      error: { code: 'SUBSCRIPTION_REQUIRED' },
    });
    await test.database.execute(`update organization set api_paid_until = 'infinity' where id = $1`, [
      own.organizationId,
    ]);
    const connections = test.app.get(ConnectionsService, { strict: false });
    await connections.disconnect(own.organizationId, own.connection.id);
    await becomesDue(unconnected);
    expect(await own.message(unconnected)).toMatchObject({
      failure_category: 'sender_not_ready',
      error: { code: 'CONNECTION_NOT_READY' },
    });
    expect(taken(to)).toEqual([]);
  });

  it('fails as expired where its time is over when it is looked at, counted from send_at', async () => {
    const id = await schedule(await workspace.contact(), { ttl_seconds: 60 });
    await becomesDue(id, 61_000);
    expect(await workspace.message(id)).toMatchObject({ status: 'failed', failure_category: 'expired' });
  });

  it('waits where it cannot be checked, and goes once it can', async () => {
    const checks = jest
      .spyOn(test.app.get(SendPreparation, { strict: false }), 'prepareAgain')
      .mockReturnValue(() => Promise.reject(new Error('away')));
    const to = await workspace.contact();
    const id = await schedule(to);
    await becomesDue(id);
    expect((await workspace.message(id)).status).toBe('queued');
    checks.mockRestore();
    await becomesDue(id);
    await workspace.reaches(id, 'read');
    expect(taken(to)).toEqual([id]);
  });
});

it('a number whose messages cannot be checked keeps no message of another number waiting', async () => {
  const preparation = test.app.get(SendPreparation, { strict: false });
  const prepareAgain = preparation.prepareAgain.bind(preparation);
  const own = await sendingWorkspace(test);
  const answered = deferred();
  let hanging = 0;
  jest.spyOn(preparation, 'prepareAgain').mockImplementation((messages) => {
    const prepare = prepareAgain(messages);
    return async (message) => {
      if (message.organizationId === own.organizationId) {
        hanging++;
        await answered.promise;
      }
      return prepare(message);
    };
  });
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) {
    const { body } = await own.send(await own.contact(), { body: { send_at: inMs(HOUR_MS) } });
    ids.push((body.data as { id: string }).id);
  }
  const other = await schedule(await workspace.contact());
  try {
    await test.database.execute(
      `update message_queue set scheduled_for = now(), held_until = now() where message_id = any($1)`,
      [ids],
    );
    await waitFor(() => hanging > 0);
    await test.database.execute(
      `update message_queue set scheduled_for = now(), held_until = now() where message_id = $1`,
      [other],
    );
    await workspace.reaches(other, 'read');
    expect((await own.message(ids[0] as string)).scheduled_for).toEqual(expect.any(String));
  } finally {
    answered.resolve();
  }
  for (const id of ids) await own.reaches(id, 'read');
});

describe('ttl_seconds', () => {
  it('fails a message that waits longer, and lets the next one of the recipient go', async () => {
    const to = await workspace.contact();
    const [short, next] = await queuedOf(to, [{ ttl_seconds: 30 }, {}]);
    await test.database.execute(`update message_queue set expires_at = clock_timestamp() where message_id = $1`, [
      short,
    ]);
    const failed = await workspace.reaches(short as string, 'failed');
    expect(failed).toMatchObject({ failure_category: 'expired', error: { code: 'EXPIRED' } });
    await workspace.reaches(next as string, 'read');
    expect(taken(to)).toEqual([next]);
  });

  it('lets a message wait longer than MESSAGE_TTL_HOURS', async () => {
    const to = await workspace.contact();
    const [long, usual] = await queuedOf(to, [{ ttl_seconds: 2_592_000 }, {}]);
    await test.database.execute(
      `update message_queue set queued_at = queued_at - age, created_at = created_at - age, due_at = due_at - age,
         expires_at = expires_at - age
       from (values ($1::uuid, interval '29 days'), ($2, interval '1 day')) as aged (id, age) where message_id = aged.id`,
      [long, usual],
    );
    // They are due before the lane's mark, which else goes back to them within a minute.
    await test.database.execute(`update lane set ${NO_MARK}`);
    await workspace.reaches(long as string, 'read');
    await test.app.get(Sweeps, { strict: false }).runNow('send_expiry');
    expect((await workspace.message(usual as string)).failure_category).toBe('expired');
    expect(taken(to)).toEqual([long]);
  });

  it('is counted anew at a retry', async () => {
    const [id] = await queuedOf(await workspace.contact(), [{ ttl_seconds: 3_600 }]);
    expect((await cancel(id as string)).status).toBe(200);
    const client = test.app.get(CloudApiClient, { strict: false });
    const sendMessage = client.sendMessage.bind(client);
    const looked = deferred();
    jest.spyOn(client, 'sendMessage').mockImplementation(async (...args) => {
      await looked.promise;
      return sendMessage(...args);
    });
    try {
      expect((await workspace.api.post(`/messages/${id}/retry`)).status).toBe(202);
      const [row] = await test.database.query<{ seconds: number }>(
        'select extract(epoch from expires_at - queued_at)::float8 as seconds from message_queue where message_id = $1',
        [id],
      );
      expect(row?.seconds).toBeCloseTo(3_600, 0);
    } finally {
      looked.resolve();
    }
    await workspace.reaches(id as string, 'read');
  });

  /** Messages that no worker takes for an hour. */
  async function queuedOf(to: string, bodies: readonly Record<string, unknown>[]): Promise<string[]> {
    const ids: string[] = [];
    for (const body of bodies) {
      const id = await schedule(to, body);
      await test.database.execute(
        `update message_queue set held_until = null, scheduled_for = null, due_at = created_at + interval '1 hour',
           expires_at = created_at + make_interval(secs => coalesce($2, 86400)) where message_id = $1`,
        [id, body.ttl_seconds ?? null],
      );
      ids.push(id);
    }
    return ids;
  }
});

describe('POST /messages/{id}/cancel', () => {
  it('fails a scheduled message as canceled, as often as it is asked, and tells the webhook', async () => {
    const own = await sendingWorkspace(test);
    const to = await own.contact();
    await listenFor(test.database, own.organizationId);
    const { id } = (await own.send(to, { body: { send_at: inMs(HOUR_MS) } })).body.data as { id: string };
    const first = await own.api.post(`/messages/${id}/cancel`);
    expect([first.status, first.body.data]).toMatchObject([
      200,
      {
        id,
        status: 'failed',
        failure_category: 'canceled',
        error: { code: 'CANCELED', message: 'The message was canceled before it was sent.' },
        attempt_count: 0,
        failed_at: expect.any(String),
      },
    ]);
    expect(first.body.data).not.toHaveProperty('scheduled_for');
    expect((await own.api.post(`/messages/${id}/cancel`)).body).toEqual(first.body);
    expect(await eventsOf(test.database, id)).toMatchObject([
      {
        type: 'message.status.updated',
        data: { message_id: id, status: 'failed', previous_status: 'queued', failure_category: 'canceled' },
      },
    ]);
    expect(taken(to)).toEqual([]);
  });

  it('fails a queued message, and the next one of the recipient goes', async () => {
    const to = await workspace.contact();
    const { id } = await test.factories.message({
      connection: workspace.connection,
      recipient: to,
      nextAttemptAt: new Date(Date.now() + HOUR_MS),
    });
    const next = await workspace.sendText(to);
    expect((await cancel(id)).body.data).toMatchObject({ status: 'failed', failure_category: 'canceled' });
    await workspace.reaches(next, 'read');
    expect(taken(to)).toEqual([next]);
  });

  it('can be retried: it is queued at once, whenever it was to go', async () => {
    const to = await workspace.contact();
    const id = await schedule(to);
    await cancel(id);
    const retried = await workspace.api.post(`/messages/${id}/retry`);
    expect(retried.body.data).toMatchObject({ status: 'queued', failure_category: null });
    expect(retried.body.data).not.toHaveProperty('scheduled_for');
    await workspace.reaches(id, 'read');
    expect(taken(to)).toEqual([id]);
  });

  it('409 from the claim on, and for what has an outcome or was received', async () => {
    const to = await workspace.contact();
    for (const status of ['processing', 'accepted', 'sent', 'read', 'failed', 'outcome_unknown', 'received'] as const) {
      const { id } = await test.factories.message({ connection: workspace.connection, status, recipient: to });
      const { status: answer, body } = await cancel(id);
      expect([answer, body.error]).toMatchObject([409, { code: 'MESSAGE_NOT_CANCELABLE', status }]);
    }
  });

  it('answers id and status only to a key that may not read messages', async () => {
    const id = await schedule(await workspace.contact());
    const { organizationId } = workspace;
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['messages:write'] });
    for (let n = 0; n < 2; n++) {
      const { status, body } = await test.api.as(text).post(`/messages/${id}/cancel`);
      expect([status, body]).toEqual([200, { data: { id, status: 'failed' } }]);
    }
  });

  it('404 for a message of another workspace, 403 without the scope', async () => {
    const id = await schedule(await workspace.contact());
    const other = await sendingWorkspace(test);
    const foreign = await other.api.post(`/messages/${id}/cancel`);
    expect([foreign.status, foreign.body.error?.code]).toEqual([404, 'MESSAGE_NOT_FOUND']);
    const { text } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:read'],
    });
    expect((await test.api.as(text).post(`/messages/${id}/cancel`)).status).toBe(403);
    expect((await workspace.message(id)).scheduled_for).toEqual(expect.any(String));
  });

  it('sends what stood behind the canceled one without waiting for a sweep', async () => {
    const own = await sendingWorkspace(test);
    const to = await own.contact();
    const processor = test.app.get(SendProcessor, { strict: false });
    jest.spyOn(processor, 'wakeAny').mockReturnValue();
    const wake = jest.spyOn(processor, 'wake').mockReturnValue();
    const [first, second] = [
      (await own.send(to)).body.data as { id: string },
      (await own.send(to)).body.data as { id: string },
    ];
    await test.database.execute(
      `update message_queue set due_at = clock_timestamp() + interval '1 hour' where message_id = $1`,
      [first.id],
    );
    wake.mockRestore();
    expect((await own.api.post(`/messages/${first.id}/cancel`)).status).toBe(200);
    await waitFor(() => taken(to).length > 0);
    expect(taken(to)).toEqual([second.id]);
  });
});
