import { MANAGED_SCOPES, PERSON_ROLES, ROLE_SCOPES } from '../../src/infrastructure/http/roles.js';
import { OPERATOR_SCOPES, type OperatorScope, type Scope, SCOPES } from '../../src/infrastructure/http/scopes.js';
import { readProjectFile } from '../support/project-files.js';
import { type Browser, type PeopleApp, startPeople } from './fixture.js';

/* Every route of both committed descriptions, whichever there are, as `test/admin/scopes.e2e-spec.ts` has it for keys. */

interface Operation {
  'x-required-scope'?: Scope | OperatorScope;
  parameters?: { name: string; example?: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

function routesOf(file: string) {
  const { paths } = JSON.parse(readProjectFile(file)) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';
const ofWorkspaces = routesOf('openapi.json').filter(({ operation }) => operation['x-required-scope'] !== undefined);
const ofOperators = routesOf('openapi-admin.json');

let people: PeopleApp;
const browsers = new Map<string, Browser>();

beforeAll(async () => {
  people = await startPeople();
  for (const role of PERSON_ROLES) {
    const browser = await people.person(role, { groups: [`${role}s`] });
    browsers.set(role, browser.in(people.workspaces[0].id));
  }
});
afterAll(() => people?.stop());

/** Whether the role does not allow it. Never an error of the server. */
async function isRefused(
  browser: Browser,
  { method, path, operation }: (typeof ofWorkspaces)[number],
): Promise<boolean> {
  const filled = path
    .replace('{workspace_id}', people.workspaces[0].id)
    .replace(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(operation.parameters?.find((each) => each.name === name)?.example ?? UNKNOWN),
    );
  const body = operation.requestBody?.content['application/json']?.example;
  const headers: Record<string, string> = method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {};
  const answer = await browser.request({ method, path: filled, body, headers });
  const at = `${method} ${path}`;
  expect({ at, isOfServer: answer.status === 500 }).toEqual({ at, isOfServer: false });
  if (answer.status !== 403 || answer.body.error.code !== 'SCOPE_REQUIRED') {
    expect({ at, is401: answer.status === 401 }).toEqual({ at, is401: false });
    return false;
  }
  // Any operator key may read what it is; a person who is no operator is told the least scope.
  expect(answer.body.error.required_scope).toBe(operation['x-required-scope'] ?? 'workspaces:read');
  expect(answer.body.error.message).toContain('Your role');
  return true;
}

it('the routes are those that there should be', () => {
  expect(new Set(ofWorkspaces.map(({ operation }) => operation['x-required-scope']))).toEqual(new Set(SCOPES));
  const ofKeys = ofOperators.flatMap(({ operation }) => operation['x-required-scope'] ?? []);
  expect(new Set(ofKeys)).toEqual(new Set(OPERATOR_SCOPES));
});

describe.each(PERSON_ROLES)('the role %s', (role) => {
  it('opens the routes of its scopes in its workspace, and no other', async () => {
    for (const route of ofWorkspaces) {
      const at = `${route.method} ${route.path}`;
      const scope = route.operation['x-required-scope'] as Scope;
      expect({ at, refused: await isRefused(browsers.get(role) as Browser, route) }).toEqual({
        at,
        refused: !ROLE_SCOPES[role].has(scope),
      });
    }
  }, 120_000);

  it('opens the routes of the admin API that it manages in its workspace, and no other', async () => {
    for (const route of ofOperators) {
      // Not this: the workspace of this test stays.
      if (role === 'operator' && route.method === 'DELETE' && route.path.endsWith('/{workspace_id}')) continue;
      const at = `${route.method} ${route.path}`;
      const scope = route.operation['x-required-scope'] as OperatorScope | undefined;
      const isOwn = role !== 'operator' && route.path.includes('{workspace_id}');
      const isManaged = isOwn && scope !== undefined && MANAGED_SCOPES[role].has(scope);
      expect({ at, refused: await isRefused(browsers.get(role) as Browser, route) }).toEqual({
        at,
        refused: role !== 'operator' && !isManaged,
      });
    }
  }, 120_000);

  it('manages nothing in another workspace, which is as an unknown one', async () => {
    if (role === 'operator') return;
    for (const path of ['keys', 'people', 'invitations']) {
      const seen = async (id: string) => {
        const { status, body } = await (browsers.get(role) as Browser).get(`/api/admin/v1/workspaces/${id}/${path}`);
        return [status, JSON.stringify(body).replaceAll(body.error.request_id, 'id')];
      };
      const unknown = await seen(UNKNOWN);
      expect(unknown[0]).toBe(403);
      expect(await seen(people.workspaces[1].id)).toEqual(unknown);
      expect(await seen('none')).toEqual(unknown);
    }
  });
});

it('each role may do what the weaker ones may, and more', () => {
  const sizes = PERSON_ROLES.slice(0, -1).map((role) => ROLE_SCOPES[role].size);
  for (const [index, role] of PERSON_ROLES.slice(1).entries()) {
    for (const scope of ROLE_SCOPES[PERSON_ROLES[index] as 'viewer']) expect(ROLE_SCOPES[role]).toContain(scope);
  }
  expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes);
});

it('an operator reaches a workspace in which they are no member, and a member no other', async () => {
  const second = people.workspaces[1].id;
  const roleIn = async (role: string) => (await browsers.get(role)?.in(second).get('/key'))?.body;
  expect((await roleIn('operator'))?.data.person.role).toBe('operator');
  expect((await roleIn('admin'))?.error.code).toBe('SESSION_WORKSPACE_UNKNOWN');
});

it('codes are for keys of their project: no role has their scopes', () => {
  for (const role of PERSON_ROLES)
    expect([...ROLE_SCOPES[role]].filter((scope) => scope.startsWith('otp:'))).toEqual([]);
});
