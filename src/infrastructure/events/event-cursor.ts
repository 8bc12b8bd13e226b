import { createHash } from 'node:crypto';
import { UUID_PATTERN } from '../../common/ids.js';

/** A place in the order of events: behind one of them, or before all of a transaction and later ones. */
export interface EventCursor {
  /** `event`: behind this one. `transaction`: nothing of this transaction was read, everything of earlier ones was. */
  kind: 'event' | 'transaction';
  /** Decimal, as the type xid8 is written. */
  transaction: string;
  /** Of the event; of `transaction` only its time counts, when everything before was read. */
  id: string;
}

/** What a cursor belongs to: whose events they are, and the server with the history on which it was made. */
export interface CursorPlace {
  /** Id of the workspace; the operator's events have a name of their own. */
  owner: string;
  /** As `identity_of_database()` says it. */
  identity: string;
}

const KINDS = [null, 'event', 'transaction'] as const;
/** Kind, marks of owner and database, transaction id, event id: 44 characters of base64url. */
const BYTES = 1 + 4 + 4 + 8 + 16;

/** The same text for the same event and server, in GET /events and in each delivery. */
export function cursorText({ kind, transaction, id }: EventCursor, place: CursorPlace): string {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt8(KINDS.indexOf(kind), 0);
  markOf(place.owner).copy(bytes, 1);
  markOf(place.identity).copy(bytes, 5);
  bytes.writeBigUInt64BE(BigInt(transaction), 9);
  bytes.write(id.replaceAll('-', ''), 17, 'hex');
  return bytes.toString('base64url');
}

/** Null for what is no cursor, or of other events. `moved`: it was made on another server or history. */
export function parseCursor(text: string, place: CursorPlace): (EventCursor & { moved: boolean }) | null {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== BYTES || bytes.toString('base64url') !== text) return null;
  const kind = KINDS[bytes.readUInt8(0)] ?? null;
  if (kind === null || !bytes.subarray(1, 5).equals(markOf(place.owner))) return null;
  const transaction = bytes.readBigUInt64BE(9);
  const id = bytes.toString('hex', 17).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  if (transaction > MAX_TRANSACTION || !UUID_PATTERN.test(id)) return null;
  return { kind, transaction: String(transaction), id, moved: !bytes.subarray(5, 9).equals(markOf(place.identity)) };
}

/** Milliseconds since 1970 at which the cursor's event was written, or everything before it was read. */
export function timeOf({ id }: EventCursor): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

/** What the type xid8 holds, less what no server reaches. */
const MAX_TRANSACTION = 2n ** 63n - 1n;

/** Four bytes: what another one has by chance is met by the checks that follow. */
function markOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 4);
}
