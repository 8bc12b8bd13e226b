import { waitFor } from '../support/wait-for.js';
import { twoProcesses } from './two-processes.js';

const apps = twoProcesses();

describe('RateLimit headers', () => {
  it('contain the policy and what is left, request by request', async () => {
    const key = await apps.keyOf();
    const left: (string | null)[] = [];
    for (let i = 0; i < 3; i++) {
      const { headers } = await apps.small.api.get('/things', { key });
      expect(headers.get('ratelimit-policy')).toBe('"default";q=100;w=2');
      left.push(headers.get('ratelimit'));
    }
    expect(left[0]).toMatch(/^"default";r=(99|100);t=1$/);
    // Up to a hundred again where the machine took its time between two.
    for (const value of left) expect(value).toMatch(/^"default";r=(9[789]|100);t=1$/);
  });

  it('follow the limits of the workspace', async () => {
    const { headers } = await apps.small.api.get('/things', {
      key: await apps.keyOf({ ratePerSecond: 10, rateBurst: 45 }),
    });
    expect(headers.get('ratelimit-policy')).toBe('"default";q=45;w=5');
    expect(headers.get('ratelimit')).toMatch(/^"default";r=4[45];t=1$/);
  });

  it('are on errors of an authenticated request too', async () => {
    const key = await apps.keyOf();
    for (const answer of [
      await apps.small.api.get('/things/no-uuid', { key }),
      await apps.small.api.post('/things', {}, { key }),
      await apps.small.api.get('/things/explode', { key }),
      await apps.small.api.post('/things', 'x'.repeat(300_000), { key }),
    ]) {
      expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/);
    }
  });
});

describe('the limit', () => {
  it('lets a burst of 100 pass and answers the rest with 429 and when to come back', async () => {
    const key = await apps.keyOf({ ratePerSecond: 1, rateBurst: 100 });
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 130 }, () => apps.small.api.get('/things', { key })));
    const seconds = (performance.now() - startedAt) / 1_000;
    const refused = answers.filter((answer) => answer.status === 429);
    expect(answers.filter((answer) => answer.status === 200).length + refused.length).toBe(130);
    expect(refused.length).toBeGreaterThanOrEqual(29 - Math.ceil(seconds));
    expect(refused.length).toBeLessThanOrEqual(30);
    for (const { headers, body } of refused) {
      expect(body.error).toMatchObject({ code: 'RATE_LIMITED', retry_after_seconds: 1 });
      expect(headers.get('retry-after')).toBe('1');
      expect(headers.get('ratelimit')).toBe('"default";r=0;t=1');
    }
  });

  it.each<[string, number, (key: string) => Promise<{ status: number }>]>([
    ['lacks the scope', 403, (key) => apps.small.api.get('/things', { key })],
    ['sends a body that is no JSON', 400, (key) => apps.small.api.post('/things', '{', { key })],
    ['sends too much', 413, (key) => apps.small.api.post('/things', 'x'.repeat(300_000), { key })],
    [
      'sends another type',
      415,
      (key) => apps.small.api.post('/things', 'x', { key, headers: { 'content-type': 'a/b' } }),
    ],
    ['asks for a malformed id', 400, (key) => apps.small.api.request({ method: 'DELETE', path: '/things/x', key })],
  ])('is spent by a key that %s', async (_what, status, ask) => {
    const { id } = await apps.small.factories.workspace({ ratePerSecond: 1, rateBurst: 10 });
    const key = (await apps.small.factories.apiKey({ organizationId: id, scopes: ['messages:write'] })).text;
    const startedAt = performance.now();
    const statuses = (await Promise.all(Array.from({ length: 30 }, () => ask(key)))).map((answer) => answer.status);
    const refused = statuses.filter((one) => one === 429).length;
    expect(statuses.filter((one) => one === status).length + refused).toBe(30);
    expect(refused).toBeGreaterThanOrEqual(19 - Math.ceil((performance.now() - startedAt) / 1_000));
  });

  it('is one for all processes', async () => {
    const key = await apps.keyOf({ ratePerSecond: 1, rateBurst: 40 });
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => (i % 2 === 0 ? apps.small : apps.other).api.get('/things', { key })),
    );
    const passed = answers.filter((answer) => answer.status === 200).length;
    expect(passed).toBeGreaterThanOrEqual(40);
    expect(passed).toBeLessThanOrEqual(41 + Math.ceil((performance.now() - startedAt) / 1_000));
  });

  it('of one key is not that of another', async () => {
    const { id } = await apps.small.factories.workspace({ ratePerSecond: 1, rateBurst: 2 });
    const [first, second] = [
      (await apps.small.factories.apiKey({ organizationId: id })).text,
      (await apps.small.factories.apiKey({ organizationId: id })).text,
    ];
    await waitFor(async () => (await apps.small.api.get('/things', { key: first })).status === 429);
    expect((await apps.small.api.get('/things', { key: second })).status).toBe(200);
  });

  it('is counted by each process alone while the shared buckets are out of reach', async () => {
    const key = await apps.keyOf({ ratePerSecond: 1, rateBurst: 20 });
    await apps.small.database.execute('alter table rate_bucket rename to rate_bucket_away');
    try {
      const startedAt = performance.now();
      const answers = await Promise.all(Array.from({ length: 30 }, () => apps.small.api.get('/things', { key })));
      const passed = answers.filter((answer) => answer.status === 200).length;
      expect(passed).toBeGreaterThanOrEqual(20);
      expect(passed).toBeLessThanOrEqual(21 + Math.ceil((performance.now() - startedAt) / 1_000));
    } finally {
      await apps.small.database.execute('alter table rate_bucket_away rename to rate_bucket');
    }
  });
});
