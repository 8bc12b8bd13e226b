import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { newId } from '../../../src/common/ids.js';
import { HeraldProcess, runHerald, temporaryDataDir } from '../../support/herald-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { findChromium, launchChromium } from '../chromium.js';
import { overflowOf } from '../swagger-page.js';

const program = findChromium();
export const PATIENCE_MS = 45_000;
export const CUSTOMER = '+15550001234';
/** Markup, and a control that turns the direction of what follows. */
export const ATTACK = '<img src=x onerror=alert(1)><b>bold</b>\u202Egnp.exe';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How the browser reports an answer that is none, and what it does not let a page of another origin do. */
const REFUSALS = /^((TypeError: )?Failed to (load|fetch)|Access to fetch at|Framing )/;

interface Demo {
  base_url: string;
  api_key: string;
  otp_sandbox_key: string;
  operator_key: string;
  organization_id: string;
  connection_id: string;
  phone_number_id: string;
  simulator_url: string;
}

interface VisitOptions {
  width?: number;
  scheme?: 'light' | 'dark';
  demoKey?: boolean;
  /** Refusals of the API are expected, or that it is away. */
  quiet?: boolean;
  /** Other origins that the page may lead to. */
  origins?: readonly string[];
}

/** The console in a real browser, against the built program with its demo. */
export class ConsoleRig {
  demo!: Demo;
  private readonly dataDir = temporaryDataDir();
  private database!: TestDatabase;
  private herald!: HeraldProcess;
  private browser!: Browser;

  constructor(private readonly settings: Record<string, string>) {}

  get env(): Record<string, string> {
    return {
      DATABASE_URL: this.database.url,
      DATA_DIR: this.dataDir.path,
      DEMO: 'true',
      LOG_LEVEL: 'info',
      ...this.settings,
    };
  }

  async start(): Promise<void> {
    this.database = await createTestDatabase();
    this.herald = await HeraldProcess.start(this.env, 2 * PATIENCE_MS);
    this.browser = await launchChromium(program ?? '');
    this.readDemo();
  }

  private readDemo(): void {
    this.demo = JSON.parse(readFileSync(join(this.dataDir.path, 'demo.json'), 'utf8')) as Demo;
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.herald?.end();
    await this.database?.drop();
    this.dataDir.remove();
  }

  /** Ends the process at once; the answer starts it again at the same address. */
  async kill(): Promise<() => Promise<void>> {
    const { port } = new URL(this.demo.base_url);
    await this.herald.end('SIGKILL');
    return async () => {
      this.herald = await HeraldProcess.start({ ...this.env, PORT: port }, 2 * PATIENCE_MS);
      // The simulator is elsewhere now.
      this.readDemo();
    };
  }

  /** Runs `work` in a browser of its own, which fails for an error of the console, a violation of the policy, or a request elsewhere. */
  async visit(options: VisitOptions, work: (page: Page) => Promise<void>): Promise<void> {
    const { width = 1_400, scheme = 'light', demoKey = true, quiet = false, origins = [] } = options;
    const context: BrowserContext = await this.browser.newContext({
      viewport: { width, height: 860 },
      colorScheme: scheme,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !(quiet && REFUSALS.test(message.text()))) {
        complaints.push(`${message.text()} ${message.location().url}`.trim());
      }
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'blob:' && ![this.demo.base_url, ...origins].includes(origin))
        complaints.push(`request to ${request.url()}`);
    });
    if (!demoKey) await page.route('**/console/demo.json', (route) => route.fulfill({ status: 204 }));
    try {
      await work(page);
      expect(complaints).toEqual([]);
    } finally {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    }
  }

  /** Runs `work` wide and narrow, light and dark. */
  async visitEach(work: (page: Page) => Promise<void>): Promise<void> {
    for (const width of [400, 1_400]) {
      for (const scheme of ['light', 'dark'] as const) await this.visit({ width, scheme }, work);
    }
  }

  async expectAccessible(page: Page): Promise<void> {
    await this.expectNoViolations(page);
    await this.expectOneScreen(page);
  }

  /** Of the rules of accessibility, and nothing beyond the edge of the page. */
  async expectNoViolations(page: Page): Promise<void> {
    await page.evaluate(AXE);
    const found = await page.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ' ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
    );
    expect(found).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
  }

  /** Boxes scroll, and not the page: its bar and its menu stay. */
  async expectOneScreen(page: Page): Promise<void> {
    expect(await page.evaluate('document.documentElement.scrollHeight - document.documentElement.clientHeight')).toBe(
      0,
    );
  }

  async newKey(scopes: string): Promise<{ id: string; key: string }> {
    const workspace = this.demo.organization_id;
    const args = ['key', 'create', '--workspace', workspace, '--name', scopes, '--scopes', scopes, '--json'];
    const { code, stdout, stderr } = await runHerald(args, this.env);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as { id: string; key: string };
  }

  /** A statement on the database of the program, to make time pass. */
  async query(sql: string, values: readonly unknown[]): Promise<void> {
    const client = new pg.Client({ connectionString: this.database.url });
    await client.connect();
    try {
      await client.query(sql, [...values]);
    } finally {
      await client.end();
    }
  }

  /** A call of the API with the demo's key; answers with its `data`. */
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(`${this.demo.base_url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.demo.api_key}`,
        'content-type': 'application/json',
        'idempotency-key': newId(),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(answer.ok).toBe(true);
    return ((await answer.json()) as { data: T }).data;
  }

  /** The newest messages that the filters leave. */
  list(filters: string): Promise<{ id: string; created_at: string }[]> {
    return this.call('GET', `/messages?limit=100&${filters}`);
  }

  /** Sends a text with the demo's key. */
  async send(to: string, text: string): Promise<void> {
    await this.call('POST', '/messages', {
      connection_id: this.demo.connection_id,
      to,
      type: 'text',
      text: { body: text },
    });
  }

  /** The customer writes what would run in a careless page, under a name that would as well. */
  async writeAttack(): Promise<void> {
    await this.simulate('inbound', {
      phone_number_id: this.demo.phone_number_id,
      from: CUSTOMER,
      profile_name: ATTACK,
      message: { type: 'text', text: { body: ATTACK } },
    });
  }

  /** A control call of the simulator. */
  async simulate(path: string, body: object): Promise<void> {
    const answer = await fetch(`${this.demo.simulator_url}/_simulator/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  }
}

/** A suite with the console, left out where no Chromium is installed. */
export function describeConsole(
  name: string,
  tests: (rig: ConsoleRig) => void,
  settings: Record<string, string> = {},
): void {
  (program === null ? describe.skip : describe)(name, () => {
    const rig = new ConsoleRig(settings);
    beforeAll(() => rig.start(), 5 * PATIENCE_MS);
    afterAll(() => rig.stop());
    tests(rig);
  });
}
