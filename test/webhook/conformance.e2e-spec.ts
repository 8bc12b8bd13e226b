import { type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookListener } from '../../clients/typescript/src/index.js';
import { answerOf, checkLocal, postTo } from '../../src/cli/commands/webhook-verify.command.js';
import { newWebhookSecret } from '../../src/common/standard-webhooks.js';
import { runConformance } from '../../src/modules/webhook/conformance/conformance.js';
import type { ConformanceReport } from '../../src/modules/webhook/conformance/conformance.types.js';
import { EXAMPLE_CURSOR } from '../../src/modules/webhook/dto/event.docs.js';
import { EVENT_TYPES } from '../../src/modules/webhook/webhook.types.js';
import { Receiver, verify, type Answer, type Envelope, type Received } from '../faults/webhook-receiver.js';
import type { TestApp } from '../support/test-app.js';
import { startWebhookApp, subscriber } from './fixture.js';

/*
 * POST /webhook/verify and `herald webhook verify`: good receivers pass, among them those of the guides, and each fault of a bad one
 * is found.
 */

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp(), Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

const isVerified = (secret: string, delivery: Received): Envelope | null => {
  try {
    return verify(secret, delivery);
  } catch {
    return null;
  }
};
/** What a good receiver answers. */
const good =
  (secret: string) =>
  (delivery: Received): Answer => ({ status: isVerified(secret, delivery) === null ? 401 : 204 });

/** A run over HTTP, against a receiver whose answers the test decides. */
async function runWith(
  answer: (secret: string) => (delivery: Received, nth: number) => Answer,
): Promise<ConformanceReport> {
  const { api, configure } = await subscriber(test);
  const { secret } = await configure({ url: receiver.url('/run') });
  receiver.received.length = 0;
  receiver.answer = answer(secret);
  const { status, body } = await api.post('/webhook/verify');
  expect(status).toBe(200);
  return body.data as ConformanceReport;
}

const wrong = ({ results }: ConformanceReport): string[] => [
  ...new Set(results.filter(({ outcome }) => outcome === 'failed').map(({ check }) => check)),
];

