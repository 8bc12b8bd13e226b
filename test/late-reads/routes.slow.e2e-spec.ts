import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OPERATOR_SCOPES } from '../../src/infrastructure/http/scopes.js';
import { Counters } from '../../src/infrastructure/operations/counters.js';
import { ApiKeysService } from '../../src/modules/keys/keys.service.js';
import { OperatorKeysService } from '../../src/modules/keys/operator/operator-keys.service.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { otpApp } from '../otp/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { countUsage } from '../support/count-usage.js';
import { waitFor } from '../support/wait-for.js';
import { describeWithStandby, FROM_PRIMARY, lagOf, readerOf, Servers, startLateApp, waitUntilLate } from './fixture.js';

interface Description {
  paths: Record<string, Record<string, { responses: Record<string, { headers?: Record<string, unknown> }> }>>;
}

/** The routes that say in the description that a standby may answer. */
function describedRoutes(): string[] {
  return ['openapi.json', 'openapi-admin.json'].flatMap((file) => {
    const { paths } = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')) as Description;
    return Object.keys(paths).filter((path) => paths[path]?.get?.responses['200']?.headers?.['X-Herald-Lag']);
  });
}

describeWithStandby('each route that may be late', () => {
  let servers: Servers;
  let test: TestApp;
  let receiver: Receiver;
  let sender: TestSender;
  let callers: Record<'workspace' | 'otp' | 'operator', ApiClient>;
  let ids: { conversation: string; delivery: string };

  const [from, to] = ['2026-01-01T00:00:00Z', new Date(Date.now() + 86_400_000).toISOString()];
  /** Of each described path a request that has something to answer. */
  const requests: Record<string, (given: typeof ids) => [keyof typeof callers, string]> = {
    '/api/v1/messages': () => ['workspace', `/messages?connection_id=${sender.connection.id}`],
    '/api/v1/conversations': () => ['workspace', '/conversations'],
    '/api/v1/conversations/{id}': ({ conversation }) => ['workspace', `/conversations/${conversation}`],
    '/api/v1/usage': () => ['workspace', '/usage'],
    '/api/v1/usage/codes': () => ['otp', '/usage/codes'],
    '/api/v1/members': () => ['workspace', '/members'],
    '/api/v1/tags': () => ['workspace', '/tags'],
    '/api/v1/opt-outs': () => ['workspace', '/opt-outs'],
    '/api/v1/media': () => ['workspace', '/media'],
    '/api/v1/events': () => ['workspace', '/events'],
    '/api/v1/webhook/deliveries': () => ['workspace', '/webhook/deliveries'],
    '/api/v1/webhook/deliveries/{id}': ({ delivery }) => ['workspace', `/webhook/deliveries/${delivery}`],
    '/api/admin/v1/audit': () => ['operator', `/api/admin/v1/audit?since=${from}&until=${to}`],
    '/api/admin/v1/usage': () => ['operator', '/api/admin/v1/usage'],
  };

  beforeAll(async () => {
    [servers, receiver] = await Promise.all([Servers.start(), Receiver.start()]);
    test = await startLateApp(servers, { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' });
    sender = await test.sender();
    await test.openWindow(sender, '15550101111');
    const { api, connection } = sender;
    const webhook = { url: receiver.url('/hook') };
    expect((await api.request({ method: 'PUT', path: '/webhook', body: webhook })).status).toBe(200);
    const optOut = { to: '+15550102222', category: 'marketing' };
    expect((await api.request({ method: 'PUT', path: '/opt-outs', body: optOut })).status).toBe(200);
    const text = { type: 'text', text: { body: 'Hello' } };
    const message = { connection_id: connection.id, to: '+15550101111', tag: 'spring', ...text };
    const headers = { 'idempotency-key': randomUUID() };
    expect((await api.post('/messages', message, { headers })).status).toBe(202);
    const [delivery] = await waitFor(
      async () => {
        const { data } = (await api.get('/webhook/deliveries?status=succeeded')).body;
        return (data as { id: string }[]).length >= 3 && (data as { id: string }[]);
      },
      { what: 'three deliveries' },
    );
    const [conversation] = (await api.get('/conversations')).body.data as { id: string }[];
    const file = new FormData();
    file.set('connection_id', connection.id);
    file.set('file', new Blob(['Menu'], { type: 'text/plain' }), 'menu.txt');
    const uploaded = await fetch(`${test.baseUrl}/api/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sender.key.text}` },
      body: file,
    });
    expect(uploaded.status).toBe(201);
    ids = { conversation: conversation?.id ?? '', delivery: delivery?.id ?? '' };
    const given = { name: 'test', scopes: OPERATOR_SCOPES, workspaceIds: null };
    const { key } = await test.app.get(OperatorKeysService).create(given);
    const otp = await otpApp(test, 'sandbox', { organizationId: sender.workspace.id });
    await otp.send('+15550103333');
    const otpReader = await test.app.get(ApiKeysService).create({
      organizationId: sender.workspace.id,
      name: 'reads',
      scopes: ['otp:read'],
      otpProject: otp.project,
    });
    await test.factories.member({ organizationId: sender.workspace.id, name: 'Ana' });
    await countUsage(test);
    callers = { workspace: await readerOf(test, sender), otp: test.api.as(otpReader.key), operator: test.api.as(key) };
    // The first page notes that the workspace reads its events, which a standby cannot.
    expect((await callers.workspace.get('/events', FROM_PRIMARY)).status).toBe(200);
    await servers.replayed();
    await waitUntilLate(callers.workspace);
  });

  afterAll(async () => {
    await test?.stop();
    await receiver?.stop();
    await servers?.remove();
  });

  it('has a request here', () => {
    expect(Object.keys(requests).sort()).toEqual(describedRoutes().sort());
  });

  it.each(Object.keys(requests))(
    '%s answers from the standby what the primary answers, and reads nothing twice',
    async (path) => {
      const [caller, request] = requests[path]?.(ids) ?? (['workspace', ''] as const);
      const counters = test.app.get(Counters);
      const failed = () =>
        Object.entries(counters.snapshot()).filter(([name]) => /why="(failed|not_found)"/.test(name));
      const before = failed();
      // Nothing moves between the two.
      await servers.replayed();
      const late = await callers[caller].get(request);
      const now = await callers[caller].get(request, FROM_PRIMARY);
      expect(failed()).toEqual(before);
      expect([late.status, lagOf(late)]).toEqual([200, expect.any(Number)]);
      expect([now.status, lagOf(now)]).toEqual([200, null]);
      expect(withoutClock(late.body)).toEqual(withoutClock(now.body));
      expect(JSON.stringify(late.body.data).length).toBeGreaterThan(10);
    },
  );
});

/** What is counted or read at the moment of the answer. */
function withoutClock(body: object): unknown {
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => (name === 'as_of' ? undefined : value)) as unknown;
}
