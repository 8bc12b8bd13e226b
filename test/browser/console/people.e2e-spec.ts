import type { Page } from 'playwright-core';
import { runHerald } from '../../support/herald-process.js';
import { LocalServer } from '../../support/local-server.js';
import { Issuer } from '../../support/rig/issuer.js';
import { type ConsoleRig, describeConsole, PATIENCE_MS } from './rig.js';

const ISSUER = 'Example Ltd';
const settings: Record<string, string> = {};
let issuer: Issuer;

beforeAll(async () => {
  issuer = await Issuer.start();
  settings.OIDC_ISSUERS = JSON.stringify([issuer.settings(ISSUER)]);
});
afterAll(() => issuer?.stop());

describeConsole(
  'people in the console',
  (rig) => {
    let second: string;

    beforeAll(async () => {
      const { stdout } = await runHerald(['workspace', 'create', '--name', 'Harbour Books', '--json'], rig.env);
      ({ id: second } = JSON.parse(stdout) as { id: string });
      const first = rig.demo.organization_id;
      const again = await rig.kill();
      settings.OIDC_ROLES = JSON.stringify([
        ...['viewer', 'agent', 'developer', 'admin'].map((role) => ({ group: `${role}s`, workspace: first, role })),
        { group: 'both', workspace: first, role: 'agent' },
        { group: 'both', workspace: second, role: 'viewer' },
        { group: 'operators', role: 'operator' },
      ]);
      await again();
      issuer.register(rig.demo.base_url, ISSUER);
    }, 4 * PATIENCE_MS);

    const account = (id: string, ...groups: string[]): void => {
      issuer.accounts.set(id, { email: `${id}@example.com`, email_verified: true, name: `The ${id}`, groups });
    };
    // Quiet: a workspace without a webhook answers 404 where the overview asks for it.
    const visit = (work: (page: Page) => Promise<void>): Promise<void> =>
      rig.visit({ demoKey: false, origins: [issuer.url], quiet: true }, work);
    const signIn = async (page: Page, id: string, path = '/console'): Promise<void> => {
      await page.goto(`${rig.demo.base_url}${path}`);
      await page.getByRole('link', { name: `Sign in with ${ISSUER}` }).click();
      await page.getByRole('button', { name: id, exact: true }).click();
    };
    const inUse = (page: Page): Promise<string | null> =>
      page.getByLabel('Key').locator('option:checked').textContent();
    const pages = async (page: Page): Promise<string[]> => {
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      return page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
    };

    it(
      'sign in at their issuer, come back to the page that was open, and see what their role may',
      async () => {
        account('vera', 'viewers');
        account('anna', 'agents');
        await visit(async (page) => {
          await signIn(page, 'vera', '/console/numbers');
          await page.locator('.pane-row').first().waitFor();
          expect(new URL(page.url()).pathname).toContain('/console/numbers');
          expect(await inUse(page)).toContain('The vera (viewer)');
          const seen = await pages(page);
          expect(seen).toContain('Messages');
          expect(seen).not.toContain('Send');
          await page.goto(`${rig.demo.base_url}/console/send`);
          await page.getByText('messages:write').waitFor();
          // The cookie is none that a script could read.
          expect(await page.evaluate('document.cookie')).toBe('');
        });
        await visit(async (page) => {
          await signIn(page, 'anna');
          expect(await pages(page)).toContain('Send');
          await page.getByText('live', { exact: true }).waitFor();
          // A message of the person, by the session alone.
          await page.goto(`${rig.demo.base_url}/console/send`);
          await page.getByLabel('To').first().waitFor();
        });
      },
      2 * PATIENCE_MS,
    );

    it(
      'choose a workspace, and have the role of it',
      async () => {
        account('bella', 'both');
        await visit(async (page) => {
          await signIn(page, 'bella');
          await pages(page);
          const other = (await inUse(page))?.startsWith('Harbour Books') === true ? 'agent' : 'viewer';
          const option = page.getByLabel('Key').locator('option', { hasText: `(${other})` });
          await page.getByLabel('Key').selectOption((await option.getAttribute('value')) ?? '');
          await page
            .getByLabel('Key')
            .locator('option:checked', { hasText: `(${other})` })
            .waitFor({ state: 'attached' });
          expect((await pages(page)).includes('Send')).toBe(other === 'agent');
          // It is the same after a reload.
          await page.reload();
          await pages(page);
          expect(await inUse(page)).toContain(`(${other})`);
        });
      },
      2 * PATIENCE_MS,
    );

    it(
      'sign out in all browsers at once',
      async () => {
        account('carla', 'agents');
        await visit(async (one) => {
          await signIn(one, 'carla');
          await pages(one);
          await visit(async (other) => {
            await signIn(other, 'carla');
            await pages(other);
            await other.getByLabel('Key').selectOption('everywhere');
            await other.getByRole('button', { name: 'Sign out everywhere' }).click();
            await other.getByText('You are signed out everywhere.').waitFor();
          });
          // The open page asks all the time.
          await one.getByText('Your session has ended; sign in again.').waitFor();
          await one.getByRole('link', { name: `Sign in with ${ISSUER}` }).waitFor();
        });
      },
      3 * PATIENCE_MS,
    );

    it(
      "see the operator's pages as an operator, and those of a workspace from there",
      async () => {
        account('otto', 'operators');
        account('anna', 'agents');
        await visit(async (page) => {
          await signIn(page, 'otto');
          expect(await inUse(page)).toBe('Operator · The otto');
          expect(await pages(page)).toEqual(
            expect.arrayContaining(['Workspaces', 'Numbers', 'Usage', 'Prices', 'Audit', 'Health']),
          );
          // By the session alone, with the header that no other page can set.
          await page.locator('.pane-row').filter({ hasText: 'Harbour Books' }).click();
          const detail = page.getByRole('region', { name: 'Workspace', exact: true });
          await detail.getByText('It has sent nothing this month.').waitFor();

          await detail.getByRole('button', { name: 'New link' }).click();
          const form = page.getByRole('dialog');
          await form.getByLabel('How the business gives access').selectOption('manual');
          await form.getByLabel('Where it leads at the end').fill('https://elsewhere.example.com/');
          await form.getByRole('button', { name: 'Make it' }).click();
          await form.getByText('SETUP_RETURN_ORIGINS').waitFor();
          await form.getByLabel('Where it leads at the end').fill('');
          await form.getByRole('button', { name: 'Make it' }).click();
          const link = (await form.locator('.secret').innerText()).trim();
          expect(link).toMatch(/\/setup\/hrld_setup_[\w-]{43}$/);
          await form.getByRole('button', { name: 'Close' }).click();
          await detail.getByText('not opened yet').waitFor();
          await picture(page, 'operator-workspace');
          await detail.getByRole('button', { name: /^Revoke link/ }).click();
          await form.getByRole('button', { name: 'Revoke it' }).click();
          await detail.getByText('revoked', { exact: true }).waitFor();
          expect(await page.content()).not.toContain(link);

          await detail.getByRole('button', { name: 'Open its pages' }).click();
          await page.getByRole('link', { name: 'Messages' }).waitFor();
          expect(await inUse(page)).toBe('Harbour Books · The otto (operator)');
          // The workspace again after a reload; the operator's pages where the address is one of them.
          await page.reload();
          await pages(page);
          expect(await inUse(page)).toContain('Harbour Books');
          await page.goto(`${rig.demo.base_url}/console/operator/audit`);
          await page.getByText('setup_link.revoked').first().waitFor();
          expect(await inUse(page)).toBe('Operator · The otto');
        });
        await visit(async (page) => {
          await signIn(page, 'anna', '/console/operator/workspaces');
          await page.getByText('This key may not see this page').waitFor();
          expect(await pages(page)).not.toContain('Workspaces');
        });
      },
      3 * PATIENCE_MS,
    );

    it(
      'invite others as an admin, give them another role, sign them out, and make keys',
      async () => {
        account('ada', 'admins');
        account('nora');
        await visit(async (page) => {
          await signIn(page, 'nora');
          await page.getByText(/Your account may not use this Herald/).waitFor();
        });
        await visit(async (page) => {
          await signIn(page, 'ada', '/console/people');
          await page.getByRole('button', { name: 'Invite' }).click();
          const form = page.getByRole('dialog');
          await form.getByLabel('E-mail').fill('Nora@example.com');
          await form.getByLabel('Role').selectOption('viewer');
          await form.getByRole('button', { name: 'Invite' }).click();
          await form.getByText('send this address yourself').waitFor();
          expect(await form.locator('.secret').innerText()).toBe(`${rig.demo.base_url}/console`);
          await form.getByRole('button', { name: 'Close' }).click();
          await page.getByRole('region', { name: 'Invitations' }).getByText('nora@example.com').waitFor();

          await visit(async (other) => {
            await signIn(other, 'nora');
            expect(await inUse(other)).toContain('The nora (viewer)');
            expect(await pages(other)).not.toContain('People');
            await page.reload();
            await page.getByRole('region', { name: 'Invitations' }).getByText('accepted').waitFor();
            await page.getByLabel('Role of The nora').selectOption('agent');
            await other.reload();
            await other.getByRole('link', { name: 'Send' }).waitFor();
            await page.getByRole('button', { name: 'Sign out The nora' }).click();
            await form.getByRole('button', { name: 'Sign out everywhere' }).click();
            await other.getByText('Your session has ended; sign in again.').waitFor();
          });

          await page.getByRole('link', { name: 'Keys' }).click();
          await page.getByRole('button', { name: 'New key' }).click();
          await form.getByLabel('Name').fill('orders');
          await form.getByRole('button', { name: 'Make it' }).click();
          const key = (await form.locator('.secret').innerText()).trim();
          await form.getByRole('button', { name: 'Close' }).click();
          const answer = await fetch(`${rig.demo.base_url}/api/v1/key`, {
            headers: { authorization: `Bearer ${key}` },
          });
          expect(((await answer.json()) as { data: { name: string } }).data.name).toBe('orders');
          expect(await page.content()).not.toContain(key);
        });
      },
      4 * PATIENCE_MS,
    );

    it(
      'of a workspace are listed wide and narrow, light and dark',
      async () => {
        account('ada', 'admins');
        for (const width of [400, 1_280]) {
          for (const scheme of ['light', 'dark'] as const) {
            await rig.visit({ width, scheme, demoKey: false, quiet: true, origins: [issuer.url] }, async (page) => {
              await signIn(page, 'ada', '/console/people');
              await page.getByLabel('Role of The ada').waitFor();
              await page.getByRole('region', { name: 'Invitations' }).waitFor();
              await picture(page, `people-${width}-${scheme}`);
              await rig.expectAccessible(page);
            });
          }
        }
      },
      3 * PATIENCE_MS,
    );

    it(
      'are chosen for a conversation, and their conversations are found',
      async () => {
        account('anna', 'agents');
        account('ben', 'agents');
        for (const [from, name] of [
          ['15550009811', 'Cleo Harper'],
          ['15550009812', 'Dan Osei'],
        ]) {
          const { phone_number_id } = rig.demo;
          await rig.simulate('inbound', { phone_number_id, from, profile_name: name, message: 'Hello' });
        }
        await visit(async (page) => {
          await signIn(page, 'ben');
          await pages(page);
        });
        await visit(async (page) => {
          await signIn(page, 'anna', '/console/conversations?show=all');
          const row = (name: string) => page.locator('.conversation-row', { hasText: name });
          await row('Cleo Harper').click();
          const field = page.locator('.keeping').getByLabel('Assigned to');
          expect(await field.locator('option').first().textContent()).toBe('no one');
          await field.selectOption('The anna (you)');
          await row('Cleo Harper').getByText('The anna').waitFor();
          await row('Dan Osei').click();
          await field.selectOption('The ben');
          await row('Dan Osei').getByText('The ben').waitFor();
          await picture(page, 'assignee');
          await page.getByLabel('Anyone').selectOption('The anna');
          await row('Dan Osei').waitFor({ state: 'detached' });
          await row('Cleo Harper').click();
          expect(new URL(page.url()).searchParams.get('assignee_id')).toMatch(/^[\w-]{36}$/);
          await field.selectOption('another name …');
          await page.getByPlaceholder('a name').fill('Night shift');
          await page.getByRole('button', { name: 'Assign', exact: true }).click();
          await field.locator('option:checked', { hasText: 'Night shift' }).waitFor({ state: 'attached' });
          await row('Cleo Harper').waitFor({ state: 'detached' });
          await page.getByLabel('Anyone').selectOption('Anyone');
          await row('Dan Osei').waitFor();
          await page.getByLabel('Anyone').selectOption('Night shift');
          await row('Dan Osei').waitFor({ state: 'detached' });
          await field.selectOption('no one');
          await row('Cleo Harper').waitFor({ state: 'detached' });
        });
      },
      3 * PATIENCE_MS,
    );

    it(
      'sign in while the issuer replaces its keys, and are signed out by it',
      async () => {
        account('dina', 'agents');
        await visit(async (page) => {
          await page.goto(`${rig.demo.base_url}/console`);
          await page.getByRole('link', { name: `Sign in with ${ISSUER}` }).click();
          await page.getByRole('button', { name: 'dina', exact: true }).waitFor();
          issuer.rotate();
          await page.getByRole('button', { name: 'dina', exact: true }).click();
          await pages(page);
          await page.goto(`${issuer.url}/session/end`);
          await page.getByRole('button', { name: /yes/i }).click();
          await page.getByText(/sign-out success/i).waitFor();
          await page.goto(`${rig.demo.base_url}/console`);
          await page.getByRole('link', { name: `Sign in with ${ISSUER}` }).waitFor();
        });
      },
      2 * PATIENCE_MS,
    );

    it(
      'are told why they may not come in, and can try again',
      async () => {
        account('elsa', 'agents');
        await visit(async (page) => {
          await signIn(page, 'elsa');
          await pages(page);
        });
        account('elsa');
        await visit(async (page) => {
          await signIn(page, 'elsa');
          await page.getByText(/Your account may not use this Herald/).waitFor();
          expect(page.url()).not.toContain('problem');
        });
        issuer.accounts.set('elsa', { groups: ['agents'] });
        await visit(async (page) => {
          await signIn(page, 'elsa');
          await page.getByText(/tells no e-mail address/).waitFor();
          account('elsa', 'agents');
          await page.getByRole('link', { name: `Sign in with ${ISSUER}` }).click();
          await pages(page);
        });
      },
      3 * PATIENCE_MS,
    );

    it(
      'the page of sign-in is whole, wide and narrow, light and dark',
      async () => {
        for (const width of [400, 1_280]) {
          for (const scheme of ['light', 'dark'] as const) {
            await rig.visit({ width, scheme, demoKey: false }, async (page) => {
              await page.goto(`${rig.demo.base_url}/console`);
              await page.getByRole('link', { name: `Sign in with ${ISSUER}` }).waitFor();
              await picture(page, `sign-in-${width}-${scheme}`);
              await rig.expectAccessible(page);
            });
          }
        }
      },
      2 * PATIENCE_MS,
    );

    describe('a page of another origin', () => {
      let server: LocalServer;
      const tries = (herald: string): string => ATTACKS.replaceAll('HERALD', herald);

      beforeAll(async () => {
        server = await LocalServer.start((_req, res) => {
          res.setHeader('content-type', 'text/html');
          res.end(tries(rig.demo.base_url));
        });
      });
      afterAll(() => server?.stop());

      // Another port is the same site, so that the cookie comes along; another name is another site.
      it.each([
        ['of the same site', '127.0.0.1'],
        ['of another site', 'localhost'],
      ])(
        '%s does nothing by the session of its visitor',
        async (_what, host) => {
          account('olga', 'operators');
          const before = await state(rig);
          await rig.visit(
            { demoKey: false, quiet: true, origins: [issuer.url, `http://${host}:${server.port}`] },
            async (page) => {
              await signIn(page, 'olga');
              await pages(page);
              // What the console asks by itself is over.
              await page.goto('about:blank');
              const answers: [string, number][] = [];
              page.on('response', (answer) => {
                const { pathname, origin } = new URL(answer.url());
                if (origin === rig.demo.base_url && !pathname.startsWith('/console'))
                  answers.push([pathname, answer.status()]);
              });
              await page.goto(`http://${host}:${server.port}/`);
              await page.getByText('all were tried').waitFor();
              const read = JSON.parse((await page.locator('#read').textContent()) ?? '[]') as string[];
              expect(read).toEqual([]);
              expect(new Set(answers.map(([pathname]) => pathname))).toEqual(
                new Set(['/api/v1/messages', '/api/v1/key', '/auth/session', '/api/admin/v1/workspaces']),
              );
              // DELETE is asked about first, and that is refused: it is not sent.
              expect(answers.filter(([, status]) => status < 400)).toEqual([]);
              // A link, the only thing that brings the cookie of another site along.
              const opened = await page.goto(`${rig.demo.base_url}/api/v1/key`);
              expect(opened?.status()).toBeGreaterThan(400);
              await page.goto(`${rig.demo.base_url}/console`);
              expect(await pages(page)).toContain('Workspaces');
            },
          );
          expect(await state(rig)).toEqual(before);
        },
        3 * PATIENCE_MS,
      );
    });
  },
  settings,
);

