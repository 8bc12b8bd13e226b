import { newId } from '../../src/common/ids.js';
import { mapAtOnce } from '../../src/common/map-at-once.js';
import { platformId } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import {
  bytesOf,
  counter,
  envelope,
  inboundOf,
  leaveStored,
  notify,
  post,
  rowOf,
  secondsNow,
  statesOf,
  statusOf,
  sweep,
  sweepUntil,
  waitForStates,
} from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
  sender = await test.sender();
});

afterAll(() => test.stop());

function textPayload(marker: string, connection = sender.connection): object {
  const text = { from: '15550001234', id: marker, timestamp: String(secondsNow()), type: 'text', text: { body: 'oi' } };
  return envelope(connection, { messages: [text] });
}

async function dayOld(marker: string): Promise<void> {
  await test.database.execute(
    `update platform_notification set received_at = received_at - interval '25 hours'
     where position($1::bytea in body) > 0`,
    [Buffer.from(marker)],
  );
}

describe('a notification that was stored and not applied', () => {
  it('is applied by the sweep, once: messages and statuses', async () => {
    const message = await test.factories.message({ connection: sender.connection, status: 'accepted' });
    const marker = `wamid.${newId()}`;
    const payload = {
      ...textPayload(marker),
      entry: [
        ...(textPayload(marker) as { entry: object[] }).entry,
        ...(envelope(sender.connection, { statuses: [statusOf(message, 'read')] }) as { entry: object[] }).entry,
      ],
    };
    const id = newId();
    await leaveStored(test, id, bytesOf(payload));
    expect(await sweep(test)).toBe(1);
    expect(await rowOf(test, 'platform_notification', id)).toMatchObject({ state: 'applied', tries: 1 });
    expect(await rowOf(test, 'message_view', message.id)).toMatchObject({ status: 'read' });
    const stored = await inboundOf(test, sender.connection);
    expect(stored.filter((row) => row.meta_message_id === marker)).toHaveLength(1);
    expect(await sweep(test)).toBe(0);
  });

  it('changes nothing where it had been applied and only the mark was lost', async () => {
    const marker = `wamid.${newId()}`;
    await notify(test, textPayload(marker));
    await waitForStates(test, marker, ['applied']);
    const before = await inboundOf(test, sender.connection);
    await test.database.execute(
      `update platform_notification set state = 'stored' where position($1::bytea in body) > 0`,
      [Buffer.from(marker)],
    );
    await sweepUntil(test, marker, ['applied']);
    expect(await inboundOf(test, sender.connection)).toEqual(before);
  });

  it('is given up and counted where applying it failed for a day, but not for few tries', async () => {
    const marker = `wamid.${newId()}`;
    const given = counter(test, 'notifications_failed');
    await test.database.execute('alter table conversation rename to conversation_away');
    try {
      await notify(test, textPayload(marker));
      await dayOld(marker);
      await sweep(test, marker);
      expect(await statesOf(test, marker)).toEqual(['stored']);
      await test.database.execute('update platform_notification set tries = 20 where position($1::bytea in body) > 0', [
        Buffer.from(marker),
      ]);
      await sweepUntil(test, marker, ['failed']);
    } finally {
      await test.database.execute('alter table conversation_away rename to conversation');
    }
    expect(counter(test, 'notifications_failed')).toBe(given + 1);
    expect(await sweep(test)).toBe(0);
  });

  it('was acknowledged nevertheless, because it is safe', async () => {
    const marker = `wamid.${newId()}`;
    await test.database.execute('alter table conversation rename to conversation_away');
    try {
      await notify(test, textPayload(marker));
      expect(await statesOf(test, marker)).toEqual(['stored']);
      await sweep(test, marker);
      expect(await statesOf(test, marker)).toEqual(['stored']);
    } finally {
      await test.database.execute('alter table conversation_away rename to conversation');
    }
    await sweepUntil(test, marker, ['applied']);
    const stored = await inboundOf(test, sender.connection);
    expect(stored.filter((row) => row.meta_message_id === marker)).toHaveLength(1);
  });

  it('is left alone by the sweep while it is young', async () => {
    const id = newId();
    await test.database.execute('insert into platform_notification (id, body) values ($1, $2)', [
      id,
      bytesOf(textPayload(`wamid.${newId()}`)),
    ]);
    await sweep(test);
    expect(await rowOf(test, 'platform_notification', id)).toMatchObject({ state: 'stored', tries: 0 });
  });

  it('is found unreadable where it is', async () => {
    const id = newId();
    await leaveStored(test, id, Buffer.from('{"half":'));
    await sweep(test);
    expect(await rowOf(test, 'platform_notification', id)).toMatchObject({ state: 'unreadable' });
  });
});

describe('a notification that cannot be stored', () => {
  it('is not acknowledged, and not applied', async () => {
    const marker = `wamid.${newId()}`;
    await test.database.execute('alter table platform_notification rename to platform_notification_away');
    try {
      expect((await post(test, bytesOf(textPayload(marker)))).status).toBe(500);
    } finally {
      await test.database.execute('alter table platform_notification_away rename to platform_notification');
    }
    expect((await inboundOf(test, sender.connection)).map((row) => row.meta_message_id)).not.toContain(marker);
  });
});

