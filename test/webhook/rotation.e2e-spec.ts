import { Receiver, verifies, type Received } from '../faults/webhook-receiver.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp, subscriber } from './fixture.js';

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp(), Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

describe('POST /webhook/rotate-secret', () => {
  it('answers a new secret once; the old one signs for a day more', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    const { secret: old, secret_hint: oldHint } = await configure({ url: receiver.url('/rotated') });
    const rotated = await api.post('/webhook/rotate-secret');
    expect(rotated.status).toBe(200);
    const { secret: fresh, secret_hint: hint, previous_secret_expires_at: until } = rotated.body.data;
    expect(fresh).toMatch(/^whsec_/);
    expect(fresh).not.toBe(old);
    expect(hint).not.toBe(oldHint);
    const overlapMs = Date.parse(until as string) - Date.now();
    expect(overlapMs).toBeGreaterThan(24 * 3_600_000 - 60_000);
    expect(overlapMs).toBeLessThanOrEqual(24 * 3_600_000);
    expect((await api.get('/webhook')).body.data).not.toHaveProperty('secret');

    const [during = ''] = await emit();
    const both = await waitFor(() => receiver.of(during)[0]);
    expect([verifies(fresh as string, both), verifies(old, both)]).toEqual([true, true]);

    await test.database.execute(
      `update webhook_secret set expires_at = clock_timestamp() - interval '1 millisecond' where organization_id = $1 and expires_at is not null`,
      [organizationId],
    );
    expect((await api.get('/webhook')).body.data.previous_secret_expires_at).toBeNull();
    const [after = ''] = await emit();
    const one = await waitFor(() => receiver.of(after)[0]);
    expect([verifies(fresh as string, one), verifies(old, one)]).toEqual([true, false]);
  });

  it('is limited for each workspace', async () => {
    const { api, configure } = await subscriber(test);
    await configure({ url: receiver.url('/limited') });
    const answers = [];
    for (let n = 0; n < 21; n++) answers.push(await api.post('/webhook/rotate-secret'));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers[20]?.body.error).toMatchObject({ code: 'RATE_LIMITED', scope: 'webhook_changes' });
    expect(Number(answers[20]?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('may be called again within the day: all replaced secrets sign, up to the last five', async () => {
    const { api, configure, emit } = await subscriber(test);
    const secrets = [(await configure({ url: receiver.url('/again') })).secret];
    for (let n = 0; n < 5; n++) secrets.push((await api.post('/webhook/rotate-secret')).body.data.secret as string);
    const [id = ''] = await emit();
    const delivery = await waitFor(() => receiver.of(id)[0]);
    expect(secrets.map((secret) => verifies(secret, delivery))).toEqual([false, true, true, true, true, true]);
  });

  it('of many calls at once leaves one current secret', async () => {
    const { api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/at-once') });
    const answers = await Promise.all(Array.from({ length: 4 }, () => api.post('/webhook/rotate-secret')));
    const { secret_hint: hint } = (await api.get('/webhook')).body.data;
    const [id = ''] = await emit();
    const delivery = await waitFor(() => receiver.of(id)[0]);
    for (const { body } of answers) expect(verifies(body.data.secret as string, delivery)).toBe(true);
    const current = answers.filter(({ body }) => (body.data.secret as string).endsWith((hint as string).slice(-4)));
    expect(current).toHaveLength(1);
  });

  it('while deliveries go out leaves none that cannot be verified', async () => {
    const { api, configure, emit } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url('/under-load') });
    /** What a receiver holds that takes over each new secret as soon as it is answered, and keeps the one before. */
    let held = [secret];
    const unverifiable: Received[] = [];
    receiver.answer = (delivery) => {
      if (delivery.path === '/under-load' && !held.some((one) => verifies(one, delivery))) unverifiable.push(delivery);
      return { status: 204 };
    };
    const emitted: string[] = [];
    const delivered = (): number => receiver.of('/under-load').length;
    let ended = false;
    const load = (async () => {
      while (!ended) {
        emitted.push(...(await emit(10)));
        // Some are always on their way.
        await waitFor(() => delivered() > emitted.length - 20);
      }
    })();
    for (let n = 0; n < 4; n++) {
      const before = delivered();
      await waitFor(() => delivered() > before + 20);
      const { secret: fresh } = (await api.post('/webhook/rotate-secret')).body.data;
      held = [fresh as string, held[0] ?? ''];
      // The receiver keeps one secret back: what the one before signed arrives before the next rotation.
      const signedSoFar = emitted.length;
      await waitFor(() => delivered() >= signedSoFar);
    }
    const before = delivered();
    await waitFor(() => delivered() > before + 20 && emitted.length > 50);
    ended = true;
    await load;
    await waitFor(() => delivered() >= emitted.length);
    expect(emitted.length).toBeGreaterThan(50);
    expect(unverifiable).toEqual([]);
    // Who moves on to the new secret at once loses nothing either, once what was in flight has arrived.
    const [last = ''] = await emit();
    expect(verifies(held[0] ?? '', await waitFor(() => receiver.of(last)[0]))).toBe(true);
  });
});
