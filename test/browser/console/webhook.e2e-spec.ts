import type { Page } from 'playwright-core';
import { Receiver, verify } from '../../faults/webhook-receiver.js';
import { never } from '../../support/never.js';
import { waitFor } from '../../support/wait-for.js';
import { OPEN_TARGETS } from '../../webhook/fixture.js';
import { ATTACK, CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

describeConsole(
  'the webhook in the console',
  (rig) => {
    let receiver: Receiver;
    let status = 204;
    beforeAll(async () => {
      receiver = await Receiver.start();
      receiver.answer = () => ({ status });
    });
    afterAll(() => receiver?.stop());

    const open = async (page: Page, suffix = ''): Promise<void> => {
      await page.goto(`${rig.demo.base_url}/console/webhook${suffix}`);
      await page.getByRole('heading', { name: 'Webhook', exact: true }).waitFor();
    };
    const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
    const inDialog = (page: Page, name: string) =>
      page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

    it(
      'is set, shows its secret once, and is tried: the test leads to what was sent',
      () =>
        // Where there is none the API answers 404.
        rig.visit({ quiet: true }, async (page) => {
          await page.clock.install();
          await page.goto(`${rig.demo.base_url}/console/webhook`);
          await press(page, 'Set the webhook');
          await page.getByLabel('Address').fill(receiver.url('/console'));
          await inDialog(page, 'Save');
          const secret = (await page.locator('.secret').textContent()) ?? '';
          // The page below looks again by itself.
          await page.clock.fastForward(20_000);
          await page.locator('.state', { hasText: 'active' }).waitFor();
          expect(await page.locator('.secret').allTextContents()).toEqual([secret]);
          await press(page, 'I have kept it');
          expect(await page.content()).not.toContain(secret);
          await press(page, 'Test');
          await inDialog(page, 'Send');
          await page.locator('.panel .headline', { hasText: 'webhook.test' }).waitFor();
          const id = (await page.locator('.panel dd').first().textContent()) ?? '';
          expect(verify(secret, receiver.of(id)[0] ?? never())).toMatchObject({ id, type: 'webhook.test' });
          await page.locator('.panel pre', { hasText: id }).waitFor();
          await page.locator('.attempts [aria-current]').waitFor();
        }),
      2 * PATIENCE_MS,
    );

    it(
      'checks the receiver, and shows first what it does wrong',
      () =>
        rig.visit({}, async (page) => {
          await open(page);
          await press(page, 'Check');
          await inDialog(page, 'Run');
          await page.getByRole('status').getByText('5 wrong').waitFor();
          const first = page.locator('.verify-dialog tbody tr').first();
          expect(await first.textContent()).toContain('as if Herald had sent it');
          await inDialog(page, 'Close');
        }),
      2 * PATIENCE_MS,
    );

    it(
      'shows a failed delivery with its meaning, and delivers again what failed',
      () =>
        rig.visit({}, async (page) => {
          status = 500;
          await rig.send(CUSTOMER, `About ${ATTACK}`);
          await open(page, '?status=failed');
          await page.locator('.delivery-row').first().click();
          await page.getByText('Your receiver answered with something other than 2xx.').waitFor();
          expect(page.url()).toContain('status=failed');
          await press(page, 'Only this event');
          await page.waitForURL('**event_id=*');
          status = 204;
          await page.getByLabel('Close', { exact: true }).click();
          await press(page, 'one event ×');
          await press(page, 'Replay');
          await page.getByLabel('Which').selectOption('all');
          await inDialog(page, 'Replay');
          await page.getByRole('status').getByText('done').waitFor();
          await page.getByLabel('Hide the replay').click();
          await page.locator('.delivery-row', { hasText: '204' }).first().waitFor();
        }),
      2 * PATIENCE_MS,
    );

    it(
      'shows what customers wrote as text',
      () =>
        rig.visit({}, async (page) => {
          await rig.writeAttack();
          await open(page, '?event_type=message.received');
          await page.locator('.delivery-row').first().click();
          await page.locator('.panel pre', { hasText: '<img src=x' }).waitFor();
          expect(await page.locator('img[src="x"]').count()).toBe(0);
          await page.getByRole('link', { name: 'Message', exact: true }).click();
          await page.locator('.panel .bubble', { hasText: '<img src=x' }).waitFor();
        }),
      2 * PATIENCE_MS,
    );

    it(
      'changes kinds, headers and the secret; pauses and resumes',
      () =>
        rig.visit({}, async (page) => {
          await open(page);
          await press(page, 'Settings');
          await page.getByLabel('media.ready').check();
          await inDialog(page, 'Add');
          await page.getByLabel('Header 1', { exact: true }).fill('X-Gate');
          await page.getByLabel('Value 1', { exact: true }).fill('a-value-of-its-own');
          await inDialog(page, 'Save');
          await page.getByRole('dialog').waitFor({ state: 'detached' });
          await page.getByText('3 of 18 kinds of events').waitFor();
          await page.getByText('X-Gate').waitFor();
          expect(await page.content()).not.toContain('a-value-of-its-own');
          await press(page, 'Replace the secret');
          await inDialog(page, 'Replace the secret');
          const secret = (await page.locator('.secret').textContent()) ?? '';
          await press(page, 'I have kept it');
          await page.getByText('the replaced secret signs too').waitFor();
          await press(page, 'Test');
          await inDialog(page, 'Send');
          await page.locator('.panel .headline', { hasText: 'webhook.test' }).waitFor();
          const id = (await page.locator('.panel dd').first().textContent()) ?? '';
          const [received = never()] = receiver.of(id);
          expect(verify(secret, received).id).toBe(id);
          expect(received.headers['x-gate']).toBe('a-value-of-its-own');
          await press(page, 'Pause');
          await inDialog(page, 'Pause');
          await page.locator('.state', { hasText: 'paused' }).waitFor();
          await page.getByRole('region', { name: 'Webhook' }).getByRole('button', { name: 'Deliver again' }).click();
          await inDialog(page, 'Deliver again');
          await page.locator('.state', { hasText: 'active' }).waitFor();
        }),
      2 * PATIENCE_MS,
    );

    it(
      'says why Herald turned it off, and turns it on again',
      () =>
        rig.visit({}, async (page) => {
          status = 410;
          const before = receiver.received.length;
          await rig.send(CUSTOMER, 'The receiver is away.');
          await waitFor(() => receiver.received.length > before, { what: 'a delivery' });
          await open(page);
          await page.locator('.state', { hasText: 'disabled' }).waitFor();
          await page.getByText('Your receiver answered 410').first().waitFor();
          status = 204;
          await page.getByRole('region', { name: 'Webhook' }).getByRole('button', { name: 'Deliver again' }).click();
          await inDialog(page, 'Deliver again');
          await page.locator('.state', { hasText: 'active' }).waitFor();
        }),
      2 * PATIENCE_MS,
    );

    it(
      'has no serious fault of accessibility',
      () =>
        rig.visitEach(async (page) => {
          await open(page);
          await page.locator('.delivery-row').first().waitFor();
          await rig.expectAccessible(page);
          await press(page, 'Settings');
          await rig.expectAccessible(page);
          await inDialog(page, 'Back');
          await page.locator('.delivery-row').first().click();
          await page.locator('.panel .attempts a').first().waitFor();
          await rig.expectAccessible(page);
        }),
      4 * PATIENCE_MS,
    );

    it(
      'lets a key only look that may only read, and hides messages from a key that may not read them',
      async () => {
        const { key } = await rig.newKey('webhooks:read');
        await rig.visit({ demoKey: false }, async (page) => {
          await page.goto(`${rig.demo.base_url}/console/webhook?event_type=message.received#key=${key}`);
          await page.locator('.delivery-row').first().click();
          await page.getByText('This key needs the scope messages:read').waitFor();
          expect(await page.getByRole('button', { name: 'Settings' }).count()).toBe(0);
          expect(await page.getByRole('button', { name: 'Deliver again' }).count()).toBe(0);
        });
      },
      2 * PATIENCE_MS,
    );
  },
  OPEN_TARGETS,
);
