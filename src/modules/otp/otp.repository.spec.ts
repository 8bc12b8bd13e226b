import { CodeRows, type MadeCode } from '../../../test/otp/code-rows.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import { OtpRepository, looksLikeGuessing } from './otp.repository.js';
import type { ChallengeRef } from './otp.types.js';

let opened: OpenTestDatabase;
let rows: CodeRows;
let challenges: OtpRepository;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  challenges = new OtpRepository(opened.database);
});
afterAll(() => opened.close());

beforeEach(async () => {
  rows = await CodeRows.project(opened.database);
});

const NUMBER = '4915112345678';
const ref = ({ id }: MadeCode): ChallengeRef => ({
  organizationId: rows.organizationId,
  projectId: rows.projectId,
  id,
});
const admitSend = (recipient = NUMBER, projectId = rows.projectId) =>
  challenges.admitSend({ organizationId: rows.organizationId, projectId, recipient });
const atOnce = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_each, n) => work(n)));
const admitted = (answers: readonly unknown[]) => answers.filter((answer) => answer !== null).length;
const recipientRow = async () =>
  (
    await opened.database.query<{ failures: number; tokens: number }>(
      'select * from otp_recipient where project_id = $1',
      [rows.projectId],
    )
  )[0];
/** Lets time pass for the number. */
const age = (seconds: number) =>
  opened.database.execute(
    `update otp_recipient set last_sent_at = last_sent_at - make_interval(secs => $2),
       refilled_at = refilled_at - make_interval(secs => $2), failures_since = failures_since - make_interval(secs => $2)
     where project_id = $1`,
    [rows.projectId, seconds],
  );

async function sent(status: Parameters<CodeRows['make']>[0] = 'sent'): Promise<MadeCode> {
  await admitSend();
  return rows.make(status, NUMBER);
}

describe('guesses', () => {
  it('of many at once five are admitted, and each is burnt from the number’s budget', async () => {
    const code = await sent();
    expect(admitted(await atOnce(40, () => challenges.admitGuess(ref(code))))).toBe(5);
    expect(await rows.row(code)).toMatchObject({ attempts: 5 });
    expect(await recipientRow()).toMatchObject({ failures: 5 });
    expect(await challenges.refusalOf(ref(code))).toBe('exhausted');
  });

  it('at six codes of one number end at twenty in a day, whatever happens at once', async () => {
    await admitSend();
    const codes = await atOnce(6, () => rows.make('sent', NUMBER));
    const answers = await atOnce(60, (n) => challenges.admitGuess(ref(codes[n % 6] ?? codes[0] ?? fail())));
    expect(admitted(answers)).toBe(20);
    expect(await admitSend()).toEqual({ hold: 'too_many_wrong_codes', seconds: expect.closeTo(86_400, -3) });
    await age(86_400);
    expect(await admitSend()).toBeNull();
    expect(await challenges.admitGuess(ref(await rows.make('sent', NUMBER)))).not.toBeNull();
    expect(await recipientRow()).toMatchObject({ failures: 1 });
  });

  it('a right one gives its share of the budget back', async () => {
    const code = await sent();
    await challenges.admitGuess(ref(code));
    await challenges.refundGuess(ref(code));
    expect(await recipientRow()).toMatchObject({ failures: 0 });
  });

  it.each(['queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read'] as const)(
    'are admitted while it is %s, and of right ones at once one succeeds',
    async (status) => {
      const code = await sent(status);
      expect(await challenges.admitGuess(ref(code))).not.toBeNull();
      expect(admitted(await atOnce(8, () => challenges.consume(ref(code))))).toBe(1);
      expect(await rows.row(code)).toMatchObject({ status: 'verified', code_ciphertext: null });
      expect(await challenges.refusalOf(ref(code))).toBe('used');
    },
  );

  it.each(['verified', 'failed', 'expired'] as const)('are not admitted once it is %s', async (status) => {
    const code = await sent(status);
    expect(await challenges.admitGuess(ref(code))).toBeNull();
    expect(await challenges.consume(ref(code))).toBeNull();
    expect(await rows.row(code)).toMatchObject({ attempts: 0, status });
  });

  it('end with its time, also between the guess and the success', async () => {
    const code = await sent();
    expect(await challenges.admitGuess(ref(code))).not.toBeNull();
    await opened.database.execute(
      `update otp_challenge set expires_at = clock_timestamp() - interval '1 millisecond' where id = $1`,
      [code.id],
    );
    expect(await challenges.consume(ref(code))).toBeNull();
    expect(await challenges.admitGuess(ref(code))).toBeNull();
    expect(await challenges.refusalOf(ref(code))).toBe('expired');
  });

  it('a newer code and a right guess at once: one of the two wins, and nothing is between', async () => {
    for (let round = 0; round < 10; round++) {
      const code = await rows.make('sent', `49151999000${round}`);
      await admitSend(code.recipient);
      await challenges.admitGuess(ref(code));
      const [verified] = await Promise.all([challenges.consume(ref(code)), rows.supersede(code)]);
      expect(await rows.statusOf(code)).toBe(verified === null ? 'expired' : 'verified');
    }
  });

  it('know nothing of another project’s code, nor of a code without one', async () => {
    const code = await sent();
    const foreign = { ...ref(code), projectId: newId() };
    for (const other of [foreign, { ...ref(code), organizationId: newId() }, { ...ref(code), id: newId() }]) {
      expect(await challenges.admitGuess(other)).toBeNull();
      expect(await challenges.consume(other)).toBeNull();
      expect(await challenges.refusalOf(other)).toBe('unknown');
    }
    expect(await rows.row(code)).toMatchObject({ attempts: 0, status: 'sent' });
  });
});

