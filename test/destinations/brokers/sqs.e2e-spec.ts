import { Scope } from '../../support/rig/scope.js';
import { startSqs, type SqsServer } from '../../support/rig/sqs.js';
import { TcpProxy } from '../../support/rig/tcp-proxy.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { waitFor } from '../../support/wait-for.js';
import { conversations, DestinationOwner, expectComplete, type Got } from '../fixture.js';

const REGION = 'eu-central-1';
const HOST = `sqs.${REGION}.localhost`;
const LOGIN = { region: REGION, access_key_id: 'AKIATEST', secret_access_key: 'never-shown-anywhere' };

describe('a destination on SQS', () => {
  const scope = new Scope();
  let test: TestApp;
  let server: SqsServer;
  let proxy: TcpProxy;

  beforeAll(async () => {
    server = await startSqs(scope, REGION);
    proxy = await TcpProxy.start(scope, { host: '127.0.0.1', port: server.port });
    test = await startTestApp({ env: { EVENT_DESTINATION_HOSTS: `${HOST}:${proxy.port}` } });
    scope.defer(() => test.stop());
  });
  afterAll(() => scope.close());

  const urlOf = (queue: string): string => `http://${HOST}:${proxy.port}/000000000000/${queue}`;

  async function createQueue(name: string): Promise<string> {
    await server.createQueue(name, proxy.port);
    return name;
  }

  async function received(queue: string): Promise<Got[]> {
    const messages = await server.messagesOf(queue);
    return messages.map(({ body }) => {
      const parsed = JSON.parse(body) as Got['body'];
      return { id: parsed.id, body: parsed };
    });
  }

  const create = (owner: DestinationOwner, queue: string, name = 'queue') =>
    owner.create({ name, sqs: { queue_url: urlOf(queue), ...LOGIN } });

  it('gets events with the headers of CloudEvents, grouped by conversation', async () => {
    const queue = await createQueue('plain.fifo');
    const owner = await DestinationOwner.of(test);
    const { id, ...shown } = await create(owner, queue);
    expect(JSON.stringify(shown)).not.toContain(LOGIN.secret_access_key);
    const [conversation = ''] = conversations(1);
    const [event = ''] = await owner.emit([conversation], 1);
    expect(await owner.untilWritten(id)).toMatchObject({ written: 1, last_error: null });
    const [only, ...more] = await server.messagesOf(queue);
    expect(more).toEqual([]);
    expect(only).toMatchObject({ messageGroupId: conversation, messageDeduplicationId: event });
    expect(only?.messageAttributes).toMatchObject({
      'content-type': { StringValue: 'application/json' },
      'ce-id': { StringValue: event },
      'ce-type': { StringValue: 'message.status.updated' },
      'ce-source': { StringValue: `/workspaces/${owner.organizationId}` },
      'ce-partitionkey': { StringValue: conversation },
    });
    expect((await owner.api.post(`/destinations/${id}/test`)).body.data).toMatchObject({ written: true, error: null });
  });

  it('loses nothing and keeps the order while answers are lost and the server hangs', async () => {
    const queue = await createQueue('cut.fifo');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, queue);
    const chats = conversations(12);
    const written: string[] = [];
    let lostAnswers = 0;
    for (let round = 0; round < 3; round++) {
      // SQS has taken these, and Herald does not know.
      proxy.inspect = (bytes) =>
        bytes.includes('SendMessageBatch') && lostAnswers++ < 2 * (round + 1) ? 'lose_answer' : 'pass';
      written.push(...(await owner.emit(chats, 5, round * 100)));
      await waitFor(
        async () => {
          await owner.retryNow(id);
          return (await owner.read(id)).waiting === 0;
        },
        { what: 'the round', everyMs: 300 },
      );
    }
    proxy.inspect = null;
    server.broker.freeze();
    try {
      written.push(...(await owner.emit(chats, 2, 900)));
      expect((await owner.until(id, ({ status }) => status === 'failing', 'the timeout')).last_error).toBe('timeout');
    } finally {
      server.broker.go();
    }
    await owner.retryNow(id);
    await owner.untilWritten(id);
    expect(lostAnswers).toBeGreaterThan(3);
    // The queue takes each deduplication id once.
    expect(expectComplete(await received(queue), written)).toBe(0);
  });

  it('says that there is no such queue, and goes on once it is there', async () => {
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, 'later.fifo');
    const written = await owner.emit(conversations(2), 2);
    expect(await owner.until(id, ({ status }) => status === 'failing', 'the failure')).toMatchObject({
      last_error: 'queue_not_found',
      written: 0,
    });
    const queue = await createQueue('later.fifo');
    await owner.retryNow(id);
    await owner.untilWritten(id);
    expect(expectComplete(await received(queue), written)).toBe(0);
  });

  it('passes over an event that is too large, counts it, and goes on', async () => {
    const queue = await createQueue('large.fifo');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, queue);
    const [conversation = ''] = conversations(1);
    await owner.api.post(`/destinations/${id}/pause`);
    const ids = await owner.emit([conversation], 3);
    await test.database.execute(
      `update webhook_event set data = data || jsonb_build_object('note', repeat('x', 262144)) where id = $1`,
      [ids[1]],
    );
    await owner.api.post(`/destinations/${id}/resume`);
    expect(await owner.untilWritten(id)).toMatchObject({ written: 2, lost: 1 });
    expect((await received(queue)).map((got) => got.id)).toEqual([ids[0], ids[2]]);
  });

  it('writes a time again', async () => {
    const queue = await createQueue('again');
    const owner = await DestinationOwner.of(test);
    const { id } = await create(owner, queue);
    const first = await owner.emit(conversations(1), 2);
    await owner.untilWritten(id);
    const [row] = await test.database.query<{ at: string }>(
      `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
    );
    const second = await owner.emit(conversations(1), 2);
    await owner.untilWritten(id);
    const answer = await owner.api.post(`/destinations/${id}/replay`, { since: row?.at });
    expect(answer.status).toBe(200);
    await owner.until(id, ({ written, waiting }) => written === 6 && waiting === 0, 'the replay');
    expect((await received(queue)).map((got) => got.id)).toEqual([...first, ...second, ...second]);
    await owner.api.post(`/destinations/${id}/replay`, { since: '2020-01-01T00:00:00Z' });
    await owner.until(id, ({ written }) => written === 10, 'the replay of all');
    const again = (await received(queue)).slice(6).map((got) => got.id);
    expect(again.sort()).toEqual([...first, ...second].sort());
  });
});
