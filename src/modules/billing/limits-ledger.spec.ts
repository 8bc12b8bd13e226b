import { factsOf, cancelMessage, retryMessage } from '../../../test/support/facts.js';
import { statusReport } from '../../../test/messages/platform-reports.js';
import { acceptedOutcome } from '../../../test/support/accepted-outcome.js';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { testPhone } from '../../../test/support/factories.js';
import { newMessage } from '../../../test/support/new-message.js';
import {
  OWNER,
  MICROS,
  opened,
  factories,
  accepts,
  sends,
  outcomes,
} from '../../../test/support/fixtures/limits-ledger.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { applyStatusReports } from '../messages/reports/status-reports.repository.js';
import { LimitBook } from './limits.service.js';

describe('what was given back counts again, once, where the message was sent after all', () => {
  const WEEK = { messages: 1, week: 1, spend: MICROS.estimate };
  const TWICE = { messages: 2, week: 2, spend: 2 * MICROS.estimate };
  const NOTHING = { messages: 0, week: 0, spend: 0 };

  it.each([
    ['in flight, failed', 'claim, failed 1', NOTHING],
    ['in flight, failed, delivered', 'claim, failed 1, delivered 1, failed 1', WEEK],
    ['unknown, failed, delivered', 'claim, unknown 1, failed 1, failed 1, delivered 1, read 1', WEEK],
    [
      'accepted, failed, retried, canceled',
      'claim, accepted 1, failed 1, retry, cancel, failed 1',
      { ...WEEK, spend: 0 },
    ],
    ['accepted, failed, retried, canceled, delivered', 'claim, accepted 1, failed 1, retry, cancel, delivered 1', WEEK],
    ['refused, retried, accepted', 'claim, refused 1, retry, claim, accepted 2', WEEK],
    ['unknown, retried, accepted late', 'claim, unknown 1, retry, accepted 1', WEEK],
    ['unknown, retried, delivered', 'claim, unknown 1, retry, delivered 1', WEEK],
    ['unknown, retried, sent, the retry refused', 'claim, unknown 1, retry, claim, sent 1, refused 2', WEEK],
    // Whatever comes first: the earlier attempt's success, or the end of the retry's.
    ['unknown, retried, the retry refused, delivered', 'claim, unknown 1, retry, claim, refused 2, delivered 1', WEEK],
    ['unknown, retried, delivered, the retry refused', 'claim, unknown 1, retry, claim, delivered 1, refused 2', WEEK],
    [
      'unknown, retried, accepted late, the retry "not now"',
      'claim, unknown 1, retry, claim, accepted 1, deferred 2',
      WEEK,
    ],
    [
      'unknown, retried, the retry "not now", accepted late',
      'claim, unknown 1, retry, claim, deferred 2, accepted 1',
      WEEK,
    ],
    [
      'unknown twice, delivered, the retry refused',
      'claim, unknown 1, retry, claim, unknown 2, delivered 1, refused 2',
      WEEK,
    ],
    [
      'unknown twice, the retry refused, delivered',
      'claim, unknown 1, retry, claim, unknown 2, refused 2, delivered 1',
      WEEK,
    ],
    ['unknown twice, delivered', 'claim, unknown 1, retry, claim, unknown 2, delivered 1', TWICE],
    ['unknown, retried, both accepted', 'claim, unknown 1, retry, claim, accepted 2, accepted 1', TWICE],
    ['refused, retried, canceled', 'claim, refused 1, retry, cancel', NOTHING],
  ])('%s', async (_name, steps, expected) => {
    const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
    const { id: connectionId, organizationId } = connection;
    const { database } = opened;
    await new LaneRepository(database).ensure(connectionId);
    await database.execute(
      'update organization set messages_per_day = 9, spend_per_month = 9, marketing_per_recipient_per_week = 9 where id = $1',
      [organizationId],
    );
    const recipient = testPhone();
    const made = newMessage(connection, recipient, { lookUp: 'contact', templateCategory: 'MARKETING' });
    await accepts[0]?.accept(made, true);
    const again = { id: made.id, organizationId, recipient, templateCategory: 'MARKETING' };
    const sent: Parameters<typeof acceptedOutcome>[0][] = [];
    for (const [kind = '', n = '1'] of steps.split(', ').map((step) => step.split(' '))) {
      const attempt = sent[Number(n) - 1];
      if (kind === 'claim') {
        sent.push(...(await claimLane(sends, claimRequest(connectionId, OWNER, 1), { leaseMs: 3_600_000 })).items);
      } else if (kind === 'cancel') await cancelMessage(database, organizationId, made.id);
      else if (kind === 'retry') {
        await database.transaction(async () => {
          expect(await retryMessage(database, organizationId, made.id, ['failed', 'outcome_unknown'])).toBe(true);
          const book = await LimitBook.open([again], database);
          book.take(again);
          await book.write();
        });
      } else if (attempt === undefined) throw new Error(`no attempt of ${kind}`);
      else if (kind === 'accepted') await outcomes.record(acceptedOutcome(attempt));
      else if (kind === 'refused')
        await outcomes.record(acceptedOutcome(attempt, { status: 'failed', metaMessageId: null }));
      else if (kind === 'deferred')
        await outcomes.record(acceptedOutcome(attempt, { status: 'queued', metaMessageId: null }));
      else if (kind === 'unknown')
        await outcomes.record(acceptedOutcome(attempt, { status: 'outcome_unknown', metaMessageId: null }));
      else {
        const about = { id: made.id, attemptId: attempt.attemptId, metaMessageId: `wamid.${attempt.attemptId}` };
        const report = statusReport(connectionId, about, kind as 'sent');
        await database.transaction(() => applyStatusReports([report], database, factsOf(database)));
      }
    }
    const { states } = await LimitBook.look(again, database);
    const of = (limit: string) => states.find((state) => state.kind === limit)?.used;
    expect({
      messages: of('messages_per_day'),
      week: of('marketing_per_recipient_per_week'),
      spend: of('spend_per_month'),
    }).toEqual(expected);
  });
});
