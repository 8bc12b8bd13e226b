import { Injectable } from '@nestjs/common';
import { lowestIdSince, newId } from '../../../common/ids.js';
import { databaseClock } from '../../../common/clock.js';
import { exampleOf } from '../dto/event.docs.js';
import { eventBody } from '../event-body.js';
import { TEST_EVENT } from '../webhook.types.js';
import { EventsRepository } from './events.repository.js';
import { JournalRepository, type JournalRow } from './journal.repository.js';
import type { JournalEvent, JournalPlace, JournalReader } from './journal.types.js';

interface JournalPage {
  events: JournalEvent[];
  /** The place after all examined events, selected or not; null: there are none after the reader's place. */
  end: JournalPlace | null;
}

/** Readers must be this far ahead of the removed events: transactions may commit in another order than that of ids. */
const MARGIN_MS = 600_000;

/**
 * The events of a workspace, in order, for readers that store their place in the database; GET /events serves the
 * others.
 */
@Injectable()
export class EventJournal {
  private readonly readers: ((below: string) => Promise<boolean>)[] = [];

  constructor(
    private readonly events: EventsRepository,
    private readonly journal: JournalRepository,
  ) {}

  /**
   * Adds readers; call it while the application starts.
   *
   * @param pass is called before events are removed. Afterwards none of its readers may need an event with an id below
   * this one. False: not yet, and nothing is removed.
   */
  beforeRemoval(pass: (below: string) => Promise<boolean>): void {
    this.readers.push(pass);
  }

  /** Whether no reader still needs events older than this time. */
  async isPassed(before: Date): Promise<boolean> {
    const below = lowestIdSince(new Date(before.getTime() + MARGIN_MS));
    for (const pass of this.readers) if (!(await pass(below))) return false;
    return true;
  }

  /** Registers a reader of the workspace: from now on its events are recorded. */
  async record(organizationId: string): Promise<void> {
    await this.events.note(organizationId);
  }

  /** The place before all events from this time on; null: there are none. */
  placeBefore(organizationId: string, time: Date): Promise<JournalPlace | null> {
    return this.journal.placeBefore(organizationId, lowestIdSince(time));
  }

  /** The next events of a reader: at most `limit`, and about `maxBytes` of data, unless a single event has more. */
  async read(reader: JournalReader, limit: number, maxBytes: number): Promise<JournalPage> {
    const { rows, end } = await this.journal.page(reader, limit, maxBytes);
    return { events: rows.map((row) => eventOf(reader.organizationId, row)), end };
  }

  /** A test event, which is not in the journal; its cursor is the present end of the journal. */
  async testEvent(organizationId: string): Promise<JournalEvent> {
    const { identity, nextTransaction: transaction } = await this.events.state(organizationId);
    const id = newId();
    const occurredAt = new Date(databaseClock.now());
    const data = JSON.stringify(exampleOf(TEST_EVENT));
    const row: JournalRow = { id, type: TEST_EVENT, occurredAt, data, transaction, identity, conversationId: null };
    return eventOf(organizationId, row);
  }
}

function eventOf(organizationId: string, row: JournalRow): JournalEvent {
  const { id, type, occurredAt, data, transaction, identity, conversationId } = row;
  const body = eventBody({ eventId: id, eventType: type, organizationId, occurredAt, data, transaction, identity });
  return { id, transaction, type, occurredAt, conversationId, body };
}
