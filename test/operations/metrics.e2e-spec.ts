import { request } from 'undici';
import { Metrics } from '../../src/infrastructure/operations/metrics/metrics.js';
import { countUsage } from '../support/count-usage.js';
import { readProjectFile } from '../support/project-files.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** Values of one metric by their labels. */
function samples(text: string, name: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return new Map(
    lines.map((line) => {
      const [, labels = '', value = ''] = /^[^{ ]+(\{[^}]*\})? (.+)$/.exec(line) ?? [];
      return [labels, Number(value)];
    }),
  );
}

it('does not wait for connections that it takes itself', async () => {
  const test = await startTestApp({ roles: ['api'] });
  try {
    const { body } = await test.api.get<string>('/metrics');
    expect(samples(body, 'herald_database_connections').get('{state="waiting"}')).toBe(0);
  } finally {
    await test.stop();
  }
});

describe('GET /metrics', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(async () => test?.stop());

  /** What is measured now: what was measured before is shown for five seconds. */
  const measured = async (): Promise<string> => {
    test.app.get(Metrics)['collected'].clear();
    return (await test.api.get<string>('/metrics')).body;
  };

  it('shows requests by route, never by path, and what lanes, sweeps and the pool do', async () => {
    const sender = await test.sender();
    const { api, connection } = sender;
    const { phone: to } = await test.openWindow(sender);
    const sent = await api.post(
      '/messages',
      { connection_id: connection.id, to, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': crypto.randomUUID() } },
    );
    expect(sent.status).toBe(202);
    const { id } = sent.body.data as { id: string };
    await waitFor(async () => (await api.get(`/messages/${id}`)).body.data.status === 'read');
    const text = await waitFor(async () => {
      test.app.get(Metrics)['collected'].clear();
      const { status, headers, body } = await test.api.get<string>('/metrics');
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('version=0.0.4')]);
      return samples(body, 'herald_sweep_age_seconds').size > 0 && body;
    });
    expect(text).not.toContain(id);
    const requests = samples(text, 'herald_http_request_seconds_count');
    expect(requests.get('{method="POST",route="/api/v1/messages",status="202"}')).toBe(1);
    expect(requests.get('{method="GET",route="/api/v1/messages/:id",status="200"}')).toBeGreaterThan(0);
    expect([...samples(text, 'herald_messages_waiting').keys()]).toEqual([
      '{status="queued"}',
      '{status="processing"}',
    ]);
    expect(samples(text, 'herald_messages_oldest_due_seconds').get('')).toBe(0);
    expect(samples(text, 'herald_send_accepted_total').get('')).toBe(1);
    expect(samples(text, 'herald_notifications_statuses_total').get('')).toBeGreaterThan(0);
    expect([...samples(text, 'herald_database_connections').keys()]).toEqual([
      '{state="used"}',
      '{state="idle"}',
      '{state="waiting"}',
    ]);
    expect(samples(text, 'nodejs_eventloop_lag_p99_seconds').get('')).toBeGreaterThanOrEqual(0);
  });

  it('has every measure that the dashboard and the alerts ask for', async () => {
    const asked = ['deploy/grafana/herald.json', 'deploy/prometheus/herald.rules.yml'].flatMap((path) => [
      ...readProjectFile(path).matchAll(/\b(?:herald|nodejs|process)_[a-z0-9_]+\b/g),
    ]);
    // Those of usage come with the first count.
    await countUsage(test);
    const body = await waitFor(async () => {
      const text = await measured();
      return samples(text, 'herald_usage_messages').size > 0 && text;
    });
    const there = new Set([...body.matchAll(/^([a-z_0-9]+)[{ ]/gm)].map((match) => match[1]));
    // Their first value comes with the first event, or with a standby.
    const later = ['herald_lanes_paused', 'herald_send_outcomes_total', 'herald_standby_read'];
    for (const name of later) there.add(name);
    expect(asked.length).toBeGreaterThan(30);
    expect([...new Set(asked.map(([name]) => name))].filter((name) => !there.has(name))).toEqual([]);
    expect(body).toMatch(
      /^herald_build_info\{version="\d+\.\d+\.\d+",node="v\d+[^"]*",roles="api,worker,simulator"\} 1$/m,
    );
    expect([...samples(body, 'herald_backlog_rows').keys()].sort()).toEqual(
      ['codes', 'files', 'messages', 'notifications', 'webhooks'].flatMap((queue) => [
        `{queue="${queue}",state="in_flight"}`,
        `{queue="${queue}",state="waiting"}`,
      ]),
    );
    expect([...samples(body, 'herald_webhook_endpoints').keys()].sort()).toEqual(
      ['active', 'failing', 'gone', 'paused'].map((state) => `{state="${state}"}`),
    );
  });

  it('report how long the oldest due message has waited', async () => {
    const { connection } = await test.sender();
    const stuck = await test.factories.connection({ organizationId: connection.organizationId, status: 'connected' });
    await test.database.execute(
      `insert into lane (key, paused_until, pause_reason, pause_count)
       values ($1, clock_timestamp() + interval '1 hour', 'rate_limited', 1)`,
      [stuck.id],
    );
    await test.factories.message({ connection: stuck, nextAttemptAt: new Date(Date.now() - 60_000) });
    await waitFor(async () => {
      const body = await measured();
      expect(samples(body, 'herald_messages_oldest_due_seconds').get('')).toBeGreaterThan(59);
      expect(samples(body, 'herald_lanes_paused').get('{reason="rate_limited"}')).toBe(1);
      return true;
    });
  });

  it('counts endpoints that fail, and not one that had no event for two days', async () => {
    const failing = async (since: string, last: string): Promise<void> => {
      const { connection } = await test.sender();
      await test.database.execute(
        `insert into webhook_endpoint (id, organization_id, url, events, active, failing_since, last_failure_at)
         values (uuid_v7(), $1, 'https://example.com/hook', '{message.received}', true,
           clock_timestamp() - $2::interval, clock_timestamp() - $3::interval)`,
        [connection.organizationId, since, last],
      );
    };
    await failing('2 minutes', '1 second');
    await failing('5 days', '49 hours');
    await failing('10 seconds', '1 second');
    await waitFor(async () => {
      const body = await measured();
      return samples(body, 'herald_webhook_endpoints_failing').get('') === 1;
    });
  });

  it('is there for this machine only, and not through a proxy', async () => {
    const forwarded = await test.api.get('/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } });
    expect([forwarded.status, forwarded.body.error.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
  });

  it('is there under names of this machine only, because a page may lead another name here', async () => {
    const under = async (host: string) => {
      const response = await request(`${test.api.baseUrl}/metrics`, { headers: { host } });
      await response.body.dump();
      return response.statusCode;
    };
    expect(await Promise.all(['evil.example', 'localhost.evil.example:3000', ''].map(under))).toEqual([404, 404, 404]);
    expect(await Promise.all(['localhost:3000', '127.0.0.1', '[::1]:80'].map(under))).toEqual([200, 200, 200]);
  });

  it('takes a token instead, where one is set', async () => {
    const guarded = await startTestApp({
      roles: ['api'],
      shareWith: test,
      env: { METRICS_TOKEN: 'a-token-of-metrics' },
    });
    try {
      const ask = async (authorization?: string) =>
        (await guarded.api.get('/metrics', authorization === undefined ? {} : { headers: { authorization } })).status;
      expect(await ask()).toBe(404);
      expect(await ask('Bearer wrong')).toBe(404);
      expect(await ask('Bearer a-token-of-metrics')).toBe(200);
    } finally {
      await guarded.stop();
    }
  });
});
