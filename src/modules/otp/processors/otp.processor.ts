import { Processor } from '@nestjs/bullmq';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Deadline } from '../../../common/deadline.js';
import { describeError } from '../../../common/describe-error.js';
import { retry } from '../../../common/retry.js';
import { Signal } from '../../../common/signal.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Database } from '../../../infrastructure/database/database.js';
import type { ClaimRequest, LanePace, Claim } from '../../../infrastructure/queue/lane-grant.js';
import { inBatches } from '../../../infrastructure/queue/sweeps.js';
import { type LostClaimError, releaseLost } from '../../../infrastructure/queue/lost-claims.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { oneLane } from '../../../infrastructure/queue/due-lanes.js';
import { claimEach, type QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { SecretBox } from '../../../infrastructure/secrets/secret-box.js';
import { platformUrl } from '../../../infrastructure/whatsapp/connect-options.js';
import { CloudApiClient } from '../../../infrastructure/whatsapp/cloud-api-client.js';
import { buildMessageBody } from '../../../infrastructure/whatsapp/message-body.js';
import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import { isTokenRefused } from '../../../infrastructure/whatsapp/platform-result.js';
import { OtpPackagesService } from '../../billing/otp-packages.service.js';
import { codePlace } from '../otp-code.js';
import { OTP_LANE, OtpSenderService, type OtpSenderWithToken } from '../otp-sender.service.js';
import {
  HAS_WAITING,
  LEASE_MS,
  OVERDUE_SINCE,
  SendingRepository,
  type ClaimedCode,
  type CodeOutcome,
} from '../sending.repository.js';

export const OTP_QUEUE = 'otp';
const SWEEP_BATCH = 1_000;
/**
 * Limit of requests in flight, and of sockets. Separate from messages, so that these never use up the places for codes.
 */
const PLACES = 64;
// No request is written this close to the end of the lease: the sweep may be about to set `outcome_unknown`.
const LEASE_MARGIN_MS = 1_000;
const BURST_SECONDS = 0.25;
/** Short, because a code's user is waiting. */
const CLAIM_EVERY_MS = 8;
/** How long a code that was certainly not accepted is retried; its user is waiting. */
const TRY_FOR_MS = 5_000;
const FIRST_WAIT_MS = 100;
const RECORD_FOR_MS = 60_000;

/** A claimed code, and until when its request may still be written. */
export type CodeTask = ClaimedCode & { notAfter: Deadline };

/**
 * Sends claimed codes, each at once and at most once, and records the outcome. On separate sockets, so that a campaign
 * that uses up all others delays no code.
 */
@Injectable()
export class OtpDispatcher implements QueueKind<CodeTask>, OnApplicationShutdown {
  readonly name = 'otp';
  readonly maxPerLane = PLACES;
  private readonly logger = new Logger(OtpDispatcher.name);
  private readonly client: CloudApiClient;
  private stopping = false;
  private readonly stopped = new Signal();
  private lastProjectId: string | null = null;

  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    private readonly senders: OtpSenderService,
    private readonly secrets: SecretBox,
    private readonly database: Database,
    private readonly counters: Counters,
    { whatsapp }: Config,
  ) {
    this.client = new CloudApiClient({
      baseUrl: platformUrl(whatsapp),
      apiVersion: whatsapp.apiVersion,
      headersTimeoutMs: whatsapp.timeoutMs,
      connections: PLACES,
    });
  }

  /** From now on claimed codes are released if they are not sent yet, or WhatsApp defers them. */
  stop(): void {
    this.stopping = true;
    this.stopped.notify();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  async pace(): Promise<LanePace | null> {
    const sender = await this.senders.find();
    if (sender?.status !== 'connected') return null;
    const ratePerSecond = sender.throughputPerSecond;
    return { ratePerSecond, burstSeconds: Math.max(BURST_SECONDS, 1 / ratePerSecond) };
  }

  claim(requests: readonly ClaimRequest[]): Promise<(Claim<CodeTask> | Error)[]> {
    return claimEach(requests, (request) => this.claimLane(request));
  }

  private async claimLane(request: ClaimRequest): Promise<Claim<CodeTask>> {
    // Read before the statement, so that this process's deadline comes before the lease ends by the database's clock.
    const notAfter = Deadline.in(LEASE_MS - LEASE_MARGIN_MS);
    const { grant, items } = await this.sending.claim(request, this.lastProjectId);
    this.lastProjectId = items.at(-1)?.projectId ?? this.lastProjectId;
    return { grant, items: items.map((code) => ({ ...code, notAfter })) };
  }

  async releaseLost(lost: LostClaimError): Promise<void> {
    const count = await releaseLost(lost, {
      find: (attemptIds) => this.sending.findAttempts(attemptIds),
      release: (attemptId) => this.release(attemptId),
      forMs: LEASE_MS,
    });
    this.counters.increment('claims_taken_back', count);
  }

  async work(task: CodeTask): Promise<null> {
    const outcome = await this.send(task);
    await this.persist(task, () =>
      outcome === null ? this.release(task.attemptId) : this.record(task.attemptId, outcome),
    );
    return null;
  }

  /** Returns an unsent code to the queue; if its lease has ended, it still was not sent. */
  private async release(attemptId: string): Promise<void> {
    if (await this.sending.release(attemptId)) return;
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
    return this.tryToSend(sender, task, code);
  }

  /**
   * Retries while WhatsApp certainly did not accept the code and the user may be waiting; null: a stop leaves it to
   * another process.
   */
  private async tryToSend(sender: OtpSenderWithToken, task: CodeTask, code: string): Promise<CodeOutcome | null> {
    const { phoneNumberId, token, templateName } = sender;
    const { recipient: to, templateLanguage, attemptId } = task;
    const parameters = [{ type: 'text', text: code }];
    const content = {
      name: templateName,
      language: { code: templateLanguage },
      // An authentication template needs the code twice: for its text and for its button.
      components: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
    };
    const body = buildMessageBody({ to, type: 'template', content, callbackData: attemptId });
    const until = performance.now() + TRY_FOR_MS;
    const notAfter = Deadline.in(Math.min(TRY_FOR_MS, task.notAfter.msLeft));
    for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
      const outcome = await this.client.sendMessage({ phoneNumberId, token, body, notAfter });
      if (outcome.kind === 'accepted') return { kind: 'sent', metaMessageId: outcome.metaMessageId };
      if (outcome.kind === 'unknown') return { kind: 'unknown' };
      const pauseMs = Math.max(waitMs, outcome.retryAfterMs ?? 0);
      const mayGoAgain = mayBeTriedAgain(outcome);
      if (mayGoAgain && this.stopping) return null;
      if (!mayGoAgain || performance.now() + pauseMs > until) {
        if (isTokenRefused({ code: outcome.platformCode }))
          await this.senders.tokenRefused(sender).catch(() => undefined);
        return { kind: 'failed', error: outcome.category };
      }
      await this.stopped.wait(pauseMs);
      if (this.stopping) return null;
    }
  }

  private async record(attemptId: string, outcome: CodeOutcome): Promise<void> {
    await this.database.transaction(async () => this.packages.apply(await this.sending.record(attemptId, outcome)));
    this.counters.increment(`otp_${outcome.kind}`);
  }

  /** An outcome is never dropped because the database is away; after a minute the lease decides. */
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

/** Certainly not accepted, and a retry may succeed: the number's rate limit, maintenance, or nothing was written. */
function mayBeTriedAgain({ kind, category }: NotAcceptedOutcome): boolean {
  return (
    kind === 'deferred' || kind === 'recipient_deferred' || (kind === 'lane_paused' && category === 'rate_limited')
  );
}

/**
 * Sends codes like the send processor does messages, but with separate queue, lane, slots and sockets, so that no
 * campaign delays a code. A code with an unknown outcome is never sent again.
 */
@Processor(OTP_QUEUE, QUEUE_WORKER_OPTIONS)
export class OtpProcessor extends QueueProcessor<CodeTask> {
  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    dispatcher: OtpDispatcher,
    private readonly database: Database,
    parts: QueueParts,
  ) {
    super(
      {
        kind: dispatcher,
        maxInFlight: PLACES,
        claimEveryMs: CLAIM_EVERY_MS,
        dueLanes: oneLane(parts.database, OTP_LANE, () => HAS_WAITING),
        // A queued code is due at once; a number's next code is not, and neither are its next guesses.
        waitsFor: [
          { table: 'otp_recipient', column: 'last_sent_at' },
          { table: 'otp_recipient', column: 'refilled_at' },
          { table: 'otp_recipient', column: 'failures_since' },
        ],
        leftAtStop: (count) => `${count} codes had no answer when Herald stopped; their outcome will be unknown`,
      },
      parts,
    );
    const mostAhead = `${LEASE_MS / 1_000}`;
    parts.sweeps.add({
      name: 'otp_leases',
      everyMs: 1_000,
      waitsFor: [{ table: 'otp_challenge', column: 'lease_until', where: 'lease_until is not null', mostAhead }],
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.sending.expireLeases(limit)),
    });
    parts.sweeps.add({
      name: 'otp_overdue',
      everyMs: 2_000,
      dueSince: OVERDUE_SINCE,
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.endOverdue(limit)),
    });
  }

  private endOverdue(limit: number): Promise<number> {
    return this.database.transaction(async () => {
      const { ended, moves } = await this.sending.endOverdue(limit);
      await this.packages.apply(moves);
      return ended;
    });
  }
}