describe('POST /webhook/verify', () => {
  it('passes a good receiver, which gets every kind, as tests, signed, and no delivery in the list', async () => {
    const { api, configure } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url('/good'), headers: { 'X-Own': 'one' } });
    receiver.answer = good(secret);
    const { body } = await api.post('/webhook/verify');
    const report = body.data as unknown as ConformanceReport;
    expect(wrong(report)).toEqual([]);
    expect(report).toMatchObject({ passed: true, complete: true });
    expect(report.results.length).toBeLessThanOrEqual(50);
    const came = receiver.of('/good');
    expect(came).toHaveLength(report.results.length);
    const events = came.flatMap((delivery) => isVerified(secret, delivery) ?? []);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set([...EVENT_TYPES, 'example.later_kind']));
    expect(events.every(({ data }) => data.test === true)).toBe(true);
    expect(came.every(({ headers }) => headers['x-own'] === 'one' && headers['user-agent']?.includes('Herald'))).toBe(
      true,
    );
    // A receiver may store the cursor: it is one of this workspace.
    const { cursor } = JSON.parse(came[0]?.body ?? '') as { cursor: string };
    expect((await api.get(`/events?after=${cursor}`)).status).toBe(200);
    expect((await api.get('/webhook/deliveries')).body.data).toEqual([]);
    expect((await api.get('/webhook')).body.data).toMatchObject({ failing_since: null, active: true });
  });

  it('signs with the replaced secret too, as deliveries do', async () => {
    const { api, configure } = await subscriber(test);
    const { secret: old } = await configure({ url: receiver.url('/rotated') });
    await api.post('/webhook/rotate-secret');
    receiver.answer = good(old);
    expect((await api.post('/webhook/verify')).body.data).toMatchObject({ passed: true });
  });

  it.each<[string, (secret: string) => (delivery: Received, nth: number) => Answer, string[]]>([
    [
      'verifies nothing',
      () => () => ({ status: 200 }),
      ['wrong_secret', 'changed_body', 'no_signature', 'old_timestamp', 'future_timestamp'],
    ],
    [
      'refuses what it knows',
      (secret) => (delivery, nth) => (nth > 1 ? { status: 409 } : good(secret)(delivery)),
      ['repeat'],
    ],
    [
      'refuses kinds that it does not know',
      (secret) => (delivery) =>
        isVerified(secret, delivery)?.type === 'example.later_kind' ? { status: 422 } : good(secret)(delivery),
      ['unknown_kind'],
    ],
    [
      'refuses fields that it does not know',
      (secret) => (delivery) => (delivery.body.includes('later_field') ? { status: 400 } : good(secret)(delivery)),
      ['unknown_field'],
    ],
    [
      'refuses types of messages that it does not know',
      (secret) => (delivery) => (delivery.body.includes('later_type') ? { status: 500 } : good(secret)(delivery)),
      ['unknown_content'],
    ],
    [
      'looks at the first signature only',
      (secret) => (delivery) => {
        const [first = ''] = String(delivery.headers['webhook-signature']).split(' ');
        return good(secret)({ ...delivery, headers: { ...delivery.headers, 'webhook-signature': first } });
      },
      ['rotated_secret', 'later_version'],
    ],
    [
      'has a limit of 100 KiB',
      (secret) => (delivery) => (delivery.body.length > 102_400 ? { status: 413 } : good(secret)(delivery)),
      ['large'],
    ],
    [
      'refuses an earlier change',
      (secret) => (delivery) => {
        const event = isVerified(secret, delivery);
        const isEarlier = event?.type === 'message.status.updated' && event.data.status === 'sent';
        return isEarlier ? { status: 409 } : good(secret)(delivery);
      },
      ['disorder'],
    ],
    [
      'checks no time',
      (secret) => (delivery) => {
        const seconds = String(delivery.headers['webhook-timestamp']);
        const clock = Date.now;
        Date.now = () => Number(seconds) * 1_000;
        try {
          return good(secret)(delivery);
        } finally {
          Date.now = clock;
        }
      },
      ['old_timestamp', 'future_timestamp'],
    ],
    [
      'takes two kinds only',
      (secret) => (delivery) => {
        const type = isVerified(secret, delivery)?.type ?? '';
        return type !== '' && !/^(message\.(received|status\.updated)|webhook\.test|example.*)$/.test(type)
          ? { status: 404 }
          : good(secret)(delivery);
      },
      ['kind'],
    ],
    [
      'refuses text beyond ASCII',
      // eslint-disable-next-line no-control-regex -- what is not ASCII
      (secret) => (delivery) => (/[^\x00-\x7f]/.test(delivery.body) ? { status: 401 } : good(secret)(delivery)),
      ['any_text'],
    ],
  ])('finds a receiver that %s', async (_what, answer, faults) => {
    const report = await runWith(answer);
    expect(report).toMatchObject({ passed: false, complete: true });
    expect(wrong(report)).toEqual(faults);
    for (const { outcome, problem, fix } of report.results)
      expect([problem === null, fix === null]).toEqual([outcome !== 'failed', outcome !== 'failed']);
  });

  it('names redirects, and 410', async () => {
    const redirected = await runWith(() => () => ({ status: 308, headers: { location: 'https://example.com/' } }));
    expect(redirected.results[0]?.fix).toContain('final address');
    const gone = await runWith(() => () => ({ status: 410 }));
    expect(gone.results[0]?.problem).toContain('disables');
  });

  it('tries one that cannot be reached once', async () => {
    const { api, configure } = await subscriber(test);
    await configure({ url: 'http://127.0.0.1:9/' });
    const report = (await api.post('/webhook/verify')).body.data as unknown as ConformanceReport;
    expect(report).toMatchObject({ passed: false, complete: false });
    expect(report.results[0]).toMatchObject({ outcome: 'failed', error: 'connection_refused', http_status: null });
    expect(report.results.slice(1).every(({ outcome }) => outcome === 'not_run')).toBe(true);
  });

  it('leaves alone one that hangs, and says so', async () => {
    const context = { organizationId: 'o-1', secrets: [newWebhookSecret()], cursor: EXAMPLE_CURSOR };
    let count = 0;
    const report = await runConformance(context, () => {
      count++;
      return Promise.resolve({ error: 'timeout', durationMs: 10_000 });
    });
    expect(report.results[0]).toMatchObject({ outcome: 'failed', error: 'timeout' });
    expect(report.results[0]?.problem).toContain('ten seconds');
    expect(count).toBe(1);
  });

  it('ends where it is told to, and says what was not tried', async () => {
    const context = { organizationId: 'o-1', secrets: [newWebhookSecret()], cursor: EXAMPLE_CURSOR };
    const stop = new AbortController();
    const report = await runConformance(
      context,
      () => {
        stop.abort();
        return Promise.resolve({ status: 204, durationMs: 1 });
      },
      stop.signal,
    );
    expect(report).toMatchObject({ passed: false, complete: false });
    expect(report.results.map(({ outcome }) => outcome).slice(0, 2)).toEqual(['passed', 'not_run']);
  });

  it('is 404 without a webhook, 403 without the scope, and limited', async () => {
    const { organizationId, api, configure } = await subscriber(test);
    expect((await api.post('/webhook/verify')).body.error.code).toBe('WEBHOOK_NOT_FOUND');
    await configure({ url: 'http://127.0.0.1:9/' });
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['webhooks:read'] });
    expect((await test.api.as(text).post('/webhook/verify')).status).toBe(403);
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await api.post('/webhook/verify'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[3]?.body.error).toMatchObject({ code: 'RATE_LIMITED', scope: 'webhook_verify' });
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('connects to no private address where those are not allowed', async () => {
    const strict = await startWebhookApp({ shareWith: test, env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false' } });
    try {
      const { organizationId, configure } = await subscriber(test);
      await configure({ url: receiver.url('/private') });
      receiver.received.length = 0;
      const { text } = await test.factories.apiKey({ organizationId });
      const { body } = await strict.api.as(text).post('/webhook/verify');
      expect((body.data as unknown as ConformanceReport).results[0]).toMatchObject({
        outcome: 'failed',
        http_status: null,
      });
      expect(receiver.received).toEqual([]);
    } finally {
      await strict.stop();
    }
  });
});

