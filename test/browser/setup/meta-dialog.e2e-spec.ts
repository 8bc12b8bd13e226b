import type { Browser, Page } from 'playwright-core';
import { HeraldProcess, runHerald, temporaryDataDir } from '../../support/herald-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { findChromium, launchChromium } from '../chromium.js';
import { PATIENCE_MS } from '../console/rig.js';

const program = findChromium();

/** As Meta's script is used: what it was started and called with, and a login that gives a code and a session. */
const SDK = `window.calls = [];
window.FB = {
  init: (options) => window.calls.push(['init', options]),
  login: (done, options) => {
    window.calls.push(['login', options]);
    const say = (origin, waba_id) => window.dispatchEvent(new MessageEvent('message', {
      origin,
      data: JSON.stringify({ type: 'WA_EMBEDDED_SIGNUP', event: 'FINISH', data: { waba_id, phone_number_id: '770011223344' } }),
    }));
    say('https://www.facebook.com.evil.test', '666');
    say('https://evilfacebook.com', '666');
    setTimeout(() => say('https://www.facebook.com', '880011223344'), 50);
    done({ authResponse: { code: 'code-of-meta' } });
  },
};
window.fbAsyncInit();`;

(program === null ? describe.skip : describe)('the page of a setup link with the dialog of Meta', () => {
  const dataDir = temporaryDataDir();
  let database: TestDatabase;
  let herald: HeraldProcess;
  let browser: Browser;
  let env: Record<string, string>;
  let workspace: string;

  const command = async (...args: string[]): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await runHerald([...args, '--json'], env);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: dataDir.path,
      DEMO: 'false',
      ROLES: 'api',
      LOG_LEVEL: 'info',
      // Nothing answers there: what the page does comes before.
      WHATSAPP_API_URL: 'https://127.0.0.1:9',
      META_APP_ID: '1122334455',
      META_CONFIG_ID: '5544332211',
      META_APP_SECRET: 'secret-of-the-app',
    };
    herald = await HeraldProcess.start(env, 2 * PATIENCE_MS);
    browser = await launchChromium(program ?? '');
    workspace = (await command('workspace', 'create', '--name', 'Harbour Books')).id ?? '';
  }, 5 * PATIENCE_MS);

  afterAll(async () => {
    await browser?.close();
    await herald?.end();
    await database?.drop();
    dataDir.remove();
  });

  const link = async (...options: string[]): Promise<string> => {
    const { url = '' } = await command('setup-link', 'create', '--workspace', workspace, ...options);
    return herald.ready.base_url + new URL(url).pathname;
  };

  /** Runs `work` in a page in which only this service and `connect.facebook.net` answer. */
  const visit = async (sdk: string | null, work: (page: Page, requested: string[]) => Promise<void>): Promise<void> => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      const requested: string[] = [];
      await context.route('**/*', (route) => {
        const url = route.request().url();
        requested.push(url);
        if (url.startsWith(herald.ready.base_url)) return route.continue();
        const isSdk = new URL(url).origin === 'https://connect.facebook.net' && sdk !== null;
        const headers = { 'access-control-allow-origin': '*' };
        return isSdk ? route.fulfill({ contentType: 'text/javascript', headers, body: sdk }) : route.abort();
      });
      await work(page, requested);
    } finally {
      await context.close();
    }
  };

  it(
    'loads its script, opens it with the configuration, and believes no other origin',
    () =>
      visit(SDK, async (page, requested) => {
        await page.goto(await link('--signup', 'app', '--locale', 'de_DE'));
        const sent = page.waitForRequest('**/steps/access');
        await page.getByRole('button', { name: 'Open the sign-up of WhatsApp' }).click();
        expect((await sent).postDataJSON()).toEqual({
          code: 'code-of-meta',
          waba_id: '880011223344',
          phone_number_id: '770011223344',
        });
        expect(requested).toContain('https://connect.facebook.net/de_DE/sdk.js');
        const [init, login] = await page.evaluate<[string, Record<string, unknown>][]>('window.calls');
        expect(init).toEqual([
          'init',
          { appId: '1122334455', autoLogAppEvents: false, xfbml: false, version: 'v26.0' },
        ]);
        expect(login).toEqual([
          'login',
          {
            config_id: '5544332211',
            response_type: 'code',
            override_default_response_type: true,
            extras: { setup: {}, featureType: 'whatsapp_business_app_onboarding' },
          },
        ]);
        await page.getByRole('alert').getByText('WhatsApp did not answer').waitFor();
        await page.getByText('Time mends this.').waitFor();
        expect(await page.content()).not.toContain('secret-of-the-app');
      }),
    PATIENCE_MS,
  );

  it(
    'says so where the script is blocked',
    () =>
      visit(null, async (page) => {
        await page.goto(await link());
        await page.getByText('Allow connect.facebook.net').waitFor();
      }),
    PATIENCE_MS,
  );

  it(
    'loads nothing of Meta for a link that is filled in by hand',
    () =>
      visit(SDK, async (page, requested) => {
        await page.goto(await link('--signup', 'manual'));
        await page.getByLabel('Access token').waitFor();
        expect(requested.filter((url) => !url.startsWith(herald.ready.base_url))).toEqual([]);
      }),
    PATIENCE_MS,
  );

  it('allows the script on this page and on no other', async () => {
    const base = herald.ready.base_url;
    const policyOf = async (path: string) => (await fetch(base + path)).headers.get('content-security-policy') ?? '';
    const own = await policyOf(new URL(await link()).pathname);
    expect(own).toContain("script-src 'self' https://connect.facebook.net;");
    expect(own).toContain("default-src 'none'");
    expect(own).toContain("frame-ancestors 'none'");
    expect(own).not.toContain('unsafe');
    for (const path of [
      '/',
      '/console',
      '/docs',
      '/docs/errors',
      '/api/v1/messages',
      '/setup/x/state',
      '/health/live',
    ]) {
      expect([path, await policyOf(path)]).toEqual([path, expect.not.stringContaining('facebook')]);
    }
  });

  it(
    'has a link that the command lists and revokes',
    async () => {
      const { id = '', url = '' } = await command(
        'setup-link',
        'create',
        '--workspace',
        workspace,
        '--expires-in',
        '1h',
      );
      const { code, stdout } = await runHerald(['setup-link', 'list', '--workspace', workspace], env);
      expect(code).toBe(0);
      expect(stdout).toContain(id);
      expect(stdout).not.toContain('hrld_setup_');
      await command('setup-link', 'revoke', id, '--workspace', workspace);
      const answer = await fetch(`${herald.ready.base_url}${new URL(url).pathname}/state`);
      expect([answer.status, await answer.json()]).toMatchObject([410, { error: { status: 'revoked' } }]);
      const refused = await runHerald(
        ['setup-link', 'create', '--workspace', workspace, '--return-url', 'https://app.example.com/'],
        env,
      );
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('SETUP_RETURN_ORIGINS');
    },
    PATIENCE_MS,
  );
});
