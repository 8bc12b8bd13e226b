import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { Erasure, type ErasureBatch, type Subject } from '../../infrastructure/erasure/erasure.js';
import { WorkspaceErasure } from '../../infrastructure/erasure/workspace-erasure.js';

const PAGE = 500;

/**
 * The platform's notifications as they came, kept for a time after they were applied. They belong to no workspace: one
 * may tell of several. Whichever has the number in it goes as a whole; nothing is lost by that, for it is applied.
 */
@Injectable()
export class NotificationErasureRepository implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'notifications',
      batch: (subject, cursor, erase) => this.page(FIND, cursor, namesOf(subject), erase),
      busy: (subject) => this.waiting(NAMES('n', '$1'), namesOf(subject)),
    });
    // Those about the workspace's numbers, and about codes of its projects, which a number of the service sent.
    this.workspaces.add({
      batch: (organizationId, cursor, erase) => this.page(FIND_OF_WORKSPACE, cursor, organizationId, erase),
      busy: (organizationId) => this.waiting(OF_NUMBERS('n', '$1'), organizationId),
    });
  }

  private async page(sql: string, cursor: string | null, whose: unknown, erase: boolean): Promise<ErasureBatch> {
    const rows = await this.database.query<{ ids: string[] | null; passed: number; last: string | null }>(sql, [
      cursor ?? '00000000-0000-0000-0000-000000000000',
      PAGE,
      whose,
    ]);
    const { ids = null, passed = 0, last = null } = rows[0] ?? {};
    if (erase && ids !== null) {
      await this.database.execute(
        `delete from platform_notification where id = any($1::uuid[]) and state <> 'stored'`,
        [ids],
      );
    }
    return { found: { notifications: ids?.length ?? 0 }, cursor: passed < PAGE ? null : last };
  }

  /** What is not applied yet; null where nothing is. */
  private async waiting(isHit: string, whose: unknown): Promise<string | null> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from platform_notification n where n.state = 'stored' and ${isHit}`,
      [whose],
    );
    const waiting = rows[0]?.count ?? 0;
    return waiting === 0 ? null : `${waiting} of the platform's notifications about it are not applied yet`;
  }
}

function namesOf({ numbers, userIds }: Subject): Buffer[] {
  return [...numbers, ...userIds].map((name) => Buffer.from(name, 'utf8'));
}

const NAMES = (row: string, names: string): string =>
  `exists (select from unnest(${names}::bytea[]) as name where position(name in ${row}.body) > 0)`;

/** An account's id tells of this workspace only where no other has a number of the account. */
const OF_NUMBERS = (row: string, organizationId: string): string => `exists (
    select from connection c where c.organization_id = ${organizationId} and (
      position(convert_to(c.phone_number_id, 'UTF8') in ${row}.body) > 0
      or position(convert_to(c.waba_id, 'UTF8') in ${row}.body) > 0 and not exists (
        select from connection o where o.waba_id = c.waba_id and o.organization_id <> ${organizationId})))`;

// What was sent along with a code: the id of its attempt.
const OF_CODES = (row: string, organizationId: string): string => `exists (
    select from regexp_matches(encode(${row}.body, 'escape'),
      '"biz_opaque_callback_data"\\s*:\\s*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"', 'g') as sent (ids)
    join otp_challenge c on c.attempt_id = sent.ids[1]::uuid where c.organization_id = ${organizationId})`;

const find = (isHit: string): string => `
with page as materialized (
  select id, state, body from platform_notification where id > $1 order by id limit $2
), hit as (
  select id from page where state <> 'stored' and ${isHit}
)
select (select array_agg(id) from hit) as ids, (select count(*)::integer from page) as passed,
  (select id from page order by id desc limit 1) as last`;

const FIND = find(NAMES('page', '$3'));
const FIND_OF_WORKSPACE = find(`(${OF_NUMBERS('page', '$3')} or ${OF_CODES('page', '$3')})`);
