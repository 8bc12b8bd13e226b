import { newId } from '../../../common/ids.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import type { EventJournal } from '../../webhook/events/event-journal.service.js';
import type { ClaimedTurn } from '../destinations.types.js';
import { DestinationTurns } from './destinations.processor.js';
import type { OpenSinks } from './open-sinks.js';
import type { TurnsRepository } from './turns.repository.js';

it('a turn whose events cannot be read is given back at once, and does not wait for its lease', async () => {
  const turn = { id: newId(), organizationId: newId(), attemptId: newId() } as ClaimedTurn;
  const released: unknown[] = [];
  const turns = { release: (...given: unknown[]) => Promise.resolve(released.push(given) > 0) };
  const journal = { read: () => Promise.reject(new Error('Connection terminated')) };
  const work = new DestinationTurns(
    turns as unknown as TurnsRepository,
    {} as OpenSinks,
    journal as unknown as EventJournal,
    new Counters(),
  );
  const dueInMs = await work.work(turn);
  expect([released, dueInMs]).toEqual([[[turn, 1_000]], 1_000]);
});
