import { Injectable, Logger } from '@nestjs/common';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { AppError } from '../../../common/app-error.js';
import { databaseClock, systemClock } from '../../../common/clock.js';
import { codeOf, describeError } from '../../../common/describe-error.js';
import { Config } from '../../../infrastructure/config/config.js';
import type { IssuerSettings } from '../../../infrastructure/config/people-settings.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { peopleErrors, signInErrors } from '../people.errors.js';

/** The values that bind the issuer's answer to the browser; a cookie holds them meanwhile. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
}

/** The issuer's claims about a person, not yet checked. */
export type Claims = Readonly<Record<string, unknown>> & { sub: string };

/** The grant for querying an issuer again about a signed-in person. Stored encrypted. */
export interface IssuerGrant {
  /** The issuer's name in the settings. */
  issuer: string;
  refreshToken: string;
  /** The groups came from the user info, so only it shows whether they still apply. */
  groupsInUserInfo: boolean;
}

/** `over`: the issuer has ended the session. `unknown`: no clear answer now. */
export type AskedAgain = { state: 'told'; claims: Claims; grant: IssuerGrant } | { state: 'over' | 'unknown' };

interface Known {
  metadata: oidc.ServerMetadata;
  readAt: number;
}

const TIMEOUT_SECONDS = 5;
const METADATA_MS = 600_000;
/** Maximum age of a logout token. */
const LOGOUT_SECONDS = 120;
const TOLERANCE_SECONDS = 30;
/** Minimum time between two reads of the keys, for logout tokens with an unknown key. */
const KEYS_APART_MS = 1_000;
/** Errors for missing or malformed answers with keys, for which `jose` has no other codes. */
const KEYS_AWAY: ReadonlySet<string> = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC']);
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The configured OpenID Connect issuers. Each is contacted only when needed, so none delays a start. */
@Injectable()
export class Issuers {
  private readonly logger = new Logger(Issuers.name);
  private readonly known = new Map<string, Known>();
  private readonly keys = new Map<string, ReturnType<typeof createRemoteJWKSet>>();

  constructor(
    private readonly config: Config,
    private readonly publicUrl: PublicUrl,
  ) {}

  get names(): string[] {
    return this.config.people.issuers.map(({ name }) => name);
  }

  /** @throws ISSUER_NOT_FOUND (404). */
  get(name: string): IssuerSettings {
    const issuer = this.config.people.issuers.find((each) => each.name === name);
    if (issuer === undefined) throw peopleErrors.ISSUER_NOT_FOUND();
    return issuer;
  }

  /** A separate redirect address per issuer, so that one issuer's answer is not taken for another's. */
  private redirectUri({ name }: IssuerSettings): string {
    return `${this.publicUrl.value}/auth/callback/${encodeURIComponent(name)}`;
  }

