import type { DestinationsRepository } from './destinations.repository.js';
import { DestinationsService } from './destinations.service.js';
import type { Waiting } from './dto/destinations.dto.js';
import type { EventDestinationEntity } from './entities/event-destination.entity.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

it('an event that a worker writes between the reads of a list is shown as waiting or as written', async () => {
  let isWritten = false;
  const thenWritten = <T>(answer: T): Promise<T> => {
    isWritten = true;
    return Promise.resolve(answer);
  };
  const row = (): EventDestinationEntity =>
    ({ id: ID, kind: 'nats', active: true, failingSince: null, written: isWritten ? 1 : 0, lost: 0 }) as never;
  const waiting = (): Map<string, Waiting> => new Map(isWritten ? [] : [[ID, { events: 1, since: null }]]);
  const destinations: Pick<DestinationsRepository, 'list' | 'waiting'> = {
    list: () => thenWritten([row()]),
    waiting: () => thenWritten(waiting()),
  };
  const service = new DestinationsService(
    destinations as never,
    ...([] as unknown as [never, never, never, never, never, never]),
  );
  const [shown] = await service.list('workspace');
  expect((shown?.waiting ?? 0) + (shown?.written ?? 0)).toBeGreaterThan(0);
});
