import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { AppError } from '../../common/app-error.js';
import { canonicalJson } from '../../common/json.js';
import { isUuid, newId } from '../../common/ids.js';
import { KeyedSlots } from '../../common/keyed-slots.js';
import type { Caller, OtpProjectOfKey } from '../keys/caller.decorator.js';
import { Database } from '../../infrastructure/database/database.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { classifyPlatformError } from '../../infrastructure/whatsapp/graph-error.js';
import { OtpPackagesService } from '../billing/otp-packages.service.js';
import {
  OtpRepository,
  type GuessCount,
  type GuessRefusal,
  looksLikeGuessing,
  type NewChallenge,
} from './otp.repository.js';
import type { SendOtpRequest } from './dto/otp.request.js';
import type { OtpChallengeResponse } from './dto/otp.response.js';
import { codePlace, OtpCodes } from './otp-code.js';
import { OtpProjectsService } from './otp-projects.service.js';
import { isTestNumber, readRecipient } from './otp-recipient.js';
import { OTP_LANE, OtpSenderService } from './otp-sender.service.js';
import { otpErrors } from './otp.errors.js';
import type { ChallengeRef, OtpStatusReport } from './otp.types.js';
import { OtpProcessor } from './processors/otp.processor.js';
import { SendingRepository } from './sending.repository.js';

/** The caller's properties that codes need. */
export type OtpCaller = Pick<Caller, 'organizationId' | 'otpProject'>;

/** A challenge, with `test_code` if it was just created in a sandbox project. */
export interface OtpSendResult {
  challenge: OtpChallengeResponse;
  /** The key was used for this request before; nothing was sent. */
  replayed: boolean;
}

/** Limits of concurrent guesses at one code. */
const GUESSES = { slots: 1, mostWaiting: 1_000, waitMs: 30_000 };

const REFUSALS: Readonly<Record<GuessRefusal, () => AppError>> = {
  // An unknown id and another project's id get the same answer: the code is wrong.
  unknown: otpErrors.OTP_CODE_INCORRECT,
  used: otpErrors.OTP_CODE_ALREADY_USED,
  exhausted: () => otpErrors.OTP_ATTEMPTS_EXHAUSTED({ rule: 'too_many_attempts' }),
  spent: () => otpErrors.OTP_ATTEMPTS_EXHAUSTED({ rule: 'too_many_wrong_codes' }),
  expired: otpErrors.OTP_CODE_EXPIRED,
};

/** Sends codes, verifies each once, and processes their status reports. */
@Injectable()
export class OtpService {
  private readonly logger = new Logger(OtpService.name);
  /** Guesses at one code wait for the lock of its row: queued here, they hold no connections. */
  private readonly turns = new KeyedSlots(GUESSES);

  constructor(
    private readonly challenges: OtpRepository,
    private readonly sending: SendingRepository,
    private readonly projects: OtpProjectsService,
    private readonly packages: OtpPackagesService,
    private readonly senders: OtpSenderService,
    private readonly codes: OtpCodes,
    private readonly secrets: SecretBox,
    private readonly database: Database,
    private readonly processor: OtpProcessor,
    private readonly counters: Counters,
  ) {}

  /**
   * Creates a code and accepts it for sending: it is durable when this resolves. In a sandbox nothing is sent.
   *
   * @param idempotencyKey one key stands for one code and never expires.
   * @throws OTP_PROJECT_REQUIRED (403), OTP_RECIPIENT_INVALID (400), IDEMPOTENCY_KEY_REUSED (409), and where the key is
   * still free OTP_SENDER_NOT_READY (409), OTP_RESEND_TOO_SOON (429), OTP_PACKAGE_REQUIRED, OTP_PACKAGE_EXHAUSTED
   * (402).
   */
  async send(caller: OtpCaller, idempotencyKey: string, request: SendOtpRequest): Promise<OtpSendResult> {
    const { organizationId } = caller;
    const { id: projectId } = requireProject(caller);
    const project = await this.projects.find(organizationId, projectId);
    if (project === null) throw otpErrors.OTP_PROJECT_REQUIRED();
    const { digits: number, account: recipient, country } = readRecipient(request.to, project.allowedCountries);
    const { channel = 'whatsapp', ttl } = request;
    const fingerprint = createHash('sha256')
      .update(canonicalJson({ channel, to: number, ttl }))
      .digest();
    const id = newId();
    const code = this.codes.newCode();
    const live = project.mode === 'live';
    const fresh: NewChallenge = {
      id,
      organizationId,
      projectId,
      mode: project.mode,
      recipient,
      number,
      country,
      idempotencyKey,
      fingerprint,
      code: this.codes.hash(code, { id, projectId }),
      codeCiphertext: live ? this.secrets.seal(code, codePlace(organizationId, id)) : null,
      attemptId: newId(),
      ttlSeconds: ttl,
      templateLanguage: project.templateLanguage,
    };
    // Queried before the transaction. Inside it, a request that waits for another's query would hold the connection
    // that this query needs.
    const ready = !live || (await this.senders.findReady()) !== null;
    const challenge = await this.database.transaction(() => this.accept(fresh, ready));
    if (challenge === null) return this.replay(fresh);
    this.counters.increment('otp_accepted');
    if (live) this.processor.wake(OTP_LANE);
    return { challenge: live ? challenge : { ...challenge, test_code: code }, replayed: false };
  }

