import { describeError } from '../../common/describe-error.js';
import { Injectable, Logger } from '@nestjs/common';
import { retry } from '../../common/retry.js';
import { Database } from '../../infrastructure/database/database.js';
import type { Claim, ClaimRequest, LaneHandler, LanePace } from '../../infrastructure/lanes/lane-handler.js';
import { LostClaimError, takeBack } from '../../infrastructure/lanes/lost-claims.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';
import { isTokenRefused } from '../../infrastructure/whatsapp/platform-result.js';
import { OtpPackagesService } from '../billing/otp-packages.service.js';
import { codePlace } from './otp-code-place.js';
import { OtpPlatform } from './otp-platform.js';
import { OtpSenderService, type OtpSenderWithToken } from './otp-sender.service.js';
import { LEASE_MS, SendingRepository, type ClaimedCode, type CodeOutcome } from './sending.repository.js';

/** A claimed code, and until when (monotonic ms) its request may still be written. */
export type CodeTask = ClaimedCode & { notAfter: number };

// Nothing is written in the lease's last moments: by then the sweep may be about to call the outcome unknown.
const LEASE_MARGIN_MS = 1_000;
const BURST_SECONDS = 0.25;
/** How long a code is tried that surely was not taken; its user waits before the screen. */
const TRY_FOR_MS = 5_000;
const FIRST_WAIT_MS = 100;
const RECORD_FOR_MS = 60_000;

/** Sends claimed codes, each at once and at most once, and records what came of it. */
@Injectable()
export class OtpDispatcher implements LaneHandler<CodeTask> {
  readonly name = 'otp';
  readonly maxInFlightPerLane = 64;
  private readonly logger = new Logger(OtpDispatcher.name);
  private stopping = false;
  private lastProjectId: string | null = null;

  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    private readonly senders: OtpSenderService,
    private readonly platform: OtpPlatform,
    private readonly secrets: SecretBox,
    private readonly database: Database,
    private readonly counters: Counters,
  ) {}

  /** From now on claimed codes that are not on the wire yet go back. */
  stop(): void {
    this.stopping = true;
  }

  async pace(): Promise<LanePace | null> {
    const sender = await this.senders.find();
    if (sender?.status !== 'connected') return null;
    const ratePerSecond = sender.throughputPerSecond;
    return { ratePerSecond, burstSeconds: Math.max(BURST_SECONDS, 1 / ratePerSecond) };
  }

  async claim(request: ClaimRequest): Promise<Claim<CodeTask>> {
    // Taken before the statement, so that it ends before the lease does by the database's clock.
    const notAfter = performance.now() + LEASE_MS - LEASE_MARGIN_MS;
    const { hold, items } = await this.sending.claim(request, this.lastProjectId).catch((error: unknown) => {
      if (error instanceof LostClaimError) void this.takeBack(error);
      throw error;
    });
    this.lastProjectId = items.at(-1)?.projectId ?? this.lastProjectId;
    return { hold, items: items.map((code) => ({ ...code, notAfter })) };
  }

  /** Beside the lane, which goes on meanwhile. */
  private async takeBack(lost: LostClaimError): Promise<void> {
    const count = await takeBack(lost, {
      find: (attemptIds) => this.sending.findAttempts(attemptIds),
      putBack: (attemptId) => this.putBack(attemptId),
      forMs: LEASE_MS,
    });
    this.counters.increment('claims_taken_back', count);
  }

  async work(task: CodeTask): Promise<boolean> {
    const outcome = await this.send(task);
    await this.persist(task, () =>
      outcome === null ? this.putBack(task.attemptId) : this.record(task.attemptId, outcome),
    );
    return false;
  }

  /** What nobody wrote waits again; where its lease was over first, it was not sent all the same. */
  private async putBack(attemptId: string): Promise<void> {
    if (await this.sending.putBack(attemptId)) return;
    await this.record(attemptId, { kind: 'failed', error: 'platform_unavailable' });
  }

  private async send(task: CodeTask): Promise<CodeOutcome | null> {
    const sender = await this.senders.find().catch(() => null);
    if (this.stopping || sender?.status !== 'connected') return null;
    let code: string;
    try {
      code = this.secrets.open(task.codeCiphertext, codePlace(task.organizationId, task.id));
    } catch (error) {
      this.logger.error(`challenge ${task.id}: its code could not be decrypted: ${describeError(error)}`);
      return { kind: 'failed', error: 'unknown' };
    }
    return this.tryFor(TRY_FOR_MS, sender, task, code);
  }

  /** Tries again what was surely not taken, for as long as the user may be waiting. */
  private async tryFor(ms: number, sender: OtpSenderWithToken, task: CodeTask, code: string): Promise<CodeOutcome> {
    const until = performance.now() + ms;
    const notAfter = Math.min(until, task.notAfter);
    const { recipient: to, templateLanguage: language, attemptId } = task;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
      const outcome = await this.platform.send(sender, { to, code, language, attemptId }, notAfter);
      if (outcome.kind === 'accepted') return { kind: 'sent', metaMessageId: outcome.metaMessageId };
      if (outcome.kind === 'unknown') return { kind: 'unknown' };
      const pauseMs = Math.max(waitMs, outcome.retryAfterMs ?? 0);
      if (!mayBeTriedAgain(outcome) || this.stopping || performance.now() + pauseMs > until) {
        if (isTokenRefused({ code: outcome.platformCode }))
          await this.senders.tokenRefused(sender).catch(() => undefined);
        return { kind: 'failed', error: outcome.category };
      }
      await new Promise((resolve) => {
        setTimeout(resolve, pauseMs);
      });
    }
  }

  private async record(attemptId: string, outcome: CodeOutcome): Promise<void> {
    await this.database.transaction(async () => {
      const move = await this.sending.record(attemptId, outcome);
      if (move !== null) await this.packages.apply([move]);
    });
    this.counters.increment(`otp_${outcome.kind}`);
  }

  /** An outcome is not dropped for a database that is away; after a minute the lease decides. */
  private async persist(task: CodeTask, work: () => Promise<void>): Promise<void> {
    try {
      await retry(work, {
        forMs: RECORD_FOR_MS,
        onFailure: () => this.counters.increment('otp_record_failed'),
      });
    } catch (error) {
      this.logger.error(`challenge ${task.id}: its outcome could not be stored: ${describeError(error)}`);
    }
  }
}

/** Surely not taken, and another try may do better: too fast for the number, in maintenance, or nothing was written. */
function mayBeTriedAgain({ kind, category }: NotAcceptedOutcome): boolean {
  return (
    kind === 'deferred' || kind === 'recipient_deferred' || (kind === 'lane_paused' && category === 'rate_limited')
  );
}
