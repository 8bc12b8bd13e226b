import type { FileBody } from './file-answer.js';

/** What is written back; built by handlers, written by the server. */
export interface Answer {
  status: number;
  /** Text is JSON unless `contentType` says otherwise. Null: no body. */
  body: string | Buffer | null;
  contentType?: string;
  /** Instead of `body`. */
  file?: FileBody;
  /** The connection is closed without a byte of an answer. */
  cut?: boolean;
  /** Wait so long before answering. */
  delayMs?: number;
  /** Answer only once this has resolved. */
  after?: Promise<void>;
}

export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value) };
}

export const SUCCESS: Answer = { status: 200, body: '{"success":true}' };
