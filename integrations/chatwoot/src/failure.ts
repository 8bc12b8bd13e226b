import { HeraldConnectionError, HeraldError } from '@herald/client';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Chatwoot refused a request, or gave no answer (`status` null). */
export class ChatwootError extends Error {
  override readonly name = 'ChatwootError';

  constructor(
    readonly call: string,
    readonly status: number | null,
    readonly retryAfterSeconds: number | null = null,
    cause?: unknown,
  ) {
    super(`${call}: ${status === null ? 'no answer' : `status ${status}`}`, { cause });
  }
}

/** An answer that cannot be sent, in words for the agent. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The bridge stops: what is under way is done by the next start. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Of a call by its path, which does not throw by itself. */
export function heraldErrorOf(
  response: Response,
  body: { error: { code: string; message: string } } | undefined,
): Error {
  const code = body?.error.code ?? 'SERVICE_UNAVAILABLE';
  const text = body?.error.message ?? 'no answer of Herald';
  const asked = Number(response.headers.get('retry-after') ?? NaN);
  const seconds = Number.isFinite(asked) ? asked : null;
  return new HeraldError(
    response.status,
    code,
    text,
    response.headers.get('x-request-id') ?? '',
    null,
    [],
    seconds,
    {},
  );
}

/** Whether the same call may succeed later. Refused credentials count as that: the operator can repair them. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof HeraldConnectionError) return true;
  if (!(error instanceof HeraldError || error instanceof ChatwootError)) return false;
  const { status } = error;
  return status === null || status >= 500 || [401, 403, 408, 425, 429].includes(status);
}

/** Names an error in the log. Texts stay out: they may contain what people write. */
export function nameOf(error: unknown): string {
  if (error instanceof HeraldError) return `Herald ${error.status} ${error.code}`;
  if (error instanceof HeraldConnectionError) return 'no answer of Herald';
  if (error instanceof ChatwootError) return `Chatwoot ${error.message}`;
  if (!(error instanceof Error)) return 'unknown';
  const place = /\(?([^\s(]+:\d+:\d+)\)?/.exec(error.stack ?? '')?.[1] ?? '';
  return `${error.name} ${place}`.trim();
}

/** Twice as long each time, with up to half of it at random; never shorter than the peer asks for. */
export function pauseMsOf(error: unknown, attempt: number): number {
  const asked = error instanceof HeraldError || error instanceof ChatwootError ? error.retryAfterSeconds : null;
  const own = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)) * (1 + Math.random() / 2);
  return Math.max((asked ?? 0) * 1_000, own);
}

/** @throws Stopped as soon as it is aborted */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Stopped());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
