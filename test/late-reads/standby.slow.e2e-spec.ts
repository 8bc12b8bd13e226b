import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { insertEvents } from '../webhook/fixture.js';
import type { ApiBody, ApiClient, ApiResponse } from '../support/api-client.js';
import { runHerald } from '../support/herald-process.js';
import { Scope } from '../support/rig/scope.js';
import { TcpProxy } from '../support/rig/tcp-proxy.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { describeWithStandby, FROM_PRIMARY, lagOf, readerOf, Servers, startLateApp, waitUntilLate } from './fixture.js';

type Events = ApiBody & { data: { id: string }[]; next: string; done: boolean };

const TO = '15550101111';

describeWithStandby('reads that may be late', () => {
  let servers: Servers;
  let test: TestApp;
  let sender: TestSender;
  /** A key that writes nothing. */
  let reader: ApiClient;

  beforeAll(async () => {
    servers = await Servers.start();
    // Without a worker, whose statements would wait for the locks of a test.
    test = await startLateApp(servers, { ROLES: 'api,simulator' });
    sender = await test.sender();
    await test.openWindow(sender, TO);
    reader = await readerOf(test, sender);
    await waitUntilLate(reader);
  });

  afterEach(() => servers.replay());

  afterAll(async () => {
    await test?.stop();
    await servers?.remove();
  });

  async function send(): Promise<{ id: string; mark: string }> {
    const body = { connection_id: sender.connection.id, to: `+${TO}`, type: 'text', text: { body: 'Hello' } };
    const answer = await sender.api.post('/messages', body, { headers: { 'idempotency-key': randomUUID() } });
    expect(answer.status).toBe(202);
    return { id: (answer.body.data as { id: string }).id, mark: answer.headers.get('x-herald-read-after') ?? '' };
  }

  const idsIn = ({ body }: ApiResponse): string[] => (body.data as { id: string }[]).map(({ id }) => id);
  const after = (mark: string) => ({ headers: { 'x-herald-read-after': mark } });

  it('find what was written with the mark of its answer, on whichever server has it', async () => {
    await servers.hold();
    const { id, mark } = await send();
    expect(mark).toMatch(/^[\da-f]{24}$/);
    const late = await reader.get('/messages');
    expect(lagOf(late)).toEqual(expect.any(Number));
    expect(idsIn(late)).not.toContain(id);
    const found = await reader.get('/messages', after(mark));
    expect([idsIn(found), lagOf(found)]).toEqual([expect.arrayContaining([id]), null]);

    await servers.replay();
    const again = await waitFor(
      async () => {
        const read = await reader.get('/messages', after(mark));
        return lagOf(read) !== null && read;
      },
      { what: 'the standby to be read with the mark' },
    );
    expect(idsIn(again)).toContain(id);
  });

  it('come from the primary for a key that wrote a moment ago, without any mark', async () => {
    await servers.hold();
    const { id } = await send();
    const read = await sender.api.get('/messages');
    expect([idsIn(read), lagOf(read)]).toEqual([expect.arrayContaining([id]), null]);
  });

  it('find the last write of their key, also with the mark of an earlier one', async () => {
    const { mark } = await send();
    await servers.hold();
    const { id } = await send();
    const read = await sender.api.get('/messages', after(mark));
    expect([idsIn(read), lagOf(read)]).toEqual([expect.arrayContaining([id]), null]);
  });

  it('find by its id what the standby does not have yet', async () => {
    await servers.hold();
    const { id } = await test.openWindow(sender);
    expect(lagOf(await reader.get('/conversations'))).toEqual(expect.any(Number));
    const read = await reader.get(`/conversations/${id}`);
    expect([read.status, lagOf(read)]).toEqual([200, null]);
  });

  it('keep in memory nothing of the standby that decides about a send', async () => {
    const other = await test.sender();
    const otherReader = await readerOf(test, other);
    await servers.hold();
    await test.app.get(ConnectionsService).disconnect(other.workspace.id, other.connection.id);
    const late = await otherReader.get(`/messages?connection_id=${other.connection.id}`);
    expect([late.status, lagOf(late)]).toEqual([200, expect.any(Number)]);
    const body = { connection_id: other.connection.id, to: `+${TO}`, type: 'text', text: { body: 'Hello' } };
    const sent = await other.api.post('/messages', body, { headers: { 'idempotency-key': randomUUID() } });
    expect(sent.body.error.code).toBe('CONNECTION_NOT_READY');
  });

  it('refuse on the standby what is wrong with the request, without a look at the primary', async () => {
    const { status, body } = await reader.get('/messages?limit=0');
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  });

  describe('of events', () => {
    const organizationId = (): string => sender.workspace.id;
    const emit = async (): Promise<string> =>
      (await insertEvents(test.database, [{ organizationId: organizationId(), count: 1 }]))[0] ?? '';
    const read = async (cursor: string, from: object = {}): Promise<ApiResponse<Events>> => {
      const answer = await reader.get<Events>(`/events?after=${cursor}`, from);
      expect(answer.status).toBe(200);
      return answer;
    };
    let cursor: string;

    beforeEach(async () => {
      await servers.replay();
      cursor = (await reader.get<Events>('/events?after=now')).body.next;
      await servers.replayed();
    });

    it('show none on the standby before all earlier ones are there', async () => {
      const open = await servers.connect(servers.primary);
      await open.query('begin');
      // Its transaction is older than that of the next event, and is committed later.
      const rows = {
        query: async (sql: string, params: unknown[]) => (await open.query(sql, params)).rows as never,
      };
      const [first] = await insertEvents(rows as never, [{ organizationId: organizationId(), count: 1 }]);
      const second = await emit();
      await servers.replayed();
      const before = await read(cursor);
      expect(lagOf(before)).toEqual(expect.any(Number));
      expect([idsIn(before), before.body.done]).toEqual([[], false]);
      await open.query('commit');
      await servers.replayed();
      const both = await read(before.body.next);
      expect(lagOf(both)).toEqual(expect.any(Number));
      expect(idsIn(both)).toEqual([first, second]);
    });

    it('go on behind a cursor of either server, without a gap or a repeat', async () => {
      const [first, second] = [await emit(), await emit()];
      await servers.hold();
      const [third, fourth] = [await emit(), await emit()];
      // The primary is ahead: its cursor names a transaction of which the standby knows nothing.
      const ahead = await read(cursor, FROM_PRIMARY);
      expect(idsIn(ahead)).toEqual([first, second, third, fourth]);
      const behind = await read(ahead.body.next);
      expect(idsIn(behind)).toEqual([]);
      const late = await read(cursor);
      expect([idsIn(late), lagOf(late)]).toEqual([[first, second], expect.any(Number)]);
      expect(idsIn(await read(late.body.next, FROM_PRIMARY))).toEqual([third, fourth]);
      await servers.replay();
      const fifth = await emit();
      await servers.replayed();
      const next = await read(behind.body.next);
      expect([idsIn(next), lagOf(next)]).toEqual([[fifth], expect.any(Number)]);
      expect(idsIn(await read(late.body.next))).toEqual([third, fourth, fifth]);
    });

    it('wait at the primary', async () => {
      await servers.hold();
      const event = await emit();
      const waited = await reader.get<Events>(`/events?after=${cursor}&wait=5`);
      expect([idsIn(waited), lagOf(waited)]).toEqual([[event], null]);
    });
  });

  it('are done again on the primary where replay ends the statement', async () => {
    await servers.ask(servers.standby, "alter system set max_standby_streaming_delay = '10ms'");
    await servers.ask(servers.standby, 'select pg_reload_conf()');
    const [first, second] = [await servers.connect(servers.primary), await servers.connect(servers.primary)];
    await first.query('begin; lock table message_state in access exclusive mode');
    // Locks are replayed; a commit sends what was logged before it.
    await test.factories.workspace();
    await servers.replayed();
    const reading = reader.get('/messages');
    const waiting = async (server: typeof servers.primary, name: string): Promise<string[]> => {
      const sql = `select query from pg_stat_activity where wait_event_type = 'Lock' and application_name = '${name}'`;
      return (await servers.ask<{ query: string }>(server, sql)).map(({ query }) => query);
    };
    const late = await waitFor(async () => (await waiting(servers.standby, 'herald-read'))[0], {
      what: 'the read to wait at the standby',
    });
    // The log goes on with what the read's own lock keeps it from.
    await second.query('begin; lock table message in access exclusive mode');
    await test.factories.workspace();
    await waitFor(async () => (await waiting(servers.primary, 'herald')).includes(late), {
      what: 'the read to wait at the primary',
    });
    await first.query('commit');
    await second.query('commit');
    const { status, headers } = await reading;
    expect([status, headers.get('x-herald-lag')]).toEqual([200, null]);
  });
});

