import { claimRequest } from '../../../../test/support/claim-request.js';
import { CodeRows, GIVEN_BACK, RESERVED, type MadeCode } from '../../../../test/otp/code-rows.js';
import { openProxiedDatabase, type ProxiedDatabase } from '../../../../test/support/proxied-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import { loadConfig } from '../../../infrastructure/config/load-config.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { LostClaimError } from '../../../infrastructure/queue/lost-claims.js';
import { OtpDispatcher } from './otp.processor.js';
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
  const unused = null as never;
  const config = loadConfig({ env: {}, persistSecrets: false });
  const sending = new SendingRepository(database.proxied);
  dispatcher = new OtpDispatcher(sending, rows.packages, unused, unused, database.proxied, counters, config);
});

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
