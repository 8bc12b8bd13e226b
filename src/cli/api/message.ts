import { randomUUID } from 'node:crypto';
import { constants, openAsBlob } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeError } from '../../common/describe-error.js';
import { answerOf, keyed } from '../../../clients/typescript/src/calls.js';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import { HeraldError } from '../../../clients/typescript/src/errors.js';
import type { Message, MessageListItem, SendMessage } from '../../../clients/typescript/src/resources.js';
import { clock, clockAfter, padded, paint, paintStatus } from '../output.js';
import { type Live, UsageError } from '../runner.js';
import type { Target } from './client.js';
import { faceOf } from '../runner.js';

/** A message's states in order, each with the field of its time. */
const STATE_FIELDS = [
  ['queued', 'queued_at'],
  ['processing', 'processing_at'],
  ['accepted', 'accepted_at'],
  ['sent', 'sent_at'],
  ['delivered', 'delivered_at'],
  ['read', 'read_at'],
  ['failed', 'failed_at'],
] as const;

export const STATES = [
  'queued',
  'processing',
  'accepted',
  'sent',
  'delivered',
  'read',
  'received',
  'failed',
  'outcome_unknown',
];
export const DIRECTIONS = ['inbound', 'outbound'];

/** From this status on, the answer does not show whether the request took effect. */
const SERVER_ERROR = 500;

/** Sends the body. Without a key from the caller each call sends another message. */
export async function sendMessage({ api }: HeraldClient, body: object, idempotencyKey: string = randomUUID()) {
  try {
    const params = { header: keyed(idempotencyKey) };
    const answer = await api.POST('/api/v1/messages', { body: body as SendMessage, params });
    return {
      ...answerOf(answer).data,
      idempotency_key: idempotencyKey,
      /** The key was used before: this is the first message again, and nothing was sent. */
      replayed: answer.response.headers.get('idempotency-replayed') === 'true',
    };
  } catch (error) {
    if (error instanceof HeraldError && error.status < SERVER_ERROR) throw error;
    const again = `It may have been accepted: repeat the command with --idempotency-key ${idempotencyKey}`;
    throw new Error(`${faceOf(error).message}. ${again}`, { cause: error });
  }
}

/** The number to send from: the named one, the demo's first, or the workspace's only one. */
export async function connectionOf({ api, demo }: Target, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  if (demo.connection_id !== undefined) return demo.connection_id;
  const data = await api.connections.list();
  const [first, second] = data.filter((connection) => connection.status === 'connected');
  if (first === undefined) throw new Error('the workspace has no connected number: herald connection add');
  if (second === undefined) return first.id;
  const list = data.map(({ id, phone_number: number, status }) => `  ${id}  +${number}  ${status}`).join('\n');
  throw new Error(`name the number to send from with --connection <id>:\n${list}`);
}

/** Describes an error of reading the file. */
export const unreadable = (path: string) => (error: unknown) => {
  throw new UsageError(`the file ${path} can't be read: ${describeError(error)}`);
};

/** Uploads a file; its MIME type is detected from its content. */
async function uploadFile(api: HeraldClient, connectionId: string, path: string) {
  return api.media.upload({ connection_id: connectionId, file: await openAsBlob(path), filename: basename(path) });
}

/** The content of a message, and its recipient. */
export interface BodyOptions {
  to?: string;
  recipient?: string;
  text?: string;
  template?: string;
  language: string;
  param?: string[];
  media?: string;
  connection?: string;
  replyTo?: string;
  clientMessageId?: string;
  sendAt?: Date;
  ttl?: number;
}

/** The body of POST /messages; uploads the file for it, if any. */
export async function bodyOf(target: Target, options: BodyOptions): Promise<object> {
  const { to, recipient, text, template, media } = options;
  if (media !== undefined) await access(media, constants.R_OK).catch(unreadable(media));
  if ((to === undefined) === (recipient === undefined))
    throw new UsageError('give exactly one of --to and --recipient');
  if (template !== undefined && (text !== undefined || media !== undefined)) {
    throw new UsageError('give --template alone, or --text and --media');
  }
  if (template === undefined && options.param !== undefined) throw new UsageError('--param belongs to --template');
  const common = {
    connection_id: await connectionOf(target, options.connection),
    ...(to === undefined ? { recipient } : { to: `+${to}` }),
    reply_to_message_id: options.replyTo,
    client_message_id: options.clientMessageId,
    send_at: options.sendAt?.toISOString(),
    ttl_seconds: options.ttl,
  };
  if (template !== undefined) return { ...common, type: 'template', template: templateOf(template, options) };
  if (media === undefined) {
    if (text === undefined) throw new UsageError('nothing to send: give --text, --template or --media');
    return { ...common, type: 'text', text: { body: text } };
  }
  const { id, type } = await uploadFile(target.api, common.connection_id, media);
  return { ...common, type, media: { id, caption: text } };
}

function templateOf(name: string, { language, param }: BodyOptions): object {
  const parameters = param?.map((text) => ({ type: 'text', text }));
  return { name, language: { code: language }, components: parameters && [{ type: 'body', parameters }] };
}

interface WatchOptions {
  /** Whether to end the watch. Default: no further status is expected. */
  until?: (message: Message) => boolean;
  timeoutMs: number;
  /** Put in front of each line. */
  indent?: string;
  /** States that an earlier watch of the same message has printed. */
  seen?: Set<string>;
}

/** Polling interval; far below the default limit of 50 requests a second. */
const LOOK_EVERY_MS = 200;

/** One step in a message's life, as `message watch --json` prints it. */
interface Step {
  event: 'status';
  id: string;
  status: string;
  /** From the API; null for a state without a time of its own, such as outcome_unknown. */
  at: string | null;
  attempt: number;
  error?: string;
}

/** Polls a message and prints each new state, until `until` is true or time is up. */
export async function watchMessage(api: HeraldClient, id: string, live: Live, options: WatchOptions) {
  const { until = isOver, timeoutMs, indent = '', seen = new Set() } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const message = await api.messages.get(id);
    for (const step of stepsOf(message)) {
      const key = `${step.status} ${step.at ?? step.attempt}`;
      if (seen.has(key)) continue;
      seen.add(key);
      live.say(`${indent}${lineOf(step, message)}`, step);
    }
    const reached = until(message);
    if (reached || performance.now() >= deadline) return { message, timedOut: !reached };
    await live.pause(LOOK_EVERY_MS);
  }
}

/** Every state of the message since it was last queued, and the current one. */
function stepsOf(message: Message): Step[] {
  const attempt = message.attempt_count;
  const base = { event: 'status', id: message.id } as const;
  const steps: Step[] = STATE_FIELDS.flatMap(([status, field]) => {
    const at = message[field];
    if (at === null || (status === 'failed' && message.status !== 'failed')) return [];
    // After a retry the time of the earlier failure remains; only states after the message was queued count.
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

function lineOf({ status, at, error }: Step, message: Message): string {
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

/** The contact of a message. */
export function contactOf({ direction, from, to, recipient }: MessageListItem): string | null {
  return direction === 'inbound' ? from : (to ?? recipient);
}

/** Whether no further status is expected. */
export function isOver({ status }: { status: string }): boolean {
  return status === 'read' || status === 'failed' || status === 'received';
}
