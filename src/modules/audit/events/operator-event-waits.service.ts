import { Injectable } from '@nestjs/common';
import { WaitingReaders } from '../../../infrastructure/events/waiting-readers.js';
import { Drain } from '../../../infrastructure/http/drain.js';
import { type OperatorEventPlace, OperatorEventsRepository } from './operator-events.repository.js';

/** Requests of one process that wait, and those of one operator key. */
const MAX_WAITING = 200;
export const MAX_OF_OPERATOR = 10;

/** Readers of the operator's events that wait. */
@Injectable()
export class OperatorEventWaits extends WaitingReaders<OperatorEventPlace> {
  constructor(events: OperatorEventsRepository, drain: Drain) {
    super((places) => events.look(places), { inAll: MAX_WAITING, ofShare: MAX_OF_OPERATOR }, drain);
  }
}