  newSecrets(): SignInSecrets {
    return { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  }

  /** The address to which the browser is sent for sign-in. */
  async addressOf(issuer: IssuerSettings, { state, nonce, verifier }: SignInSecrets): Promise<URL> {
    return this.asking(issuer, async () =>
      oidc.buildAuthorizationUrl(await this.clientOf(issuer), {
        redirect_uri: this.redirectUri(issuer),
        scope: issuer.scope,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }),
    );
  }

  /**
   * The issuer's claims about the returning person, after its answer was verified, and the grant for later queries;
   * null where the issuer gives none.
   *
   * @param query the query of the address to which the browser returned
   * @throws SIGN_IN_DECLINED (403), SIGN_IN_EXPIRED (400), ISSUER_AWAY (503), ISSUER_REFUSED, ISSUER_ANSWER_INVALID
   * (502).
   */
  async claimsOf(
    issuer: IssuerSettings,
    query: string,
    secrets: SignInSecrets,
  ): Promise<{ claims: Claims; grant: IssuerGrant | null }> {
    return this.asking(issuer, async () => {
      const client = await this.clientOf(issuer);
      const tokens = await oidc.authorizationCodeGrant(client, new URL(`${this.redirectUri(issuer)}${query}`), {
        pkceCodeVerifier: secrets.verifier,
        expectedState: secrets.state,
        expectedNonce: secrets.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as Claims;
      const info = await userInfoOf(client, tokens.access_token, claims.sub);
      return { claims: { ...claims, ...info }, grant: grantOf(issuer, tokens.refresh_token, info) };
    });
  }

  /**
   * The issuer's present claims about a person who signed in before. If it is away, or refuses this Herald, that is
   * logged.
   *
   * @param subject the person's id at the issuer
   */
  async askAgain(issuer: IssuerSettings, grant: IssuerGrant, subject: string): Promise<AskedAgain> {
    const { refreshToken, groupsInUserInfo } = grant;
    try {
      return await this.asking(issuer, async () => {
        const client = await this.clientOf(issuer);
        const tokens = await oidc.refreshTokenGrant(client, refreshToken);
        const claims = tokens.claims();
        const info = await userInfoOf(client, tokens.access_token, subject);
        if (claims !== undefined && claims.sub !== subject) return { state: 'over' };
        // Groups in the ID token only cannot be read again from the user info.
        if (claims === undefined && !groupsInUserInfo) return { state: 'unknown' };
        const next = { ...grant, refreshToken: tokens.refresh_token ?? refreshToken };
        return { state: 'told', claims: { ...claims, ...info, sub: subject }, grant: next };
      });
    } catch (error) {
      // The issuer withdrew the refresh token: the person was removed there, signed out, or may no longer use Herald.
      const isOver = error instanceof AppError && error.code === 'SIGN_IN_EXPIRED';
      return { state: isOver ? 'over' : 'unknown' };
    }
  }

  /**
   * The session or person whose access has ended at the issuer.
   *
   * @throws LOGOUT_TOKEN_INVALID (400), ISSUER_AWAY (503).
   */
  async loggedOut(issuer: IssuerSettings, token: string): Promise<{ subject: string | null; session: string | null }> {
    const { jwks_uri: address } = await this.asking(issuer, () => this.metadataOf(issuer));
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, this.keysAt(address ?? ''), {
        issuer: issuer.issuer,
        audience: issuer.clientId,
        maxTokenAge: LOGOUT_SECONDS,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: databaseClock.date(),
        requiredClaims: ['iat', 'jti', 'events'],
      }));
    } catch (error) {
      if (isAway(error) || KEYS_AWAY.has(codeOf(error) ?? '')) throw this.away(issuer, error);
      throw peopleErrors.LOGOUT_TOKEN_INVALID(undefined, { cause: error });
    }
    const { events, nonce, sub, sid } = payload;
    const isOfLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events;
    const subject = typeof sub === 'string' ? sub : null;
    const session = typeof sid === 'string' ? sid : null;
    // With a nonce an ID token could pass as a logout token (OpenID Connect Back-Channel Logout, 2.6).
    if (!isOfLogout || nonce !== undefined || (subject === null && session === null)) {
      throw peopleErrors.LOGOUT_TOKEN_INVALID();
    }
    return { subject, session };
  }

  private keysAt(address: string): ReturnType<typeof createRemoteJWKSet> {
    const known = this.keys.get(address);
    if (known !== undefined) return known;
    const options = { timeoutDuration: TIMEOUT_SECONDS * 1_000, cooldownDuration: KEYS_APART_MS };
    const keys = createRemoteJWKSet(new URL(address), options);
    this.keys.set(address, keys);
    return keys;
  }

  /**
   * A client for one sign-in. It reads the keys each time: sign-ins are rare, and this way they work right after an
   * issuer has replaced its keys.
   */
  private async clientOf(issuer: IssuerSettings): Promise<oidc.Configuration> {
    const metadata = await this.metadataOf(issuer);
    const skew = Math.round(-databaseClock.hostAheadMs / 1_000);
    const times = { [oidc.clockSkew]: skew, [oidc.clockTolerance]: TOLERANCE_SECONDS };
    const client = new oidc.Configuration({ ...metadata }, issuer.clientId, times, authOf(issuer, metadata));
    client.timeout = TIMEOUT_SECONDS;
    for (const each of switchesOf(issuer)) each(client);
    return client;
  }

