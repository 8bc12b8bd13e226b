import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphError } from '../graph-error.js';
import type { IdSource } from '../ids.js';
import type { Param } from './param.js';

/** `off` drops statuses, `hold` keeps them until `on`. */
const STATUS_MODES = ['on', 'off', 'hold'] as const;
export type StatusMode = (typeof STATUS_MODES)[number];
const DOWNLOAD_FAILURES = ['not_found', 'server_error', 'cut'] as const;
const MAX_MS = 600_000;

/** The maximum of each numeric fault: a fraction of calls, the number of next calls, or a delay. */
const MAX_VALUES = {
  drop_answers: 1,
  broken_answers: 1,
  latency_ms: MAX_MS,
  error_rate: 1,
  refusals: 1_000_000,
  refusal_code: 9_999_999,
  download_failures: 1_000_000,
  download_wrong_bytes: 1_000_000,
  download_latency_ms: MAX_MS,
  download_bytes_per_second: 1_000_000_000,
  upload_failures: 1_000_000,
};
type NumberFault = keyof typeof MAX_VALUES;

/** By their names in control calls, the initial values of faults; docs/simulator.md explains each. */
export const NO_FAULTS = {
  ...(Object.fromEntries(Object.keys(MAX_VALUES).map((name) => [name, 0])) as Record<NumberFault, number>),
  refusal_code: 80007,
  statuses: 'on' as StatusMode,
  download_failure: 'not_found' as (typeof DOWNLOAD_FAILURES)[number],
  down: false,
};
export type Faults = typeof NO_FAULTS;

/** The four common ones are always shown, the others while they are on. */
const ALWAYS_SHOWN = ['drop_answers', 'latency_ms', 'error_rate', 'statuses'];

export function shownFaults(faults: Faults): object {
  const shown = Object.entries(faults).filter(
    ([name, value]) => ALWAYS_SHOWN.includes(name) || value !== NO_FAULTS[name as keyof Faults],
  );
  return Object.fromEntries(shown);
}

/** The changes of a control call. @throws GraphError 100 for an unknown fault, or a value outside its limits */
export function readFaults(body: Param): { changes: Partial<Faults>; downForMs: number | undefined } {
  body.only(...Object.keys(NO_FAULTS), 'down_for_ms');
  const changes: Partial<Faults> = {
    statuses: body.optionalOneOf('statuses', STATUS_MODES),
    download_failure: body.optionalOneOf('download_failure', DOWNLOAD_FAILURES),
    down: body.get('down').isGiven ? body.flag('down') : undefined,
  };
  for (const [name, max] of Object.entries(MAX_VALUES) as [NumberFault, number][]) {
    const isSwitch = name === 'drop_answers' && typeof body.get(name).value === 'boolean';
    changes[name] = isSwitch ? Number(body.flag(name)) : body.optionalNumber(name, 0, max);
  }
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { changes: Object.fromEntries(given), downForMs: body.optionalNumber('down_for_ms', 1, MAX_MS) };
}

/** Uses up one of the calls that a fault applies to. */
export function strikes(faults: Faults, name: NumberFault): boolean {
  if (faults[name] === 0) return false;
  faults[name]--;
  return true;
}

export function askedFor(code: number, isTransient?: true): GraphError {
  return new GraphError(code, { details: 'A fault that was asked for', isTransient });
}

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';

/** How an answer to a send is broken. `body` is the intended answer; `silence` leaves the caller waiting. */
const WRITERS = {
  cut: (response) => response.destroy(),
  reset: (_, request) => request.socket.resetAndDestroy(),
  truncated: (response, _, body) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.write(body.slice(0, body.length >> 1), () => response.destroy());
  },
  not_json: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(HTML),
  empty: (response) => response.writeHead(200, { 'Content-Length': '0' }).end(),
  server_error: (response) => response.writeHead(500, { 'Content-Length': '0' }).end(),
  bad_gateway: (response) => response.writeHead(502, { 'Content-Type': 'text/html' }).end(HTML),
  silence: () => undefined,
} satisfies Record<string, (response: ServerResponse, request: IncomingMessage, body: string) => unknown>;

type BrokenKind = keyof typeof WRITERS;
export const BROKEN_KINDS = Object.keys(WRITERS) as BrokenKind[];

/** Used for cutting where no body was made. */
const NO_BODY = '{"messaging_product":"whatsapp","contacts":[]}';

export interface BrokenAnswer {
  kind: BrokenKind;
  /** Whether the message is still accepted. */
  taken: boolean;
}

/**
 * Which answers to sends are broken, and how many were: every kind in turn, in every second round after accepting the
 * message.
 */
export class BrokenAnswers {
  private drawn = 0;
  counts = { taken: 0, not_taken: 0 };

  /** Null where this answer stays intact. */
  draw(faults: Faults, ids: IdSource): BrokenAnswer | null {
    if (faults.broken_answers === 0 || ids.draw() >= faults.broken_answers) return null;
    const n = this.drawn++;
    const kind = BROKEN_KINDS[n % BROKEN_KINDS.length] ?? 'cut';
    return { kind, taken: Math.floor(n / BROKEN_KINDS.length) % 2 === 1 };
  }

  /** Writes a broken answer, and counts it. */
  write({ kind, taken }: BrokenAnswer, request: IncomingMessage, response: ServerResponse, body: string): void {
    this.counts[taken ? 'taken' : 'not_taken']++;
    WRITERS[kind](response, request, body || NO_BODY);
  }

  clear(): void {
    this.drawn = 0;
    this.counts = { taken: 0, not_taken: 0 };
  }
}
