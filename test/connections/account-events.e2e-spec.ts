import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { entries, notify, secondsNow } from '../inbound/fixture.js';
import { connectionAtSimulator } from '../messages/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import type { ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const PORTFOLIO = '506914307656634';

let test: TestApp;
let api: ApiClient;
let organizationId: string;
let first: ConnectionRow;
/** Of another account of the same portfolio. */
let other: ConnectionRow;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
});
afterAll(() => test.stop());

beforeEach(async () => {
  organizationId = (await test.factories.workspace()).id;
  api = test.api.as((await test.factories.apiKey({ organizationId })).text);
  first = await connectionAtSimulator(test, organizationId);
  other = await connectionAtSimulator(test, organizationId);
  const ofWorkspace = 'where organization_id = $1';
  await test.database.execute(`update connection set facts_due_at = now() ${ofWorkspace}`, [organizationId]);
  await ask();
});

async function shown(id = first.id): Promise<Record<string, unknown>> {
  const { body } = await api.get('/connections');
  return (body.data as Record<string, unknown>[]).find((each) => each.id === id) ?? {};
}

/** Posts one change twice, as the platform may. */
async function say(field: string, value: object, { id = first.wabaId, time = secondsNow() + 60 } = {}): Promise<void> {
  for (let n = 0; n < 2; n++) await notify(test, entries([{ id, time, changes: [{ field, value }] }]));
}

async function due(): Promise<string[]> {
  const rows = await test.database.query<{ id: string }>(
    'select id from connection where facts_due_at <= clock_timestamp() and organization_id = $1 order by id',
    [organizationId],
  );
  return rows.map(({ id }) => id);
}

/** The worker's round that asks the platform about each number whose turn it is. */
async function ask(): Promise<void> {
  for (let asked = 1; asked > 0;) asked = await test.app.get(Sweeps, { strict: false }).runNow('connection_facts');
}

const both = () => [first.id, other.id].sort();

describe('a limit', () => {
  it.each<[string, object, string]>([
    ['a number', { max_daily_conversations_per_business: 10_000, max_phone_numbers_per_waba: 25 }, 'TIER_10K'],
    ['a tier', { max_daily_conversations_per_business: 'TIER_10K' }, 'TIER_10K'],
  ])('as %s is shown at once, and the portfolio’s other numbers are asked about', async (_name, value, limit) => {
    await say('business_capability_update', value);
    expect(await shown()).toMatchObject({ messaging_limit: limit });
    expect(await due()).toEqual(both());
    test.simulator.numbers.change(other.phoneNumberId, { messagingLimit: 'TIER_100K' });
    await ask();
    expect(await shown(other.id)).toMatchObject({ messaging_limit: 'TIER_100K' });
  });

  it('of messages a second, and of a number that was never used, is none', async () => {
    const { phoneNumber: display_phone_number } = first;
    await say('phone_number_quality_update', {
      display_phone_number,
      event: 'THROUGHPUT_UPGRADE',
      current_limit: 'TIER_UNLIMITED',
    });
    await say('phone_number_quality_update', {
      display_phone_number,
      event: 'ONBOARDING',
      current_limit: 'TIER_NOT_SET',
    });
    expect(await shown()).toMatchObject({ messaging_limit: 'TIER_2K' });
    expect(await due()).toEqual([first.id]);
  });

  it('that is older than what the platform says of the number changes nothing but that it is asked', async () => {
    await say('business_capability_update', { max_daily_conversations_per_business: 250 }, { time: secondsNow() - 60 });
    expect(await shown()).toMatchObject({ messaging_limit: 'TIER_2K' });
    expect(await due()).toEqual(both());
  });
});

describe('an account', () => {
  it.each<[string, string, object]>([
    [
      'removed, by the portfolio’s entry',
      PORTFOLIO,
      {
        event: 'PARTNER_REMOVED',
        disconnection_info: { reason: 'PRIMARY_INACTIVITY', initiated_by: 'SYSTEM' },
      },
    ],
    ['removed, by its own entry', '', { event: 'PARTNER_REMOVED' }],
    ['offboarded', '', { event: 'ACCOUNT_OFFBOARDED' }],
  ])('that is %s is disconnected, and the others are not', async (_name, portfolio, value) => {
    const named = portfolio === '' ? {} : { waba_info: { waba_id: first.wabaId, owner_business_id: PORTFOLIO } };
    await say('account_update', { ...value, ...named }, portfolio === '' ? {} : { id: portfolio });
    expect(await shown()).toMatchObject({ status: 'disconnected', status_reason: 'account_removed' });
    expect(await shown(other.id)).toMatchObject({ status: 'connected' });
    const to = '15550001234';
    await test.factories.conversation({ connection: first, phone: to });
    const { status, body } = await api.post(
      '/messages',
      { connection_id: first.id, to, type: 'text', text: { body: 'x' } },
      { headers: { 'idempotency-key': crypto.randomUUID() } },
    );
    expect([status, body.error.code]).toEqual([409, 'CONNECTION_NOT_READY']);
    // The platform's answer is the last word.
    await say('account_update', { event: 'ACCOUNT_RECONNECTED' });
    await ask();
    expect(await shown()).toMatchObject({ status: 'connected', status_reason: null });
  });

  it('whose removal is told late, after the platform has described it again, stays connected', async () => {
    await say('account_update', { event: 'PARTNER_REMOVED' }, { time: secondsNow() - 60 });
    expect(await shown()).toMatchObject({ status: 'connected' });
    expect(await due()).toEqual([first.id]);
  });

  it('that may not add numbers or send templates of a kind sends as before; one that may not write is restricted', async () => {
    const expiration = secondsNow() + 600;
    const restricted = (...types: string[]) =>
      say('account_update', {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: types.map((restriction_type) => ({ restriction_type, expiration })),
      });
    await restricted('RESTRICTED_ADD_PHONE_NUMBER_ACTION', 'RESTRICTED_UTILITY_TEMPLATES');
    expect(await shown()).toMatchObject({ status: 'connected' });
    await restricted('RESTRICTED_ADD_PHONE_NUMBER_ACTION', 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING');
    expect(await shown()).toMatchObject({ status: 'restricted', status_reason: 'platform' });
  });

  it('whose number is rate limited shows that, and sends', async () => {
    test.simulator.numbers.change(first.phoneNumberId, { status: 'RATE_LIMITED' });
    await say('account_alerts', {});
    await ask();
    expect(await shown()).toMatchObject({ status: 'restricted', status_reason: 'platform' });
  });
});
