import { randomUUID } from 'node:crypto';
import { constants, openAsBlob } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeError } from '../../common/describe-error.js';
import { type ApiClient, ApiError, type Target } from './client.js';
import { clock, clockAfter, padded, paint, paintStatus } from '../output.js';
import { type Live, UsageError } from '../runner.js';

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
  /** The platform's id; null until it has taken the message. */
  meta_message_id: string | null;
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
  /** These three while it is queued. */
  waiting?: { reason: string; until: string | null; ahead: number };
  estimated_send_at?: string | null;
  expires_at?: string;
}

/** As GET /messages/{id}/timeline answers. */
export interface ApiTimeline {
  data: {
    at: string;
    event: string;
    status?: string;
    attempt?: number;
    source: string;
    summary: string;
    platform_code?: number;
    delivery_ids?: string[];
  }[];
  explanation: {
    summary: string;
    responsible: string | null;
    retry: { advised: boolean; not_before: string | null };
  };
  not_kept: string[];
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

/** A message's id of the journal, in short: enough to distinguish those on one screen. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** From this status on an answer does not say whether the request took effect. */
const SERVER_ERROR = 500;

interface ApiConnection {
  id: string;
  phone_number: string;
  status: string;
}

export interface ApiMedia {
  id: string;
  type: string;
  mime_type: string;
  size_bytes: number;
}

export interface Sent {
  id: string;
  status: string;
  idempotency_key: string;
  /** The key was used before: this is the first message again, and nothing was sent. */
  replayed: boolean;
}

/** Sends what the body says. Without a key of the caller's each call sends another message. */
export async function sendMessage(api: ApiClient, body: object, idempotencyKey: string = randomUUID()): Promise<Sent> {
  const headers = { 'idempotency-key': idempotencyKey };
  const answer = await api
    .call<Single<{ id: string; status: string }>>('POST', '/messages', { body, headers })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status < SERVER_ERROR) throw error;
      const again = `It may have been taken all the same: repeat the command with --idempotency-key ${idempotencyKey}`;
      throw new Error(`${describeError(error)}. ${again}`, { cause: error });
    });
  return {
    ...answer.body.data,
    idempotency_key: idempotencyKey,
    replayed: answer.headers.get('idempotency-replayed') === 'true',
  };
}

/** The number to send from: that named, the demo's first, or the only one of the workspace. */
export async function connectionOf({ api, demo }: Target, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  if (demo.connection_id !== undefined) return demo.connection_id;
  const { data } = await api.get<Single<ApiConnection[]>>('/connections');
  const [first, second] = data.filter((connection) => connection.status === 'connected');
  if (first === undefined) throw new Error('the workspace has no connected number: herald connection add');
  if (second === undefined) return first.id;
  const list = data.map(({ id, phone_number: number, status }) => `  ${id}  +${number}  ${status}`).join('\n');
  throw new Error(`name the number to send from with --connection <id>:\n${list}`);
}

/** @throws UsageError where there is no such file, or it may not be read. */
export async function checkReadable(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw new UsageError(`the file ${path} can't be read: ${describeError(error)}`);
  });
}

/** Uploads a file; its MIME type is detected from its content. */
export async function uploadFile(api: ApiClient, connectionId: string, path: string): Promise<ApiMedia> {
  const form = new FormData();
  form.set('connection_id', connectionId);
  form.set('file', await openAsBlob(path), basename(path));
  return (await api.post<Single<ApiMedia>>('/media', form)).data;
}

export interface WatchOptions {
  /** Ends the watch when the message is in one of these states. */
  until: (message: ApiMessageDetail) => boolean;
  timeoutMs: number;
  /** In front of each line. */
  indent?: string;
  /** What an earlier watch of the same message has said already. */
  seen?: Set<string>;
}

export interface Watched {
  message: ApiMessageDetail;
  /** The time was over before `until` came true. */
  timedOut: boolean;
}

/** Between two looks; far below the default limit of 50 requests a second. */
const LOOK_EVERY_MS = 200;

/** One step in a message's life, as `message watch --json` prints it. */
interface Step {
  event: 'status';
  id: string;
  status: string;
  /** By the API; null for a state that has no time of its own, such as outcome_unknown. */
  at: string | null;
  attempt: number;
  error?: string;
}

/** Reads a message again and again, and says each state that it has come to, until `until` or the end of the time. */
export async function watchMessage(api: ApiClient, id: string, live: Live, options: WatchOptions): Promise<Watched> {
  const deadline = Date.now() + options.timeoutMs;
  const seen = options.seen ?? new Set<string>();
  for (;;) {
    const { data: message } = await api.get<Single<ApiMessageDetail>>(`/messages/${encodeURIComponent(id)}`);
    for (const step of stepsOf(message)) {
      const key = `${step.status} ${step.at ?? step.attempt}`;
      if (seen.has(key)) continue;
      seen.add(key);
      live.say(`${options.indent ?? ''}${lineOf(step, message)}`, step);
    }
    const reached = options.until(message);
    if (reached || Date.now() >= deadline) return { message, timedOut: !reached };
    await live.pause(LOOK_EVERY_MS);
  }
}

/** Every state that the message has been in since it was last queued, and the one in which it is. */
function stepsOf(message: ApiMessageDetail): Step[] {
  const attempt = message.attempt_count;
  const base = { event: 'status', id: message.id } as const;
  const steps: Step[] = STATE_FIELDS.flatMap(([status, field]) => {
    const at = message[field];
    if (at === null || (status === 'failed' && message.status !== 'failed')) return [];
    // A retry keeps the time of the failure before it; only what came since the message was queued is its own.
    if (message.queued_at !== null && at < message.queued_at) return [];
    return [{ ...base, status, at, attempt: status === 'queued' ? Math.max(0, attempt - 1) : attempt }];
  });
  if (!steps.some((step) => step.status === message.status)) {
    steps.push({ ...base, status: message.status, at: null, attempt });
  }
  const last = steps.find((step) => step.status === message.status);
  if (last !== undefined && message.error !== null) last.error = `${message.error.code} ${message.error.message}`;
  return steps;
}

function lineOf({ status, at, error }: Step, message: ApiMessageDetail): string {
  const time = at === null ? clock(new Date()) : clock(new Date(at));
  const after = message.queued_at === null || at === null ? '' : clockAfter(message.queued_at, at);
  const why = [message.status === status ? message.failure_category : null, error].filter(Boolean).join(', ');
  return [
    paint.faint(time),
    padded(paintStatus(status), 16),
    padded(paint.faint(after), 9),
    why === '' ? '' : paint.bad(why),
  ]
    .join('  ')
    .trimEnd();
}

/** States after which nothing more is to be expected of a message. */
export function isOver({ status }: { status: string }): boolean {
  return status === 'read' || status === 'failed' || status === 'received';
}
