import type { Page } from 'playwright-core';
import { CUSTOMER, describeConsole, PATIENCE_MS } from './rig.js';

/** No program listens there. */
const NOWHERE = '127.0.0.1:1';
const PASSWORD = 'a-password-of-the-broker';

describeConsole(
  'event destinations in the console',
  (rig) => {
    const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
    const inDialog = (page: Page, name: string) =>
      page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    const state = (page: Page, word: string) => page.locator('.pane-detail .explanation', { hasText: word }).waitFor();

    it(
      'are made, tried, paused, resumed and removed; what waits and the last error are seen',
      () =>
        rig.visit({}, async (page) => {
          await page.goto(`${rig.demo.base_url}/console/destinations`);
          await page.getByText('No destination yet').waitFor();
          await press(page, 'New');
          await page.getByLabel('Name').fill('orders');
          await page.getByLabel('Address').fill(`amqp://${NOWHERE}/production`);
          await page.getByLabel('Exchange').fill('herald');
          await page.getByLabel('User').fill('guest');
          const make = page.getByRole('dialog').getByRole('button', { name: 'Make it' });
          expect(await make.isDisabled()).toBe(true);
          await page.getByLabel('Password').fill(PASSWORD);
          await make.click();
          await page.waitForURL('**/destinations/*');
          await page.locator('.pane-detail').getByText('password: kept, and never shown').waitFor();
          expect(await page.content()).not.toContain(PASSWORD);

          await press(page, 'Test');
          await page.getByText('not written: connection_refused').waitFor();
          await rig.send(CUSTOMER, 'Hello');
          await state(page, 'Nothing could be written since');
          await page.locator('.facts', { hasText: 'connection_refused' }).waitFor();
          await page
            .locator('.pane-row', { hasText: 'RabbitMQ' })
            .getByText(/\d+ wait$/)
            .waitFor();

          await press(page, 'Pause');
          await inDialog(page, 'Pause it');
          await state(page, 'Events wait in Herald');
          await press(page, 'Resume');
          await inDialog(page, 'Resume it');
          await state(page, 'Nothing could be written');
          await press(page, 'Remove');
          await inDialog(page, 'Remove it');
          await page.getByText('This workspace has no such destination').waitFor();
        }),
      2 * PATIENCE_MS,
    );

    it(
      'fit wide and narrow, light and dark; a refusal is said in the dialog',
      async () => {
        const rabbitmq = { url: `amqp://${NOWHERE}`, exchange: 'herald', username: 'guest', password: PASSWORD };
        const { id } = await rig.call<{ id: string }>('POST', '/destinations', { name: 'orders', rabbitmq });
        await rig.visitEach(async (page) => {
          await page.goto(`${rig.demo.base_url}/console/destinations/${id}`);
          await page.locator('.pane-detail .facts').waitFor();
          await rig.expectAccessible(page);
        });
        await rig.visit({ quiet: true }, async (page) => {
          await page.goto(`${rig.demo.base_url}/console/destinations`);
          await press(page, 'New');
          await page.getByLabel('Kind of broker').selectOption('nats');
          await page.getByLabel('Name').fill('orders');
          await page.getByLabel('Address').fill(`nats://${NOWHERE}`);
          await page.getByLabel('Subject').fill('herald.{type}');
          await rig.expectNoViolations(page);
          await inDialog(page, 'Make it');
          await page.getByRole('dialog').getByText('DESTINATION_NAME_TAKEN').waitFor();
        });
      },
      4 * PATIENCE_MS,
    );

    it(
      'only show where the key may not change them',
      async () => {
        const { key } = await rig.newKey('webhooks:read');
        await rig.visit({ demoKey: false }, async (page) => {
          await page.goto(`${rig.demo.base_url}/console/destinations#key=${key}`);
          await page.locator('.pane-row', { hasText: 'orders' }).click();
          await page.locator('.pane-detail .facts').waitFor();
          for (const name of ['New', 'Test', 'Pause', 'Remove']) {
            expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
          }
        });
      },
      2 * PATIENCE_MS,
    );
  },
  { EVENT_DESTINATION_HOSTS: NOWHERE },
);