  /**
   * Verifies a code, once.
   *
   * @throws OTP_PROJECT_REQUIRED (403); OTP_CODE_INCORRECT (400), also for an unknown id, or one of another project;
   * OTP_CODE_EXPIRED, OTP_CODE_ALREADY_USED, OTP_ATTEMPTS_EXHAUSTED (400).
   */
  async verify(caller: OtpCaller, id: string, code: string): Promise<OtpChallengeResponse> {
    const ref = refOf(caller, id);
    // One queue per project: guesses with another project's id neither delay it nor reveal that it exists.
    return this.turns.run(`${ref.projectId}/${id}`, () => this.guess(ref, code));
  }

  /** @throws OTP_PROJECT_REQUIRED (403), OTP_NOT_FOUND (404). */
  async getById(caller: OtpCaller, id: string): Promise<OtpChallengeResponse> {
    const challenge = await this.challenges.find(refOf(caller, id));
    if (challenge === null) throw otpErrors.OTP_NOT_FOUND();
    return challenge;
  }

  /** Whether codes are or were sent from this number. At most two seconds old. */
  async isSender(phoneNumberId: string): Promise<boolean> {
    const sender = await this.senders.find();
    return sender?.phoneNumberId === phoneNumberId || sender?.formerNumberIds.includes(phoneNumberId) === true;
  }

  /**
   * Applies WhatsApp's reports about codes in the ambient transaction; they may come twice, late and in any order.
   * Returns the reports that name a code, for `countReports`.
   */
  async applyReports(reports: readonly OtpStatusReport[]): Promise<Set<OtpStatusReport>> {
    if (reports.length === 0) return new Set();
    const results = await this.sending.applyReports(
      reports.map(({ callbackData, error, ...report }) => ({
        ...report,
        callbackData: isUuid(callbackData) ? callbackData.toLowerCase() : null,
        category: error === null || error.code === null ? 'unknown' : classifyPlatformError(error.code).category,
      })),
    );
    await this.packages.apply(results.flatMap((moves) => moves ?? []));
    return new Set(reports.filter((_report, index) => results[index] !== null));
  }

  /** Counts applied reports, after their commit. */
  countReports(reports: Iterable<OtpStatusReport>): void {
    for (const { status } of reports) this.counters.increment(`otp_reports_${status}`);
  }

  private async guess(ref: ChallengeRef, code: string): Promise<OtpChallengeResponse> {
    const stored = await this.challenges.admitGuess(ref);
    if (stored === null) {
      const refusal = await this.challenges.refusalOf(ref);
      // Guessing ids counts as guessing too; and it takes about as long as a wrong code.
      if (refusal === 'unknown') this.watch(ref, await this.challenges.count(ref, false));
      throw REFUSALS[refusal]();
    }
    if (!this.codes.matches(code, ref, stored)) {
      await this.noteWrong(ref);
      throw otpErrors.OTP_CODE_INCORRECT();
    }
    const verified = await this.challenges.consume(ref);
    if (verified === null) throw REFUSALS[await this.challenges.refusalOf(ref)]();
    this.counters.increment('otp_verified');
    await this.challenges.refundGuess(ref);
    await this.challenges.count(ref, true);
    return verified;
  }

  /** In one transaction: everything is stored, or the key stays free. null: the key is in use. */
  private async accept(fresh: NewChallenge, ready: boolean): Promise<OtpChallengeResponse | null> {
    const { organizationId, projectId, country } = fresh;
    const challenge = await this.challenges.insert(fresh);
    if (challenge === null) return null;
    const held = isTestNumber(fresh)
      ? await this.challenges.resetRecipient(fresh)
      : await this.challenges.admitSend(fresh);
    if (held !== null) throw otpErrors.OTP_RESEND_TOO_SOON({ hold: held.hold, retryAfterSeconds: held.seconds });
    await this.packages.apply(await this.challenges.supersede(fresh));
    if (fresh.mode === 'live') {
      const packageId = await this.packages.reserve(organizationId, projectId, country);
      if (packageId !== null) await this.challenges.setPackage(organizationId, challenge.id, packageId);
      if (!ready) throw otpErrors.OTP_SENDER_NOT_READY();
    }
    return challenge;
  }

  private async replay(fresh: NewChallenge): Promise<OtpSendResult> {
    const known = await this.challenges.findByKey(fresh);
    if (known?.fingerprint.equals(fresh.fingerprint) !== true) throw otpErrors.IDEMPOTENCY_KEY_REUSED();
    const { fingerprint: _, ...challenge } = known;
    // The fingerprint proves that it was this number.
    return { challenge: { ...challenge, recipient: known.recipient ?? fresh.number }, replayed: true };
  }

  private async noteWrong(ref: ChallengeRef): Promise<void> {
    this.counters.increment('otp_wrong');
    const count = await this.database.transaction(async () => {
      if (await this.challenges.noteWrong(ref)) await this.packages.apply(await this.sending.end(ref.id));
      return this.challenges.count(ref, false);
    });
    this.watch(ref, count);
  }

  private watch({ projectId }: ChallengeRef, count: GuessCount): void {
    if (!looksLikeGuessing(count)) return;
    this.counters.increment('otp_guessing_alarms');
    const { wrong, right } = count;
    this.logger.error(
      `OTP project ${projectId}: ${wrong} wrong and ${right} right codes within an hour; codes may be being guessed`,
    );
  }
}

function refOf(caller: OtpCaller, id: string): ChallengeRef {
  return { organizationId: caller.organizationId, projectId: requireProject(caller).id, id };
}

function requireProject({ otpProject }: OtpCaller): OtpProjectOfKey {
  if (otpProject === null) throw otpErrors.OTP_PROJECT_REQUIRED();
  return otpProject;
}