describeWithStandby('a standby', () => {
  let servers: Servers;
  let scope: Scope;
  let proxy: TcpProxy;
  let test: TestApp;
  let reader: ApiClient;

  beforeAll(async () => {
    servers = await Servers.start();
    scope = new Scope();
    proxy = await TcpProxy.before(scope, servers.standby.url);
    test = await startLateApp(servers, {
      READ_LAG_MS: '2000',
      DATABASE_READ_URL: proxy.through(servers.standby.url),
    });
    reader = await readerOf(test, await test.sender());
  });

  afterAll(async () => {
    await test?.stop();
    await scope?.close();
    await servers?.remove();
  });

  async function part(): Promise<{ ok: boolean; detail: string }> {
    const { body } = await test.api.get<{ parts: Record<string, { ok: boolean; detail: string }> }>('/health/ready');
    return body.parts.standbys ?? { ok: false, detail: 'none' };
  }

  async function examined(): Promise<object | undefined> {
    const env = {
      DATABASE_URL: servers.primary.url,
      DATABASE_READ_URL: proxy.through(servers.standby.url),
      DATA_DIR: test.dataDir,
      WHATSAPP_API_URL: test.simulatorUrl ?? '',
    };
    const { stdout } = await runHerald(['doctor', '--json'], env);
    return (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'standby 1');
  }

  const untilPrimary = (detail: RegExp) =>
    waitFor(
      async () => {
        const read = await reader.get('/messages');
        expect(read.status).toBe(200);
        return lagOf(read) === null && detail.test((await part()).detail);
      },
      { what: `the primary to be read: ${String(detail)}` },
    );

  it('that falls further behind than READ_LAG_MS is left, and read again once it has caught up', async () => {
    await waitUntilLate(reader);
    expect(await part()).toEqual({ ok: true, detail: '1 of 1 read' });
    await servers.hold();
    // Something that it lacks; else it is not behind.
    await test.factories.workspace();
    await untilPrimary(/number 1 is more than 2000 ms behind/);
    expect(await examined()).toMatchObject({ status: 'warn', detail: expect.stringContaining('behind') });
    await servers.replay();
    await waitUntilLate(reader);
    const { body: metrics } = await test.api.get<string>('/metrics');
    expect(metrics).toMatch(/^herald_standby_read\{standby="1"\} 1$/m);
    expect(await examined()).toMatchObject({ status: 'ok' });
    expect(metrics).toMatch(/^herald_standby_lag_seconds\{standby="1"\} [\d.]+$/m);
  });

  it('that answers no more keeps no request waiting twice', async () => {
    await waitUntilLate(reader);
    proxy.set({ kind: 'half_open' });
    // All connections that are open now end in nothing, and so do new ones.
    const answers = await Promise.all([1, 2, 3].map(() => reader.get('/messages')));
    expect(answers.map((each) => [each.status, lagOf(each)])).toEqual([1, 2, 3].map(() => [200, null]));
    await untilPrimary(/number 1 (does not answer|closed the connection)/);
    proxy.reset();
    proxy.heal();
    await waitUntilLate(reader);
  });

  it('that is away leaves the reads to another one', async () => {
    const env = { DATABASE_READ_URL: `postgresql://herald@127.0.0.1:1/postgres,${servers.standby.url}` };
    const both = await startLateApp(servers, { ...env, DATA_DIR: test.dataDir });
    try {
      const other = await readerOf(both, await both.sender());
      await waitUntilLate(other);
      const late = await Promise.all([1, 2, 3, 4].map(() => other.get('/messages')));
      expect(late.map(lagOf)).toEqual([1, 2, 3, 4].map(() => expect.any(Number)));
      const { parts } = (await both.api.get<{ parts: object }>('/health/ready')).body;
      const detail = '1 of 2 read, else the primary: number 1 does not answer';
      expect(parts).toMatchObject({ standbys: { ok: true, detail } });
    } finally {
      await both.stop();
    }
  });

  it('behind a name that leads to several in turn is not read', async () => {
    const second = await servers.primary.startStandby();
    const targets = [servers.standby.url, second.url].map((url) => Number(new URL(url).port));
    let connections = 0;
    const balancer = createServer((client) => {
      const server = connect({ host: '127.0.0.1', port: targets[connections++ % 2] ?? 0 });
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.on('error', () => to.destroy());
        from.pipe(to);
      }
    });
    await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
    const url = new URL(servers.standby.url);
    url.port = String((balancer.address() as AddressInfo).port);
    const app = await startLateApp(servers, { DATABASE_READ_URL: url.href, DATA_DIR: test.dataDir });
    try {
      const other = await readerOf(app, await app.sender());
      await waitFor(() => connections >= 4, { what: 'two looks' });
      const { status, headers } = await other.get('/messages');
      expect([status, headers.get('x-herald-lag')]).toEqual([200, null]);
    } finally {
      await app.stop();
      balancer.close();
      second.remove();
    }
  });

  it('that crashes is left without an error, and read again after its start', async () => {
    servers.standby.crash();
    await untilPrimary(/number 1 (does not answer|closed the connection)/);
    servers.standby.begin();
    await waitUntilLate(reader);
  });

  it('that is promoted is left', async () => {
    servers.standby.becomePrimary();
    await untilPrimary(/number 1 is no standby/);
    expect(await examined()).toMatchObject({ status: 'warn', detail: expect.stringContaining('is no standby') });
  });

  it('of the former primary is not read beside the promoted one', async () => {
    const former = await servers.primary.startStandby();
    try {
      const moved = await startLateApp(servers, {
        DATABASE_URL: servers.standby.url,
        DATABASE_READ_URL: former.url,
        DATA_DIR: test.dataDir,
      });
      try {
        const detail = async () =>
          (await moved.api.get<{ parts: Record<string, { detail: string }> }>('/health/ready')).body.parts.standbys
            ?.detail;
        await waitFor(async () => /another cluster, timeline or database/.test((await detail()) ?? ''), {
          what: 'the timelines to be compared',
        });
      } finally {
        await moved.stop();
      }
    } finally {
      former.remove();
    }
  });
});
