import { jest } from '@jest/globals';
import { newId } from '../../src/common/ids.js';
import { InboundRepository } from '../../src/modules/inbound/inbound.repository.js';
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
  tryAgain,
  tryUntil,
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

/** Null where it is not in the queue. */
async function triesOf(id: string): Promise<number | null> {
  const sql = 'select tries from notification_queue where notification_id = $1';
  return (await test.database.find<{ tries: number }>(sql, [id]))?.tries ?? null;
}

describe('a notification that was stored and not applied', () => {
  it('is applied later, once: messages and statuses', async () => {
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
    expect(await tryAgain(test)).toBe(1);
    expect(await rowOf(test, 'platform_notification', id)).toMatchObject({ state: 'applied' });
    expect(await triesOf(id)).toBeNull();
    expect(await rowOf(test, 'message_view', message.id)).toMatchObject({ status: 'read' });
    const stored = await inboundOf(test, sender.connection);
    expect(stored.filter((row) => row.meta_message_id === marker)).toHaveLength(1);
    expect(await tryAgain(test)).toBe(0);
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
    await tryUntil(test, marker, ['applied']);
    expect(await inboundOf(test, sender.connection)).toEqual(before);
  });

  it('is given up and counted where applying it failed for a day, but not for few tries', async () => {
    const marker = `wamid.${newId()}`;
    const given = counter(test, 'notifications_failed');
    await test.database.execute('alter table conversation rename to conversation_away');
    try {
      await notify(test, textPayload(marker));
      await dayOld(marker);
      await tryAgain(test, marker);
      expect(await statesOf(test, marker)).toEqual(['stored']);
      await test.database.execute('update notification_queue set tries = 20');
      await tryUntil(test, marker, ['failed']);
    } finally {
      await test.database.execute('alter table conversation_away rename to conversation');
    }
    expect(counter(test, 'notifications_failed')).toBe(given + 1);
    expect(await tryAgain(test)).toBe(0);
  });

  it('was acknowledged nevertheless, because it is safe', async () => {
    const marker = `wamid.${newId()}`;
    await test.database.execute('alter table conversation rename to conversation_away');
    try {
      await notify(test, textPayload(marker));
      expect(await statesOf(test, marker)).toEqual(['stored']);
      await tryAgain(test, marker);
      expect(await statesOf(test, marker)).toEqual(['stored']);
    } finally {
      await test.database.execute('alter table conversation_away rename to conversation');
    }
    await tryUntil(test, marker, ['applied']);
    const stored = await inboundOf(test, sender.connection);
    expect(stored.filter((row) => row.meta_message_id === marker)).toHaveLength(1);
  });

  it('is left alone while it is young', async () => {
    const id = newId();
    await test.database.execute('insert into platform_notification (id, body) values ($1, $2)', [
      id,
      bytesOf(textPayload(`wamid.${newId()}`)),
    ]);
    await tryAgain(test);
    expect(await rowOf(test, 'platform_notification', id)).toMatchObject({ state: 'stored' });
    expect(await triesOf(id)).toBe(0);
  });

  it('is found unreadable where it is', async () => {
    const id = newId();
    await leaveStored(test, id, Buffer.from('{"half":'));
    await tryAgain(test);
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
    await tryAgain(test, marker);
    expect(await statesOf(test, marker)).toEqual(['stored']);

    const message = await test.factories.message({ connection: sender.connection, status: 'accepted' });
    await test.database.execute('update message_attempt set meta_message_id = $2 where message_id = $1', [
      message.id,
      marker,
    ]);
    await tryUntil(test, marker, ['applied']);
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
    const claim = jest.spyOn(test.app.get(InboundRepository, { strict: false }), 'claim');
    for (let tries = 1; tries <= 7; tries++) await tryAgain(test, marker);
    const claims = await Promise.all(
      claim.mock.results.map(({ value }) => value as ReturnType<InboundRepository['claim']>),
    );
    claim.mockRestore();
    const distances = claims.flatMap(({ items }) => items.map(({ againMs }) => againMs / 1_000));
    expect(distances).toEqual([20, 80, 320, 1_280, 3_600, 3_600, 3_600]);

    const given = counter(test, 'notifications_unmatched');
    await dayOld(marker);
    await tryUntil(test, marker, ['unmatched']);
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
      await tryAgain(test, marker);
    }
    await waitForStates(test, marker, ['unmatched']);
    expect(counter(test, 'notifications_unmatched')).toBe(given + 1);
  });

  it('is waited for: its messages appear once the number is added', async () => {
    const phoneNumberId = platformId();
    const marker = `wamid.${newId()}`;
    const future = { ...sender.connection, phoneNumberId };
    await notify(test, textPayload(marker, future));
    expect(await statesOf(test, marker)).toEqual(['stored']);
    const connection = await test.factories.connection({ organizationId: sender.workspace.id, phoneNumberId });
    await tryUntil(test, marker, ['applied']);
    expect(await inboundOf(test, connection)).toHaveLength(1);
  });

  it('is given up and counted after a day', async () => {
    const marker = `wamid.${newId()}`;
    await notify(test, textPayload(marker, { ...sender.connection, phoneNumberId: platformId() }));
    await dayOld(marker);
    await tryUntil(test, marker, ['unmatched']);
    expect(await statesOf(test, marker)).toEqual(['unmatched']);
  });
});
