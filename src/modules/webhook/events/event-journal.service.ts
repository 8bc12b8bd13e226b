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
  /** Behind all that was looked at, taken or not; null: nothing is behind the reader's place. */
  end: JournalPlace | null;
}

/** So much younger than what is removed are events that readers pass: transactions write in another order than that of their ids. */
const MARGIN_MS = 600_000;

/** The events of a workspace, in their order, for readers that keep their place in the database, as GET /events does for others. */
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
   * @param pass is called before events are removed: none of the readers may need one whose id is below this one afterwards. False: not
   * yet, and nothing is removed.
   */
  beforeRemoval(pass: (below: string) => Promise<boolean>): void {
    this.readers.push(pass);
  }

  /** Whether no reader needs what is older than this time any more. */
  async isPassed(before: Date): Promise<boolean> {
    const below = lowestIdSince(new Date(before.getTime() + MARGIN_MS));
    for (const pass of this.readers) if (!(await pass(below))) return false;
    return true;
  }

  /** Notes a reader of the workspace: events are recorded from now on, if they were not. */
  async record(organizationId: string): Promise<void> {
    await this.events.note(organizationId);
  }

  /** The place before all events of this time and later ones; null: there are none. */
  placeBefore(organizationId: string, time: Date): Promise<JournalPlace | null> {
    return this.journal.placeBefore(organizationId, lowestIdSince(time));
  }

  /** The next events of a reader: `limit` at the most, and about `maxBytes` of data, unless one alone has more. */
  async read(reader: JournalReader, limit: number, maxBytes: number): Promise<JournalPage> {
    const { rows, end } = await this.journal.page(reader, limit, maxBytes);
    return { events: rows.map((row) => eventOf(reader.organizationId, row)), end };
  }

  /** A test event, which stands in no journal: behind its cursor is what comes later. */
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
