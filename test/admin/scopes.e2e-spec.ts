import { OPERATOR_SCOPES, type OperatorScope } from '../../src/infrastructure/http/scopes.js';
import { readProjectFile } from '../support/project-files.js';
import type { ApiResponse } from '../support/api-client.js';
import type { TestSender } from '../support/test-app.js';
import { type AdminApp, startAdminApp } from './fixture.js';

/*
 * Every route of the committed description, whichever there are: one that is added later is in the matrix without a
 * line here.
 */

interface Operation {
  operationId: string;
  /** Left out: any operator key. */
  'x-required-scope'?: OperatorScope;
  parameters?: { name: string; in: string; example?: string }[];
  requestBody?: { content: Record<string, { example: unknown }> };
  responses: Record<string, { $ref?: string }>;
}

const UNKNOWN = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';
const { paths } = JSON.parse(readProjectFile('openapi-admin.json')) as {
  paths: Record<string, Record<string, Operation>>;
};
const routes = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
const scoped = routes.filter(({ operation }) => operation['x-required-scope'] !== undefined);
const ofWorkspace = routes.filter(({ path }) => path.includes('{workspace_id}'));

describe('the routes of the admin API', () => {
  let admin: AdminApp;
  let sender: TestSender;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    sender = await admin.test.sender();
  });

  afterAll(() => admin?.test.stop());

  const call = (
    { method, path, operation }: (typeof routes)[number],
    { key, workspaceId = UNKNOWN }: { key: string | null; workspaceId?: string },
  ): Promise<ApiResponse> => {
    const filled = path
      .replace('{workspace_id}', workspaceId)
      .replace(/\{(\w+)\}/g, (_, name) => operation.parameters?.find((each) => each.name === name)?.example ?? UNKNOWN);
    const body = operation.requestBody?.content['application/json']?.example;
    return admin.test.api.request({ method, path: filled, key, body });
  };

  it('are the ones that there should be', () => {
    expect(routes.length).toBeGreaterThan(20);
    expect(ofWorkspace.length).toBeGreaterThan(15);
    expect(new Set(scoped.map(({ operation }) => operation['x-required-scope']))).toEqual(new Set(OPERATOR_SCOPES));
    const others = routes.filter((route) => !scoped.includes(route));
    expect(others.map(({ path }) => path)).toEqual(['/api/admin/v1/key']);
  });

  it.each(routes)('$method $path answers 401 without an operator key', async (route) => {
    const answers = [await call(route, { key: null }), await call(route, { key: sender.key.text })];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [401, 'API_KEY_MISSING'],
      [401, 'OPERATOR_KEY_REQUIRED'],
    ]);
  });

  it.each(OPERATOR_SCOPES)('with %s alone open the routes of this scope and no other', async (scope) => {
    const own = await admin.operator({ scopes: [scope] });
    // One key for all others: what any of them opened, it would open.
    const others = await admin.operator({ scopes: OPERATOR_SCOPES.filter((each) => each !== scope) });
    for (const route of routes) {
      if (scoped.includes(route) && route.operation['x-required-scope'] !== scope) continue;
      const at = `${route.method} ${route.path}`;
      const opened = await call(route, own);
      expect({ at, code: opened.body?.error?.code }).not.toEqual({ at, code: 'SCOPE_REQUIRED' });
      expect({ at, isOfServer: opened.status >= 500 }).toEqual({ at, isOfServer: false });
      const { status, body } = await call(route, others);
      const isRefused = status === 403 && body.error.code === 'SCOPE_REQUIRED';
      expect({ at, isRefused }).toEqual({ at, isRefused: scoped.includes(route) });
      if (isRefused) expect({ at, needs: body.error.required_scope }).toEqual({ at, needs: scope });
    }
  });

  it.each(ofWorkspace)('$method $path: a foreign workspace is as an unknown one, byte by byte', async (route) => {
    const [own, foreign] = [await admin.test.factories.workspace(), await admin.test.factories.workspace()];
    const { key } = await admin.operator({ workspaceIds: [own.id] });
    const seen = async (workspaceId: string) => {
      const { status, headers, body } = await call(route, { key, workspaceId });
      const names = [...headers.keys()].filter((name) => !/^(date|x-request-id|ratelimit)$/.test(name));
      const text = JSON.stringify(body).replaceAll(body.error?.request_id, 'id');
      return { status, text, headers: names.map((name) => [name, headers.get(name)]) };
    };
    const unknown = await seen(UNKNOWN);
    expect(unknown.status).toBe(404);
    expect(await seen(foreign.id)).toEqual(unknown);
    expect((await call(route, { key, workspaceId: own.id })).body?.error?.code).not.toBe('WORKSPACE_NOT_FOUND');
    const rows = await admin.test.database.query('select 1 from audit_event where organization_id = $1', [foreign.id]);
    expect(rows).toEqual([]);
  });

  it('refuse to a limited key what concerns the whole installation, and nothing else', async () => {
    const { id } = await admin.test.factories.workspace();
    const { key } = await admin.operator({ workspaceIds: [id] });
    const refused: string[] = [];
    for (const route of routes) {
      const { status, body } = await call(route, { key });
      if (status === 403 && body.error.code === 'OPERATOR_KEY_LIMITED') refused.push(`${route.method} ${route.path}`);
    }
    const wanted = [
      'DELETE /people/{id}/sessions',
      'GET /installation',
      'GET /otp-sender',
      'GET /people',
      'GET /people/{id}',
      'GET /rates',
      'POST /workspaces',
      'PUT /otp-sender',
      'PUT /rates',
    ];
    expect(refused.toSorted()).toEqual(wanted.map((each) => each.replace(' ', ' /api/admin/v1')));
  });

  it('take an Idempotency-Key wherever they are POST', () => {
    const posts = routes.filter(({ method }) => method === 'POST');
    const without = posts.filter(
      ({ operation }) => !operation.parameters?.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(without.map(({ path }) => path)).toEqual([]);
  });
});
