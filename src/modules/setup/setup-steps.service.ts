import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { databaseClock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { Audit } from '../audit/audit.service.js';
import { ConnectionCheckService } from '../connections/connection-check.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { HistoryImportService } from '../inbound/history-import.service.js';
import { MessagesService } from '../messages/messages.service.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { NumberPinsService } from './number-pins.service.js';
import { type PlatformCall, problem, type ProblemCode, problemOf } from './setup-problems.js';
import { setupErrors } from './setup.errors.js';
import { accessTokenPlace, digestOf } from './setup-links.service.js';
import { SetupRepository, type StoredLink } from './setup.repository.js';
import { LATER_STEPS, type SetupProblem, type SetupStep, statusOf, stepsOf } from './setup.types.js';
import { SignupPlatform } from './signup-platform.js';
import type { PlatformFailure, PlatformResult } from '../../infrastructure/whatsapp/platform-result.js';

/** The page's input for a step. */
export interface StepInput {
  /** Of the dialog. */
  code?: string;
  /** Pasted. */
  accessToken?: string;
  wabaId?: string;
  phoneNumberId?: string;
  pin?: string;
  /** The recipient of the test message: digits. */
  to?: string;
  /** Proves that this page completed the link. */
  continuation?: string;
}

/** More than all calls of a step take together. */
const STEP_SECONDS = 120;
const CONTINUATION_MS = 3_600_000;
const TEST_TEMPLATE = { name: 'hello_world', language: { code: 'en_US' } };

/** A failed step, with the problem shown to the business. */
class StepFailed extends Error {
  constructor(readonly problem: SetupProblem) {
    super(problem.code);
  }
}

/**
 * Connects a number step by step, each repeatable alone: access to the account, its notifications, the registration of
 * the number, and last the connection, which is stored as a whole. Results of steps are stored with the link, so that
 * closing the page loses nothing.
 */
@Injectable()
export class SetupStepsService {
  constructor(
    private readonly links: SetupRepository,
    private readonly pins: NumberPinsService,
    private readonly platform: SignupPlatform,
    private readonly numbers: ConnectionCheckService,
    private readonly connections: ConnectionsService,
    private readonly history: HistoryImportService,
    private readonly messages: MessagesService,
    private readonly workspaces: WorkspacesService,
    private readonly secrets: SecretBox,
    private readonly audit: Audit,
  ) {}

  /**
   * The link of a token.
   *
   * @throws SETUP_LINK_UNKNOWN (404).
   */
  async find(token: string): Promise<StoredLink> {
    const link = await this.links.findByToken(digestOf(token));
    const workspace = link === null ? null : await this.workspaces.findById(link.organizationId);
    if (link === null || workspace?.deletionRequestedAt !== null) throw setupErrors.SETUP_LINK_UNKNOWN();
    return link;
  }

  /** @throws SETUP_LINK_ENDED (410). */
  requireOpen(link: StoredLink): void {
    const status = statusOf(link, databaseClock.now());
    if (status !== 'open') throw setupErrors.SETUP_LINK_ENDED({ status });
  }

  async noteOpened(link: StoredLink): Promise<void> {
    if (link.openedAt === null) await this.links.noteOpened(link.id);
  }

  /**
   * Runs one step, and records its result.
   *
   * @returns a text that proves that the page completed the link; null for every other step.
   * @throws SETUP_LINK_ENDED (410), SETUP_STEP_BUSY, SETUP_STEP_EARLY (409).
   */
  async run(token: string, step: SetupStep, input: StepInput): Promise<string | null> {
    const { id } = this.requireTurn(await this.find(token), step, input);
    if (!(await this.links.begin(id, STEP_SECONDS))) throw setupErrors.SETUP_STEP_BUSY();
    try {
      // Read again, because another step may have ended just before this one began.
      return await this.take(step, this.requireTurn(await this.find(token), step, input), input);
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      await this.note(id, step, { state: 'failed', problem: error.problem, at: now() });
      return null;
    } finally {
      await this.links.end(id);
    }
  }

  /** Steps must run in order; optional ones only from the page that completed the link, for an hour. */
  private requireTurn(link: StoredLink, step: SetupStep, { continuation }: StepInput): StoredLink {
    const steps = stepsOf(link.signup);
    if (LATER_STEPS.includes(step) && steps.includes(step) && isContinuation(link, continuation)) return link;
    this.requireOpen(link);
    const place = steps.indexOf(step);
    const before = steps.slice(0, Math.max(place, 0)).find((each) => link.steps[each]?.state !== 'done');
    if (place === -1 || before !== undefined) throw setupErrors.SETUP_STEP_EARLY({ step, before: before ?? 'access' });
    return link;
  }

  private async take(step: SetupStep, link: StoredLink, input: StepInput): Promise<string | null> {
    switch (step) {
      case 'access':
        await this.gainAccess(link, input);
        return null;
      case 'subscribe':
        this.fail('subscribe', link, await this.platform.subscribe(link.wabaId ?? '', this.tokenOf(link)));
        break;
      case 'register':
        await this.register(link, input.pin ?? null);
        break;
      case 'connect':
        return this.connect(link);
      case 'history':
        await this.importHistory(link);
        break;
      case 'test':
        await this.sendTest(link, input.to ?? '');
        break;
    }
    await this.note(link.id, step, done());
    return null;
  }

  /** Reads a code or a token, and the account and number that it gives access to. */
  private async gainAccess(
    link: StoredLink,
    { code, accessToken, wabaId = '', phoneNumberId }: StepInput,
  ): Promise<void> {
    let token = accessToken ?? '';
    if (link.signup !== 'manual') {
      const exchanged = await this.platform.exchange(code ?? '');
      if (!exchanged.ok) throw new StepFailed(problemOf('exchange', link.signup, exchanged));
      token = exchanged.body;
    } else {
      await this.requireOwnApp(token);
    }
    this.fail('account', link, await this.platform.account(wabaId, token));
    const listed = await this.platform.numbersOf(wabaId, token);
    if (!listed.ok) throw new StepFailed(problemOf('account', link.signup, listed));
    // The dialog for a number in the app does not always return its id.
    const number = phoneNumberId ?? (listed.body.length === 1 ? listed.body[0] : undefined);
    if (number === undefined) throw failed('number_missing');
    const described = await this.platform.number(number, token);
    this.fail('number', link, described);
    if (!listed.body.includes(number) && !(await this.isInAccount(number, wabaId, token))) {
      throw failed('number_not_in_account');
    }
    await this.requireFree(link, number);
    const accessTokenCiphertext = this.secrets.seal(token, accessTokenPlace(link));
    // Earlier results, for another account or number, no longer count.
    await this.note(link.id, 'access', done(), {
      wabaId,
      phoneNumberId: number,
      accessTokenCiphertext,
      steps: {},
    });
  }

  /** @throws SETUP_LINK_ENDED (410) where the link was revoked while the step was taken. */
  private async note(...noted: Parameters<SetupRepository['note']>): Promise<void> {
    if (!(await this.links.note(...noted))) throw setupErrors.SETUP_LINK_ENDED({ status: 'revoked' });
  }

  /** Searches beyond the first hundred numbers of an account. */
  private async isInAccount(phoneNumberId: string, wabaId: string, token: string): Promise<boolean> {
    try {
      await this.numbers.check({ phoneNumberId, wabaId, token });
      return true;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  /** With another app's token, notifications would go to that app. */
  private async requireOwnApp(token: string): Promise<void> {
    const app = await this.platform.appOf(token);
    if (app === null || app.ok) return;
    // "The App_id in the input_token did not match the Viewing App".
    if (app.kind === 'rejected' && /did not match/i.test(app.message)) throw failed('other_app', app.message);
  }

  private async requireFree({ organizationId }: StoredLink, phoneNumberId: string): Promise<void> {
    try {
      await this.connections.requireFree(organizationId, phoneNumberId);
    } catch (error) {
      throw error instanceof AppError ? failed('number_taken') : error;
    }
  }

  /**
   * A number that already sends through the API needs no registration, and a wrong PIN would only use up its attempts.
   */
  private async register(link: StoredLink, given: string | null): Promise<void> {
    const { organizationId, phoneNumberId } = link;
    const [number, token] = [phoneNumberId ?? '', this.tokenOf(link)];
    const described = await this.platform.number(number, token);
    if (!described.ok) throw new StepFailed(problemOf('number', link.signup, described));
    const { status, platformType } = described.body;
    if (status === 'CONNECTED' && platformType === 'CLOUD_API') return;
    const pin = await this.pins.keep(organizationId, number, given);
    const answer = await this.platform.register(number, token, pin);
    if (answer.ok) return;
    const found = problemOf('register', link.signup, answer);
    if (found.code === 'pin_wrong') await this.pins.forget(organizationId, number);
    throw new StepFailed(found);
  }

  /**
   * Uses the same service as `herald connection add` and the admin API: it repeats all checks, and stores the number as
   * a whole.
   */
  private async connect(link: StoredLink): Promise<string> {
    const { organizationId } = link;
    const continuation = randomBytes(32).toString('base64url');
    try {
      const number = {
        organizationId,
        phoneNumberId: link.phoneNumberId ?? '',
        wabaId: link.wabaId ?? '',
        token: this.tokenOf(link),
      };
      await this.numbers.connect(number, (id) => this.complete(link, id, digestOf(continuation)));
      return continuation;
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'SETUP_LINK_ENDED') throw error;
      if (error.code === 'NUMBER_TAKEN') throw failed('number_taken');
      throw failed(error.kind === 'platform_unavailable' ? 'platform_away' : 'refused', error.message);
    }
  }

  /**
   * The only place where a link is completed, in the transaction that stores the number: a revoked link connects none.
   * The audit entry is the operators' event `setup.completed`.
   */
  private async complete(link: StoredLink, connectionId: string, continuationHash: Buffer): Promise<void> {
    const { id, organizationId, signup, phoneNumberId } = link;
    await this.note(id, 'connect', done());
    await this.links.complete(id, connectionId, continuationHash);
    const details = { signup, connection_id: connectionId, phone_number_id: phoneNumberId };
    await this.audit.record({ action: 'setup.completed', organizationId, target: id, details });
  }

  private async importHistory({ organizationId, connectionId }: StoredLink): Promise<void> {
    try {
      await this.history.request(organizationId, connectionId ?? '');
    } catch (error) {
      throw failed('history_refused', error instanceof Error ? error.message : null);
    }
  }

  /** Sent like any message of the workspace, with its limits and in its journal. */
  private async sendTest({ organizationId, connectionId }: StoredLink, recipient: string): Promise<void> {
    const { apiPaidUntil } = await this.workspaces.getById(organizationId);
    const content = { type: 'template', content: { ...TEST_TEMPLATE }, body: null, mediaObjectId: null };
    const message = { connectionId: connectionId ?? '', recipient, clientMessageId: null, replyToMessageId: null };
    try {
      await this.messages.send({ organizationId, apiPaidUntil, limited: true }, newId(), { ...message, ...content });
    } catch (error) {
      throw error instanceof AppError ? failed('test_refused', error.message) : error;
    }
  }

  private tokenOf(link: StoredLink): string {
    if (link.accessTokenCiphertext === null)
      throw setupErrors.SETUP_STEP_EARLY({ step: 'subscribe', before: 'access' });
    return this.secrets.open(link.accessTokenCiphertext, accessTokenPlace(link));
  }

  /** @throws StepFailed where WhatsApp refused it. */
  private fail(call: PlatformCall, { signup }: StoredLink, answer: PlatformResult<unknown> | PlatformFailure): void {
    if (!answer.ok) throw new StepFailed(problemOf(call, signup, answer));
  }
}

function failed(code: ProblemCode, platform: string | null = null): StepFailed {
  return new StepFailed(problem(code, platform));
}

function isContinuation({ completedAt, continuationHash }: StoredLink, given: string | undefined): boolean {
  if (completedAt === null || continuationHash === null || given === undefined) return false;
  if (databaseClock.now() - completedAt.getTime() > CONTINUATION_MS) return false;
  return timingSafeEqual(continuationHash, digestOf(given));
}

const now = (): string => databaseClock.date().toISOString();
const done = () => ({ state: 'done' as const, problem: null, at: now() });
