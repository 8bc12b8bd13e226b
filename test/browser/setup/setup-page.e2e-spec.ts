import type { Page } from 'playwright-core';
import { describeConsole, PATIENCE_MS } from '../console/rig.js';
import { makeLink, operator, RETURN_URL, signUp } from './rig.js';

const SETTINGS = { SETUP_RETURN_ORIGINS: 'https://app.example.com' };

describeConsole(
  'the page of a setup link',
  (rig) => {
    const h1 = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
    const dialog = (page: Page) => button(page, 'Open the sign-up of WhatsApp');
    const alert = (page: Page) => page.getByRole('alert');
    const numbersOf = (workspaceId: string): Promise<{ id: string; status: string }[]> =>
      operator(rig, 'GET', `/workspaces/${workspaceId}/connections`);

    it(
      'connects a number by the sign-up: link by the API, page, dialog, connection; it can send',
      () =>
        rig.visit({}, async (page) => {
          const link = await makeLink(rig, { return_url: RETURN_URL });
          await page.goto(link.url);
          await h1(page, 'Connect WhatsApp to Lighthouse Coffee').waitFor();
          await rig.expectNoViolations(page);
          await signUp(page, () => dialog(page).click());
          await h1(page, 'Your number is connected').waitFor();
          await rig.expectNoViolations(page);
          await page.getByLabel('Phone number with its country code').fill('+1 555 000-1234');
          await button(page, 'Send a test message').click();
          await page.getByText('The message is on its way.').waitFor();
          const back = page.getByRole('link', { name: 'Back to app.example.com' });
          expect(await back.getAttribute('href')).toBe(`${RETURN_URL}?setup=${link.id}&status=completed`);
          const [number] = await numbersOf(link.workspaceId);
          expect(number?.status).toBe('connected');
          const shown = await operator<object>(rig, 'GET', `/workspaces/${link.workspaceId}/setup-links/${link.id}`);
          expect(shown).toMatchObject({ status: 'completed', connection_id: number?.id });
        }),
      PATIENCE_MS,
    );

    it(
      'shows what failed and who can mend it, repeats that step alone, and loses nothing when it is closed',
      () =>
        rig.visit({ quiet: true }, async (page) => {
          const link = await makeLink(rig);
          await page.goto(link.url);
          const [popup] = await Promise.all([page.waitForEvent('popup'), dialog(page).click()]);
          await popup.getByRole('button', { name: 'Cancel' }).click();
          await page.getByText('Nothing is lost: open it again').waitFor();
          // A window that is closed by its own button says nothing.
          const [closed] = await Promise.all([page.waitForEvent('popup'), dialog(page).click()]);
          await closed.close();
          await page.getByText('Nothing is lost: open it again').waitFor();
          await signUp(page, () => dialog(page).click(), 'app_not_allowed');
          await alert(page).getByText('another app owns it').waitFor();
          await alert(page).getByText('You can mend this.').waitFor();
          await signUp(page, () => button(page, 'Open the sign-up again').click(), 'wrong_pin');
          await page.getByLabel('PIN of the number').waitFor();
          await rig.expectNoViolations(page);
          // Another visit, another browser: the steps that were done are done.
          await page.reload();
          await page.locator('li.done', { hasText: 'Messages and reports of the account' }).waitFor();
          expect(await numbersOf(link.workspaceId)).toEqual([]);
          await page.getByLabel('PIN of the number').fill('12345');
          await button(page, 'Try again').click();
          await page.getByText('pin must be 6 digits.').waitFor();
          await page.getByLabel('PIN of the number').fill('246810');
          await button(page, 'Try again').click();
          await h1(page, 'Your number is connected').waitFor();
          expect(await numbersOf(link.workspaceId)).toHaveLength(1);
        }),
      PATIENCE_MS,
    );

    it(
      'takes ids and a token by hand, each checked, and says which is wrong',
      () =>
        rig.visit({ quiet: true }, async (page) => {
          await rig.simulate('numbers', {
            phone_number_id: '770011223344',
            waba_id: '880011223344',
            display_phone_number: '+1 555-010-7788',
          });
          const link = await makeLink(rig, { signup: 'manual' });
          await page.goto(link.url);
          const send = async (token: string, number: string, account: string): Promise<void> => {
            await page.getByLabel('Access token').fill(token);
            await page.getByLabel('Phone number ID').fill(number);
            await page.getByLabel('WhatsApp Business Account ID').fill(account);
            await button(page, 'Check and continue').click();
          };
          await send('of-a-system-user', '+1 555', '880011223344');
          await page.getByText('phone_number_id must be the id as WhatsApp shows it').waitFor();
          await send('of-a-system-user', '770011223399', '880011223344');
          const wrong = page.locator('[aria-invalid=true]');
          await page.getByRole('alert').waitFor();
          expect(await wrong.getAttribute('name')).toBe('phone_number_id');
          await rig.expectNoViolations(page);
          await send('of-a-system-user', '770011223344', '880011223344');
          await h1(page, 'Your number is connected').waitFor();
          await page.getByText('You can close this window.').waitFor();
          expect(await numbersOf(link.workspaceId)).toHaveLength(1);
        }),
      PATIENCE_MS,
    );

    it(
      'imports the history of a number that stays in the app',
      () =>
        rig.visit({}, async (page) => {
          const link = await makeLink(rig, { signup: 'app' });
          await page.goto(link.url);
          await signUp(page, () => dialog(page).click());
          await button(page, 'Import conversations').click();
          await page.getByText('The conversations are on their way.').waitFor();
        }),
      PATIENCE_MS,
    );

    it(
      'says of a used, ended, revoked and unknown link that it does not work, and why',
      () =>
        rig.visit({ quiet: true }, async (page) => {
          const used = await makeLink(rig);
          await page.goto(used.url);
          await signUp(page, () => dialog(page).click());
          await h1(page, 'Your number is connected').waitFor();
          await page.reload();
          await alert(page).getByText('This setup link was used').waitFor();
          await rig.expectNoViolations(page);
          const revoked = await makeLink(rig);
          await operator(rig, 'DELETE', `/workspaces/${revoked.workspaceId}/setup-links/${revoked.id}`);
          await page.goto(revoked.url);
          await alert(page).getByText('This setup link was revoked').waitFor();
          const over = await makeLink(rig);
          await rig.query("update setup_link set expires_at = now() - interval '1 second' where id = $1", [over.id]);
          await page.goto(over.url);
          await alert(page).getByText('The time of this setup link is over').waitFor();
          await page.goto(`${over.url.slice(0, -1)}${over.url.endsWith('A') ? 'B' : 'A'}`);
          await h1(page, 'This link does not work').waitFor();
          expect(await alert(page).textContent()).toContain('There is no such setup link');
        }),
      PATIENCE_MS,
    );

    it(
      'fits narrow and wide, light and dark',
      async () => {
        const [dialogLink, manualLink] = [
          await makeLink(rig, { return_url: RETURN_URL }),
          await makeLink(rig, { signup: 'manual' }),
        ];
        await rig.visitEach(async (page) => {
          for (const { url } of [dialogLink, manualLink]) {
            await page.goto(url);
            await h1(page, 'Connect WhatsApp to Lighthouse Coffee').waitFor();
            await rig.expectNoViolations(page);
          }
        });
      },
      PATIENCE_MS,
    );

    it('has no script of Meta, as the dialog is the simulator’s; the API and the console never have', async () => {
      const link = await makeLink(rig);
      for (const path of [new URL(link.url).pathname, '/console', '/api/v1/messages']) {
        const answer = await fetch(rig.demo.base_url + path);
        expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
        expect(answer.headers.get('content-security-policy')).not.toContain('facebook');
      }
      const page = await fetch(link.url);
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('cache-control')).toBe('no-store');
    });
  },
  SETTINGS,
);
