import type pg from 'pg';
import { AuditRepository } from '../../src/modules/audit/audit.repository.js';
import { MediaRepository } from '../../src/modules/media/media.repository.js';
import { MessagesMaintenanceRepository as MessagesMaintenance } from '../../src/modules/messages/maintenance/messages-maintenance.repository.js';
import { InboundRepository } from '../../src/modules/inbound/inbound.repository.js';
import { OtpMaintenanceRepository as OtpMaintenance } from '../../src/modules/otp/otp-maintenance.repository.js';
import { WebhookMaintenanceRepository as WebhookMaintenance } from '../../src/modules/webhook/webhook-maintenance.repository.js';
import { costOf } from '../support/rows-read.js';
import { holdTransaction } from '../support/open-transaction.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const ROWS = 6_000;
const LIMIT = 500;
/** Entries of indexes and rows that a batch may read: what it removes, found by its place and then again by its key. */
const MAX_READ = 6 * LIMIT;

/** All that is inserted is old by then. */
const before = (): Date => new Date(Date.now() + 86_400_000);

interface Kind {
  table: string;
  /** $1 is a workspace, $2 its number; `n` counts the rows. */
  insert: string;
  clear: (test: TestApp) => Promise<unknown>;
}

const series = `from generate_series(1, ${ROWS}) n where $1::uuid <> $2::uuid`;
const at = `clock_timestamp() - interval '90 days' + n * interval '1 second'`;

const KINDS: Record<string, Kind> = {
  'contents of messages': {
    table: 'message_content',
    insert: `insert into message_content (message_id, content) select uuid_v7(), '{}' ${series}`,
    clear: ({ app }) => app.get(MessagesMaintenance).remove('contents', before(), LIMIT),
  },
  attempts: {
    table: 'message_attempt',
    insert: `insert into message_attempt (id, organization_id, message_id, number, answer, started_at, replaced_at)
      select uuid_v7(), $1::uuid, uuid_v7(), 1, 'accepted', ${at}, ${at} ${series}`,
    clear: ({ app }) => app.get(MessagesMaintenance).remove('attempts', before(), LIMIT),
  },
  'webhook events': {
    table: 'webhook_event',
    insert: `insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at)
      select $1::uuid, $2::uuid, 'message.received', '{}', ${at} ${series}`,
    clear: ({ app }) => app.get(WebhookMaintenance).removeOld('ffffffff-ffff-ffff-ffff-ffffffffffff', LIMIT),
  },
  notifications: {
    table: 'platform_notification',
    insert: `insert into platform_notification (id, body, state, received_at)
      select uuid_v7(), '{}'::bytea, 'applied', ${at} ${series}`,
    clear: ({ app }) => app.get(InboundRepository).removeOld(before(), LIMIT),
  },
  'one-time codes': {
    table: 'otp_challenge',
    insert: `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key,
        fingerprint, status, code_hash, code_key_version, template_language, attempt_id, created_at, expires_at)
      select uuid_v7(), $1::uuid, $2::uuid, 'live', '49' || lpad(n::text, 9, '0'), 'DE', uuid_v7()::text, ''::bytea,
        'expired', ''::bytea, 1, 'en', uuid_v7(), ${at}, ${at} ${series}`,
    clear: ({ app }) => app.get(OtpMaintenance).blankChallenges(before(), LIMIT),
  },
  'numbers of one-time codes': {
    table: 'otp_recipient',
    insert: `insert into otp_recipient (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at)
      select $2::uuid, n::text, $1::uuid, ${at}, 1, ${at} ${series}`,
    clear: ({ app }) => app.get(OtpMaintenance).removeRecipients(before(), LIMIT),
  },
  files: {
    table: 'media_object',
    insert: `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status,
        storage_key, size_bytes, sha256, created_at)
      select uuid_v7(), $1::uuid, $2::uuid, 'inbound', 'image', 'image/png', 'stored', uuid_v7(), 1,
        repeat('0', 64), ${at} ${series}`,
    clear: ({ app }) => app.get(MediaRepository).deleteOld('inbound', before(), LIMIT),
  },
  'audit events': {
    table: 'audit_event',
    insert: `insert into audit_event (occurred_at, organization_id, action, actor_kind)
      select ${at}, $1::uuid, 'key.created', 'service' ${series}`,
    clear: ({ app }) => app.get(AuditRepository).remove(new Date(Date.now() - 60 * 86_400_000), LIMIT),
  },
};

describe('retention beside a transaction that stays open', () => {
  let test: TestApp;
  let foreign: pg.Client;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api'] });
    // A table of before the days.
    foreign = await holdTransaction(test.databaseUrl);
  });
  afterAll(async () => {
    await foreign?.end();
    await test?.stop();
  });

  it.each(Object.entries(KINDS))('reads a batch of %s without those before it', async (_name, kind) => {
    const { database } = test;
    const parts = await database.query<{ name: string }>(
      'select relid::regclass::text as name from pg_partition_tree($1) where isleaf',
      [kind.table],
    );
    for (const { name } of parts) await database.execute(`alter table ${name} set (autovacuum_enabled = false)`);
    const { connection } = await test.sender();
    await database.execute(kind.insert, [connection.organizationId, connection.id]);
    await database.execute(`analyze ${kind.table}`);
    const batches: number[] = [];
    for (let batch = 0; batch * LIMIT < ROWS; batch++) {
      const { entries } = await costOf(database, kind.table, () => kind.clear(test));
      batches.push(entries);
    }
    expect(batches.filter((entries) => entries < LIMIT)).toEqual([]);
    expect(batches.filter((entries) => entries > MAX_READ)).toEqual([]);
  });
});
