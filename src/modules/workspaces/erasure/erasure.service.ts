import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Audit, type AuditAction } from '../../audit/audit.service.js';
import { describeError } from '../../../common/describe-error.js';
import { FIRST_ID } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import { Sweeps } from '../../../infrastructure/queue/sweeps.js';
import type { OpenErasure, Subject } from './erasure.types.js';
import { ErasuresRepository, LEASE_SECONDS } from './erasures.repository.js';

export type { Subject } from './erasure.types.js';

/** Counts by kind of data, with the words that are shown. */
export type Counts = Record<string, number>;

export interface ErasureBatch {
  found: Counts;
  /** Where the next batch begins; null after the last one. */
  cursor: string | null;
}

/** Data that belongs to a person's messages, by message ids, and the files that came with them. */
export interface OfMessages {
  readonly messageIds: readonly string[];
  readonly fileIds: readonly string[];
}

/** One place with data of people. */
export interface PersonalData {
  readonly name: string;
  /** `first`: ends pending work; `last`: data that identifies the person and is needed to find the rest. */
  readonly turn?: 'first' | 'last';
  /** Handles one small batch from `cursor` on: counts the data, and deletes it if `erase` is set. Repeatable. */
  batch?(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch>;
  /** Like `batch`, for data that only messages lead to: in the transaction that removes their names. */
  ofMessages?(organizationId: string, found: OfMessages, erase: boolean): Promise<Counts>;
  /** Work in progress that can be erased only afterwards, as a phrase; null: none. */
  busy?(subject: Subject): Promise<string | null>;
}

/** Finds all names of a person by one or several. */
type Identify = (known: Subject) => Promise<Subject>;

export interface ErasureReport {
  counts: Counts;
  /** Spellings and ids under which the person was searched for. */
  names: number;
}

const TURNS = { first: 0, none: 1, last: 2 } as const;
const BUSY_POLL_MS = 500;
const MAX_PASSES = 5;
/** Wait after the second pass, growing with each further one: reports about messages just sent come within seconds. */
const PASS_APART_MS = 500;
const SWEEP_EVERY_MS = 10_000;
/** Limits of a round, and of one erasure in it, so that a person with many messages delays no other. */
const ROUND_MS = 10_000;
const TURN_MS = 2_000;
const AGAIN_SECONDS = 60;
/** Of an erasure or a count that says no other time. */
const WITHIN_MS = 60_000;

/** Work about the person has not ended in time. */
export class ErasureBusyError extends Error {
  constructor(readonly what: readonly string[]) {
    super(`${what.join('; ')}. Run the command again in a minute.`);
  }
}

/** An erasure has not ended in time, and a worker goes on with it; or a count, with which none does. */
export class ErasureUnfinishedError extends Error {
  constructor(
    /** What was done in this time. */
    readonly done: ErasureReport,
    /** What is under way just now and can be erased only afterwards. */
    readonly waitsFor: readonly string[],
    cause: unknown,
  ) {
    super([...waitsFor, 'it has not ended in time'].join('; '), { cause });
  }
}

/** How long one may work on an erasure. */
interface Turn {
  /** For what is under way. */
  waitMs: () => number;
  /** Asked before each batch. */
  isOver: () => boolean;
}

/** A turn is over before all was erased. */
class TurnOver extends Error {}

export function addCounts(totals: Counts, found: Counts): void {
  for (const [word, count] of Object.entries(found)) totals[word] = (totals[word] ?? 0) + count;
}

/** Runs batches from the first to the last and sums their counts. */
export async function addBatches(
  totals: Counts,
  batch: (cursor: string | null) => Promise<ErasureBatch>,
): Promise<void> {
  let cursor: string | null = null;
  do {
    const done: ErasureBatch = await batch(cursor);
    addCounts(totals, done.found);
    cursor = done.cursor;
  } while (cursor !== null);
}

/**
 * Repeats passes until one finds nothing; returns the sum of all.
 *
 * @param pass null: it was interrupted and must run again.
 * @throws ErasureBusyError after five.
 */
export async function repeatUntilNothing(endless: string, pass: () => Promise<Counts | null>): Promise<Counts> {
  const totals: Counts = {};
  for (let passes = 1; ; passes++) {
    const found = await pass();
    addCounts(totals, found ?? {});
    if (found !== null && Object.values(found).every((count) => count === 0)) return totals;
    if (passes >= MAX_PASSES) throw new ErasureBusyError([endless]);
    if (passes > 1) await pause((passes - 1) * PASS_APART_MS);
  }
}

/** @throws ErasureBusyError where work is still in progress after `waitMs`. */
export async function waitWhileBusy(ask: () => Promise<string | null>[], waitMs: number): Promise<void> {
  const until = performance.now() + waitMs;
  for (;;) {
    const busy = (await Promise.all(ask())).filter((what) => what !== null);
    if (busy.length === 0) return;
    if (performance.now() >= until) throw new ErasureBusyError(busy);
    await pause(BUSY_POLL_MS);
  }
}

/**
 * Erases a workspace's data about one phone number or user id, place by place and in small batches. A running erasure
 * has a row with every name of the person, until all is gone: a worker continues it if the process dies, or if it had
 * to wait too long.
 */
@Injectable()
export class Erasure implements OnModuleInit {
  private readonly logger = new Logger(Erasure.name);
  private readonly places: PersonalData[] = [];
  private identify: Identify | null = null;
  /** The workspace whose erasure a worker continued last. */
  private lastServed = FIRST_ID;

