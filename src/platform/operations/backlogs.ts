import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';

/** Rows are counted up to this many: nobody who looks makes the database read a million. */
export const COUNT_LIMIT = 100_000;

/** What waits in one room; counted up to `COUNT_LIMIT`. */
export interface Backlog {
  /** Rows that wait, due or not. */
  waiting: number;
  /** Rows that are being worked on. */
  inFlight: number;
  /** How long the row that is due for longest has waited; 0 where none is due. */
  oldestDueSeconds: number;
}

export interface RoomBacklog extends Backlog {
  /** `messages`, `webhooks`, `codes`, `files` or `notifications`. */
  room: string;
}

const FRESH_MS = 4_000;

/** What waits, room by room: for `/metrics` and `herald queue status`. */
@Injectable()
export class Backlogs {
  private readonly logger = new Logger(Backlogs.name);
  private readonly rooms: { room: string; read: () => Promise<Backlog> }[] = [];
  private cached: { at: number; rooms: Promise<RoomBacklog[]> } | null = null;

  /** Adds a room; call it while the application starts. */
  add(room: string, read: () => Promise<Backlog>): void {
    this.rooms.push({ room, read });
  }

  /** At most four seconds old, however many ask. A room that cannot be read is left out. */
  read(): Promise<RoomBacklog[]> {
    if (this.cached === null || performance.now() - this.cached.at > FRESH_MS) {
      this.cached = { at: performance.now(), rooms: this.readAll() };
    }
    return this.cached.rooms;
  }

  private async readAll(): Promise<RoomBacklog[]> {
    const found: RoomBacklog[] = [];
    // One after the other: whoever looks takes one connection and not five.
    for (const { room, read } of this.rooms) {
      try {
        found.push({ room, ...(await read()) });
      } catch (error) {
        this.logger.warn(`the backlog of ${room} could not be read: ${describeError(error)}`);
      }
    }
    return found;
  }
}

/** SQL text of a count that ends at `COUNT_LIMIT`. */
export function boundedCount(fromWhere: string): string {
  return `(select count(*)::integer from (select 1 ${fromWhere} limit ${COUNT_LIMIT}) as counted)`;
}

/** SQL text of the seconds since a time; 0 where it is null or not yet. */
export function secondsSince(expression: string): string {
  return `greatest(coalesce(extract(epoch from clock_timestamp() - ${expression}), 0), 0)::float8`;
}