/** What an attack could have changed. */
async function state(rig: ConsoleRig): Promise<unknown> {
  const { stdout } = await runHerald(['workspace', 'list', '--json'], rig.env);
  return { workspaces: JSON.parse(stdout) as unknown, messages: (await rig.list('direction=outbound')).length };
}

/** Forms into frames, images, scripts, fetches with credentials, plain and with the console's header. */
const ATTACKS = `<!doctype html><title>Attack</title><pre id="read"></pre><p id="done"></p><script>
const read = [];
const wait = (element, event) => new Promise((done) => element.addEventListener(event, done, { once: true }));
async function form(action, type, name) {
  const frame = document.createElement('iframe');
  frame.name = 'frame' + Math.random();
  document.body.append(frame);
  const form = document.createElement('form');
  Object.assign(form, { action, method: 'post', enctype: type, target: frame.name });
  const field = document.createElement('input');
  Object.assign(field, { name, value: '' });
  form.append(field);
  document.body.append(form);
  // Also a page that may not be framed ends with it.
  const ended = wait(frame, 'load');
  form.submit();
  await ended;
}
async function image(src) {
  const image = new Image();
  const ended = Promise.race([wait(image, 'load'), wait(image, 'error')]);
  image.src = src;
  document.body.append(image);
  await ended;
}
async function call(path, init) {
  try {
    const answer = await fetch('HERALD' + path, { credentials: 'include', ...init });
    if (answer.type !== 'opaque') read.push(path + ' ' + answer.status + ' ' + (await answer.text()));
  } catch {}
}
(async () => {
  await form('HERALD/api/v1/messages', 'text/plain', '{"to":"+15550001234","type":"text","text":{"body":"x"},"a":"');
  await form('HERALD/api/v1/messages', 'application/x-www-form-urlencoded', 'to');
  await form('HERALD/api/v1/messages', 'multipart/form-data', 'to');
  await form('HERALD/api/admin/v1/workspaces', 'text/plain', '{"name":"Made by an attack","a":"');
  await form('HERALD/auth/session', 'text/plain', 'x');
  for (const path of ['/api/v1/key', '/auth/session', '/api/admin/v1/workspaces']) {
    await image('HERALD' + path);
    await call(path, {});
    await call(path, { mode: 'no-cors' });
    await call(path, { headers: { 'X-Herald-Console': '1' } });
  }
  for (const [path, method] of [['/auth/session', 'DELETE'], ['/auth/sessions', 'DELETE'], ['/api/admin/v1/workspaces', 'POST'], ['/api/v1/messages', 'POST']]) {
    const body = method === 'POST' ? '{"name":"Made by an attack"}' : undefined;
    await call(path, { method, body, headers: { 'X-Herald-Console': '1', 'Content-Type': 'application/json' } });
    await call(path, { method, body, headers: { 'Content-Type': 'text/plain' } });
    if (method === 'POST') await call(path, { method, body, mode: 'no-cors' });
  }
  document.querySelector('#read').textContent = JSON.stringify(read);
  document.querySelector('#done').textContent = 'all were tried';
})();
</script>`;

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PEOPLE_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}
