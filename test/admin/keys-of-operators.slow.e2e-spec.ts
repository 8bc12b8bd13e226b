import { runHerald } from '../support/herald-process.js';
import { startAdminApp, type AdminApp } from './fixture.js';

const LIST = '/api/admin/v1/workspaces';

describe('operator keys', () => {
  let admin: AdminApp;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
  });

  afterAll(() => admin?.test.stop());

  it('are made, listed, rotated and revoked by commands, and each is in the audit trail', async () => {
    const env = { DATABASE_URL: admin.test.databaseUrl, DATA_DIR: admin.test.dataDir };
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHerald([...args, '--json'], env);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      return JSON.parse(stdout) as never;
    };
    const { id: workspace } = await admin.test.factories.workspace();
    const given = ['--name', 'billing', '--scopes', 'billing:read, usage:read', '--workspaces', workspace];
    const made: { id: string; key: string } = await run('operator-key', 'create', ...given, '--expires-in', '30d');
    expect(made).toMatchObject({ name: 'billing', scopes: ['billing:read', 'usage:read'], workspace_ids: [workspace] });
    expect((await admin.test.api.get(LIST, { key: made.key })).body.error.code).toBe('SCOPE_REQUIRED');
    const rotated: { id: string } = await run('operator-key', 'rotate', made.id, '--overlap', '0s');
    await run('operator-key', 'revoke', rotated.id);
    const listed: { id: string; revoked_at: string | null }[] = await run('operator-key', 'list');
    expect(listed.filter(({ id }) => [made.id, rotated.id].includes(id)).every((key) => key.revoked_at !== null)).toBe(
      true,
    );
    expect(JSON.stringify(listed)).not.toContain(made.key);
    const events = await admin.test.database.query<{ action: string }>(
      'select action from audit_event where target = any($1) order by id',
      [[made.id, rotated.id]],
    );
    expect(events.map(({ action }) => action)).toEqual([
      'operator_key.created',
      'operator_key.created',
      'operator_key.rotated',
      'operator_key.revoked',
    ]);
    const wrong = await runHerald(['operator-key', 'create', '--name', 'x', '--scopes', 'messages:read'], env);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('messages:read is no scope. Scopes: all, workspaces:read');
  });
});
