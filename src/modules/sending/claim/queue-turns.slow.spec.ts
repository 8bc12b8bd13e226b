import { factsOf, cancelMessage, retryMessage } from '../../../../test/support/facts.js';
import { newMessage } from '../../../../test/support/new-message.js';
import {
  opened,
  sweeps,
  outcomes,
  accepts,
  connection,
  stranded,
  claim,
  accepted,
  putOff,
} from '../../../../test/support/fixtures/queue-turns.js';
import { newId } from '../../../common/ids.js';
import { MessagesMaintenanceRepository } from '../../messages/maintenance/messages-maintenance.repository.js';
import { TagsRepository } from '../../tags/tags.repository.js';

/** Recipients with two messages in flight. */
const TOGETHER = `
select recipient from message_queue where attempt_id is not null group by connection_id, recipient having count(*) > 1`;

it('never strands a message, nor sends two to a recipient at once, whatever inserts, deletes and pauses at once', async () => {
  const recipients = Array.from({ length: 6 }, (_none, n) => `49153${n}`);
  const [withdrawn] = recipients as [string];
  const any = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T;
  const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
  const tags = new TagsRepository(opened.database, factsOf(opened.database));
  const sale = { organizationId: connection.organizationId, tag: 'sale' };
  const to = (recipient: string) => newMessage(connection, recipient, Math.random() < 0.5 ? { tag: sale.tag } : {});
  const ids: string[] = [];
  // What was withdrawn names no recipient any more.
  const retryable: string[] = [];
  const together: unknown[] = [];
  let left = 60;
  const rounds = async (work: () => Promise<unknown>): Promise<void> => {
    while (left > 0) await work();
  };
  const sendAll = async (): Promise<number> => {
    const claimed = await claim(6);
    together.push(...(await opened.database.query(TOGETHER)));
    await Promise.all(
      claimed.map((message) => {
        const kind = Math.random();
        if (kind < 0.2) return outcomes.record(putOff(message, 5));
        if (kind < 0.3) return outcomes.record({ ...accepted(message), status: 'failed' });
        return outcomes.record(accepted(message));
      }),
    );
    return claimed.length;
  };
  await Promise.all([
    rounds(async () => {
      left--;
      const batch = Array.from({ length: 4 }, () => to(any(recipients)));
      ids.push(...batch.map(({ id }) => id));
      retryable.push(...batch.filter(({ recipient }) => recipient !== withdrawn).map(({ id }) => id));
      await Promise.all(batch.map((message) => accepts.accept(message)));
    }),
    rounds(async () => {
      const batch = Array.from({ length: 3 }, () => to(any(recipients)));
      await accepts.acceptTogether(batch, false);
      ids.push(...batch.map(({ id }) => id));
    }),
    rounds(() => cancelMessage(opened.database, connection.organizationId, any(ids) ?? newId())),
    rounds(() => cancelMessage(opened.database, connection.organizationId, any(ids) ?? newId())),
    rounds(() => retryMessage(opened.database, connection.organizationId, any(retryable) ?? newId(), ['failed'])),
    rounds(() =>
      maintenance.withdraw({
        organizationId: connection.organizationId,
        numbers: [withdrawn],
        userIds: [],
        conversationIds: [],
      }),
    ),
    rounds(async () => {
      await opened.database.execute(
        'update message_queue set expires_at = queued_at where message_id = $1 and attempt_id is null',
        [any(ids) ?? newId()],
      );
      await sweeps.expireQueued(10);
    }),
    rounds(async () => {
      await tags.act(sale, 'pause', null);
      await tags.hold(sale);
      await tags.act(sale, 'resume', null);
      await tags.resume(sale);
    }),
    rounds(sendAll),
  ]);
  expect(await stranded()).toEqual([]);
  for (let rounds = 0; rounds < 20 && (await tags.find(sale))?.status === 'resuming'; rounds++) await tags.resume(sale);
  expect(await tags.find(sale)).toMatchObject({ status: 'active' });
  const waiting = 'select count(*)::integer as count from message_queue';
  while ((await opened.database.count(waiting)) > 0) await sendAll();
  expect(together).toEqual([]);
});
