import { claimRequest } from '../support/claim-request.js';
import type { Type } from '@nestjs/common';
import fc from 'fast-check';
import { OtpSenderService } from '../../src/modules/otp/otp-sender.service.js';
import { OtpService, type OtpCaller } from '../../src/modules/otp/otp.service.js';
import { codePlace } from '../../src/modules/otp/otp-code.js';
import { SendingRepository } from '../../src/modules/otp/sending.repository.js';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { newId } from '../../src/common/ids.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import { runs } from '../support/runs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { otpApp } from './fixture.js';

const LANE = 'otp';
const OWNER = newId();
const LIMIT = 6;
const NUMBERS = ['+4915112340019', '+4915112340029', '+4915112340039'];

const STEPS = ['send', 'claim', 'taken', 'refused', 'unclear', 'release', 'lease', 'sweep', 'expire', 'age'] as const;
const REPORTS = ['sent', 'delivered', 'read', 'failed'] as const;
type Step =
  | { kind: (typeof STEPS)[number]; n: number }
  | { kind: 'report'; status: (typeof REPORTS)[number]; n: number }
  | { kind: 'verify'; right: boolean; n: number };

// Few, so that much happens to the same code.
const n = fc.nat({ max: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constantFrom(...STEPS), n }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send' as const), n }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('report' as const), status: fc.constantFrom(...REPORTS), n }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('verify' as const), right: fc.boolean(), n }) },
);
const OPENING: Step[][] = [
  [0, 1, 2].map((number) => ({ kind: 'send', n: number })),
  [{ kind: 'claim', n: 0 }],
  [{ kind: 'claim', n: 0 }],
];
/** Each inner list happens at once. */
const histories = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 5, maxLength: 14 });

interface Row {
  id: string;
  status: string;
  attempts: number;
  attempt_id: string;
  code_ciphertext: Buffer | null;
  package_used: boolean;
  released_at: Date | null;
  created_at: Date;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
}

const RANKS: Record<string, number> = {
  queued: 0,
  sending: 1,
  outcome_unknown: 2,
  sent: 3,
  delivered: 4,
  read: 5,
  failed: 6,
  expired: 6,
  verified: 6,
};

describe('whatever happens to codes, and in what order', () => {
  let test: TestApp;

  beforeAll(async () => {
    // No worker: what it does is done by hand here, at moments of our choosing.
    test = await startTestApp({ roles: ['api'], env: { DATABASE_POOL_SIZE: '8' } });
    await test.app.get(OtpSenderService).set({
      phoneNumberId: '1',
      phoneNumber: null,
      templateName: 'login_code',
      token: 'token',
    });
  });
  afterAll(async () => test?.stop());

  it('counts are right, states go on, a code is claimed once and verified once', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (batches) => {
        const world = await World.make(test);
        for (const batch of [...OPENING, ...batches]) {
          await Promise.all(batch.map((each) => world.play(each)));
          await world.check();
        }
      }),
      { numRuns: runs(30), endOnFailure: true },
    );
  }, 900_000);
});

/** One project, what was done to its codes, and what must hold after every step. */
class World {
  private readonly codes = new Map<string, string>();
  private readonly claimed: string[] = [];
  private readonly claims = new Map<string, number>();
  private readonly successes = new Map<string, number>();
  private readonly ranks = new Map<string, number>();

  private constructor(
    private readonly test: TestApp,
    private readonly caller: OtpCaller,
    private readonly projectId: string,
  ) {}

  static async make(test: TestApp): Promise<World> {
    await test.database.execute(`update otp_challenge set status = 'expired' where status in ('queued', 'sending')`);
    const { project } = await otpApp(test, 'live', { packages: { DE: LIMIT } });
    const { id, mode, organizationId } = project;
    return new World(test, { organizationId, otpProject: { id, mode } }, id);
  }

  async play(step: Step): Promise<void> {
    switch (step.kind) {
      case 'send':
        return this.send(step.n);
      case 'claim':
        return this.claim();
      case 'taken':
        return this.answer(step.n, { kind: 'sent', metaMessageId: `wamid.${step.n}` });
      case 'refused':
        return this.answer(step.n, { kind: 'failed', error: 'invalid_content' });
      case 'unclear':
        return this.answer(step.n, { kind: 'unknown' });
      case 'release':
        return this.release(step.n);
      case 'lease':
        await this.change(`lease_until = clock_timestamp() - interval '1 second'`, `status = 'sending'`);
        await this.service(SendingRepository).expireLeases(100);
        return;
      case 'sweep':
        await this.service(Sweeps).runNow('otp_overdue');
        return;
      case 'expire':
        return this.change(`expires_at = clock_timestamp() - interval '1 millisecond'`, `id = '${this.pick(step.n)}'`);
      case 'age':
        return this.change(`created_at = created_at - interval '31 seconds'`, `id = '${this.pick(step.n)}'`);
      case 'report':
        return this.report(step.n, step.status);
      case 'verify':
        return this.verify(step.n, step.right);
    }
  }

