import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { MESSAGE_JOINS, MESSAGE_SELECT, messageOf, type MessageRow } from './message-row.js';
import type { MessageStatus } from './message-state.js';
import type { Message } from './messages.types.js';

export interface JournalQuery {
  organizationId: string;
  /** Connections to read; null: all. With `status` alone, all of the workspace's. */
  connectionIds: readonly string[] | null;
  /** States to read; null: all. Only together with `connectionIds`. */
  statuses: readonly MessageStatus[] | null;
  clientMessageId: string | null;
  /** Digits. */
  recipient: string | null;
  before: Date | null;
  beforeId: string | null;
  limit: number;
}

/**
 * Pages of the journal, newest first. Every filter has an index whose order is the journal's; where a filter leaves
 * one of the index's leading columns out, the few ordered lists are merged. So a page costs the same at ten thousand
 * and at ten million messages.
 */
@Injectable()
export class JournalRepository {
  constructor(private readonly database: Database) {}

  async page(query: JournalQuery): Promise<Message[]> {
    const params: unknown[] = [query.organizationId, query.limit];
    const bind = (value: unknown): string => `$${params.push(value)}`;
    const bounds = boundsOf(query, bind);
    const order = 'order by m.created_at desc, m.id desc limit $2';
    const own = (conditions: string): string => `select m.* from message m
      where m.organization_id = $1 ${conditions} ${bounds} ${order}`;

    let source: string;
    if (query.clientMessageId !== null) {
      source = own(`and m.client_message_id = ${bind(query.clientMessageId)} ${restOf(query, bind)}`);
    } else if (query.recipient !== null) {
      source = own(`and m.direction = 'outbound' and m.recipient = ${bind(query.recipient)} ${restOf(query, bind)}`);
    } else if (query.connectionIds !== null && query.statuses !== null) {
      source = `select found.* from unnest(${bind(query.connectionIds)}::uuid[]) as k (connection_id)
        cross join unnest(${bind(query.statuses)}::text[]) as s (status)
        cross join lateral (${own('and m.connection_id = k.connection_id and m.status = s.status')}) as found`;
    } else {
      source = own('');
    }
    const rows = await this.database.query<MessageRow>(
      `select ${MESSAGE_SELECT} from (select * from (${source}) as m ${order}) as m ${MESSAGE_JOINS}
       order by m.created_at desc, m.id desc`,
      params,
    );
    return rows.map(messageOf);
  }
}

function boundsOf(query: JournalQuery, bind: (value: unknown) => string): string {
  if (query.before === null) return '';
  const before = bind(query.before);
  if (query.beforeId === null) return `and m.created_at < ${before}`;
  return `and (m.created_at, m.id) < (${before}, ${bind(query.beforeId)})`;
}

/** Filters beside one that already leads to few rows. */
function restOf(query: JournalQuery, bind: (value: unknown) => string): string {
  const parts: string[] = [];
  if (query.clientMessageId !== null && query.recipient !== null) {
    parts.push(`and m.direction = 'outbound' and m.recipient = ${bind(query.recipient)}`);
  }
  if (query.connectionIds !== null) parts.push(`and m.connection_id = any(${bind(query.connectionIds)}::uuid[])`);
  if (query.statuses !== null) parts.push(`and m.status = any(${bind(query.statuses)}::text[])`);
  return parts.join(' ');
}
