import { type ApiBody, ApiClient, type ApiRequest, type ApiResponse } from '../support/api-client.js';
import { type Account, Issuer } from '../support/rig/issuer.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.js';
import type { WorkspaceRow } from '../support/factories.js';

export const ISSUER = 'Example Ltd';

/** A browser's cookies, and the requests that a page of the console makes. */
export class Browser {
  private readonly jars = new Map<string, Map<string, string>>();

  constructor(
    private readonly baseUrl: string,
    /** Sent as X-Herald-Workspace. */
    private readonly workspaceId: string | null = null,
    jars?: Map<string, Map<string, string>>,
  ) {
    if (jars !== undefined) this.jars = jars;
  }

  /** The same browser with another workspace chosen. */
  in(workspaceId: string | null): Browser {
    return new Browser(this.baseUrl, workspaceId, this.jars);
  }

  /** One step of a navigation, without following it. */
  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.jars.get(origin) ?? new Map<string, string>();
    this.jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), cookie };
    const response = await fetch(url, { redirect: 'manual', ...init, headers, signal: AbortSignal.timeout(20_000) });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until a page, and answers its form where that is the issuer's; returns where it ended. */
  async walk(url: string, account: string): Promise<{ url: string; response: Response }> {
    let [at, response] = [url, await this.open(url)];
    for (let steps = 0; steps < 20; steps++) {
      const location = response.headers.get('location');
      if (location !== null) {
        at = new URL(location, at).href;
        // The console is no part of this test app.
        if (at.startsWith(`${this.baseUrl}/console`)) return { url: at.slice(this.baseUrl.length), response };
        response = await this.open(at);
      } else if (new URL(at).pathname.startsWith('/interaction/')) {
        response = await this.open(at, { method: 'POST', body: new URLSearchParams({ account }) });
      } else return { url: at, response };
    }
    throw new Error(`the sign-in goes in circles at ${at}`);
  }

  /** Where the browser is sent in the end, as a path of Herald. */
  async signIn(account: string, to = '/console'): Promise<string> {
    const query = new URLSearchParams({ to }).toString();
    return (await this.walk(`${this.baseUrl}/auth/sign-in/${encodeURIComponent(ISSUER)}?${query}`, account)).url;
  }

  cookies(origin = this.baseUrl): Map<string, string> {
    return this.jars.get(origin) ?? new Map<string, string>();
  }

  cookieHeader(): string {
    return [...this.cookies()].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** As a page of the console asks. */
  request<B = ApiBody>(request: ApiRequest): Promise<ApiResponse<B>> {
    return new ApiClient(this.baseUrl).request<B>({
      ...request,
      headers: {
        cookie: this.cookieHeader(),
        'sec-fetch-site': 'same-origin',
        'x-herald-console': '1',
        ...(this.workspaceId !== null && { 'x-herald-workspace': this.workspaceId }),
        ...request.headers,
      },
    });
  }

  get<B = ApiBody>(path: string): Promise<ApiResponse<B>> {
    return this.request<B>({ path });
  }
}

export interface PeopleApp {
  test: TestApp;
  issuer: Issuer;
  workspaces: [WorkspaceRow, WorkspaceRow];
  browser(): Browser;
  /** An account with these groups, signed in. */
  person(id: string, account?: Account): Promise<Browser>;
  stop(): Promise<void>;
}

/**
 * An app whose people sign in at an issuer. Groups of the first workspace: viewers, agents, developers, admins; `second`
 * makes an agent of the second one, `both` an agent of the first and an admin of the second, `operators` operators.
 */
export async function startPeople(options: TestAppOptions = {}): Promise<PeopleApp> {
  const issuer = await Issuer.start();
  const workspaces = ['01936f70-0000-7000-8000-000000000001', '01936f70-0000-7000-8000-000000000002'] as const;
  const rules = [
    ...['viewer', 'agent', 'developer', 'admin'].map((role) => ({ group: `${role}s`, workspace: workspaces[0], role })),
    { group: 'second', workspace: workspaces[1], role: 'agent' },
    { group: 'both', workspace: workspaces[0], role: 'agent' },
    { group: 'both', workspace: workspaces[1], role: 'admin' },
    { group: 'operators', role: 'operator' },
  ];
  const test = await startTestApp({
    roles: ['api'],
    ...options,
    env: {
      OIDC_ISSUERS: JSON.stringify([issuer.settings(ISSUER)]),
      OIDC_ROLES: JSON.stringify(rules),
      ...options.env,
    },
  });
  issuer.register(test.baseUrl, ISSUER);
  const rows: WorkspaceRow[] = [];
  if (options.shareWith === undefined) for (const id of workspaces) rows.push(await test.factories.workspace({ id }));
  const browser = (): Browser => new Browser(test.baseUrl);
  return {
    test,
    issuer,
    workspaces: rows as [WorkspaceRow, WorkspaceRow],
    browser,
    person: async (id, account = {}) => {
      issuer.accounts.set(id, { email: `${id}@example.com`, email_verified: true, name: `The ${id}`, ...account });
      const opened = browser();
      const at = await opened.signIn(id);
      if (at !== '/console') throw new Error(`the sign-in of ${id} ended at ${at}`);
      return opened;
    },
    stop: async () => {
      await test.stop();
      await issuer.stop();
    },
  };
}
