import { createHash } from 'node:crypto';
import { UUID_PATTERN } from '../../common/ids.js';

/** A place in the order of events: after an event, or before everything of a transaction and of later ones. */
export interface EventCursor {
  /** `event`: after this event. `transaction`: everything of earlier transactions was read, and nothing of this one. */
  kind: 'event' | 'transaction';
  /** In decimal, like the type xid8. */
  transaction: string;
  /** The event's id. For `transaction` only its time counts: when everything earlier had been read. */
  id: string;
}

/** What a cursor is bound to: the owner of the events, and the server and history on which it was made. */
export interface CursorPlace {
  /** Id of the workspace; the operator's events have a fixed name. */
  owner: string;
  /** The result of `identity_of_database()`. */
  identity: string;
}

const KINDS = [null, 'event', 'transaction'] as const;
/** Kind, hashes of owner and database, transaction id, event id: 44 characters of base64url. */
const BYTES = 1 + 4 + 4 + 8 + 16;

/** Gives the same text for the same event and server, in GET /events and in each delivery. */
export function cursorText({ kind, transaction, id }: EventCursor, place: CursorPlace): string {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeUInt8(KINDS.indexOf(kind), 0);
  markOf(place.owner).copy(bytes, 1);
  markOf(place.identity).copy(bytes, 5);
  bytes.writeBigUInt64BE(BigInt(transaction), 9);
  bytes.write(id.replaceAll('-', ''), 17, 'hex');
  return bytes.toString('base64url');
}

/**
 * Null for text that is not a cursor, or is a cursor of another owner. `moved`: it was made on another server or
 * history.
 */
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

/** When the cursor's event was written, or everything before it was read, in milliseconds since 1970. */
export function timeOf({ id }: EventCursor): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

/** Limit of transaction ids: half the range of xid8, far beyond what any server reaches. */
const MAX_TRANSACTION = 2n ** 63n - 1n;

/** A hash of four bytes; the checks that follow detect an accidental match. */
function markOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 4);
}
