import { jest } from '@jest/globals';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { CodeRows, GIVEN_BACK, RESERVED, type MadeCode } from '../../../../test/otp/code-rows.js';
import { openProxiedDatabase, type ProxiedDatabase } from '../../../../test/support/proxied-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import { loadConfig } from '../../../infrastructure/config/load-config.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { LostClaimError } from '../../../infrastructure/queue/lost-claims.js';
import type { SecretBox } from '../../../infrastructure/secrets/secret-box.js';
import { CloudApiClient } from '../../../infrastructure/whatsapp/cloud-api-client.js';
import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { OtpSenderService } from '../otp-sender.service.js';
import { OtpDispatcher, type CodeTask } from './otp.processor.js';
import { SendingRepository } from '../sending.repository.js';

const OWNER = newId();

let database: ProxiedDatabase;
let dispatcher: OtpDispatcher;
let counters: Counters;
let rows: CodeRows;

beforeAll(async () => {
  database = await openProxiedDatabase();
});

afterAll(() => database.close());

beforeEach(async () => {
  await database.direct.execute(`update otp_challenge set status = 'expired' where status in ('queued', 'sending')`);
  await database.direct.execute('delete from lane');
  rows = await CodeRows.project(database.direct);
  counters = new Counters();
  const sender = {
    status: 'connected',
    phoneNumberId: '1',
    token: 'token',
    templateName: 'code',
    throughputPerSecond: 80,
  };
  const senders = { find: () => Promise.resolve(sender) } as unknown as OtpSenderService;
  const secrets = { open: () => '123456' } as unknown as SecretBox;
  const config = loadConfig({ env: {}, persistSecrets: false });
  const sending = new SendingRepository(database.proxied);
  dispatcher = new OtpDispatcher(sending, rows.packages, senders, secrets, database.proxied, counters, config);
});
afterEach(() => jest.restoreAllMocks());

/** A code whose claim breaks before or after its commit; the database is away until the proxy inspects no more. */
async function lose(how: 'cut' | 'lose_answer'): Promise<MadeCode> {
  const made = await rows.make();
  await rows.lanes.ensure('otp');
  let lost = false;
  database.proxy.inspect = (bytes) => {
    if (lost) return 'cut';
    // The claim is a transaction: its commit is what may have happened or not.
    lost = bytes.includes(how === 'cut' ? '), project as (' : 'COMMIT');
    return lost ? how : 'pass';
  };
  const [error] = await dispatcher.claim([claimRequest('otp', OWNER, 1)]);
  expect(error).toBeInstanceOf(LostClaimError);
  void dispatcher.releaseLost(error as LostClaimError);
  return made;
}

it('a code whose claim was committed and whose answer was lost can be sent again', async () => {
  const made = await lose('lose_answer');
  expect(await rows.statusOf(made)).toBe('sending');
  database.proxy.inspect = null;
  await waitFor(async () => (await rows.statusOf(made)) === 'queued');
  const [again] = await rows.claim(1, null, OWNER);
  expect(again?.id).toBe(made.id);
  expect(await rows.counts()).toEqual(RESERVED);
});

it('a claim that was never committed changes nothing', async () => {
  const made = await lose('cut');
  database.proxy.inspect = null;
  expect(await rows.row(made)).toMatchObject({ status: 'queued', attempt_id: made.attemptId });
});

it('a code whose lease is over meanwhile has failed, and is given back', async () => {
  const made = await lose('lose_answer');
  await database.direct.execute(`update otp_challenge set lease_until = now() where id = $1`, [made.id]);
  expect(await rows.sending.expireLeases(10)).toBe(1);
  database.proxy.inspect = null;
  await waitFor(async () => (await rows.statusOf(made)) === 'failed');
  expect(await rows.counts()).toEqual(GIVEN_BACK);
});

describe('at a stop', () => {
  const NOT_NOW: NotAcceptedOutcome = {
    kind: 'recipient_deferred',
    httpStatus: 400,
    platformCode: 131056,
    platformMessage: 'Pair rate limit hit',
    category: 'rate_limited',
    traceId: null,
    // Almost as long as a code is tried.
    retryAfterMs: 4_000,
    written: true,
  };

  async function claimed(): Promise<CodeTask> {
    await rows.make();
    await rows.lanes.ensure('otp');
    const [claim] = await dispatcher.claim([claimRequest('otp', OWNER, 1)]);
    const [task] = claim instanceof Error ? [] : (claim?.items ?? []);
    if (task === undefined) throw new Error('no code was claimed');
    return task;
  }

  it('a code that WhatsApp does not take now goes back, for another process to send', async () => {
    const task = await claimed();
    const sent = jest.spyOn(CloudApiClient.prototype, 'sendMessage').mockImplementation(() => {
      dispatcher.stop();
      return Promise.resolve(NOT_NOW);
    });
    await dispatcher.work(task);
    expect(await rows.row(task)).toMatchObject({ status: 'queued', error: null, lease_until: null });
    expect(await rows.counts()).toEqual(RESERVED);
    expect(sent).toHaveBeenCalledTimes(1);
  });

  it('a code that waits for its next try goes back at once', async () => {
    const task = await claimed();
    const sent = jest.spyOn(CloudApiClient.prototype, 'sendMessage').mockResolvedValue(NOT_NOW);
    const work = dispatcher.work(task);
    await waitFor(() => sent.mock.calls.length > 0);
    dispatcher.stop();
    await work;
    expect(await rows.statusOf(task)).toBe('queued');
    expect(sent).toHaveBeenCalledTimes(1);
  });

  it('a code that WhatsApp refuses has failed', async () => {
    const task = await claimed();
    jest.spyOn(CloudApiClient.prototype, 'sendMessage').mockImplementation(() => {
      dispatcher.stop();
      return Promise.resolve({ ...NOT_NOW, kind: 'rejected', category: 'invalid_content' });
    });
    await dispatcher.work(task);
    expect(await rows.row(task)).toMatchObject({ status: 'failed', error: 'invalid_content' });
    expect(await rows.counts()).toEqual(GIVEN_BACK);
  });
});
