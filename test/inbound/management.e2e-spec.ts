import { newId } from '../../src/common/ids.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { approvedTemplate, templateBody } from '../messages/platform-templates.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import {
  changeOf,
  counter,
  entries,
  inboundOf,
  notify,
  secondsNow,
  statesOf,
  tryUntil,
  waitForStates,
} from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const messagingLimit = async () => (await workspace.api.get('/connections')).body.data[0].messaging_limit as string;

/** The platform's notification of a number's quality; the worker, which asks it soon after, gets the same. */
function limitChange(limit: 'TIER_10K' | 'TIER_100K'): object {
  const { phoneNumber, phoneNumberId, wabaId } = workspace.connection;
  test.simulator.numbers.change(phoneNumberId, { messagingLimit: limit });
  const value = { display_phone_number: phoneNumber, event: 'UPGRADE', current_limit: limit };
  return { id: wabaId, time: secondsNow(), changes: [{ field: 'phone_number_quality_update', value }] };
}

describe('a notification', () => {
  it('a template decides what may be sent', async () => {
    const template = await approvedTemplate(test, workspace, {
      name: 'review_test',
      components: [{ type: 'BODY', text: 'Our new hours.' }],
    });
    const send = () => workspace.send(testPhone(), { body: templateBody('review_test') });
    expect((await send()).status).toBe(202);
    const before = counter(test, 'notifications_management');
    await template.review('PAUSED');
    await waitFor(async () => (await send()).body.error?.template_status === 'paused');
    await waitFor(() => counter(test, 'notifications_management') > before);
    await template.review('REINSTATED');
    await waitFor(async () => (await send()).status === 202);
  });

  it('an account that is not ours, or of which nothing is known, changes nothing and is done with', async () => {
    const marker = `unknown-${newId()}`;
    const value = { event: 'APPROVED', message_template_name: marker, message_template_language: 'en_US' };
    const fields = ['message_template_status_update', 'account_update', 'flows'];
    await notify(test, entries([{ id: '1', time: 1, changes: fields.map((field) => ({ field, value })) }]));
    await waitForStates(test, marker, ['applied']);
  });
});

it('what can’t be applied now is applied later, and keeps nothing else of its notification back', async () => {
  const marker = `wamid.${newId()}`;
  const text = { from: testPhone(), id: marker, timestamp: String(secondsNow()), type: 'text', text: { body: 'oi' } };
  const { wabaId } = workspace.connection;
  const failed = counter(test, 'notifications_apply_failed');
  await test.database.execute('alter table template_account rename to template_account_away');
  try {
    const value = { event: 'PAUSED', message_template_name: 'hello_world', message_template_language: 'en_US' };
    await notify(
      test,
      entries([
        { id: wabaId, time: secondsNow(), changes: [{ field: 'message_template_status_update', value }] },
        limitChange('TIER_100K'),
        { id: wabaId, changes: [changeOf(workspace.connection, { messages: [text] })] },
      ]),
    );
    expect(await statesOf(test, marker)).toEqual(['stored']);
    expect(counter(test, 'notifications_apply_failed')).toBeGreaterThan(failed);
    expect(await messagingLimit()).toBe('TIER_100K');
    const stored = await inboundOf(test, workspace.connection);
    expect(stored.filter((row) => row.meta_message_id === marker)).toHaveLength(1);
  } finally {
    await test.database.execute('alter table template_account_away rename to template_account');
  }
  await tryUntil(test, marker, ['applied']);
  const stored = await inboundOf(test, workspace.connection);
  expect(stored.filter((row) => row.meta_message_id === marker)).toHaveLength(1);
});
