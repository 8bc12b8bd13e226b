import { Factories } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { listenFor } from '../../../../test/support/webhook-events.js';
import { type NewsReport, PlatformNewsRepository } from './platform-news.repository.js';

let opened: OpenTestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase(4);
});
afterAll(() => opened.close());

const isLocked = () =>
  opened.database.detached(() =>
    opened.database.count(
      `select count(*)::integer as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    ),
  );

it('what WhatsApp tells twice at the same time is one event', async () => {
  const { database } = opened;
  const factories = new Factories(database);
  const { id: connectionId, organizationId } = await factories.connection({
    organizationId: (await factories.workspace()).id,
  });
  await listenFor(database, organizationId, ['call.missed']);
  const call: NewsReport = {
    kind: 'call',
    connectionId,
    organizationId,
    phoneNumberId: '1',
    occurredAt: new Date('2026-11-29T10:00:00Z'),
    from: '15551',
    userId: null,
    callId: 'wacid.1',
    isOutbound: false,
    status: 'COMPLETED',
    startedAt: null,
    durationSeconds: null,
  };
  const news = new PlatformNewsRepository(database);
  const others: Promise<void>[] = [];
  await database.transaction(async () => {
    await news.record([call]);
    const other = database.detached(() => news.record([call]));
    others.push(other);
    await Promise.race([other, waitFor(isLocked)]);
  });
  await Promise.all(others);
  expect(
    await database.count(
      `select count(*)::integer as count from webhook_event where organization_id = $1 and type = 'call.missed'`,
      [organizationId],
    ),
  ).toBe(1);
});
