import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Database, type Statements } from '../../platform/database/database.js';
import { GroupCommit } from '../../platform/database/group-commit.js';
import type { Sighting } from './conversation-book.js';
import { enterSightings } from './conversation-register.js';
import type { InboundReport } from './messages.types.js';

export interface ReceivedMessage {
  messageId: string;
  /** False where the platform had handed this message over before. */
  created: boolean;
}

interface StoredRow {
  id: string;
  connection_id: string;
  meta_message_id: string;
}

/** Makes customers' messages durable, each exactly once, many in one transaction with their conversations. */
@Injectable()
export class InboundRepository {
  private readonly batches: GroupCommit<InboundReport, ReceivedMessage>;

  constructor(database: Database) {
    this.batches = new GroupCommit(database, {
      name: 'inbound',
      maxWaiting: 100_000,
      commit: (reports, statements) => this.commit(reports, statements),
    });
  }

  /** Resolves once the message is durable. A repeat changes nothing and finds the first one's id. */
  receive(report: InboundReport): Promise<ReceivedMessage> {
    return this.batches.submit(report);
  }

  /** Resolves when no caller waits. */
  idle(): Promise<void> {
    return this.batches.idle();
  }

  private async commit(reports: InboundReport[], statements: Statements): Promise<ReceivedMessage[]> {
    const byKey = new Map<string, InboundReport>();
    for (const report of reports) {
      const key = keyOf(report.connectionId, report.metaMessageId);
      if (!byKey.has(key)) byKey.set(key, report);
    }
    const ids = await this.read([...byKey.values()], statements);
    // In the order of the index: two batches that share messages then never wait for each other in a ring.
    const fresh = [...byKey.keys()].filter((key) => !ids.has(key)).sort();
    const created = new Set<string>();
    if (fresh.length > 0) {
      const news = fresh.flatMap((key) => byKey.get(key) ?? []);
      for (const [key, id] of await this.insert(news, statements)) {
        ids.set(key, id);
        created.add(key);
      }
      const lost = fresh.filter((key) => !created.has(key)).flatMap((key) => byKey.get(key) ?? []);
      for (const [key, id] of await this.read(lost, statements)) ids.set(key, id);
    }
    return reports.map((report) => {
      const key = keyOf(report.connectionId, report.metaMessageId);
      const messageId = ids.get(key);
      if (messageId === undefined) throw new Error('an inbound message that conflicted has no row');
      return { messageId, created: created.delete(key) };
    });
  }

  /** The ids of messages that are stored already. */
  private async read(reports: readonly InboundReport[], statements: Statements): Promise<Map<string, string>> {
    if (reports.length === 0) return new Map();
    const rows = await statements.query<StoredRow>(READ, [
      reports.map((report) => report.connectionId),
      reports.map((report) => report.metaMessageId),
    ]);
    return idsOf(rows);
  }

  private async insert(reports: readonly InboundReport[], statements: Statements): Promise<Map<string, string>> {
    const { ids: conversationIds } = await enterSightings(reports.map(sightingOf), statements);
    const rows = reports.map((report, index) => ({ ...report, id: newId(), conversationId: conversationIds[index] }));
    const inBatch = new Map(rows.map((row) => [keyOf(row.connectionId, row.metaMessageId), row.id]));
    const replies = rows.map((row) =>
      row.contextMessageId === null
        ? row
        : { ...row, replyToMessageId: inBatch.get(keyOf(row.connectionId, row.contextMessageId)) },
    );
    return idsOf(await statements.query<StoredRow>(INSERT, [JSON.stringify(replies)]));
  }
}

function sightingOf(report: InboundReport): Sighting {
  return {
    connectionId: report.connectionId,
    organizationId: report.organizationId,
    waId: report.from,
    userId: report.userId,
    profileName: report.profileName,
    // The database takes it for its own present where it lies later.
    inboundAt: report.opensWindow ? (report.occurredAt ?? new Date()) : null,
  };
}

function idsOf(rows: readonly StoredRow[]): Map<string, string> {
  return new Map(rows.map((row) => [keyOf(row.connection_id, row.meta_message_id), row.id]));
}

function keyOf(connectionId: string, metaMessageId: string): string {
  return `${connectionId}/${metaMessageId}`;
}

const READ = `
select m.id, m.connection_id, m.meta_message_id
from unnest($1::uuid[], $2::text[]) as k (connection_id, meta_message_id)
join message m on m.connection_id = k.connection_id and m.meta_message_id = k.meta_message_id
where m.direction = 'inbound'`;

const INSERT = `
insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient, sender, body,
  content, reply_to_message_id, status, meta_message_id, created_at)
select i.id, i."organizationId", i."connectionId", i."conversationId", 'inbound', i.type, i."businessNumber", i."from",
  i.body, i.content,
  case when i."contextMessageId" is not null then coalesce(i."replyToMessageId",
    (select m.id from message_attempt a join message m on m.id = a.message_id
     where a.meta_message_id = i."contextMessageId" and m.connection_id = i."connectionId" limit 1),
    (select m.id from message m where m.connection_id = i."connectionId" and m.meta_message_id = i."contextMessageId"
     and m.direction = 'inbound')) end,
  'received', i."metaMessageId", now.at
from json_to_recordset($1) as i (id uuid, "organizationId" uuid, "connectionId" uuid, "conversationId" uuid, type text,
  "businessNumber" text, "from" text, body text, content jsonb, "contextMessageId" text, "replyToMessageId" uuid,
  "metaMessageId" text)
cross join (select date_trunc('milliseconds', clock_timestamp()) as at) as now
on conflict (connection_id, meta_message_id) where direction = 'inbound' do nothing
returning id, connection_id, meta_message_id`;
