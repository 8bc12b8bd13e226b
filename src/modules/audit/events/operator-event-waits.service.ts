import { Injectable } from '@nestjs/common';
import { WaitingReaders } from '../../../infrastructure/events/waiting-readers.js';
import { Drain } from '../../../infrastructure/http/drain.js';
import { type OperatorEventPlace, OperatorEventsRepository } from './operator-events.repository.js';

/** Limits of waiting requests in one process, and of one operator key. */
const MAX_WAITING = 200;
export const MAX_OF_OPERATOR = 10;

/** Requests that wait for operator's events. */
@Injectable()
export class OperatorEventWaits extends WaitingReaders<OperatorEventPlace> {
  constructor(events: OperatorEventsRepository, drain: Drain) {
    super((places) => events.look(places), { inAll: MAX_WAITING, ofShare: MAX_OF_OPERATOR }, drain);
  }
}
