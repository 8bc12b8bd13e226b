import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../../common/clock.js';
import { Database } from '../../../infrastructure/database/database.js';
import { classifyPlatformError, meaningOf } from '../../../infrastructure/whatsapp/graph-error.js';
import type { PlatformNews } from '../../../infrastructure/whatsapp/webhook-news.js';
import { eventSubject, insertWebhookEvents, type EventType } from '../../webhook/webhook.types.js';
import { idsInCallback } from './status-reports.repository.js';

/** A report by WhatsApp about a workspace's number. */
export type NewsReport = PlatformNews & { connectionId: string; organizationId: string };

/** Records reports that change no message: as an event, or as a row of the message's acts. Each may come twice. */
@Injectable()
export class PlatformNewsRepository {
  constructor(private readonly database: Database) {}

  async record(news: readonly NewsReport[]): Promise<void> {
    const rows = news.map((each) => ({
      organizationId: each.organizationId,
      connectionId: each.connectionId,
      ...('metaMessageId' in each && {
        metaMessageId: each.metaMessageId,
        messageId: idsInCallback(each)?.messageId ?? null,
      }),
      at: (each.occurredAt ?? databaseClock.date()).toISOString(),
      ...(each.kind === 'note' ? { act: each.note, code: each.code } : { type: typeOf(each), data: dataOf(each) }),
    }));
    await this.database.transaction(async () => {
      // One at a time: a repeat sees the event of the first.
      await this.database.execute(LOCK, [news.map(({ connectionId }) => connectionId)]);
      await this.database.execute(RECORD, [JSON.stringify(rows)]);
    });
  }
}

type EventNews = Exclude<PlatformNews, { kind: 'note' }>;

function typeOf(news: EventNews): EventType {
  if (news.kind === 'payment') return 'payment.updated';
  if (news.kind === 'error') return 'platform.error';
  return news.isOutbound || news.startedAt !== null || (news.durationSeconds ?? 0) > 0 ? 'call.ended' : 'call.missed';
}

function dataOf(news: EventNews): Record<string, unknown> {
  // Without WhatsApp's text: it may name a person, and nothing says whom.
  if (news.kind === 'error') {
    const category = news.code === null ? 'unknown' : classifyPlatformError(news.code).category;
    return { code: news.code, summary: meaningOf(category, news.code).summary };
  }
  const contact = { phone: news.from, user_id: news.userId };
  if (news.kind === 'payment') return { contact, status: news.status, payment: news.payment };
  return {
    contact,
    call: {
      id: news.callId,
      direction: news.isOutbound ? 'outbound' : 'inbound',
      status: news.status?.toLowerCase() ?? null,
      started_at: news.startedAt?.toISOString() ?? null,
      duration_seconds: news.durationSeconds,
    },
  };
}

const LOCK = 'select from connection where id = any($1::uuid[]) order by id for no key update';

// $1 rows. A repeated report has the same data and produces no second event, except for an error without a subject.
const RECORD = `
with given as materialized (
  select g.*, found.id as own_id, coalesce(v.merged_into, found.conversation_id) as conversation_id from json_to_recordset($1) as g ("organizationId" uuid, "connectionId" uuid, "metaMessageId" text,
    "messageId" uuid, at timestamptz, act text, code integer, type text, data jsonb)
  left join lateral (
    select m.id, m.conversation_id from message m where m.id = g."messageId" and m.connection_id = g."connectionId"
    union all
    select m.id, m.conversation_id from message_attempt a join message m on m.id = a.message_id
    where a.meta_message_id = g."metaMessageId" and m.connection_id = g."connectionId" limit 1) as found on true
  left join conversation v on v.id = found.conversation_id
), noted as (
  insert into message_act (message_id, organization_id, at, act, error_code)
  select own_id, "organizationId", at, act, code::text from given where act is not null and own_id is not null
  on conflict do nothing
), told as (
  select distinct on (event_type, event_data) * from (
    select "organizationId" as organization_id, type as event_type, at as occurred_at, array["connectionId"] as connection_ids,
      null::bytea as trace_context, jsonb_build_object('connection_id', "connectionId",
        'occurred_at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) || data
        || case when type = 'payment.updated' then jsonb_build_object('message_id', own_id, 'conversation_id', conversation_id) else '{}' end as event_data
    from given where type is not null) as news
), fresh as (
  select t.* from (select told.*, event_data as data from told) as t where not exists (
    select from webhook_event e where ${eventSubject('e')} = ${eventSubject('t')} and e.organization_id = t.organization_id
      and e.type = t.event_type and e.data = t.event_data)
), ${insertWebhookEvents('fresh')}
select 1`;
