import type { Type } from '@nestjs/common';
import type { Operator } from '../../src/infrastructure/http/herald-request.js';
import { PageQuery } from '../../src/infrastructure/http/page.query.js';
import { AllConnectionsAdminController } from '../../src/modules/connections/admin/connections-admin.controller.js';
import { ListAllConnectionsQuery } from '../../src/modules/connections/admin/connections-admin.dto.js';
import { KeysAdminController } from '../../src/modules/keys/operator/keys-admin.controller.js';
import { ListKeysQuery } from '../../src/modules/keys/operator/keys-admin.dto.js';
import { MembersAdminController } from '../../src/modules/people/admin/members-admin.controller.js';
import { PeopleAdminController } from '../../src/modules/people/admin/people-admin.controller.js';
import { ListPeopleQuery } from '../../src/modules/people/admin/people-admin.dto.js';
import { SetupLinksAdminController } from '../../src/modules/setup/admin/setup-links-admin.controller.js';
import { UsageAdminController } from '../../src/modules/usage/admin/usage-admin.controller.js';
import { WorkspaceUsageQuery, type WorkspaceUsageResponse } from '../../src/modules/usage/admin/usage-admin.dto.js';
import { Audit, type AuditFilter } from '../../src/modules/audit/audit.service.js';
import {
  type Workspace,
  type WorkspaceFilter,
  WorkspacesService,
} from '../../src/modules/workspaces/workspaces.service.js';
import { costOf } from '../support/rows-read.js';
import { fillWorkspaces } from './fill-workspaces.js';
import { type AdminApp, type AdminClient, startAdminApp } from './fixture.js';

const WORKSPACES = 10_000;
/** Rows and entries of indexes that a page of 51 may look at: a page takes a few milliseconds then. */
const MOST = 1_500;

describe('lists over 10,000 workspaces', () => {
  let admin: AdminApp;
  let some: string[];
  let crowded: string;
  let limited: AdminClient;

  beforeAll(async () => {
    admin = await startAdminApp({ roles: ['api'] });
    const { database } = admin.test;
    ({ crowded } = await fillWorkspaces(database, WORKSPACES));
    const rows = await database.query<{ id: string }>('select id::text as id from organization order by id limit 2');
    some = rows.map(({ id }) => id);
    limited = await admin.operator({ workspaceIds: some });
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

  type Read = [what: string, table: string, read: () => Promise<{ data: readonly unknown[] }>, found: number];
  const of = <T>(controller: Type<T>): T => admin.test.app.get(controller, { strict: false });
  const everywhere = { workspaceIds: null } as Operator;
  const numbers = (query: Partial<ListAllConnectionsQuery>) =>
    of(AllConnectionsAdminController).list(everywhere, Object.assign(new ListAllConnectionsQuery(), query));
  const the = () => ({ id: crowded }) as Workspace;

  it.each<Read>([
    ['numbers', 'connection', () => numbers({}), 50],
    ['numbers of a status', 'connection', () => numbers({ status: 'restricted' }), 50],
    ['numbers of a workspace', 'connection', () => numbers({ workspace_id: crowded }), 1],
    ['a number by its id at the platform', 'connection', () => numbers({ phone_number_id: '104711' }), 1],
    ['keys', 'api_key', () => of(KeysAdminController).list(the(), new ListKeysQuery()), 2],
    ['setup links', 'setup_link', () => of(SetupLinksAdminController).list(the(), new PageQuery()), 1],
    ['people', 'person', () => of(PeopleAdminController).list(new ListPeopleQuery()), 50],
    [
      'a person by address',
      'person',
      () => of(PeopleAdminController).list(Object.assign(new ListPeopleQuery(), { email: 'shop-4711@example.com' })),
      1,
    ],
    ['10,000 members', 'membership', () => of(MembersAdminController).list(the(), new PageQuery()), 50],
    [
      'usage of the month',
      'usage',
      async () => (await of(UsageAdminController).get(everywhere, new WorkspaceUsageQuery())) as WorkspaceUsageResponse,
      20,
    ],
  ])('%s: a page is read by an index', async (_what, table, read, found) => {
    let rows = 0;
    const cost = await costOf(admin.test.database, table, async () => {
      rows = (await read()).data.length;
    });
    expect(rows).toBe(found);
    expect(cost).toMatchObject({ scans: 0 });
    expect(cost.entries).toBeLessThan(MOST);
  });

  it('a key that is limited to two workspaces reads these two in every list', async () => {
    for (const path of ['/connections', '/usage', '/audit']) {
      const { data } = (await limited.get<{ data: { workspace_id: string }[] }>(path)).body;
      expect([path, new Set(data.map(({ workspace_id: id }) => id))]).toEqual([path, new Set(some)]);
    }
  });
});
