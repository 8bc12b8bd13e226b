import { Injectable } from '@nestjs/common';
import type { Caller } from '../../keys/caller.decorator.js';
import { Config } from '../../../infrastructure/config/config.js';
import { cursorText } from '../../../infrastructure/events/event-cursor.js';
import { type EventLog, type Reader, readEvents } from '../../../infrastructure/events/read-events.js';
import { EventWaits } from './event-waits.service.js';
import { EventsRepository, type RecordedEvent } from './events.repository.js';
import { typesOf, type EventsResponse, type ListEventsRequest } from './events.dto.js';

/** The events of a workspace for a polling reader: each once, in the order of their transactions. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventsRepository,
    private readonly waits: EventWaits,
    private readonly config: Config,
  ) {}

  /**
   * Lists events. For a workspace that never had an endpoint, they are recorded from the first call on.
   *
   * @param reader how the request may wait, if its query asks for it: without holding resources, until its caller
   * disconnects.
   * @throws EVENT_CURSOR_EXPIRED (410), INVALID_REQUEST (400) where the cursor is not one of this workspace,
   * RATE_LIMITED (429) where too many wait.
   */
  async list(
    { organizationId, scopes }: Pick<Caller, 'organizationId' | 'scopes'>,
    query: ListEventsRequest,
    reader: Reader,
  ): Promise<EventsResponse> {
    const { types, omitted } = typesOf(query, scopes);
    const log: EventLog<RecordedEvent> = {
      owner: organizationId,
      ownerText: 'this workspace',
      keptDays: this.config.retention.webhookDays,
      state: () => this.events.state(organizationId),
      note: () => this.events.note(organizationId),
      has: (cursor) => this.events.has(organizationId, cursor),
      page: (after, limit) => this.events.page(organizationId, { after, types, limit }),
      placeAt: ({ transaction, id }) => ({ kind: 'event', transaction, id }),
      wait: (after, ms) => this.waits.wait(organizationId, { organizationId, after, types }, ms, reader.gone),
    };
    const { events, next, done } = await readEvents(log, query, reader);
    const data = events.map(({ event: { id, type, occurredAt, data: content }, cursor }) => ({
      id,
      type,
      created_at: occurredAt,
      organization_id: organizationId,
      cursor,
      data: content,
    }));
    return { data, next, done, omitted };
  }

  /** The cursor after all present events. */
  async endOf(organizationId: string): Promise<string> {
    const { identity } = await this.events.state(organizationId);
    return cursorText(await this.events.note(organizationId), { owner: organizationId, identity });
  }
}
