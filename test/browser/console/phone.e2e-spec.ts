import type { Page } from 'playwright-core';
import { waitFor } from '../../support/wait-for.js';
import { CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

describeConsole('the simulated phone in the console', (rig) => {
  const templates = () => `/connections/${rig.demo.connection_id}/templates`;
  const makeTemplate = (name: string) =>
    rig.call('POST', templates(), {
      name,
      language: 'en_US',
      category: 'UTILITY',
      components: [
        { type: 'BODY', text: 'Will you come tomorrow?' },
        { type: 'FOOTER', text: 'Lucky Shrub' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'With pleasure' },
            { type: 'QUICK_REPLY', text: 'Another time' },
          ],
        },
      ],
    });
  const statusOf = async (name: string): Promise<string | undefined> => {
    const found = await rig.call<{ name: string; status: string }[]>('GET', `${templates()}?name=${name}`);
    return found[0]?.status;
  };
  const decide = async (page: Page, name: string, decision: string): Promise<void> => {
    await page.getByRole('button', { name: 'Reviewer' }).click();
    await page.getByLabel(`Decide on ${name}`).selectOption({ label: decision });
  };
  const phone = (page: Page) => page.getByRole('log', { name: 'Chat' });

  it(
    'reacts to a message: the reaction stands at it, on the phone and in the conversation, until it is taken back',
    () =>
      rig.visit({}, async (page) => {
        await rig.send(CUSTOMER, 'Your table is ready.');
        await page.goto(`${rig.demo.base_url}/console/conversations?show=all`);
        const said = phone(page).locator('.said', { hasText: 'Your table is ready.' });
        await said.getByLabel('React', { exact: true }).click();
        await page.getByLabel('React with ❤️').click();
        await said.locator('.reactions', { hasText: '❤️' }).waitFor();
        await page.locator('.conversation-row', { hasText: '❤️' }).first().waitFor();
        await rig.expectOneScreen(page);
        await page.locator('.conversation-row', { hasText: '❤️' }).first().click();
        const inThread = page.locator('.thread .bubble', { hasText: 'Your table is ready.' });
        await inThread.locator('.reactions', { hasText: '❤️' }).waitFor();
        await said.getByLabel('React', { exact: true }).click();
        await page.getByLabel('Take the reaction back').click();
        await inThread.locator('.reactions').waitFor({ state: 'detached' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'edits a message of the customer and deletes it: the conversation and the page of the message say what holds',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/conversations`);
        await page.getByLabel('Write as the customer').fill('A table at seven?');
        await page.getByLabel('Send as the customer').click();
        const said = phone(page).locator('.said', { hasText: 'A table at' });
        await said.getByRole('button', { name: 'Edit' }).click();
        await page.getByLabel('New words of the customer').fill('A table at eight?');
        await page.getByLabel('Send as the customer').click();
        await said.locator('.bubble', { hasText: 'eight' }).getByText('edited', { exact: true }).waitFor();
        await page.locator('.conversation-row', { hasText: 'A table at eight?' }).first().click();
        const inThread = page.locator('.thread .bubble', { hasText: 'A table at eight?' });
        await inThread.getByText('edited', { exact: true }).waitFor();
        expect(await page.locator('.thread .bubble', { hasText: 'A table' }).count()).toBe(1);
        await rig.expectOneScreen(page);
        await inThread.locator('.meta-link').click();
        await page.locator('.panel', { hasText: 'Before the edit' }).getByText('A table at seven?').first().waitFor();
        await page.locator('.panel .step', { hasText: 'edited' }).waitFor();
        await said.getByRole('button', { name: 'Delete' }).click();
        await phone(page).locator('.bubble').getByText('withdrawn', { exact: true }).waitFor();
        await page.locator('.panel .bubble').getByText('withdrawn', { exact: true }).waitFor();
        expect(await page.locator('.panel .bubble', { hasText: 'A table' }).count()).toBe(0);
        await rig.expectAccessible(page);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'lets the next message to the customer fail with a chosen code, once',
    () =>
      rig.visit({}, async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages`);
        const next = page.getByLabel('The next message');
        await next.selectOption('131049');
        await waitFor(async () => (await next.inputValue()) === '131049', { what: 'the choice' });
        await rig.send(CUSTOMER, 'This one fails.');
        const last = async () => (await rig.call<{ status: string }[]>('GET', '/messages?limit=1'))[0]?.status;
        await waitFor(async () => (await last()) === 'failed', { what: 'the failure' });
        await waitFor(async () => (await next.inputValue()) === '0', { what: 'the end of it' });
        await rig.expectOneScreen(page);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'presses a button of a template',
    () =>
      rig.visit({}, async (page) => {
        await makeTemplate('table_invitation');
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await decide(page, 'table_invitation', 'Approve');
        await waitFor(async () => (await statusOf('table_invitation')) === 'approved', { what: 'the approval' });
        await rig.call('POST', '/messages', {
          connection_id: rig.demo.connection_id,
          to: CUSTOMER,
          type: 'template',
          template: { name: 'table_invitation', language: 'en_US' },
        });
        await page.getByRole('button', { name: 'Simulated phone' }).click();
        await phone(page).getByText('Lucky Shrub').waitFor();
        await phone(page).getByRole('button', { name: 'With pleasure' }).click();
        await page.locator('.message-row', { hasText: 'With pleasure' }).click();
        await page.locator('.panel', { hasText: 'With pleasure' }).waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'rejects and pauses templates as the reviewer, which Herald hears',
    () =>
      rig.visit({}, async (page) => {
        await makeTemplate('scam_offer');
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await decide(page, 'scam_offer', 'Reject: scam');
        await page.locator('.review', { hasText: 'scam_offer' }).getByText('rejected').waitFor();
        await waitFor(async () => (await statusOf('scam_offer')) === 'rejected', { what: 'the rejection' });
        await decide(page, 'hello_world', 'Pause');
        await waitFor(async () => (await statusOf('hello_world')) === 'paused', { what: 'the pause' });
        await decide(page, 'hello_world', 'Approve');
        await waitFor(async () => (await statusOf('hello_world')) === 'approved', { what: 'the approval' });
      }),
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility',
    () =>
      rig.visitEach(async (page) => {
        await page.goto(`${rig.demo.base_url}/console/messages`);
        await page.locator('.message-row').first().waitFor();
        const toggle = page.getByRole('button', { name: 'Phone', exact: true });
        if ((await toggle.getAttribute('aria-pressed')) === 'false') await toggle.click();
        await phone(page).getByLabel('React', { exact: true }).first().click();
        await rig.expectAccessible(page);
        await page.getByRole('button', { name: 'Reviewer' }).click();
        await page.locator('.review').first().waitFor();
        await rig.expectAccessible(page);
      }),
    3 * PATIENCE_MS,
  );
});
