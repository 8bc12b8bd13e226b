import { ConfigError, loadConfig } from './load-config.js';

const ISSUER = {
  name: 'Example',
  issuer: 'https://login.example.com',
  client_id: 'herald',
  client_secret: 'not-to-be-shown',
};
const WORKSPACE = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';

function people(issuers: unknown, roles?: unknown, env: Record<string, string> = {}) {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return loadConfig({
    env: {
      NODE_ENV: 'test',
      OIDC_ISSUERS: issuers === undefined ? undefined : text(issuers),
      OIDC_ROLES: roles === undefined ? undefined : text(roles),
      ...env,
    },
    persistSecrets: false,
  }).people;
}

function violationsOf(...given: Parameters<typeof people>): string[] {
  try {
    people(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.violations;
    throw error;
  }
  return [];
}

describe('OIDC_ISSUERS and OIDC_ROLES', () => {
  it('are empty by default', () => {
    expect(people(undefined)).toMatchObject({ issuers: [], roles: [], sessionHours: 8, sessionIdleMinutes: 60 });
  });

  it('have defaults in each entry', () => {
    const { issuers, roles } = people(
      [ISSUER],
      [
        { group: 'support', workspace: WORKSPACE.toUpperCase(), role: 'agent' },
        { group: 'ops', role: 'operator' },
      ],
    );
    expect(issuers).toEqual([
      {
        name: 'Example',
        issuer: 'https://login.example.com',
        clientId: 'herald',
        clientSecret: 'not-to-be-shown',
        scope: 'openid email profile',
        groupsClaim: 'groups',
        trustEmail: false,
      },
    ]);
    expect(roles).toEqual([
      { group: 'support', workspaceId: WORKSPACE, role: 'agent', issuer: null },
      { group: 'ops', workspaceId: null, role: 'operator', issuer: null },
    ]);
  });

  it.each([
    ['no JSON', '{', 'OIDC_ISSUERS must be JSON'],
    ['no list', ISSUER, 'OIDC_ISSUERS must be a JSON list'],
    ['an empty list', [], 'OIDC_ISSUERS must name an issuer'],
    ['a name with a slash', [{ ...ISSUER, name: 'a/b' }], 'entry 1: "name"'],
    ['two of one name', [ISSUER, { ...ISSUER, name: 'example' }], 'two issuers of one name'],
    ['plain HTTP', [{ ...ISSUER, issuer: 'http://login.example.com' }], 'entry 1: "issuer"'],
    ['a host that only begins as this machine', [{ ...ISSUER, issuer: 'http://localhost.example.com' }], '"issuer"'],
    ['no client', [{ ...ISSUER, client_id: '' }], 'entry 1: "client_id"'],
    ['a field that is not known', [{ ...ISSUER, secret: 'x' }], 'entry 1 has a field that is not known: "secret"'],
  ])('are refused with %s, in a sentence without the secret', (_what, issuers, part) => {
    const violations = violationsOf(issuers);
    expect(violations.join('\n')).toContain(part);
    expect(violations.join('\n')).not.toContain('not-to-be-shown');
  });

  it.each([
    ['a role that is not known', [{ group: 'a', workspace: WORKSPACE, role: 'owner' }], '"role" must be one of viewer'],
    ['no workspace', [{ group: 'a', role: 'agent' }], '"workspace" must be the id'],
    [
      'an operator of one workspace',
      [{ group: 'a', workspace: WORKSPACE, role: 'operator' }],
      'an operator is one for all',
    ],
    ['no group', [{ group: ' ', role: 'operator' }], '"group" must be'],
    ['an issuer that is not there', [{ group: 'a', role: 'operator', issuer: 'Other' }], 'names an issuer that'],
  ])('are refused with %s', (_what, roles, part) => {
    expect(violationsOf([ISSUER], roles).join('\n')).toContain(part);
  });

  it('say of which issuer a group is, where there are several', () => {
    const both = [ISSUER, { ...ISSUER, name: 'Other' }];
    expect(violationsOf(both, [{ group: 'a', role: 'operator' }]).join('\n')).toContain('in each entry');
    expect(violationsOf(both, [{ group: 'a', role: 'operator', issuer: 'Other' }])).toEqual([]);
    expect(violationsOf(undefined, [{ group: 'a', role: 'operator' }]).join('\n')).toContain('OIDC_ISSUERS only');
  });

  it('want an address at which a browser keeps secure cookies', () => {
    const at = (url: string) => violationsOf([ISSUER], undefined, { PUBLIC_URL: url }).join('\n');
    expect(at('http://herald.example.com')).toContain('PUBLIC_URL must begin with https://');
    expect(at('https://herald.example.com')).toBe('');
    expect(at('http://localhost:3000')).toBe('');
    const production = violationsOf([{ ...ISSUER, issuer: 'http://localhost:9000' }], undefined, {
      NODE_ENV: 'production',
    });
    expect(production.join('\n')).toContain('PUBLIC_URL must be set with OIDC_ISSUERS');
    expect(production.join('\n')).toContain('OIDC_ISSUERS must have https:// addresses only');
  });
});
