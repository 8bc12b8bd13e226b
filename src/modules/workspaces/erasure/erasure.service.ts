import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Audit, type AuditAction } from '../../audit/audit.service.js';
import { Database } from '../../../infrastructure/database/database.js';

/** Whose data: every name under which a workspace knows one person. */
export interface Subject {
  readonly organizationId: string;
  /** Digits without `+`: the number that was asked for, and the platform's other spellings of it. */
  readonly numbers: readonly string[];
  /** The platform's business-scoped user ids. */
  readonly userIds: readonly string[];
  readonly conversationIds: readonly string[];
}

/** How many of what, by the word that is shown. */
export type Counts = Record<string, number>;

export interface ErasureBatch {
  found: Counts;
  /** Where the next batch begins; null after the last one. */
  cursor: string | null;
}

/** What a page of a table has of a person, and where the next page begins; null: it was the last one. */
export interface FoundPage {
  ids: string[];
  cursor: string | null;
}

/** The end of a statement whose `page` has up to $3 rows of a table, by their ids, and `hit` those of the person. */
export const FOUND_ON_PAGE = `
select array(select id from hit) as ids,
  case when (select count(*) from page) = $3 then (select id from page order by id desc limit 1) end as cursor`;

/** One place where data of a person may lie. */
export interface PersonalData {
  readonly name: string;
  /** `first`: pending work ends here; `last`: data that identifies the person, needed to find the rest. */
  readonly turn?: 'first' | 'last';
  /** One small batch from `cursor` on: counts what is there, and where `erase` is set removes it. Repeating is harmless. */
  batch(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch>;
  /** What is under way just now and can be erased only afterwards; null: nothing. One phrase. */
  busy?(subject: Subject): Promise<string | null>;
}

/** Finds the other names of a person by a number, digits only, or a user id. */
type Identify = (organizationId: string, name: string) => Promise<Subject>;

export interface ErasureReport {
  counts: Counts;
  /** Spellings and ids under which the person was looked for. */
  names: number;
}

const TURNS = { first: 0, none: 1, last: 2 } as const;
const BUSY_POLL_MS = 500;
const MAX_PASSES = 5;
/** After the second pass, and so much longer after each further one: reports about what was just sent come within seconds. */
const PASS_APART_MS = 500;

/** Something of the person is under way and has not ended in time. */
export class ErasureBusyError extends Error {
  constructor(what: readonly string[]) {
    super(`${what.join('; ')}. Nothing that names the contact was erased; run the command again in a minute.`);
  }
}

export function addCounts(totals: Counts, found: Counts): void {
  for (const [word, count] of Object.entries(found)) totals[word] = (totals[word] ?? 0) + count;
}

/** Runs batches from the first to the last and adds what they found. */
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
 * Runs passes until one finds nothing; returns what all of them found.
 *
 * @param pass null: it was cut short and has to run again.
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

/** @throws ErasureBusyError where something is still under way after `waitMs`. */
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
 * Erases what a workspace holds of one phone number or user id, place by place and in small batches. A run that ends
 * early keeps what it erased: the names of the person go last, so that the next run finds the rest.
 */
@Injectable()
export class Erasure {
  private readonly places: PersonalData[] = [];
  private identify: Identify | null = null;

  constructor(
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  /** Adds a place; call it while the application starts. */
  add(place: PersonalData): void {
    this.places.push(place);
    this.places.sort((a, b) => TURNS[a.turn ?? 'none'] - TURNS[b.turn ?? 'none']);
  }

  identifyWith(identify: Identify): void {
    this.identify = identify;
  }

  /** Counts what would be erased; changes nothing. */
  async count(organizationId: string, name: string): Promise<ErasureReport> {
    const subject = await this.subjectOf(organizationId, name);
    return { counts: await this.pass(subject, false), names: namesOf(subject) };
  }

  /**
   * Erases, and says how much. What arrives while it runs is erased as well.
   *
   * @param waitMs for what is under way, such as a message that is being sent.
   * @throws ErasureBusyError where it has not ended by then.
   */
  async erase(organizationId: string, name: string, waitMs = 60_000): Promise<ErasureReport> {
    let names = 0;
    await this.note('contact.erasure_started', organizationId);
    const counts = await repeatUntilNothing('the contact is written to, or writes, all the time', async () => {
      const subject = await this.subjectOf(organizationId, name);
      names = Math.max(names, namesOf(subject));
      return this.pass(subject, true, waitMs);
    });
    await this.note('contact.erased', organizationId, counts);
    return { counts, names };
  }

  /** Not whom: the trail would keep what is to go. */
  private note(action: AuditAction, organizationId: string, counts?: Counts): Promise<void> {
    return this.database.transaction(() => this.audit.record({ action, organizationId, details: counts }));
  }

  private subjectOf(organizationId: string, name: string): Promise<Subject> {
    if (this.identify === null) throw new Error('no part of the program knows the contacts');
    return this.identify(organizationId, name);
  }

  private async pass(subject: Subject, erase: boolean, waitMs = 0): Promise<Counts> {
    const totals: Counts = {};
    let waited = false;
    for (const place of this.places) {
      // What still waits was withdrawn first; what is on its way ends before its traces are removed.
      if (erase && !waited && place.turn !== 'first') {
        await waitWhileBusy(
          () =>
            this.places.map(async (each) => {
              // What was on its way may have come back to where it waits.
              if (each.turn === 'first') await addBatches(totals, (cursor) => each.batch(subject, cursor, true));
              return (await each.busy?.(subject)) ?? null;
            }),
          waitMs,
        );
        waited = true;
      }
      await addBatches(totals, (cursor) => place.batch(subject, cursor, erase));
    }
    return totals;
  }
}

function namesOf({ numbers, userIds }: Subject): number {
  return numbers.length + userIds.length;
}
