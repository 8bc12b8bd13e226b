import type { Page } from 'playwright-core';
import { newId } from '../../../src/common/ids.js';
import { Issuer } from '../../support/rig/issuer.js';
import { waitFor } from '../../support/wait-for.js';
import { operator, signUp } from '../setup/rig.js';
import { CUSTOMER, describeConsole } from './rig.js';

const ISSUER = 'Example Ltd';
/** Of the whole story; Herald has started then. */
const LIMIT_MS = 180_000;
const QUESTION = 'Is the blue lamp there again?';
const NEWS = 'Your order is packed.';
const ANSWER = 'It is: ten of them since this morning.';

const settings: Record<string, string> = {};
let issuer: Issuer;

beforeAll(async () => {
  issuer = await Issuer.start();
  settings.OIDC_ISSUERS = JSON.stringify([issuer.settings(ISSUER)]);
  settings.OIDC_ROLES = JSON.stringify([{ group: 'operators', role: 'operator' }]);
});
afterAll(() => issuer?.stop());

describeConsole(
  'from the first command to a conversation, in browsers alone',
  (rig) => {
    beforeAll(() => issuer.register(rig.demo.base_url, ISSUER));

    const account = (id: string, ...groups: string[]): void => {
      issuer.accounts.set(id, { email: `${id}@example.com`, email_verified: true, name: `The ${id}`, groups });
    };
    // Quiet: a workspace without a webhook answers 404 where the overview asks for it.
    const visit = (work: (page: Page) => Promise<void>): Promise<void> =>
      rig.visit({ demoKey: false, origins: [issuer.url], quiet: true }, work);
    const signIn = async (page: Page, id: string): Promise<void> => {
      await page.goto(`${rig.demo.base_url}/console`);
      await page.getByRole('link', { name: `Sign in with ${ISSUER}` }).click();
      await page.getByRole('button', { name: id, exact: true }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    };

    /** A workspace that has paid, its setup link, and the invitations of both people. */
    const prepare = async (page: Page): Promise<string> => {
      await signIn(page, 'otto');
      const form = page.getByRole('dialog');
      await page.getByRole('button', { name: 'New', exact: true }).click();
      await form.getByLabel('Name').fill('Lighthouse Lamps');
      await form.getByRole('button', { name: 'Make it' }).click();
      const detail = page.getByRole('region', { name: 'Workspace', exact: true });
      await detail.getByText('not paid').waitFor();
      await detail.getByRole('button', { name: 'Change', exact: true }).click();
      await detail.getByLabel('Paid until').fill('2099-12-31T12:00');
      await detail.getByRole('button', { name: 'Save' }).click();
      await detail.getByText('not paid', { exact: true }).waitFor({ state: 'detached' });
      for (const [id, role] of [
        ['dora', 'developer'],
        ['anna', 'agent'],
      ] as const) {
        await detail.getByRole('button', { name: 'Invite' }).click();
        await form.getByLabel('E-mail').fill(`${id}@example.com`);
        await form.getByLabel('Role').selectOption(role);
        await form.getByRole('button', { name: 'Invite' }).click();
        await form.getByText('send this address yourself').waitFor();
        await form.getByRole('button', { name: 'Close' }).click();
      }
      await detail.getByRole('button', { name: 'New link' }).click();
      await form.getByRole('button', { name: 'Make it' }).click();
      const link = (await form.locator('.secret').innerText()).trim();
      await form.getByRole('button', { name: 'Close' }).click();
      await detail.getByText('not opened yet').waitFor();
      await picture(page, 'story-1-operator');
      return link;
    };

    /** The business has no session. */
    const connect = async (page: Page, link: string): Promise<void> => {
      await page.goto(link);
      await page.getByRole('heading', { level: 1, name: 'Connect WhatsApp to Lighthouse Lamps' }).waitFor();
      await signUp(page, () => page.getByRole('button', { name: 'Open the sign-up of WhatsApp' }).click());
      await page.getByRole('heading', { level: 1, name: 'Your number is connected' }).waitFor();
      await picture(page, 'story-2-business');
    };

    /** As the developer's program calls the API. */
    const call = async <T>(key: string, path: string, body?: object): Promise<T> => {
      const answer = await fetch(`${rig.demo.base_url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': newId(),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return ((await answer.json()) as { data: T }).data;
    };

    const develop = async (page: Page): Promise<void> => {
      await signIn(page, 'dora');
      await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('orders');
      await form.getByRole('button', { name: 'Make it' }).click();
      const key = (await form.locator('.secret').innerText()).trim();
      await form.getByRole('button', { name: 'Close' }).click();

      const numbers = await call<{ id: string }[]>(key, '/connections');
      expect(numbers).toHaveLength(1);
      const { workspace } = await call<{ workspace: { id: string } }>(key, '/key');
      // The simulator knows the number by its id at Meta, which a key of the workspace is not told.
      const path = `/workspaces/${workspace.id}/connections`;
      const [number] = await operator<{ id: string; phone_number_id: string }[]>(rig, 'GET', path);
      await rig.simulate('inbound', {
        phone_number_id: number?.phone_number_id,
        from: CUSTOMER,
        profile_name: 'Ana',
        message: { type: 'text', text: { body: QUESTION } },
      });
      await page.goto(`${rig.demo.base_url}/console/messages`);
      await page.getByText(QUESTION).first().waitFor();
      const text = { connection_id: numbers[0]?.id, to: CUSTOMER, type: 'text', text: { body: NEWS } };
      const { id } = await call<{ id: string }>(key, '/messages', text);
      await page.goto(`${rig.demo.base_url}/console/messages/${id}`);
      const panel = page.getByRole('complementary', { name: 'Message', exact: true });
      await panel.getByText(NEWS).first().waitFor();
      await panel.locator('.status.is-read').first().waitFor();
      await picture(page, 'story-3-developer');
    };

    const answer = async (page: Page): Promise<void> => {
      await signIn(page, 'anna');
      await page.goto(`${rig.demo.base_url}/console/conversations`);
      await page.getByRole('link', { name: 'All', exact: true }).click();
      await page.locator('.conversation-row', { hasText: CUSTOMER }).click();
      await page.locator('.thread .bubble', { hasText: QUESTION }).waitFor();
      await page.getByLabel('Answer', { exact: true }).fill(ANSWER);
      await page.keyboard.press('Enter');
      await page.locator('.thread .bubble.is-mine', { hasText: ANSWER }).waitFor();
      await waitFor(
        async () => (await (await fetch(`${rig.demo.simulator_url}/_simulator/messages`)).text()).includes(ANSWER),
        { what: 'the answer in the simulator' },
      );
      await picture(page, 'story-4-agent');
    };

    it(
      'an operator, a business, a developer and an agent do their parts in less than three minutes',
      async () => {
        account('otto', 'operators');
        account('dora');
        account('anna');
        let link = '';
        await visit(async (page) => {
          link = await prepare(page);
        });
        expect(link).toContain('/setup');
        await visit((page) => connect(page, link));
        await visit(develop);
        await visit(answer);
      },
      LIMIT_MS,
    );
  },
  settings,
);

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PEOPLE_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}
