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
/** An answer to a write waits no longer for its mark. */
const MARK_WITHIN_MS = 500;

/** Also what is not flushed yet: with `synchronous_commit` off an answered commit may be. */
const MARKED = 'select identity_of_database() as identity, pg_current_wal_insert_lsn()::text as lsn';

interface Place {
  identity: string;
  lsn: string;
}

/** The standbys of DATABASE_READ_URL: how far each is, and which one a read may go to. */
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
    // Only requests are read late.
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
   * The next standby, in turn, that is at most READ_LAG_MS behind; null: the primary.
   *
   * @param after marks of writes that the read is to find.
   */
  choose(after: readonly string[]): ChosenStandby | null {
    let atLeast: bigint | null = null;
    for (const mark of after) {
      const place = this.placeOf(mark);
      // Of before a failover, or none of ours: the primary has what it is about, if anything has.
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

  /** Whether this one is read where no mark asks for more. */
  isRead(standby: Standby): boolean {
    return standby.choose(this.mostMs, null) !== null;
  }

  /** In words, without the name of a host: which are read, and why others are not. */
  get state(): string {
    const faults = this.all.flatMap((standby, index) => {
      if (this.isRead(standby)) return [];
      return `number ${index + 1} ${standby.fault ?? `is more than ${this.mostMs} ms behind`}`;
    });
    const read = `${this.all.length - faults.length} of ${this.all.length} read`;
    return faults.length === 0 ? read : `${read}, else the primary: ${faults.join('; ')}`;
  }

  /**
   * A mark behind everything that is committed now, for `choose`; null where the primary does not say it in time. Callers
   * share a question, but none that was sent before they came.
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

  /** Null for a mark of another database, or for no mark. */
  private placeOf(mark: string): bigint | null {
    const [, id, lsn] = MARK.exec(mark) ?? [];
    const { identity } = this.history;
    return identity === null || id !== idOf(identity) ? null : BigInt(`0x${lsn}`);
  }

  private async look(): Promise<void> {
    const until = performance.now() + EVERY_MS;
    await this.lookAtPrimary().catch(() => undefined); // away: what it was at the last look gets older
    // Each by itself: one that does not answer delays no other.
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

/** Of two marks of one database the later one is the greater text. */
const MARK = /^([0-9a-f]{8})([0-9a-f]{16})$/;

function markOf({ identity, lsn }: Place): string {
  return idOf(identity) + lsnOf(lsn).toString(16).padStart(16, '0');
}

function idOf(identity: string): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, 8);
}
