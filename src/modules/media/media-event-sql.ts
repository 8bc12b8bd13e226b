import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';

/**
 * SQL: runs an update of `media_object` that returns `*` of its rows, and writes `media.ready` or `media.failed` for each
 * that is no longer pending, in the same statement. Its rows are those that changed.
 */
export function withMediaEvents(update: string): string {
  return `with moved as (${update}), announced as (${insertWebhookEvents(`(
    select m.organization_id, case when m.status = 'stored' then 'media.ready' else 'media.failed' end as event_type,
      clock_timestamp() as occurred_at, array[m.connection_id] as connection_ids, null::bytea as trace_context,
      jsonb_build_object('media', jsonb_build_object('id', m.id, 'connection_id', m.connection_id, 'type', m.type,
        'mime_type', m.mime_type, 'size_bytes', m.size_bytes, 'sha256', m.sha256, 'filename', m.filename,
        'voice', m.voice, 'direction', m.direction, 'status', m.status, 'created_at', ${isoTime('m.created_at')}))
      || case when m.status = 'failed' then jsonb_build_object('reason', m.failure) else '{}' end as event_data
    from moved m where m.status <> 'pending')`)}) select from moved`;
}
