import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** What the issuer says of an account. */
export interface Account {
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: string[];
}

const SECRET = 'a-secret-of-the-client-in-tests';
export const CLIENT_ID = 'herald';

/** Rows of the provider, which outlast it: an issuer that replaces its keys is a new one on the same rows. */
class Rows {
  readonly kept = new Map<string, Record<string, unknown>>();

  adapter(kind: string) {
    const { kept } = this;
    const key = (id: string): string => `${kind} ${id}`;
    const find = (test: (row: Record<string, unknown>) => boolean) =>
      Promise.resolve([...kept].find(([name, row]) => name.startsWith(`${kind} `) && test(row))?.[1]);
    return {
      upsert: (id: string, payload: Record<string, unknown>) => Promise.resolve(void kept.set(key(id), payload)),
      find: (id: string) => Promise.resolve(kept.get(key(id))),
      findByUid: (uid: string) => find((row) => row.uid === uid),
      findByUserCode: (code: string) => find((row) => row.userCode === code),
      consume: (id: string) => Promise.resolve(void Object.assign(kept.get(key(id)) ?? {}, { consumed: 1 })),
      destroy: (id: string) => Promise.resolve(void kept.delete(key(id))),
      revokeByGrantId: (grantId: string) => {
        for (const [name, row] of kept) if (row.grantId === grantId) kept.delete(name);
        return Promise.resolve();
      },
    };
  }
}

/** An OpenID Connect issuer (`oidc-provider`) on a free port. Its login page has a button for each account. */
export class Issuer {
  readonly accounts = new Map<string, Account>();
  /** Answers 503 to all, as an issuer that is away behind a balancer. */
  isAway = false;
  /** Hands out refresh tokens, of which each works once. */
  refreshes = false;
  private readonly rows = new Rows();
  private readonly app: { baseUrl: string; name: string }[] = [];
  private provider: Provider | null = null;
  private key = newKey();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<Issuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const issuer = new Issuer(server, `http://127.0.0.1:${port}`);
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      issuer.answer(req, res).catch((error: unknown) => {
        res.statusCode = 500;
        res.end(String(error));
      });
    });
    return issuer;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The entry of OIDC_ISSUERS. */
  settings(name: string, more: object = {}): object {
    return {
      name,
      issuer: this.url,
      client_id: CLIENT_ID,
      client_secret: SECRET,
      scope: 'openid email profile groups',
      ...more,
    };
  }

  /** Lets this Herald be its client. @param name of the issuer in OIDC_ISSUERS */
  register(baseUrl: string, name: string): void {
    this.app.push({ baseUrl, name });
    this.provider = this.newProvider();
  }

  /** From now on it signs with another key, and knows the former one no more. */
  rotate(): void {
    this.key = newKey();
    this.provider = this.newProvider();
  }

  /** Takes every refresh token back, as where an account is closed or its sessions are ended there. */
  revokeRefreshTokens(): void {
    for (const name of this.rows.kept.keys()) if (name.startsWith('RefreshToken ')) this.rows.kept.delete(name);
  }

  /** A logout token as it would sign it, changed as a test wants it. */
  async logoutToken(payload: JWTPayload & Record<string, unknown>, { key = this.key, type = 'logout+jwt' } = {}) {
    const now = Math.floor(Date.now() / 1_000);
    const token = new SignJWT({
      iss: this.url,
      aud: CLIENT_ID,
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...payload,
    });
    return token.setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: type }).sign(await importJWK(key, 'RS256'));
  }

  otherKey(): typeof this.key {
    return newKey();
  }

  private newProvider(): Provider {
    const [{ baseUrl, name }] = this.app as [{ baseUrl: string; name: string }];
    const addresses = this.app.map((each) => `${each.baseUrl}/auth/callback/${encodeURIComponent(each.name)}`);
    const provider = new Provider(this.url, {
      adapter: (kind: string) => this.rows.adapter(kind),
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: SECRET,
          redirect_uris: addresses,
          grant_types: ['authorization_code', 'refresh_token'],
          backchannel_logout_uri: `${baseUrl}/auth/logout/${encodeURIComponent(name)}`,
          backchannel_logout_session_required: true,
        },
      ],
      claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      cookies: { keys: ['of the issuer in tests'] },
      // Its own refuses addresses of this machine.
      fetch: (url: URL, { method, headers, body, signal }: RequestInit) =>
        fetch(url, { method, headers, body, signal }),
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        // Its own pages load fonts from elsewhere.
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (context: { body: unknown }, form: string) => {
            context.body = `<title>Issuer</title>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`;
          },
          postLogoutSuccessSource: (context: { body: unknown }) => {
            context.body = '<title>Issuer</title><p>Sign-out success</p>';
          },
        },
      },
      findAccount: (_context: unknown, id: string) => {
        const account = this.accounts.get(id);
        return account && { accountId: id, claims: () => ({ sub: id, ...account }) };
      },
      issueRefreshToken: () => Promise.resolve(this.refreshes),
      rotateRefreshToken: true,
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      jwks: { keys: [this.key] },
      // Nobody is asked whether Herald may know the e-mail address.
      loadExistingGrant: async (context: GrantContext) => {
        const { client, session, provider: self } = context.oidc;
        const grant = new self.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email profile groups');
        await grant.save();
        return grant;
      },
      pkce: { required: () => true },
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 600,
        Interaction: 600,
        RefreshToken: 86_400,
        Session: 600,
      },
    });
    return provider;
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { provider } = this;
    if (this.isAway || provider === null) {
      res.statusCode = 503;
      res.end('away');
      return;
    }
    if (req.url?.startsWith('/interaction/') !== true) return provider.callback()(req, res);
    if (req.method === 'GET') {
      const buttons = [...this.accounts.keys()].map((id) => `<button name="account" value="${id}">${id}</button>`);
      res.setHeader('content-type', 'text/html');
      res.end(`<title>Issuer</title><h1>Sign in at the issuer</h1><form method="post">${buttons.join(' ')}
        <button name="account" value="">Cancel</button></form>`);
      return;
    }
    const account = new URLSearchParams(await textOf(req)).get('account') ?? '';
    const result = account === '' ? { error: 'access_denied' } : { login: { accountId: account } };
    await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  }
}

interface GrantContext {
  oidc: {
    client: { clientId: string };
    session: { accountId: string };
    provider: {
      Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
    };
  };
}

function newKey(): JWK & { kid: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { ...(privateKey.export({ format: 'jwk' }) as JWK), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
