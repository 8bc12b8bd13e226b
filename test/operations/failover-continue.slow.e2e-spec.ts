import { randomUUID } from 'node:crypto';
import { PRIMARY_FACTS, type PrimaryFacts, reasonAgainst } from '../../src/infrastructure/queue/failover-proof.js';
import { describeWithStandby, Servers } from '../late-reads/fixture.js';
import { registerNumber } from '../support/register-number.js';
import { Scope } from '../support/rig/scope.js';
import { TcpProxy } from '../support/rig/tcp-proxy.js';
import { runHerald } from '../support/herald-process.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { testPhone } from '../support/factories.js';
import { waitFor } from '../support/wait-for.js';

/** The name of a standby that `pg_basebackup` has set up. */
const STANDBY = 'walreceiver';
const SETTLED = new Set(['accepted', 'outcome_unknown']);

/** An installation on the first of two servers, by an address that a manager moves to the second. */
class Cluster {
  private readonly scope = new Scope();
  private readonly apps: TestApp[] = [];
  readonly accepted = new Map<string, string>();
  private traffic: Promise<void> = Promise.resolve();
  private isSending = false;

  private constructor(
    readonly servers: Servers,
    private readonly proxy: TcpProxy,
    readonly platform: TestApp,
  ) {}

  static async start(names: string): Promise<Cluster> {
    const servers = await Servers.start();
    const scope = new Scope();
    const proxy = await TcpProxy.before(scope, servers.primary.url);
    const platform = await startTestApp({ roles: ['api', 'simulator'] });
    platform.simulator.applyFaults({ statuses: 'off' });
    const cluster = new Cluster(servers, proxy, platform);
    cluster.scope.defer(() => scope.close());
    cluster.api = await cluster.startOn('api');
    cluster.sender = await cluster.api.sender();
    registerNumber(platform.simulator, cluster.sender.connection);
    await servers.synchronous(names);
    return cluster;
  }

  api!: TestApp;
  sender!: TestSender;

  async startOn(role: 'api' | 'worker'): Promise<TestApp> {
    const app = await startTestApp({ roles: [role], shareWith: this.platform, env: this.env });
    this.apps.push(app);
    return app;
  }

  get env(): Record<string, string> {
    return {
      DATABASE_URL: this.proxy.through(this.servers.primary.url),
      DATABASE_MIGRATE: 'true',
      DATABASE_QUERY_TIMEOUT_MS: '2000',
      WHATSAPP_API_URL: this.platform.simulatorUrl ?? '',
      SEND_LEASE_MS: '15000',
      WHATSAPP_TIMEOUT_MS: '5000',
      QUEUE_PREFIX: 'failover',
      AFTER_FAILOVER: 'continue',
    };
  }

  async send(phone = testPhone()): Promise<number> {
    const { connection, key } = this.sender;
    const body = { connection_id: connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } };
    const answer = await this.api.api.as(key.text).post('/messages', body, {
      headers: { 'idempotency-key': randomUUID() },
    });
    if (answer.status === 202) this.accepted.set((answer.body.data as { id: string }).id, phone);
    return answer.status;
  }

  /** New messages to new people, one after the other, until `quiet`. */
  busy(phones: readonly string[]): void {
    this.isSending = true;
    this.traffic = (async () => {
      for (const phone of phones) if (this.isSending) await this.send(phone);
    })();
  }

  async quiet(): Promise<void> {
    this.isSending = false;
    await this.traffic;
  }

  async openWindows(phones: readonly string[]): Promise<void> {
    for (const phone of phones) await this.api.openWindow(this.sender, phone);
  }

  /** How many messages the platform took, by recipient. */
  async taken(phones: Iterable<string> = this.accepted.values()): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const phone of phones) {
      const answer = await fetch(`${this.platform.simulatorUrl}/_simulator/messages?to=${phone}`);
      counts.set(phone, ((await answer.json()) as { data: unknown[] }).data.length);
    }
    return counts;
  }

  async statuses(): Promise<Map<string, string>> {
    const rows = await this.servers.ask<{ id: string; status: string }>(
      this.servers.standby,
      'select id, status from message_view',
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  }

  onNew<R extends object>(sql: string): Promise<R[]> {
    return this.servers.ask<R>(this.servers.standby, sql);
  }

  /** The address leads to the new primary. */
  move(): void {
    this.proxy.leadTo(this.servers.standby.url);
    this.proxy.reset();
  }

  async settled(): Promise<Map<string, string>> {
    return waitFor(
      async () => {
        const statuses = await this.statuses();
        const isDone = [...this.accepted.keys()].every((id) => SETTLED.has(statuses.get(id) ?? ''));
        return isDone && statuses;
      },
      { what: 'an outcome of every message', timeoutMs: 60_000 },
    );
  }

  async stop(): Promise<void> {
    await this.quiet();
    for (const app of this.apps.toReversed()) await app.stop();
    await this.scope.close();
    await this.servers.remove();
    await this.platform.stop();
  }
}

