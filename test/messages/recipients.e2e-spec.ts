import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { watchTries } from '../support/watch-tries.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

interface Begun {
  world: SendingWorkspace;
  to: string;
  id: string;
}

/** What takes its time begins together, before the first test. */
let triesOf: Awaited<ReturnType<typeof watchTries>>;
let throttled: Begun;
let doubtful: Begun;
let pair: { to: string; first: string; second: string };

async function begin(world: SendingWorkspace, lastDigits: string): Promise<Begun> {
  const to = await world.contact(lastDigits);
  return { world, to, id: await world.sendText(to) };
}

beforeAll(async () => {
  test = await startTestApp({
    env: { WHATSAPP_TIMEOUT_MS: '1500' },
    // Less than the six seconds of the platform, so that the tries after 1 and 4 s are enough.
    simulator: { pairLimitMs: 4_000, statusGapMs: 20 },
  });
  workspace = await sendingWorkspace(test);
  triesOf = await watchTries(test.database);
  throttled = await begin(await sendingWorkspace(test), '0004');
  const { to, id: first } = await begin(workspace, '0010');
  pair = { to, first, second: await workspace.sendText(to) };
  doubtful = await begin(workspace, '0006');
});

afterAll(() => test.stop());

const taken = (to: string): number => test.simulator.messages.list({ to }).length;

/** One test for each number that chooses a fate at the simulator. */
describe('a message to a number that ends in', () => {
  it('0001 is sent, and nothing more is heard of it', async () => {
    const id = await workspace.sendText(await workspace.contact('0001'));
    const message = await workspace.reaches(id, 'sent');
    expect(message.sent_at).not.toBeNull();
    // The reports of a later message come after all that are to come of this one.
    await workspace.reaches(await workspace.sendText(await workspace.contact()), 'read');
    expect(await workspace.message(id)).toMatchObject({ status: 'sent', delivered_at: null, read_at: null });
  });

  it('0002 is accepted and then fails with 131026', async () => {
    const id = await workspace.sendAnswered(await workspace.contact('0002'));
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      failure_category: 'recipient_unreachable',
      error: { code: '131026' },
      attempts: [{ status: 'accepted', platform_code: 131026, failure_category: 'recipient_unreachable' }],
      accepted_at: expect.any(String) as string,
      failed_at: expect.any(String) as string,
    });
  });

  it('0003 is refused at once with 131009', async () => {
    const to = await workspace.contact('0003');
    const id = await workspace.sendText(to);
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      error: { code: '131009' },
      accepted_at: null,
      attempt_count: 1,
      attempts: [{ status: 'rejected', platform_code: 131009 }],
    });
    expect(taken(to)).toBe(0);
  });

  it('0005 is taken and the answer lost: unknown, then resolved by its notifications, sent once', async () => {
    const to = await workspace.contact('0005');
    const id = await workspace.sendText(to);
    const message = await workspace.reaches(id, 'read');
    expect(message).toMatchObject({ attempt_count: 1, attempts: [{ status: 'accepted', http_status: null }] });
    expect(message.meta_message_id).toMatch(/^wamid\./);
    expect(taken(to)).toBe(1);
  });

  it('0007 answers after a minute: the outcome is resolved long before, sent once', async () => {
    const to = await workspace.contact('0007');
    const id = await workspace.sendText(to);
    await workspace.reaches(id, 'read');
    expect(taken(to)).toBe(1);
  });

  it('0008 is notified twice, backwards and before the answer: it is read, whatever the order', async () => {
    const to = await workspace.contact('0008');
    const id = await workspace.sendText(to);
    await workspace.reaches(id, 'read');
    const closed = await waitFor(async () => {
      const message = await workspace.message(id);
      return message.attempts[0].status === 'accepted' && message;
    });
    expect(closed).toMatchObject({
      status: 'read',
      attempt_count: 1,
      read_at: expect.any(String) as string,
      failed_at: null,
      meta_message_id: expect.stringMatching(/^wamid\./) as string,
    });
    expect(taken(to)).toBe(1);
  });

  it('0009 is read without having been delivered', async () => {
    const id = await workspace.sendText(await workspace.contact('0009'));
    expect(await workspace.reaches(id, 'read')).toMatchObject({ delivered_at: null });
  });

  it('0011 is accepted and then fails with 131047', async () => {
    const id = await workspace.sendAnswered(await workspace.contact('0011'));
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      failure_category: 'service_window_closed',
      error: { code: '131047' },
      attempts: [{ status: 'accepted', platform_code: 131047, failure_category: 'service_window_closed' }],
      accepted_at: expect.any(String) as string,
    });
  });

  it('0012 answers at once', async () => {
    const to = await workspace.contact('0012');
    await workspace.reaches(await workspace.sendText(to), 'read');
    const replies = await waitFor(async () => {
      const { data } = (await workspace.api.get('/messages?status=received')).body;
      return (data as unknown[]).length > 0 && (data as unknown[]);
    });
    expect(replies).toEqual([
      expect.objectContaining({ from: to, direction: 'inbound', status: 'received', type: 'text' }),
    ]);
  });

  it('0006 gets a 500 without a body: the outcome is unknown, and nothing is sent again automatically', async () => {
    const { to, id } = doubtful;
    await workspace.reaches(id, 'outcome_unknown');
    // A repeat would go out before what comes later.
    await workspace.reaches(await workspace.sendText(await workspace.contact()), 'read');
    expect(await workspace.message(id)).toMatchObject({
      status: 'outcome_unknown',
      attempt_count: 1,
      attempts: [{ status: 'unknown', http_status: 500 }],
    });
    expect(taken(to)).toBe(0);
  });

  it('0004 meets 130429 twice: the lane rests, no try is counted, and it goes out', async () => {
    const { world, to, id } = throttled;
    const message = await world.reaches(id, 'read');
    expect(message.attempts.map((attempt: { status: string }) => attempt.status)).toEqual([
      'deferred',
      'deferred',
      'accepted',
    ]);
    expect(message.attempts[0]).toMatchObject({ platform_code: 130429, failure_category: 'rate_limited' });
    expect(await triesOf(id)).toBe(0);
    expect(taken(to)).toBe(1);
  });

  it('0010 takes one message in some seconds: the second waits and goes out by itself', async () => {
    const { to, first, second } = pair;
    await workspace.reaches(first, 'read');
    const waiting = await waitFor(async () => {
      const message = await workspace.message(second);
      return message.attempts.length > 0 && message.attempts[0].status === 'deferred' && message;
    });
    expect(waiting.attempts[0]).toMatchObject({ platform_code: 131056 });
    const message = await waitFor(
      async () => {
        const current = await workspace.message(second);
        return current.status === 'read' && current;
      },
      { what: 'the second message to be read' },
    );
    expect(message.attempt_count).toBeGreaterThan(1);
    expect(taken(to)).toBe(2);
  });
});