  /** What holds between any two steps. */
  async check(): Promise<void> {
    const rows = await this.rows();
    const open = rows.filter(({ released_at: released }) => released === null);
    const used = open.filter((row) => row.package_used).length;
    const { organizationId } = this.caller;
    const [counts] = await this.service(OtpPackagesService).list(organizationId, this.projectId);
    expect({ reserved: counts?.reserved ?? 0, used: counts?.used ?? 0 }).toEqual({
      reserved: open.length - used,
      used,
    });
    expect(open.length).toBeLessThanOrEqual(LIMIT);
    for (const row of rows) {
      const { id, status } = row;
      const rank = RANKS[status] ?? -1;
      // Put back is the one way that leads back.
      expect(rank).toBeGreaterThanOrEqual(status === 'queued' ? 0 : (this.ranks.get(id) ?? 0));
      if (status === 'queued') expect(this.ranks.get(id) ?? 0).toBeLessThanOrEqual(1);
      if (this.ranks.get(id) === 6) expect(status).toBe(this.finals.get(id));
      this.ranks.set(id, rank);
      if (rank === 6) this.finals.set(id, status);
      expect(row.attempts).toBeLessThanOrEqual(5);
      expect(this.successes.get(id) ?? 0).toBe(status === 'verified' ? 1 : 0);
      expect(row.code_ciphertext === null).toBe(rank >= 2);
      const times = [row.sent_at, row.delivered_at, row.read_at].filter((at) => at !== null).map((at) => at.getTime());
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }
    for (const times of this.claims.values()) expect(times).toBe(1);
  }

  private readonly finals = new Map<string, string>();

  private async send(number: number): Promise<void> {
    await this.test.database.execute(
      `update otp_recipient set last_sent_at = last_sent_at - interval '2 minutes', tokens = 5, failures = 0
       where project_id = $1`,
      [this.projectId],
    );
    const request = { to: NUMBERS[number % NUMBERS.length] ?? '', channel: 'whatsapp', ttl: 300 } as const;
    const { challenge } = await this.service(OtpService)
      .send(this.caller, newId(), request)
      .catch((error: { code?: string }) => {
        if (error.code === 'OTP_PACKAGE_EXHAUSTED' || error.code === 'OTP_RESEND_TOO_SOON') return { challenge: null };
        throw error;
      });
    if (challenge === null) return;
    const [row] = await this.rows(challenge.id);
    const place = codePlace(this.caller.organizationId, challenge.id);
    // It may have ended already.
    const sealed = row?.code_ciphertext ?? null;
    this.codes.set(challenge.id, sealed === null ? 'none' : this.service(SecretBox).open(sealed, place));
  }

  private async claim(): Promise<void> {
    await this.service(LaneRepository).ensure(LANE);
    const claim = await this.service(SendingRepository).claim(claimRequest(LANE, OWNER, 2), null);
    for (const { attemptId } of claim.items) {
      this.claimed.push(attemptId);
      this.claims.set(attemptId, (this.claims.get(attemptId) ?? 0) + 1);
    }
  }

  private async answer(number: number, outcome: Parameters<SendingRepository['record']>[1]): Promise<void> {
    const attemptId = this.claimed[number % this.claimed.length];
    if (attemptId === undefined) return;
    await this.test.database.transaction(async () => {
      const moves = await this.service(SendingRepository).record(attemptId, outcome);
      await this.service(OtpPackagesService).apply(moves);
    });
  }

  private async release(number: number): Promise<void> {
    const attemptId = this.claimed[number % this.claimed.length];
    if (attemptId !== undefined) await this.service(SendingRepository).release(attemptId);
  }

  private async report(number: number, status: (typeof REPORTS)[number]): Promise<void> {
    const attemptId = this.claimed[number % this.claimed.length];
    if (attemptId === undefined) return;
    const report = { status, metaMessageId: `wamid.${attemptId}`, callbackData: attemptId, error: { code: 131026 } };
    await this.test.database.transaction(() =>
      this.service(OtpService).applyReports([{ ...report, occurredAt: new Date() }]),
    );
  }

  private async verify(number: number, right: boolean): Promise<void> {
    const id = this.pick(number);
    const code = this.codes.get(id);
    if (code === undefined || code === 'none') return;
    const guess = right ? code : String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const verified = await this.service(OtpService)
      .verify(this.caller, id, guess)
      .catch((error: { code?: string }) => {
        if (error.code?.startsWith('OTP_') === true) return null;
        throw error;
      });
    if (verified === null) return;
    expect([verified.status, right]).toEqual(['verified', true]);
    this.successes.set(id, (this.successes.get(id) ?? 0) + 1);
  }

  private pick(number: number): string {
    const ids = [...this.codes.keys()];
    return ids[number % ids.length] ?? newId();
  }

  private async change(what: string, which: string): Promise<void> {
    await this.test.database.execute(`update otp_challenge set ${what} where project_id = $1 and ${which}`, [
      this.projectId,
    ]);
  }

  private rows(id: string | null = null): Promise<Row[]> {
    return this.test.database.query<Row & Record<string, unknown>>(
      'select * from otp_challenge where project_id = $1 and ($2::uuid is null or id = $2)',
      [this.projectId, id],
    );
  }

  private service<T>(type: Type<T>): T {
    return this.test.app.get<T>(type);
  }
}
