import { UUID_PATTERN } from '../../common/ids.js';
import { PERSON_ROLES, type PersonRole } from '../http/roles.js';
import { integer, InvalidSetting, setting } from './setting.js';

/** An OpenID Connect provider through which people sign in. */
export interface IssuerSettings {
  /** Shown on the button, and part of the redirect address. */
  name: string;
  issuer: string;
  clientId: string;
  /** Null: a public client, protected only by PKCE. */
  clientSecret: string | null;
  scope: string;
  /** Name of the claim with the person's groups. */
  groupsClaim: string;
  /** An e-mail address counts as verified even if the issuer does not say so. */
  trustEmail: boolean;
}

/** Members of this group get this role. */
export interface RoleRule {
  /** Null: the only issuer. */
  issuer: string | null;
  group: string;
  role: PersonRole;
  /** Null for an operator. */
  workspaceId: string | null;
}

export const PEOPLE_SETTINGS = {
  issuers: setting('OIDC_ISSUERS', issuers, { secret: true, default: (): IssuerSettings[] => [], fallback: '' }).means(
    'OpenID Connect providers at which people sign in to the console, as JSON: [{"name":"Example","issuer":"https://login.example.com","client_id":"herald","client_secret":"..."}]; docs/people.md has all fields. Best as a file: OIDC_ISSUERS_FILE. Default: none; the console takes keys.',
  ),
  roles: setting('OIDC_ROLES', roleRules, { default: (): RoleRule[] => [], fallback: '' }).means(
    'Which group of an issuer has which role, as JSON: [{"group":"support","workspace":"<id>","role":"agent"},{"group":"ops","role":"operator"}]; with several issuers each also has "issuer", the name of one.',
  ),
  sessionHours: integer('SESSION_HOURS', [1, 24], { default: 8 }).means(
    'Hours after which a person signs in again, and groups and access are read again.',
  ),
  sessionCheckMinutes: integer('SESSION_CHECK_MINUTES', [1, 1_440], { default: 15 }).means(
    'Minutes after which the groups of a signed-in person are read again at an issuer that hands out refresh tokens; elsewhere they are read at the next sign-in.',
  ),
  sessionIdleMinutes: integer('SESSION_IDLE_MINUTES', [5, 1_440], { default: 60 }).means(
    'Minutes without a request after which a session ends. An open page of the console asks all the time.',
  ),
};

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}$/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;
const MOST = 200;

/** Whether browsers keep secure cookies for this address: TLS, or this machine. */
export function isSafeAddress(url: string): boolean {
  return url.startsWith('https://') || LOOPBACK.test(url);
}

function issuers(value: string): IssuerSettings[] {
  const found = entriesOf(value).map((entry, index): IssuerSettings => {
    const at = `entry ${index + 1}`;
    const { name, issuer, client_id: clientId, client_secret: secret, scope, groups_claim: claim, ...rest } = entry;
    const { trust_email: trustEmail = false, ...others } = rest;
    refuseOthers(others, at);
    if (typeof name !== 'string' || !NAME.test(name)) {
      throw new InvalidSetting(`${at}: "name" must be 1 to 40 letters, digits, spaces and . _ -`);
    }
    if (typeof issuer !== 'string' || !URL.canParse(issuer) || !isSafeAddress(issuer)) {
      throw new InvalidSetting(`${at}: "issuer" must be a URL that begins with https://, or with http://localhost`);
    }
    if (typeof trustEmail !== 'boolean') throw new InvalidSetting(`${at}: "trust_email" must be true or false`);
    return {
      name,
      issuer,
      clientId: textOf(clientId, `${at}: "client_id"`),
      clientSecret: secret === undefined ? null : textOf(secret, `${at}: "client_secret"`),
      scope: scope === undefined ? 'openid email profile' : textOf(scope, `${at}: "scope"`),
      groupsClaim: claim === undefined ? 'groups' : textOf(claim, `${at}: "groups_claim"`),
      trustEmail,
    };
  });
  if (new Set(found.map(({ name }) => name.toLowerCase())).size < found.length) {
    throw new InvalidSetting('has two issuers of one name');
  }
  if (found.length === 0) throw new InvalidSetting('must name an issuer, or be left out');
  return found;
}

