import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../../common/describe-error.js';

/** Of another machine's temporary file only its age tells whether its maker is gone. */
const FOREIGN_STALE_MS = 20 * 60_000;

/** Where process numbers mean what they mean here: this machine, and on Linux this container. */
const PLACE = createHash('sha256').update(`${hostname()} ${processNamespace()}`).digest('hex').slice(0, 12);
const TOKEN = randomBytes(4).toString('hex');

/** What the names of this process's temporary files begin with. */
export const OWNER = `${PLACE}-${process.pid}-${TOKEN}`;

/**
 * True where whoever made a temporary file will never finish it: his process is gone, or the file was not written to
 * for longer than any upload may pause.
 *
 * @param idleMs since the last write to it
 */
export function isAbandoned(name: string, idleMs: number): boolean {
  const [, place, pid, token] = /^([0-9a-f]{12})-(\d+)-([0-9a-f]{8})\./.exec(name) ?? [];
  if (place !== PLACE) return idleMs > FOREIGN_STALE_MS;
  if (Number(pid) === process.pid) return token !== TOKEN;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