  private async metadataOf(issuer: IssuerSettings): Promise<oidc.ServerMetadata> {
    const known = this.known.get(issuer.name);
    if (known !== undefined && systemClock.monotonic() - known.readAt < METADATA_MS) return known.metadata;
    const options = { timeout: TIMEOUT_SECONDS, execute: switchesOf(issuer) };
    const found = await oidc.discovery(new URL(issuer.issuer), issuer.clientId, undefined, oidc.None(), options);
    const metadata = found.serverMetadata();
    this.known.set(issuer.name, { metadata, readAt: systemClock.monotonic() });
    return metadata;
  }

  /** After a failure the configuration is read again next time; the log tells the operator. */
  private async asking<T>(issuer: IssuerSettings, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (isAway(error)) throw this.away(issuer, error);
      const refused = error instanceof oidc.AuthorizationResponseError ? error.error : null;
      if (refused === 'access_denied') throw signInErrors.SIGN_IN_DECLINED();
      this.known.delete(issuer.name);
      this.logger.warn(`the sign-in at ${issuer.name} failed: ${textOf(error)}`);
      const said = error instanceof oidc.ResponseBodyError ? error.error : refused;
      if (said === 'invalid_grant') throw signInErrors.SIGN_IN_EXPIRED();
      const isRefusal = said !== null || error instanceof oidc.WWWAuthenticateChallengeError;
      throw isRefusal ? signInErrors.ISSUER_REFUSED() : signInErrors.ISSUER_ANSWER_INVALID();
    }
  }

  private away(issuer: IssuerSettings, error: unknown) {
    this.known.delete(issuer.name);
    this.logger.warn(`the issuer ${issuer.name} does not answer: ${textOf(error)}`);
    return signInErrors.ISSUER_AWAY();
  }
}

/** Many issuers return e-mail and groups only here. Undefined where the issuer has no user info. */
async function userInfoOf(client: oidc.Configuration, accessToken: string, subject: string) {
  if (client.serverMetadata().userinfo_endpoint === undefined) return undefined;
  return oidc.fetchUserInfo(client, accessToken, subject);
}

function grantOf(
  { name, groupsClaim }: IssuerSettings,
  refreshToken: string | undefined,
  info: oidc.UserInfoResponse | undefined,
): IssuerGrant | null {
  if (refreshToken === undefined) return null;
  return { issuer: name, refreshToken, groupsInUserInfo: info?.[groupsClaim] !== undefined };
}

function authOf({ clientSecret }: IssuerSettings, metadata: oidc.ServerMetadata): oidc.ClientAuth {
  if (clientSecret === null) return oidc.None();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const isBasic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
  return isBasic ? oidc.ClientSecretBasic(clientSecret) : oidc.ClientSecretPost(clientSecret);
}

/** Verifies the ID token's signature, although it comes directly from the issuer. */
function switchesOf({ issuer }: IssuerSettings): ((client: oidc.Configuration) => void)[] {
  // The settings allow this only on this machine.
  const plain = issuer.startsWith('http://') ? [oidc.allowInsecureRequests] : [];
  return [...plain, oidc.enableNonRepudiationChecks];
}

/** No answer, or one that reports a failure of the issuer itself. */
function isAway(error: unknown): boolean {
  const { code, cause, status, name } = error as { code?: unknown; cause?: unknown; status?: unknown; name?: unknown };
  if (code === 'OAUTH_TIMEOUT' || name === 'TimeoutError' || name === 'AbortError') return true;
  if (typeof status === 'number') return status >= 500;
  if (cause instanceof Response) return cause.status >= 500;
  if (error instanceof oidc.AuthorizationResponseError) {
    return ['server_error', 'temporarily_unavailable'].includes(error.error);
  }
  // fetch throws this without a connection.
  return error instanceof TypeError && cause instanceof Error;
}

/** Without parameters and bodies, which contain codes and tokens. */
function textOf(error: unknown): string {
  const { code, error: said, cause } = error as { code?: unknown; error?: unknown; cause?: unknown };
  const parts = [describeError(error), code, said, cause instanceof Error ? cause.message : undefined];
  return parts.filter((part) => typeof part === 'string').join(': ');
}