const CONTINUED = `select count(*)::integer as many from audit_event where action = 'database.continued'`;
const BEAT = `select coalesce(max((replication ->> 'n')::integer), 0) as n from heartbeat
  where name like 'primary:%' and replication -> 'standbys' <> '[]'`;

describeWithStandby('a promoted standby, with AFTER_FAILOVER=continue', () => {
  let cluster: Cluster;

  afterEach(async () => cluster?.stop());

  /** Workers have said on the primary what its commits wait for. */
  async function known(least = 2): Promise<number> {
    const { servers } = cluster;
    const beats = async () => (await servers.ask<{ n: number }>(servers.primary, BEAT))[0]?.n ?? 0;
    const enough = async () => {
      const n = await beats();
      return n >= least && n;
    };
    return waitFor(enough, { what: 'what the workers know of the primary' });
  }

  it('goes on by itself where it was synchronous: nothing is lost, sent twice or marked needlessly', async () => {
    cluster = await Cluster.start(STANDBY);
    const phones = Array.from({ length: 400 }, () => testPhone());
    await cluster.openWindows(phones);
    await cluster.startOn('worker');
    await cluster.startOn('worker');
    await known();
    cluster.busy(phones);
    await waitFor(() => cluster.accepted.size >= 60, { what: 'traffic' });

    cluster.servers.primary.crash();
    cluster.servers.standby.becomePrimary();
    const inFlight = await cluster.onNew<{ id: string }>(
      'select message_id as id from message_queue where attempt_id is not null',
    );
    cluster.move();
    const before = cluster.accepted.size;
    await waitFor(() => cluster.accepted.size >= before + 20, { what: 'traffic on the new primary' });
    await cluster.quiet();
    const statuses = await cluster.settled();

    const unknown = [...statuses].filter(([, status]) => status === 'outcome_unknown').map(([id]) => id);
    const allowed = new Set(inFlight.map(({ id }) => id));
    expect(unknown.filter((id) => !allowed.has(id))).toEqual([]);
    const taken = await cluster.taken();
    const wrong = [...cluster.accepted].filter(
      ([id, phone]) => taken.get(phone) !== 1 && !(unknown.includes(id) && taken.get(phone) === 0),
    );
    expect(wrong).toEqual([]);
    expect(await cluster.onNew(CONTINUED)).toEqual([{ many: 1 }]);
    expect(await cluster.onNew('select blocked_since from database_identity')).toEqual([{ blocked_since: null }]);
  });

  it('sends nothing on the primary before, which lives on, however often its commits are canceled', async () => {
    cluster = await Cluster.start(STANDBY);
    const phones = Array.from({ length: 5 }, () => testPhone());
    await cluster.openWindows(phones);
    const { servers } = cluster;
    await cluster.startOn('worker');
    await known();
    servers.standby.becomePrimary();
    // Accepted only where that was canceled, which is no acceptance.
    const sending = Promise.all(phones.map((phone) => cluster.send(phone)));
    for (let n = 0; n < 5; n++) await servers.cancelWait();
    // Where they are, they can be claimed there: those claims are canceled, too.
    const claims = `select count(*)::integer as many from message_queue where attempt_id is not null`;
    const isClaimed = async () => {
      await servers.ask(
        servers.primary,
        `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
      );
      return ((await servers.ask<{ many: number }>(servers.primary, claims))[0]?.many ?? 0) > 0;
    };
    await waitFor(isClaimed, { what: 'a claim that was canceled' });
    expect((await sending).filter((status) => status === 202)).toEqual([]);
    expect([...(await cluster.taken(phones)).values()]).toEqual([0, 0, 0, 0, 0]);

    cluster.move();
    await waitFor(async () => (await cluster.onNew<{ many: number }>(CONTINUED))[0]?.many === 1, {
      what: 'Herald to go on',
    });
    for (const phone of phones) await waitFor(async () => (await cluster.send(phone)) === 202);
    await cluster.settled();
    expect([...(await cluster.taken()).values()]).toEqual([1, 1, 1, 1, 1]);
  });

  const isBlocked = `select count(*)::integer as many from database_identity where blocked_since is not null`;

  async function doctorOn(): Promise<unknown> {
    const env = { ...cluster.env, DATA_DIR: cluster.platform.dataDir };
    const { stdout } = await runHerald(['doctor', '--json'], env);
    return (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'failover');
  }

  it('asks where it was asynchronous', async () => {
    cluster = await Cluster.start('');
    const phone = testPhone();
    await cluster.openWindows([phone]);
    await cluster.startOn('worker');
    await known();
    expect(await doctorOn()).toMatchObject({ status: 'warn', detail: expect.stringContaining('is empty') });
    cluster.servers.primary.crash();
    cluster.servers.standby.becomePrimary();
    cluster.move();
    await waitFor(async () => (await cluster.onNew<{ many: number }>(isBlocked))[0]?.many === 1, {
      what: 'an operator to be asked',
    });
    expect(await cluster.onNew(CONTINUED)).toEqual([{ many: 0 }]);
    const { code } = await runHerald(['restore', '--json'], { ...cluster.env, DATA_DIR: cluster.platform.dataDir });
    expect(code).toBe(0);
    await waitFor(async () => (await cluster.send(phone)) === 202);
    await cluster.settled();
  });

  /** What a role without other rights can tell of the primary's commits. */
  async function seenBy(role: string): Promise<string | null> {
    const client = await cluster.servers.connect(cluster.servers.primary);
    await client.query(`do $$ begin create role ${role}; exception when duplicate_object then end $$`);
    await client.query(`set role ${role}`);
    const { rows } = await client.query<{ facts: PrimaryFacts }>(`select ${PRIMARY_FACTS} as facts`, [0]);
    return rows[0] === undefined ? 'nothing' : reasonAgainst(rows[0].facts);
  }

  it('asks after a restored backup of the same cluster, although the standby was synchronous', async () => {
    cluster = await Cluster.start(STANDBY);
    const { servers } = cluster;
    await cluster.startOn('worker');
    const first = await known();
    expect(await doctorOn()).toMatchObject({ status: 'ok' });
    expect(await seenBy('plain')).toMatch(/pg_read_all_stats/);
    await servers.ask(servers.primary, 'grant pg_read_all_stats to plain');
    expect(await seenBy('plain')).toBeNull();
    servers.primary.backUp();
    await known(first + 3);
    servers.primary.failOver();
    const asked = async () => (await servers.ask<{ many: number }>(servers.primary, isBlocked))[0]?.many === 1;
    await servers.alone();
    await waitFor(asked, { what: 'an operator to be asked' });
    expect(await servers.ask(servers.primary, CONTINUED)).toEqual([{ many: 0 }]);
  });
});
