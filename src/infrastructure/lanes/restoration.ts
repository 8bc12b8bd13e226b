import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { Database } from '../database/database.js';
import { isUnreachable } from '../database/database-faults.js';

/** Work that may have been done in the time which a restored backup does not know of. */
export interface Doubtful {
  /** As it stands in what the command line prints. */
  readonly name: string;
  /** Rows that would be marked; counted up to 1,000,000. */
  count(before: Date): Promise<number>;
  /** Takes every row that was queued before `before` out of the queue, in the ambient transaction; returns how many. */
  mark(before: Date): Promise<number>;
}

export interface RestorePlan {
  /** Rows queued before this time are in doubt; by the database's clock. */
  before: Date;
  counts: Record<string, number>;
}

/**
 * `known`: the database is the one that Herald last worked on. `new`: Herald never worked on it. `moved`: another server,
 * another history or another database than last time, and Herald worked on it a moment ago, as after a failover.
 * `restored`: as `moved`, and Herald's last sign of life in it is old.
 */
export type DatabaseHistory = 'known' | 'new' | 'moved' | 'restored';

// A failover takes seconds or minutes; a backup that is restored is older.
const RESTORED_AFTER_SECONDS = 600;
// Any number that no other program on the server uses for this purpose.
const LOCK = 7_204_118_302;
const ROW = 'server:';

/**
 * What a restored backup must not do: send again. Its rows say `queued`, and in the time that it does not know of they
 * may have been sent. Who restores runs `herald restore`; where a start finds itself on another history of the database
 * than before, and no sign of life of the last ten minutes, it does the same by itself.
 */
@Injectable()
export class Restoration {
  private readonly logger = new Logger('Restore');
  private readonly doubtful: Doubtful[] = [];

  constructor(private readonly database: Database) {}

  /** Adds work that may have been done meanwhile; call it while the application starts. */
  add(doubtful: Doubtful): void {
    this.doubtful.push(doubtful);
  }

  /** Looks without changing anything. */
  async plan(before?: Date): Promise<RestorePlan> {
    const until = before ?? (await this.now());
    const counts: Record<string, number> = {};
    for (const each of this.doubtful) counts[each.name] = await each.count(until);
    return { before: until, counts };
  }

  /**
   * Takes what waited or was under way out of the queue, all of it or nothing.
   *
   * @param before rows queued later stay: they were accepted on the restored database. Default: now.
   */
  async mark(before?: Date): Promise<RestorePlan> {
    const identity = await this.identity();
    return this.database.transaction(async () => {
      await this.lock();
      const marked = await this.markLocked(before ?? (await this.now()));
      await this.adoptLocked(identity);
      return marked;
    });
  }

  /** Takes this database for the one that Herald worked on: nothing happened that it does not know of. */
  async adopt(): Promise<void> {
    const identity = await this.identity();
    await this.database.transaction(async () => {
      await this.lock();
      await this.adoptLocked(identity);
    });
  }

  /** Seconds since a worker of any process last finished a sweep on this database; null where none ever did. */
  silentSeconds(): Promise<number | null> {
    return this.secondsSince('sweep:%');
  }

  /** Call it before anything is accepted or sent. Of several processes that start together one does the work. */
  async checkAtStart(): Promise<DatabaseHistory> {
    return this.unlessKnown(async (history) => {
      if (history === 'restored') await this.markRestored();
      if (history === 'moved') {
        this.logger.warn(
          'the database has moved to another server or history since the last start. If commits were lost on the way, ' +
            'stop the workers and run `herald restore`, or messages may be sent twice',
        );
      }
      return true;
    });
  }

  /**
   * Takes note of a failover under processes that worked on: without it the next start after a long stop would take
   * the new server for a restored backup. Returns how many servers were noted, 0 or 1.
   */
  async follow(): Promise<number> {
    const history = await this.unlessKnown((unknown) => Promise.resolve(unknown === 'moved'));
    if (history !== 'moved') return 0;
    this.logger.warn('the database has moved to another server or history while this process worked on');
    return 1;
  }

  /** Where the database is not the one of last time: asks `adopts`, under the lock, whether it is from now on. */
  private async unlessKnown(adopts: (history: DatabaseHistory) => Promise<boolean>): Promise<DatabaseHistory> {
    const identity = await this.identity();
    if (await this.isKnown(identity)) return 'known';
    return this.database.transaction(async () => {
      await this.lock();
      if (await this.isKnown(identity)) return 'known';
      const history = await this.historyOf();
      if (await adopts(history)) await this.adoptLocked(identity);
      return history;
    });
  }

  private async markRestored(): Promise<void> {
    const { counts } = await this.markLocked(await this.now());
    const list = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    this.logger.warn(
      `this database was restored from a backup; whether what waited in it was sent meanwhile nobody knows, so it is ` +
        `not sent by itself: ${list.join(', ')} are outcome_unknown`,
    );
  }

  private async historyOf(): Promise<DatabaseHistory> {
    const adopted = await this.secondsSince(`${ROW}%`);
    if (adopted === null) return 'new';
    const silent = (await this.silentSeconds()) ?? adopted;
    return Math.min(silent, adopted) > RESTORED_AFTER_SECONDS ? 'restored' : 'moved';
  }

  private async secondsSince(pattern: string): Promise<number | null> {
    const rows = await this.database.query<{ seconds: number | null }>(
      `select extract(epoch from clock_timestamp() - max(beat_at))::float8 as seconds from heartbeat where name like $1`,
      [pattern],
    );
    return rows[0]?.seconds ?? null;
  }

  private async markLocked(before: Date): Promise<RestorePlan> {
    const counts: Record<string, number> = {};
    for (const each of this.doubtful) counts[each.name] = await each.mark(before);
    return { before, counts };
  }

  private async isKnown(identity: string): Promise<boolean> {
    const rows = await this.database.query('select 1 from heartbeat where name = $1', [`${ROW}${identity}`]);
    return rows.length > 0;
  }

  private async adoptLocked(identity: string): Promise<void> {
    await this.database.execute(`delete from heartbeat where name like '${ROW}%'`);
    await this.database.execute('insert into heartbeat (name, beat_at) values ($1, clock_timestamp())', [
      `${ROW}${identity}`,
    ]);
  }

  /** Which server, which history of it (a timeline begins with each recovery and promotion), and which database. */
  private async identity(): Promise<string> {
    const parts: string[] = [];
    for (const sql of IDENTITY) parts.push(await this.part(sql));
    return parts.join('/');
  }

  /** A managed server may refuse a part; the others still tell most restores. */
  private async part(sql: string): Promise<string> {
    try {
      const rows = await this.database.query<{ part: string }>(sql);
      return rows[0]?.part ?? '-';
    } catch (error) {
      // A fault that passes would make this server look like another one.
      if (isUnreachable(error)) throw error;
      this.logger.debug(`a part of the database's identity is not to be had: ${describeError(error)}`);
      return '-';
    }
  }

  private async now(): Promise<Date> {
    const rows = await this.database.query<{ now: Date }>('select clock_timestamp() as now');
    return rows[0]?.now ?? new Date();
  }

  private async lock(): Promise<void> {
    await this.database.query('select pg_advisory_xact_lock($1)', [LOCK]);
  }
}

const IDENTITY = [
  'select system_identifier::text as part from pg_control_system()',
  'select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as part',
  'select oid::text as part from pg_database where datname = current_database()',
] as const;