describe('the receivers of the guides pass it', () => {
  const secret = newWebhookSecret();
  const context = { organizationId: 'o-1', secrets: [secret], cursor: EXAMPLE_CURSOR };
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill()));

  it('webhookListener of the TypeScript client', async () => {
    const errors: unknown[] = [];
    const listener = webhookListener({
      secrets: [secret],
      onEvent: () => undefined,
      onError: (error) => void errors.push(error),
    });
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const report = await runConformance(context, postTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    expect(report.results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('and one that verifies nothing ends the command with 1, and what to do', async () => {
    const server = createServer((request, response) => {
      request.resume();
      request.once('end', () => response.writeHead(200).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const report = await runConformance(context, postTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    server.closeAllConnections();
    server.close();
    const { text, failed } = answerOf(report);
    expect(failed).toBe(true);
    expect(text).toContain('as if Herald had sent it');
    expect(text).toContain('answer 401');
    expect(text).toMatch(/\d+ of \d+ right, 5 wrong$/);
  });

  it.each([
    ['another machine', 'http://example.com/', secret, 'an address of this machine'],
    ['another machine by its number', 'http://10.0.0.1/', secret, 'an address of this machine'],
    ['a file', 'file:///etc/passwd', secret, 'an address of this machine'],
    ['no secret', 'http://127.0.0.1:1/', undefined, 'needs --secret'],
    ['half a secret', 'http://127.0.0.1:1/', 'whsec_abc', 'base64 of 24 to 64 bytes'],
  ])('--receiver is refused: %s', async (_what, url, given, words) => {
    await expect(checkLocal(url, given)).rejects.toThrow(words);
  });
});
