import { newId } from '../../src/common/ids.js';
import { mapAtOnce } from '../../src/common/map-at-once.js';
import { platformId } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { bytesOf, counter, envelope, leaveStored, letBecomeDue, notify, rowOf, statusOf, tryAgain } from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
  sender = await test.sender();
});

afterAll(() => test.stop());

describe('a number that is not known', () => {
  it('changes nothing for others with a thousand signed statuses: three tries each, and none waits behind them', async () => {
    const marker = `wamid.${newId()}`;
    const stranger = { ...sender.connection, phoneNumberId: platformId() };
    const given = counter(test, 'notifications_unmatched');
    const [live, waiting] = [
      await test.factories.message({ connection: sender.connection, status: 'accepted' }),
      await test.factories.message({ connection: sender.connection, status: 'accepted' }),
    ];
    const tried = () =>
      test.database.query<{ state: string; tries: number | null; count: number }>(
        `select n.state, q.tries, count(*)::integer as count
         from platform_notification n left join notification_queue q on q.notification_id = n.id
         where position($1::bytea in n.body) > 0 group by n.state, q.tries order by n.state, q.tries`,
        [Buffer.from(marker)],
      );
    await mapAtOnce(
      Array.from({ length: 1_000 }, (_, n) => `${marker}.${n}`),
      250,
      (id) =>
        notify(test, envelope(stranger, { statuses: [statusOf({ id, attemptId: null, metaMessageId: id }, 'read')] })),
    );
    expect(await tried()).toEqual([{ state: 'stored', tries: 0, count: 1_000 }]);
    await notify(test, envelope(sender.connection, { statuses: [statusOf(live, 'delivered')] }));
    expect(await rowOf(test, 'message_view', live.id)).toMatchObject({ status: 'delivered' });

    // All of them are due before the one that is left here.
    await letBecomeDue(test, marker);
    await leaveStored(test, newId(), bytesOf(envelope(sender.connection, { statuses: [statusOf(waiting, 'read')] })));
    await tryAgain(test);
    expect(await rowOf(test, 'message_view', waiting.id)).toMatchObject({ status: 'read' });
    expect(await tried()).toEqual([{ state: 'stored', tries: 1, count: 1_000 }]);
    await tryAgain(test, marker);
    await tryAgain(test, marker);
    expect(await tried()).toEqual([{ state: 'unmatched', tries: null, count: 1_000 }]);
    expect(counter(test, 'notifications_unmatched')).toBe(given + 1_000);
    await tryAgain(test, marker);
    expect(await tried()).toEqual([{ state: 'unmatched', tries: null, count: 1_000 }]);
  });
});
