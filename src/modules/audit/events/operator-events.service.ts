import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { type EventLog, type EventsRead, type Reader, readEvents } from '../../../infrastructure/events/read-events.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { OPERATOR_EVENTS, type OperatorEventType } from '../audit.types.js';
import { OperatorEventWaits } from './operator-event-waits.service.js';
import { cursorAt, type OperatorEventRow, OperatorEventsRepository } from './operator-events.repository.js';

/** The page to read. */
export interface OperatorEventsQuery {
  after?: string;
  /** Null: of all types. */
  types: readonly OperatorEventType[] | null;
  limit: number;
  wait: number;
}

/** The audit trail as events, each once, in the order of their transactions. */
@Injectable()
export class OperatorEventsService {
  constructor(
    private readonly events: OperatorEventsRepository,
    private readonly waits: OperatorEventWaits,
    private readonly config: Config,
  ) {}

  /** @throws EVENT_CURSOR_EXPIRED (410), INVALID_REQUEST (400) where it is not a cursor, RATE_LIMITED (429). */
  read(
    { keyId, workspaceIds }: Operator,
    { types, ...query }: OperatorEventsQuery,
    reader: Reader,
  ): Promise<EventsRead<OperatorEventRow>> {
    const all = Object.keys(OPERATOR_EVENTS) as OperatorEventType[];
    const which = { actions: (types ?? all).flatMap((type) => [...OPERATOR_EVENTS[type]]), workspaceIds };
    const log: EventLog<OperatorEventRow> = {
      owner: 'operator',
      ownerText: 'this route',
      keptDays: this.config.retention.auditDays,
      state: () => this.events.state(),
      note: () => this.events.note(),
      has: (cursor) => this.events.has(cursor),
      page: (after, limit) => this.events.page({ after, ...which }, limit),
      placeAt: ({ transaction, id, occurredAt }) => cursorAt(transaction, id, occurredAt),
      wait: (after, ms) => this.waits.wait(keyId, { after, ...which }, ms, reader.gone),
    };
    return readEvents(log, query, reader);
  }
}
