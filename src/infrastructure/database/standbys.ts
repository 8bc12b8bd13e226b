import { createHash } from 'node:crypto';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { within } from '../../common/within.js';
import { Config } from '../config/config.js';
import { standbyOptions } from './data-source.js';
import { Database } from './database.js';
import { lsnOf, PRIMARY_PLACE, PrimaryHistory } from './primary-history.js';
import { type ChosenStandby, Standby } from './standby.js';

const EVERY_MS = 1_000;
/** Limit of the wait for a mark (see Standbys) before a write is answered. */
const MARK_WITHIN_MS = 500;

/** SQL, for the primary: its position including WAL that is not flushed, which may contain an answered commit. */
const MARKED = 'select identity_of_database() as identity, pg_current_wal_insert_lsn()::text as lsn';

interface Place {
  identity: string;
  lsn: string;
}

/**
 * The standbys of DATABASE_READ_URL: how far behind each is, and which one a read may use.
 *
 * A mark is a position in the primary's write-ahead log, as text. The answer to a write carries the mark after that
 * write; a later read that gives the mark uses only a standby that has replayed the log up to the mark.
 */
@Injectable()
export class Standbys implements OnModuleInit, OnModuleDestroy {
  readonly all: readonly Standby[];
  private readonly history = new PrimaryHistory();
  private readonly mostMs: number;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private turn = 0;
  private asked: Promise<unknown> = Promise.resolve();
  private next: Promise<string | null> | null = null;

  constructor(
    private readonly database: Database,
    dataSource: DataSource,
    { database: settings, process }: Config,
  ) {
    this.mostMs = settings.readLagMs;
    // Only requests to the API read from standbys.
    const urls = process.roles.includes('api') ? settings.readUrls : [];
    this.all = urls.map((url) => {
      const { hostname, port } = new URL(url);
      const options = () => ({ ...standbyOptions(url, settings), entities: dataSource.options.entities });
      return new Standby(`${hostname}:${port || '5432'}`, url, options);
    });
  }

  onModuleInit(): void {
    if (this.all.length > 0) void this.look();
  }

  onModuleDestroy(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    for (const standby of this.all) standby.close();
  }

  /**
   * Chooses a standby that is at most READ_LAG_MS behind. Standbys take turns. Null: use the primary.
   *
   * @param after marks of writes that the read must see.
   */
  choose(after: readonly string[]): ChosenStandby | null {
    let atLeast: bigint | null = null;
    for (const mark of after) {
      const place = this.placeOf(mark);
      // The mark is from before a failover, or not from this database: no standby can be compared with it.
      if (place === null) return null;
      if (atLeast === null || place > atLeast) atLeast = place;
    }
    for (let tried = 0; tried < this.all.length; tried++) {
      this.turn = (this.turn + 1) % this.all.length;
      const chosen = this.all[this.turn]?.choose(this.mostMs, atLeast) ?? null;
      if (chosen !== null) return chosen;
    }
    return null;
  }

  /** Whether this standby is used for reads without a mark. */
  isRead(standby: Standby): boolean {
    return standby.choose(this.mostMs, null) !== null;
  }

  /** Describes which standbys are used, and why the others are not. Contains no host names. */
  get state(): string {
    const faults = this.all.flatMap((standby, index) => {
      if (this.isRead(standby)) return [];
      return `number ${index + 1} ${standby.fault ?? `is more than ${this.mostMs} ms behind`}`;
    });
    const read = `${this.all.length - faults.length} of ${this.all.length} read`;
    return faults.length === 0 ? read : `${read}, else the primary: ${faults.join('; ')}`;
  }

  /**
   * Returns a mark, for `choose`, that covers everything committed before the call; null where the primary does not
   * answer in time. Callers share a query only if it is sent after all of them called.
   */
  async mark(): Promise<string | null> {
    this.next ??= this.asked.then(() => {
      this.next = null;
      const answer = this.askMark();
      this.asked = answer;
      return answer;
    });
    return within(MARK_WITHIN_MS, this.next);
  }

  private async askMark(): Promise<string | null> {
    try {
      const [place] = await this.database.detached(() => this.database.query<Place>(MARKED));
      return place === undefined ? null : markOf(place);
    } catch {
      return null;
    }
  }

  /** The position of a mark. Null for a mark of another database, and for text that is not a mark. */
  private placeOf(mark: string): bigint | null {
    const [, id, lsn] = MARK.exec(mark) ?? [];
    const { identity } = this.history;
    return identity === null || id !== idOf(identity) ? null : BigInt(`0x${lsn}`);
  }

  private async look(): Promise<void> {
    const until = performance.now() + EVERY_MS;
    await this.lookAtPrimary().catch(() => undefined); // the primary is away: its last known position gets older
    // The standbys are asked in parallel: one that does not answer delays no other.
    for (const standby of this.all) void standby.look(this.history, until);
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.look(), Math.max(0, until - performance.now()));
    this.timer.unref();
  }

  private async lookAtPrimary(): Promise<void> {
    const askedAt = performance.now();
    const place = await within(
      EVERY_MS,
      this.database.detached(() => this.database.query<Place>(PRIMARY_PLACE)),
    );
    if (place?.[0] !== undefined) this.history.note(place[0].identity, lsnOf(place[0].lsn), askedAt);
  }
}

/** A mark as text: eight digits for the database, 16 for the position. Marks of one database sort by position. */
const MARK = /^([0-9a-f]{8})([0-9a-f]{16})$/;

function markOf({ identity, lsn }: Place): string {
  return idOf(identity) + lsnOf(lsn).toString(16).padStart(16, '0');
}

function idOf(identity: string): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, 8);
}
