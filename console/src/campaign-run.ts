import { api, ApiError, dataOf, type Schemas } from './api.ts';
import { keyOfLine, type Line } from './campaign-file.ts';

type Keyed = Schemas['BatchMessage'];

/** Why lines were not sent, or may not arrive: one entry a code. */
export interface Finding {
  code: string;
  message: string;
  isBad: boolean;
  count: number;
  /** The first ones. */
  lines: { line: number; recipient: string }[];
}

export interface Progress {
  /** Lines that are done, of all. */
  done: number;
  /** They would be queued, or were. */
  good: number;
  /** Their key has made this message already. */
  known: number;
  refused: number;
  findings: Finding[];
  /** Why it goes on later; null: it goes on now. */
  waits: string | null;
}

export const NOTHING: Progress = { done: 0, good: 0, known: 0, refused: 0, findings: [], waits: null };

export interface Job {
  workspaceId: string;
  tag: string;
  lines: readonly Line[];
  /** The message of a line, without its key. */
  messageOf: (line: Line) => Record<string, unknown>;
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}

const MOST = 100;
const LINES_SHOWN = 20;
const AGAIN_MS = [1_000, 2_000, 5_000, 10_000];

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

interface Answer {
  known: readonly number[];
  errors: readonly { index: number; code: string; message: string }[];
  warnings: readonly { index: number; code: string; message: string }[];
}

async function check(messages: Keyed[], signal: AbortSignal): Promise<Answer> {
  const { replayed, errors, warnings } = await dataOf(
    api.POST('/api/v1/messages/batch/check', { body: { messages }, signal }),
  );
  return { known: replayed.map(({ index }) => index), errors, warnings };
}

async function send(messages: Keyed[], signal: AbortSignal): Promise<Answer> {
  const body = { messages, validation: 'permissive' as const };
  const { data, errors } = await dataOf(api.POST('/api/v1/messages/batch', { body, signal }));
  return { known: data.filter(({ replayed }) => replayed).map(({ index }) => index), errors, warnings: [] };
}

/** Nothing is lost by trying again: what was taken is known by its key. */
const isPassing = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** Checks all lines, or sends them, a hundred at a time and no faster than the key may. Ends early with the signal. */
export async function runLines(job: Job, what: 'check' | 'send'): Promise<Progress> {
  const { lines, signal, onProgress, tag, workspaceId, messageOf } = job;
  const { data: key } = await dataOf(api.GET('/api/v1/key', { signal }));
  const { per_second: perSecond, burst } = key.rate_limit;
  const size = Math.max(1, Math.min(MOST, burst));
  const findings = new Map<string, Finding>();
  let progress = NOTHING;
  for (let from = 0; from < lines.length && !signal.aborted; from += size) {
    const began = performance.now();
    const batch = lines.slice(from, from + size);
    const messages = await Promise.all(
      batch.map(async (line) => ({
        idempotency_key: await keyOfLine(workspaceId, tag, line),
        ...messageOf(line),
      })),
    );
    let answer: Answer | null = null;
    for (let tries = 0; answer === null && !signal.aborted; tries++) {
      try {
        answer = await (what === 'check' ? check : send)(messages as Keyed[], signal);
      } catch (error) {
        if (signal.aborted) break;
        if (!isPassing(error)) throw error;
        const waits = error.status === 429 ? 'waits for the limit of this key' : `tries again: ${error.message}`;
        onProgress({ ...progress, waits });
        await pause(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] ?? 1_000, signal);
      }
    }
    if (answer === null) break;
    for (const [isBad, list] of [[true, answer.errors] as const, [false, answer.warnings] as const]) {
      for (const { index, code, message } of list) note(findings, isBad, code, message, batch[index]);
    }
    const refused = new Set(answer.errors.map(({ index }) => index)).size;
    progress = {
      done: progress.done + batch.length,
      good: progress.good + batch.length - refused - answer.known.length,
      known: progress.known + answer.known.length,
      refused: progress.refused + refused,
      findings: [...findings.values()],
      waits: null,
    };
    onProgress(progress);
    const isLast = from + size >= lines.length;
    if (!isLast) await pause(Math.max(0, (batch.length / perSecond) * 1_000 - (performance.now() - began)), signal);
  }
  return progress;
}

function note(
  findings: Map<string, Finding>,
  isBad: boolean,
  code: string,
  message: string,
  line: Line | undefined,
): void {
  const found = findings.get(code) ?? { code, message, isBad, count: 0, lines: [] };
  found.count++;
  if (line !== undefined && found.lines.length < LINES_SHOWN) {
    found.lines.push({ line: line.line, recipient: line.recipient });
  }
  findings.set(code, found);
}