function roleRules(value: string): RoleRule[] {
  return entriesOf(value).map((entry, index) => {
    const at = `entry ${index + 1}`;
    const { group, role, workspace, issuer, ...others } = entry;
    refuseOthers(others, at);
    const known = PERSON_ROLES.find((each) => each === role);
    if (known === undefined) throw new InvalidSetting(`${at}: "role" must be one of ${PERSON_ROLES.join(', ')}`);
    if (known === 'operator' && workspace !== undefined) {
      throw new InvalidSetting(`${at}: an operator is one for all workspaces; leave "workspace" out`);
    }
    if (known !== 'operator' && (typeof workspace !== 'string' || !UUID_PATTERN.test(workspace))) {
      throw new InvalidSetting(`${at}: "workspace" must be the id of a workspace`);
    }
    return {
      group: textOf(group, `${at}: "group"`),
      role: known,
      workspaceId: typeof workspace === 'string' ? workspace.toLowerCase() : null,
      issuer: issuer === undefined ? null : textOf(issuer, `${at}: "issuer"`),
    };
  });
}

/** Rules between the two settings; see `rulesOf` in load-config. */
export function peopleRules(
  { issuers: known, roles }: { issuers: IssuerSettings[]; roles: RoleRule[] },
  publicUrl: string | null,
  production: boolean,
): [isBroken: boolean, violation: string][] {
  const names = new Set(known.map(({ name }) => name));
  return [
    [
      known.length > 0 && production && publicUrl === null,
      'PUBLIC_URL must be set with OIDC_ISSUERS: the issuer sends people back there',
    ],
    [
      known.length > 0 && publicUrl !== null && !isSafeAddress(publicUrl),
      'PUBLIC_URL must begin with https:// where OIDC_ISSUERS is set, or be on localhost: browsers keep the cookie of a session over TLS only',
    ],
    [
      production && known.some(({ issuer }) => !issuer.startsWith('https://')),
      'OIDC_ISSUERS must have https:// addresses only in production',
    ],
    [known.length === 0 && roles.length > 0, 'OIDC_ROLES is of use with OIDC_ISSUERS only: set it too'],
    [
      known.length > 1 && roles.some(({ issuer }) => issuer === null),
      'OIDC_ROLES must say "issuer" in each entry where OIDC_ISSUERS has several: groups of two issuers may have one name',
    ],
    [
      known.length > 0 && roles.some(({ issuer }) => issuer !== null && !names.has(issuer)),
      'OIDC_ROLES names an issuer that OIDC_ISSUERS does not have',
    ],
  ];
}

/** Messages show no part of the value, which contains secrets. */
function entriesOf(value: string): Record<string, unknown>[] {
  let read: unknown;
  try {
    read = JSON.parse(value);
  } catch {
    throw new InvalidSetting('must be JSON');
  }
  const isObject = (entry: unknown): boolean => typeof entry === 'object' && entry !== null && !Array.isArray(entry);
  if (!Array.isArray(read) || !read.every(isObject)) throw new InvalidSetting('must be a JSON list of objects');
  if (read.length > MOST) throw new InvalidSetting(`must have at most ${MOST} entries`);
  return read as Record<string, unknown>[];
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 500) return value;
  throw new InvalidSetting(`${name} must be a text of 1 to 500 characters`);
}

function refuseOthers(others: Record<string, unknown>, at: string): void {
  const [name] = Object.keys(others);
  if (name !== undefined) throw new InvalidSetting(`${at} has a field that is not known: "${name.slice(0, 40)}"`);
}
