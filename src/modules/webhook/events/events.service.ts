import { Injectable } from '@nestjs/common';
import { commonErrors } from '../../../common/common.errors.js';
import { Config } from '../../../infrastructure/config/config.js';
import { webhookErrors } from '../webhook.errors.js';
import type { EventType } from '../webhook.types.js';
import { cursorText, parseCursor, timeOf, type CursorPlace, type EventCursor } from './event-cursor.js';
import { EventsRepository, type EventPage, type PageRequest, type ReadingState } from './events.repository.js';
import type { EventsResponse } from './events.dto.js';

const DAY_MS = 86_400_000;
/** What a transaction began to write before the cursor's event may be older than that; it must not be removed yet. */
const MARGIN_MS = 3_600_000;
/** A reader of a quiet workspace gets a new place so often, for a place is good as long as events are kept. */
const RENEWED_MS = DAY_MS;

const AFTER_MESSAGE =
  'after must be `next` of an earlier answer to this workspace, the `cursor` of one of its events, or `now`. ' +
  'Leave it out to begin with the oldest event that is kept.';

export interface EventsRequest {
  after: string | undefined;
  types: readonly EventType[] | null;
  limit: number;
}

/** The events of a workspace for a reader that polls: each once, in the order of their transactions. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventsRepository,
    private readonly config: Config,
  ) {}

  /**
   * Events are recorded from the first call on, where the workspace has had no endpoint.
   *
   * @throws EVENT_CURSOR_EXPIRED (410), INVALID_REQUEST (400) for what is no cursor of this workspace.
   */
  async list(organizationId: string, { after: text, types, limit }: EventsRequest): Promise<EventsResponse> {
    const state = await this.events.state(organizationId);
    const place = { organizationId, identity: state.identity };
    const given = text === undefined || text === 'now' ? text : this.parsed(text, place);
    const noted = state.stale || text === 'now' ? await this.events.note(organizationId) : null;
    const after = await this.placeOf(given, noted, state, organizationId);
    const request = { after, types, limit };
    const page = await this.events.page(organizationId, request);
    const { events, next, done } =
      page.last === null && isOld(after) ? await this.renewed(organizationId, request) : upTo(page, request);
    return {
      data: events.map(({ id, type, data, occurredAt, transaction }) => ({
        id,
        type,
        created_at: occurredAt,
        organization_id: organizationId,
        cursor: cursorText({ kind: 'event', transaction, id }, place),
        data,
      })),
      next: cursorText(next, place),
      done,
    };
  }

  private parsed(text: string, place: CursorPlace): Given {
    const cursor = parseCursor(text, place);
    if (cursor !== null) return cursor;
    throw commonErrors.INVALID_REQUEST({ details: [{ field: 'after', rule: 'cursor', message: AFTER_MESSAGE }] });
  }

  private async placeOf(
    given: Given | 'now' | undefined,
    noted: EventCursor | null,
    { since, nextTransaction }: ReadingState,
    organizationId: string,
  ): Promise<EventCursor> {
    if (given === 'now' || given === undefined) {
      // What is left from a time before the recording ended is not complete.
      if (noted !== null && (given === 'now' || since === null)) return noted;
      return { ...START, transaction: since ?? 0n };
    }
    const keptMs = this.config.retention.webhookDays * DAY_MS - MARGIN_MS;
    if (timeOf(given) < Date.now() - keptMs) throw webhookErrors.EVENT_CURSOR_EXPIRED({ reason: 'retention' });
    const isForeign = given.moved || given.transaction > nextTransaction;
    if (isForeign && !(await this.events.has(organizationId, given))) {
      throw webhookErrors.EVENT_CURSOR_EXPIRED({ reason: 'database_changed' });
    }
    if (since !== null && given.transaction >= since) return given;
    throw webhookErrors.EVENT_CURSOR_EXPIRED({ reason: 'not_recorded' });
  }

  /** Where nothing follows an old place: a new one that is good for as long as events are kept. */
  private async renewed(organizationId: string, request: PageRequest): Promise<Answered> {
    // Its place is before what the page may see, so what came meanwhile is in the page.
    const place = await this.events.note(organizationId);
    const page = await this.events.page(organizationId, request);
    return page.last === null ? { events: [], next: place, done: !page.held } : upTo(page, request);
  }
}

/** A cursor, and whether it was made on another server or history. */
type Given = EventCursor & { moved: boolean };

interface Answered extends Pick<EventPage, 'events'> {
  next: EventCursor;
  done: boolean;
}

/** Before the first transaction. */
const START: EventCursor = { kind: 'transaction', transaction: 0n, id: '00000000-0000-7000-8000-000000000000' };

function isOld(after: EventCursor): boolean {
  return timeOf(after) < Date.now() - RENEWED_MS;
}

function upTo(page: EventPage, { after, limit }: PageRequest): Answered {
  const events = page.events.slice(0, limit);
  const last = events.at(-1);
  const cut = page.events.length > limit;
  const next: EventCursor =
    cut && last !== undefined ? { kind: 'event', transaction: last.transaction, id: last.id } : (page.last ?? after);
  return { events, next, done: !cut && !page.full && !page.held };
}
