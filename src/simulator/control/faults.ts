import type { DownloadFailure, Faults, StatusMode } from '../simulator.types.js';
import { NO_FAULTS } from '../simulator-faults.js';
import { ControlError, optionalNumber } from './control-input.js';

const STATUS_MODES: readonly StatusMode[] = ['on', 'off', 'hold'];
const DOWNLOAD_FAILURES: readonly DownloadFailure[] = ['not_found', 'server_error', 'cut'];
const LONGEST_MS = 600_000;

/** Numbers among the faults, by their names on the wire, with their limits. */
const NUMBERS: readonly (readonly [string, NumberFault, number, number])[] = [
  ['drop_answers', 'dropAnswers', 0, 1],
  ['broken_answers', 'brokenAnswers', 0, 1],
  ['latency_ms', 'latencyMs', 0, LONGEST_MS],
  ['error_rate', 'errorRate', 0, 1],
  ['refusals', 'refusals', 0, 1_000_000],
  ['refusal_code', 'refusalCode', 0, 9_999_999],
  ['download_failures', 'downloadFailures', 0, 1_000_000],
  ['download_wrong_bytes', 'downloadWrongBytes', 0, 1_000_000],
  ['download_latency_ms', 'downloadLatencyMs', 0, LONGEST_MS],
  ['download_bytes_per_second', 'downloadBytesPerSecond', 0, 1_000_000_000],
  ['upload_failures', 'uploadFailures', 0, 1_000_000],
];
type NumberFault = { [Key in keyof Faults]: Faults[Key] extends number ? Key : never }[keyof Faults];

/** The four common ones always, the others while they are on. */
const ALWAYS_SHOWN = ['drop_answers', 'latency_ms', 'error_rate', 'statuses'];
const KNOWN = [...NUMBERS.map(([name]) => name), 'statuses', 'download_failure', 'down', 'down_for_ms'];

export function faultsJson(faults: Faults): object {
  const all: Record<string, unknown> = {
    ...Object.fromEntries(NUMBERS.map(([name, key]) => [name, faults[key]])),
    statuses: faults.statuses,
    download_failure: faults.downloadFailure,
    down: faults.down,
  };
  const none: Record<string, unknown> = {
    ...Object.fromEntries(NUMBERS.map(([name, key]) => [name, NO_FAULTS[key]])),
    download_failure: NO_FAULTS.downloadFailure,
    down: NO_FAULTS.down,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => ALWAYS_SHOWN.includes(name) || value !== none[name]),
  );
}

/** Only what is given. @throws ControlError for what is no fault, or out of its limits */
export function readFaults(body: Record<string, unknown>): Partial<Faults> {
  const unknown = Object.keys(body).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) throw new ControlError(`"${unknown}" is no fault. There are ${KNOWN.join(', ')}.`);
  const changes: Partial<Faults> = {};
  const given = typeof body.drop_answers === 'boolean' ? { ...body, drop_answers: Number(body.drop_answers) } : body;
  for (const [name, key, min, max] of NUMBERS) {
    const value = optionalNumber(given, name, min, max);
    if (value !== undefined) changes[key] = value;
  }
  if (body.statuses !== undefined) {
    const statuses = STATUS_MODES.find((mode) => mode === body.statuses);
    if (statuses === undefined) throw new ControlError('"statuses" must be "on", "off" or "hold".');
    changes.statuses = statuses;
  }
  if (body.download_failure !== undefined) {
    const failure = DOWNLOAD_FAILURES.find((one) => one === body.download_failure);
    if (failure === undefined)
      throw new ControlError('"download_failure" must be "not_found", "server_error" or "cut".');
    changes.downloadFailure = failure;
  }
  if (body.down !== undefined) {
    if (typeof body.down !== 'boolean') throw new ControlError('"down" must be true or false.');
    changes.down = body.down;
  }
  return changes;
}
