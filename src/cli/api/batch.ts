import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isObject } from '../../common/json.js';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import { HeraldError, isHeraldError } from '../../../clients/typescript/src/errors.js';
import type { SendBatch } from '../../../clients/typescript/src/resources.js';
import { readStandardInput } from '../arguments.js';
import { type Answer, padded, paint, paintStatus } from '../output.js';
import { faceOf, type Live, UsageError } from '../runner.js';
import { refusalText, type Target } from './client.js';
import { connectionOf, unreadable } from './message.js';

type Batch = Awaited<ReturnType<HeraldClient['messages']['sendBatch']>>;

interface Keyed extends Record<string, unknown> {
  idempotency_key: unknown;
}

/** The limit of one request (POST /messages/batch), with a little room for the envelope. */
const MAX_MESSAGES = 100;
const MAX_BYTES = 1_024 * 1_024 - 4_096;
const SERVER_ERROR = 500;

/** Sends the messages of a file, or of standard input, a hundred per request; reports the result of each. */
export async function sendFile(
  live: Live,
  target: Target,
  { file, connection, permissive }: { file: string; connection: string | undefined; permissive: boolean },
): Promise<Answer> {
  const given = messagesOf(
    file === '-' ? await readStandardInput() : await readFile(file, 'utf8').catch(unreadable(file)),
  );
  const from = given.some((one) => one.connection_id === undefined)
    ? await connectionOf(target, connection)
    : undefined;
  const messages = given.map((one): Keyed => ({
    connection_id: from,
    ...one,
    idempotency_key: one.idempotency_key ?? randomUUID(),
  }));
  const counts = { accepted: 0, replayed: 0, refused: 0 };
  let keptBack = 0;
  for (let start = 0; start < messages.length;) {
    const batch = nextBatch(messages, start);
    const { data, errors } = await sendBatch(live, target.api, batch, start, permissive);
    const lines = [
      ...data.map((one) => ({ ...one, at: one.index, text: takenLine(one) })),
      ...errors.map((one) => ({ ...one, at: one.index, text: refusedLine(one) })),
    ];
    for (const { at, text, ...line } of lines.sort((a, b) => a.at - b.at)) {
      const index = start + at;
      live.say(`${padded(String(index), 5)}  ${text}`, { event: 'message', ...line, index });
    }
    const replayed = data.filter((one) => one.replayed).length;
    counts.replayed += replayed;
    counts.accepted += data.length - replayed;
    counts.refused += batch.length - data.length;
    keptBack += batch.length - data.length - errors.length;
    start += batch.length;
  }
  const { accepted, replayed, refused } = counts;
  const hint = keptBack > 0 ? `, ${keptBack} of them only because of the others: --permissive takes them` : '';
  const text = `${accepted} taken${replayed > 0 ? `, ${replayed} taken before` : ''}${refused > 0 ? `, ${refused} not taken` : ''}${hint}`;
  return {
    data: { event: 'end', ...counts },
    text: refused > 0 ? paint.bad(text) : paint.good(text),
    failed: refused > 0,
  };
}

/** A JSON array, an object with `messages`, or one object per line. */
function messagesOf(text: string): Record<string, unknown>[] {
  const parsed =
    parse(text) ??
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => parse(line));
  const list: unknown = isObject(parsed) && Array.isArray(parsed.messages) ? parsed.messages : parsed;
  const messages = Array.isArray(list) ? (list as unknown[]) : [list];
  if (messages.length === 0 || !messages.every(isObject)) {
    throw new UsageError('give a JSON array of messages, each as POST /messages takes it, or one message a line');
  }
  return messages;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function nextBatch(messages: readonly Keyed[], start: number): Keyed[] {
  const batch: Keyed[] = [];
  let bytes = 0;
  for (const message of messages.slice(start, start + MAX_MESSAGES)) {
    bytes += Buffer.byteLength(JSON.stringify(message)) + 1;
    if (batch.length > 0 && bytes > MAX_BYTES) break;
    batch.push(message);
  }
  return batch;
}

async function sendBatch(
  live: Live,
  api: HeraldClient,
  messages: readonly Keyed[],
  start: number,
  permissive: boolean,
): Promise<Batch> {
  try {
    // A repeat uses the same keys, so that nothing is sent twice.
    const validation = permissive ? 'permissive' : 'strict';
    return await api.messages.sendBatch({ messages: messages as unknown as SendBatch['messages'], validation });
  } catch (error) {
    if (isHeraldError(error, 'BATCH_REFUSED')) return { data: [], errors: error.fields.errors as Batch['errors'] };
    if (live.signal.aborted || (error instanceof HeraldError && error.status < SERVER_ERROR)) throw error;
    const places = `messages ${start} to ${start + messages.length - 1}`;
    const advice = 'give each message an idempotency_key before you repeat it: what was taken is not sent again';
    throw new Error(`${faceOf(error).message}. Whether ${places} were taken is not known: ${advice}`, { cause: error });
  }
}

function takenLine({ id, status, replayed }: Batch['data'][number]): string {
  return `${paint.name(id)}  ${paintStatus(status)}${replayed ? ' (this key was used before: nothing was sent again)' : ''}`;
}

function refusedLine({ code, message, details }: Batch['errors'][number]): string {
  return `${paint.bad(code)}  ${refusalText(message, details)}`;
}
