/** Columns of a closed attempt. */
export const ATTEMPT_COLUMNS = `id, organization_id, message_id, number, status, started_at, finished_at, http_status,
    platform_code, platform_message, failure_category, meta_message_id, trace_id`;

/** An attempt that the release before queue and state began has a row already. */
export const CLOSE_KNOWN_ATTEMPT = `on conflict (id) do update set status = excluded.status,
    finished_at = excluded.finished_at, http_status = excluded.http_status, platform_code = excluded.platform_code,
    platform_message = excluded.platform_message, failure_category = excluded.failure_category,
    meta_message_id = coalesce(excluded.meta_message_id, message_attempt.meta_message_id),
    trace_id = excluded.trace_id`;