  constructor(
    private readonly erasures: ErasuresRepository,
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'erasure',
      everyMs: SWEEP_EVERY_MS,
      waitsFor: [{ table: 'erasure', column: 'due_at', mostAhead: `${LEASE_SECONDS}` }],
      run: (signal) => this.goOnWithDue(signal),
    });
  }

  /** Adds a place; call it while the application starts. */
  add(place: PersonalData): void {
    this.places.push(place);
    this.places.sort((a, b) => TURNS[a.turn ?? 'none'] - TURNS[b.turn ?? 'none']);
  }

  identifyWith(identify: Identify): void {
    this.identify = identify;
  }

  /**
   * Counts what would be erased; changes nothing.
   *
   * @throws ErasureUnfinishedError where there is more than is counted within the time.
   */
  async count(organizationId: string, name: string, withinMs = WITHIN_MS): Promise<ErasureReport> {
    const turn = turnOf(withinMs);
    const subject = await this.identified(namedBy(organizationId, name));
    const done = { counts: {}, names: namesOf(subject) };
    try {
      await this.pass(subject, false, done.counts, turn);
      return done;
    } catch (error) {
      throw error instanceof TurnOver ? new ErasureUnfinishedError(done, [], error) : error;
    }
  }

  /**
   * Erases, and returns counts. Data that arrives meanwhile is erased as well.
   *
   * @throws ErasureUnfinishedError where it has not ended within the time: a worker goes on.
   */
  async erase(organizationId: string, name: string, withinMs = WITHIN_MS): Promise<ErasureReport> {
    const turn = turnOf(withinMs);
    const subject = await this.identified(namedBy(organizationId, name));
    const id = await this.database.transaction(async () => {
      const begun = await this.erasures.begin(subject);
      // One that goes on has begun before.
      if (begun.isNew) await this.note('contact.erasure_started', organizationId);
      return begun.id;
    });
    const done = { counts: {}, names: namesOf(subject) };
    try {
      await this.goOn(id, done, turn);
      return done;
    } catch (error) {
      await this.erasures.putOff(id, error instanceof TurnOver ? 0 : AGAIN_SECONDS);
      if (error instanceof ErasureBusyError) throw new ErasureUnfinishedError(done, error.what, error);
      if (error instanceof TurnOver) throw new ErasureUnfinishedError(done, await this.busyWith(subject), error);
      throw error;
    }
  }

  /** Data that only messages lead to: called in the transaction that removes their names. */
  async ofMessages(organizationId: string, found: OfMessages, erase: boolean): Promise<Counts> {
    const counts: Counts = {};
    for (const place of this.places) addCounts(counts, (await place.ofMessages?.(organizationId, found, erase)) ?? {});
    return counts;
  }

  /** Gives each due erasure a turn until the round ends; returns how many turns there were. */
  private async goOnWithDue(signal: AbortSignal): Promise<number> {
    const until = performance.now() + ROUND_MS;
    for (let turns = 0; ; turns++) {
      if (signal.aborted || performance.now() >= until) return turns;
      const due = await this.erasures.takeDue(this.lastServed);
      if (due === null) return turns;
      this.lastServed = due.organizationId;
      const endOfTurn = performance.now() + TURN_MS;
      try {
        const turn = { waitMs: () => 0, isOver: () => signal.aborted || performance.now() >= endOfTurn };
        await this.goOn(due.id, { counts: {}, names: 0 }, turn);
      } catch (error) {
        const isOver = error instanceof TurnOver;
        await this.erasures.putOff(due.id, isOver ? 0 : AGAIN_SECONDS);
        // Without the person's name, which the log would otherwise keep.
        if (!isOver) this.logger.warn(`an erasure could not go on, and is tried again: ${describeError(error)}`);
      }
    }
  }

  /** Adds to `done` what it does. @throws TurnOver after a batch, once the turn is over. */
  private async goOn(id: string, done: ErasureReport, turn: Turn): Promise<void> {
    let last: OpenErasure | null = null;
    await repeatUntilNothing('the contact is written to, or writes, all the time', async () => {
      const open = await this.erasures.read(id);
      // Another process has ended it.
      if (open === null) return {};
      last = { ...(await this.identified(open)), id };
      await this.erasures.widen(last);
      done.names = Math.max(done.names, namesOf(last));
      return this.pass(last, true, done.counts, turn);
    });
    await this.database.transaction(async () => {
      if (last !== null && (await this.erasures.end(id)))
        await this.note('contact.erased', last.organizationId, done.counts);
    });
  }

  /** Without the person's name, which the trail would otherwise keep. */
  private note(action: AuditAction, organizationId: string, counts?: Counts): Promise<void> {
    return this.database.transaction(() => this.audit.record({ action, organizationId, details: counts }));
  }

  private identified(known: Subject): Promise<Subject> {
    if (this.identify === null) throw new Error('no part of the program knows the contacts');
    return this.identify(known);
  }

  /** Returns what it found, and adds it to `done` batch by batch. @throws TurnOver before a batch, once the turn is over. */
  private async pass(subject: Subject, erase: boolean, done: Counts, turn: Turn): Promise<Counts> {
    const totals: Counts = {};
    const run = (place: PersonalData): Promise<void> =>
      addBatches(totals, async (cursor) => {
        if (turn.isOver()) throw new TurnOver();
        const batch = (await place.batch?.(subject, cursor, erase)) ?? { found: {}, cursor: null };
        addCounts(done, batch.found);
        return batch;
      });
    let waited = false;
    for (const place of this.places) {
      // Waiting work was withdrawn first; work in flight must end before its traces are removed.
      if (erase && !waited && place.turn !== 'first') {
        await waitWhileBusy(
          () =>
            this.places.map(async (each) => {
              // Work in flight may have returned to the queue.
              if (each.turn === 'first') await run(each);
              return (await each.busy?.(subject)) ?? null;
            }),
          turn.waitMs(),
        );
        waited = true;
      }
      await run(place);
    }
    return totals;
  }

  /** What is under way just now and can be erased only afterwards. */
  private async busyWith(subject: Subject): Promise<string[]> {
    const busy = await Promise.all(this.places.map(async (place) => (await place.busy?.(subject)) ?? null));
    return busy.filter((what) => what !== null);
  }
}

function turnOf(ms: number): Turn {
  const until = performance.now() + ms;
  return { waitMs: () => Math.max(0, until - performance.now()), isOver: () => performance.now() >= until };
}

function namedBy(organizationId: string, name: string): Subject {
  const isNumber = /^\d+$/.test(name);
  return { organizationId, numbers: isNumber ? [name] : [], userIds: isNumber ? [] : [name], conversationIds: [] };
}

function namesOf({ numbers, userIds }: Subject): number {
  return numbers.length + userIds.length;
}
