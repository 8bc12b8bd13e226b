import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { describeError } from '../../common/describe-error.js';
import type { ApiClient } from './api-client.js';
import { ApiFault } from './api-fault.js';
import type { Single } from './message.js';
import type { Target } from './target.js';

/** From this status on an answer does not tell whether the request took effect. */
const SERVER_FAULT = 500;

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
      if (error instanceof ApiFault && error.status < SERVER_FAULT) throw error;
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

/** Uploads a file; its type is told from its bytes. */
export async function uploadFile(api: ApiClient, connectionId: string, path: string): Promise<ApiMedia> {
  const form = new FormData();
  form.set('connection_id', connectionId);
  const file = await openAsBlob(path).catch((error: unknown) => {
    throw new Error(`the file ${path} can't be read: ${describeError(error)}`);
  });
  form.set('file', file, basename(path));
  return (await api.post<Single<ApiMedia>>('/media', form)).data;
}