describe('sends to a number', () => {
  it('of many at once one is admitted, and the others get the time to wait', async () => {
    const answers = await atOnce(20, () => admitSend());
    expect(answers.filter((held) => held === null)).toHaveLength(1);
    for (const held of answers) {
      if (held !== null) expect(held).toEqual({ hold: 'resend_interval', seconds: expect.closeTo(60, -1) });
    }
  });

  it('come at most five times in a row, then every two minutes', async () => {
    for (let n = 0; n < 5; n++) {
      expect(await admitSend()).toBeNull();
      await opened.database.execute(
        `update otp_recipient set last_sent_at = last_sent_at - interval '1 minute' where project_id = $1`,
        [rows.projectId],
      );
    }
    expect(await admitSend()).toEqual({ hold: 'too_many_codes', seconds: expect.closeTo(120, -2) });
    await age(120);
    expect(await admitSend()).toBeNull();
    expect(await admitSend()).not.toBeNull();
  });

  it('of one project leave another project’s alone', async () => {
    await admitSend();
    expect(await admitSend(NUMBER, newId())).toBeNull();
  });
});

describe('the alarm on guessing', () => {
  const count = (isRight: boolean, projectId = rows.projectId) =>
    challenges.count({ organizationId: rows.organizationId, projectId }, isRight);

  it('counts right and wrong codes for an hour, of one project', async () => {
    await count(false);
    await count(true);
    expect(await count(false, newId())).toEqual({ right: 0, wrong: 0 });
    expect(await count(false)).toEqual({ right: 1, wrong: 2 });
    await opened.database.execute(
      `update otp_project set guesses_since = guesses_since - interval '1 hour' where id = $1`,
      [rows.projectId],
    );
    expect(await count(true)).toEqual({ right: 1, wrong: 0 });
  });

  it.each([
    [{ right: 0, wrong: 100 }, true],
    [{ right: 1, wrong: 100 }, true],
    [{ right: 200, wrong: 100 }, true],
    // People mistype: so many right ones are a busy hour.
    [{ right: 201, wrong: 100 }, false],
    [{ right: 5, wrong: 99 }, false],
    [{ right: 5, wrong: 101 }, false],
    [{ right: 5, wrong: 200 }, true],
    [{ right: 0, wrong: 0 }, false],
  ])('%p: %p', (counted, alarm) => expect(looksLikeGuessing(counted)).toBe(alarm));
});

function fail(): never {
  throw new Error('there is no code');
}
