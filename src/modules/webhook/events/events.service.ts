import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../../common/clock.js';
import { invalidField } from '../../../common/common.errors.js';
import type { Caller } from '../../keys/caller.decorator.js';
import { ApiKeysService } from '../../keys/keys.service.js';
import { Config } from '../../../infrastructure/config/config.js';
import { webhookErrors } from '../webhook.errors.js';
import { EventWaits } from './event-waits.service.js';
import { cursorText, parseCursor, timeOf, type EventCursor } from './event-cursor.js';
import { EventsRepository, type ReadingState, type RecordedEvent } from './events.repository.js';
import { typesOf, type EventsResponse, type ListEventsRequest } from './events.dto.js';

const DAY_MS = 86_400_000;
/** What a transaction began to write before the cursor's event may be older than that; it must not be removed yet. */
const MARGIN_MS = 3_600_000;
/** A reader of a quiet workspace gets a new place so often, for a place is good as long as events are kept. */
const RENEWED_MS = DAY_MS;

const AFTER_MESSAGE =
  'after must be `next` of an earlier answer to this workspace, the `cursor` of one of its events, or `now`. ' +
  'Leave it out to begin with the oldest event that is kept.';

/** The events of a workspace for a reader that polls: each once, in the order of their transactions. */
@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventsRepository,
    private readonly waits: EventWaits,
    private readonly keys: ApiKeysService,
    private readonly config: Config,
  ) {}

  /**
   * Events are recorded from the first call on, where the workspace has had no endpoint.
   *
   * @param reader how the request waits, where its query asks for that: without what it holds, until its caller goes.
   * @throws EVENT_CURSOR_EXPIRED (410), INVALID_REQUEST (400) for what is no cursor of this workspace, RATE_LIMITED (429)
   * where too many wait.
   */
  async list(
    caller: Pick<Caller, 'organizationId' | 'scopes' | 'apiKeyId' | 'person'>,
    query: ListEventsRequest,
    reader: Reader,
  ): Promise<EventsResponse> {
    const { organizationId, scopes } = caller;
    const { after: text, limit, wait } = query;
    const state = await this.events.state(organizationId);
    const place = { organizationId, identity: state.identity };
    const given = text === undefined || text === 'now' ? text : parseCursor(text, place);
    if (given === null) throw invalidField('after', 'cursor', AFTER_MESSAGE);
    const noted = state.stale || text === 'now' ? await this.events.note(organizationId) : null;
    const after = await this.placeOf(given, noted, state, organizationId);
    const { types, omitted } = typesOf(query, scopes);
    const request = { after, types, limit };
    let end = after;
    let page = await this.events.page(organizationId, request);
    if (page.last === null && timeOf(after) < databaseClock.now() - RENEWED_MS) {
      // Where nothing follows an old place: a new one that is good for as long as events are kept. It is before what the
      // page may see, so what came meanwhile is in the page.
      end = await this.events.note(organizationId);
      page = await this.events.page(organizationId, request);
    }
    if (wait > 0 && page.events.length === 0 && !page.full) {
      const place = { organizationId, after: page.last ?? end, types };
      const waited = await reader.waitOutside(() => this.waits.wait(place, wait * 1_000, reader.gone));
      await this.keys.confirm(caller);
      end = waited.after;
      const { held } = page;
      page = waited.found
        ? await this.events.page(organizationId, { ...request, after: end })
        : { events: [], last: null, full: false, held };
    }
    const events = page.events.slice(0, limit);
    const last = events.at(-1);
    const cut = page.events.length > limit;
    const next = cut && last !== undefined ? placeAt(last) : (page.last ?? end);
    return {
      data: events.map((event) => ({
        id: event.id,
        type: event.type,
        created_at: event.occurredAt,
        organization_id: organizationId,
        cursor: cursorText(placeAt(event), place),
        data: event.data,
      })),
      next: cursorText(next, place),
      done: !cut && !page.full && !page.held,
      omitted,
    };
  }

  /** The cursor behind what is there now. */
  async endOf(organizationId: string): Promise<string> {
    const { identity } = await this.events.state(organizationId);
    return cursorText(await this.events.note(organizationId), { organizationId, identity });
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
      return { ...START, transaction: since ?? START.transaction };
    }
    const keptMs = this.config.retention.webhookDays * DAY_MS - MARGIN_MS;
    if (timeOf(given) < databaseClock.now() - keptMs) throw webhookErrors.EVENT_CURSOR_EXPIRED({ reason: 'retention' });
    const isForeign = given.moved || isLess(nextTransaction, given.transaction);
    if (isForeign && !(await this.events.has(organizationId, given))) {
      throw webhookErrors.EVENT_CURSOR_EXPIRED({ reason: 'database_changed' });
    }
    if (since !== null && !isLess(given.transaction, since)) return given;
    throw webhookErrors.EVENT_CURSOR_EXPIRED({ reason: 'not_recorded' });
  }
}

/** How a request waits. */
export interface Reader {
  /** Runs the wait without what the request holds of its workspace's share, and has it again afterwards. */
  waitOutside: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Aborted when the caller has gone. */
  gone: AbortSignal;
}

/** A cursor, and whether it was made on another server or history. */
type Given = EventCursor & { moved: boolean };

/** Before the first transaction. */
const START: EventCursor = { kind: 'transaction', transaction: '0', id: '00000000-0000-7000-8000-000000000000' };

const isLess = (transaction: string, other: string): boolean => BigInt(transaction) < BigInt(other);

const placeAt = ({ transaction, id }: RecordedEvent): EventCursor => ({ kind: 'event', transaction, id });