describe('a status that belongs to nothing yet', () => {
  it('is acknowledged, kept, and applied once its message is known', async () => {
    const marker = `wamid.${newId()}`;
    const early = statusOf({ id: 'x', attemptId: null, metaMessageId: marker }, 'delivered');
    await notify(test, envelope(sender.connection, { statuses: [early] }));
    expect(await statesOf(test, marker)).toEqual(['stored']);
    await sweep(test, marker);
    expect(await statesOf(test, marker)).toEqual(['stored']);

    const message = await test.factories.message({ connection: sender.connection, status: 'accepted' });
    await test.database.execute('update message_state set meta_message_id = $2 where message_id = $1', [
      message.id,
      marker,
    ]);
    await sweepUntil(test, marker, ['applied']);
    expect(await rowOf(test, 'message_view', message.id)).toMatchObject({ status: 'delivered' });
  });

  it('does not keep the rest of its notification from being applied', async () => {
    const message = await test.factories.message({ connection: sender.connection, status: 'accepted' });
    const marker = `wamid.${newId()}`;
    const stranger = statusOf({ id: 'x', attemptId: null, metaMessageId: marker }, 'sent');
    await notify(test, envelope(sender.connection, { statuses: [stranger, statusOf(message, 'sent')] }));
    expect(await rowOf(test, 'message_view', message.id)).toMatchObject({ status: 'sent' });
    expect(await statesOf(test, marker)).toEqual(['stored']);
  });

  it('is tried at growing distances, and given up and counted after a day', async () => {
    const marker = `wamid.${newId()}`;
    const stranger = statusOf({ id: 'x', attemptId: null, metaMessageId: marker }, 'sent');
    await notify(test, envelope(sender.connection, { statuses: [stranger] }));
    for (const distance of [20, 80, 320, 1_280, 3_600, 3_600, 3_600]) {
      const startedAt = performance.now();
      await sweep(test, marker);
      const [row] = await test.database.query<{ gap: number }>(
        `select extract(epoch from next_try_at - clock_timestamp())::double precision as gap from platform_notification
         where position($1::bytea in body) > 0`,
        [Buffer.from(marker)],
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      expect(row?.gap).toBeLessThanOrEqual(distance + 0.1);
      expect(row?.gap).toBeGreaterThanOrEqual(distance - seconds - 0.1);
    }

    const given = counter(test, 'notifications_unmatched');
    await dayOld(marker);
    await sweepUntil(test, marker, ['unmatched']);
    expect(counter(test, 'notifications_unmatched')).toBe(given + 1);
  });
});

describe('a number that is not known', () => {
  it('has its statuses tried three times, then given up', async () => {
    const marker = `wamid.${newId()}`;
    const given = counter(test, 'notifications_unmatched');
    const stranger = { ...sender.connection, phoneNumberId: platformId() };
    await notify(
      test,
      envelope(stranger, { statuses: [statusOf({ id: marker, attemptId: null, metaMessageId: marker }, 'sent')] }),
    );
    for (let tries = 1; tries <= 3; tries++) {
      expect(await statesOf(test, marker)).toEqual(['stored']);
      await sweep(test, marker);
    }
    await waitForStates(test, marker, ['unmatched']);
    expect(counter(test, 'notifications_unmatched')).toBe(given + 1);
  });

  it('changes nothing for others with a thousand signed statuses: three tries each, and none waits behind them', async () => {
    const marker = `wamid.${newId()}`;
    const stranger = { ...sender.connection, phoneNumberId: platformId() };
    const given = counter(test, 'notifications_unmatched');
    const [live, waiting] = [
      await test.factories.message({ connection: sender.connection, status: 'accepted' }),
      await test.factories.message({ connection: sender.connection, status: 'accepted' }),
    ];
    const tried = () =>
      test.database.query<{ state: string; tries: number; count: number }>(
        `select state, tries, count(*)::integer as count from platform_notification
         where position($1::bytea in body) > 0 group by state, tries order by state, tries`,
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
    await test.database.execute(
      `update platform_notification set next_try_at = now() - interval '1 second' where position($1::bytea in body) > 0`,
      [Buffer.from(marker)],
    );
    await leaveStored(test, newId(), bytesOf(envelope(sender.connection, { statuses: [statusOf(waiting, 'read')] })));
    await sweep(test);
    expect(await rowOf(test, 'message_view', waiting.id)).toMatchObject({ status: 'read' });
    expect(await tried()).toEqual([{ state: 'stored', tries: 1, count: 1_000 }]);
    await sweep(test, marker);
    await sweep(test, marker);
    expect(await tried()).toEqual([{ state: 'unmatched', tries: 3, count: 1_000 }]);
    expect(counter(test, 'notifications_unmatched')).toBe(given + 1_000);
    await sweep(test, marker);
    expect(await tried()).toEqual([{ state: 'unmatched', tries: 3, count: 1_000 }]);
  });

  it('is waited for: its messages appear once the number is added', async () => {
    const phoneNumberId = platformId();
    const marker = `wamid.${newId()}`;
    const future = { ...sender.connection, phoneNumberId };
    await notify(test, textPayload(marker, future));
    expect(await statesOf(test, marker)).toEqual(['stored']);
    const connection = await test.factories.connection({ organizationId: sender.workspace.id, phoneNumberId });
    await sweepUntil(test, marker, ['applied']);
    expect(await inboundOf(test, connection)).toHaveLength(1);
  });

  it('is given up and counted after a day', async () => {
    const marker = `wamid.${newId()}`;
    await notify(test, textPayload(marker, { ...sender.connection, phoneNumberId: platformId() }));
    await dayOld(marker);
    await sweepUntil(test, marker, ['unmatched']);
  });
});
