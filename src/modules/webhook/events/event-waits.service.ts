import { Injectable } from '@nestjs/common';
import { WaitingReaders } from '../../../infrastructure/events/waiting-readers.js';
import { Drain } from '../../../infrastructure/http/drain.js';
import { Metrics } from '../../../infrastructure/operations/metrics/metrics.js';
import { EventsRepository, type EventPlace } from './events.repository.js';

/** Limits of waiting requests in one process, and of one workspace. */
export const MAX_WAITING = 1_000;
export const MAX_OF_WORKSPACE = 100;

/** Requests of GET /events that wait for events. */
@Injectable()
export class EventWaits extends WaitingReaders<EventPlace> {
  constructor(events: EventsRepository, drain: Drain, metrics: Metrics) {
    super((places) => events.look(places), { inAll: MAX_WAITING, ofShare: MAX_OF_WORKSPACE }, drain);
    metrics.add({
      name: 'event_readers_waiting',
      help: `Requests GET /events of this process that wait for an event; beyond ${MAX_WAITING} the answer is 429.`,
      collect: () => Promise.resolve([{ value: this.count }]),
    });
  }
}
