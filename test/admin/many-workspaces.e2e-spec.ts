import { Audit, type AuditFilter } from '../../src/modules/audit/audit.service.js';
import { type WorkspaceFilter, WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import { costOf } from '../support/rows-read.js';
import { type AdminApp, startAdminApp } from './fixture.js';

const WORKSPACES = 10_000;
/** Rows and entries of indexes that a page of 51 may look at: a page takes a few milliseconds then. */
const MOST = 1_500;

describe('lists over 10,000 workspaces', () => {
  let admin: AdminApp;
  let some: string[];

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    const { database } = admin.test;
    await database.execute(
      `insert into organization (id, name, external_id, created_at)
       select gen_random_uuid(), 'Shop ' || n, 'customer-' || n, clock_timestamp() - make_interval(secs => n)
       from generate_series(1, $1::integer) n`,
      [WORKSPACES],
    );
    await database.execute(
      `insert into audit_event (organization_id, action, target, actor_kind, actor, occurred_at)
       select id, case when name like '%777' then 'key.created' else 'workspace.created' end, id::text, 'operator_key',
         case when name like '%888' then 'one' else 'other' end, created_at from organization`,
    );
    await database.execute('analyze organization');
    await database.execute('analyze audit_event');
    const rows = await database.query<{ id: string }>('select id::text as id from organization order by id limit 2');
    some = rows.map(({ id }) => id);
  }, 60_000);

  afterAll(() => admin?.test.stop());

  const first = { before: null, beforeId: null, limit: 51, only: null };
  const middle = () => ({ before: new Date(Date.now() - (WORKSPACES / 2) * 1_000), beforeId: null });

  it.each<[string, () => Partial<WorkspaceFilter>, number]>([
    ['the first page', () => ({}), 51],
    ['a page in the middle', middle, 51],
    ['an external id', () => ({ externalId: 'customer-4711' }), 1],
    ['a name', () => ({ name: 'SHOP 471' }), 11],
    ['a name that none has', () => ({ name: 'nothing' }), 0],
    ['of a key that is limited to two', () => ({ only: some }), 2],
  ])('workspaces: %s is read by an index', async (_what, filter, found) => {
    const workspaces = admin.test.app.get(WorkspacesService);
    let rows = 0;
    const cost = await costOf(admin.test.database, 'organization', async () => {
      rows = (await workspaces.page({ ...first, ...filter() })).length;
    });
    expect(rows).toBe(found);
    expect(cost).toMatchObject({ scans: 0 });
    expect(cost.entries).toBeLessThan(MOST);
  });

  it.each<[string, () => Partial<AuditFilter>, number]>([
    ['the first page', () => ({}), 51],
    ['a page in the middle', () => ({ until: middle().before }), 51],
    ['an action', () => ({ action: 'key.created' }), 10],
    ['an actor', () => ({ actor: 'one' }), 10],
    ['a workspace', () => ({ organizationId: some[0] ?? '' }), 1],
    ['of a key that is limited to two', () => ({ only: some }), 2],
  ])('audit: %s is read by an index', async (_what, filter, found) => {
    const audit = admin.test.app.get(Audit);
    let rows = 0;
    const cost = await costOf(admin.test.database, 'audit_event', async () => {
      rows = (await audit.list({ limit: 51, ...filter() })).length;
    });
    expect(rows).toBe(found);
    expect(cost).toMatchObject({ scans: 0 });
    expect(cost.entries).toBeLessThan(MOST);
  });
});
