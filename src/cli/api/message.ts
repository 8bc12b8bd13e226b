/** What the command line reads of a message; the API's answer has more. */
export interface ApiMessage {
  id: string;
  connection_id: string;
  direction: 'outbound' | 'inbound';
  from: string | null;
  to: string | null;
  /** The user id that it is addressed to instead of a number. */
  recipient: string | null;
  type: string;
  body: string | null;
  status: string;
  failure_category: string | null;
  client_message_id: string | null;
  created_at: string;
}

export interface ApiAttempt {
  number: number;
  status: string;
  started_at: string;
  finished_at: string | null;
  http_status: number | null;
  platform_code: number | null;
  platform_message: string | null;
}

/** As GET /messages/{id} answers. */
export interface ApiMessageDetail extends ApiMessage {
  error: { code: string; message: string } | null;
  attempt_count: number;
  next_attempt_at: string | null;
  queued_at: string | null;
  processing_at: string | null;
  accepted_at: string | null;
  sent_at: string | null;
  delivered_at: string | null;
  read_at: string | null;
  failed_at: string | null;
  attempts: ApiAttempt[];
}

export interface Single<T> {
  data: T;
}

export interface Page<T> {
  data: T[];
  pagination: { next_before: string | null; next_before_id: string | null };
}

/** Its states in the order in which they are reached, with the field that says when. */
export const STATE_FIELDS = [
  ['queued', 'queued_at'],
  ['processing', 'processing_at'],
  ['accepted', 'accepted_at'],
  ['sent', 'sent_at'],
  ['delivered', 'delivered_at'],
  ['read', 'read_at'],
  ['failed', 'failed_at'],
] as const;

/** A message's id of the journal, in short: enough to tell those on one screen apart. */
export function shortId(id: string): string {
  return id.slice(-8);
}
