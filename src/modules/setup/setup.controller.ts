import { Body, Controller, Get, HttpCode, Param, type PipeTransform, Post, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AppError } from '../../common/app-error.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { Config } from '../../infrastructure/config/config.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { Public } from '../../infrastructure/http/route-policy.js';
import { GuessLimiter } from '../../infrastructure/rates/guess-limiter.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { RateLimiter, rateLimits } from '../../infrastructure/rates/rate-limiter.js';
import { signupDialog } from '../../infrastructure/whatsapp/signup-dialog.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { pageStateOf, type SetupPageState, SetupStepRequest } from './dto/setup-page.dto.js';
import { setupErrors } from './setup.errors.js';
import { SetupLinksService } from './setup-links.service.js';
import { SetupStepsService, type StepInput } from './setup-steps.service.js';
import type { StoredLink } from './setup.repository.js';
import { SETUP_STEPS, type SetupStep } from './setup.types.js';

const TOKEN = /^hrld_setup_[\w-]{43}$/;
/** Of one link: a page asks a few times a minute, and each step is a call of the platform. */
const LINK_LIMITS = rateLimits(1, 30);

const stepName: PipeTransform<string, SetupStep> = {
  transform(text) {
    const step = SETUP_STEPS.find((each) => each === text);
    if (step === undefined) throw commonErrors.ROUTE_NOT_FOUND();
    return step;
  },
};

/** What each first step can't do without. */
const NEEDED = { manual: ['access_token', 'waba_id', 'phone_number_id'], dialog: ['code', 'waba_id'] } as const;

/**
 * What the page of a setup link calls. The token in the path is the proof; a person who has it may connect one number. An unknown
 * token counts against the address that tries it.
 */
@Controller('setup/:token')
@Public()
@ApiExcludeController()
export class SetupController {
  private readonly guesses: GuessLimiter;

  constructor(
    private readonly steps: SetupStepsService,
    private readonly links: SetupLinksService,
    private readonly connections: ConnectionsService,
    private readonly workspaces: WorkspacesService,
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {
    this.guesses = new GuessLimiter(config.security.authFailuresPerMinute);
  }

  /**
   * How far the link is.
   *
   * @throws {404} SETUP_LINK_UNKNOWN; {410} SETUP_LINK_ENDED; {429} RATE_LIMITED.
   */
  @Get('state')
  async state(@Req() req: HeraldRequest, @Param('token') token: string): Promise<{ data: SetupPageState }> {
    const link = await this.admit(req, token);
    this.steps.requireOpen(link);
    await this.steps.noteOpened(link);
    return { data: await this.stateOf(link, null) };
  }

  /**
   * Takes one step; the answer says how it went.
   *
   * @throws {404} SETUP_LINK_UNKNOWN; {409} SETUP_STEP_BUSY, SETUP_STEP_EARLY; {410} SETUP_LINK_ENDED; {429} RATE_LIMITED.
   */
  @Post('steps/:step')
  @HttpCode(200)
  async take(
    @Req() req: HeraldRequest,
    @Param('token') token: string,
    @Param('step', stepName) step: SetupStep,
    @Body() body: SetupStepRequest,
  ): Promise<{ data: SetupPageState }> {
    const { signup } = await this.admit(req, token);
    requireFields(step, signup === 'manual' ? 'manual' : 'dialog', body);
    const continuation = await this.steps.run(token, step, inputOf(body));
    return { data: await this.stateOf(await this.steps.find(token), continuation) };
  }

  /** @throws SETUP_LINK_UNKNOWN (404), RATE_LIMITED (429). */
  private async admit(req: HeraldRequest, token: string): Promise<StoredLink> {
    try {
      if (!TOKEN.test(token)) throw setupErrors.SETUP_LINK_UNKNOWN();
      const link = await this.steps.find(token);
      req.setupLinkId = link.id;
      req.organizationId = link.organizationId;
      const decision = await this.limiter.take(`setup:${link.id}`, LINK_LIMITS);
      if (!decision.allowed) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: decision.resetSeconds });
      return link;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SETUP_LINK_UNKNOWN') throw error;
      const retryAfterSeconds = this.guesses.fail(req.ip ?? '');
      throw retryAfterSeconds === null ? error : ratesErrors.RATE_LIMITED({ retryAfterSeconds });
    }
  }

  private async stateOf(link: StoredLink, continuation: string | null): Promise<SetupPageState> {
    const { organizationId, connectionId, completedAt } = link;
    return pageStateOf(link, {
      workspace: (await this.workspaces.getById(organizationId)).name,
      dialog: signupDialog(this.config),
      returnUrl: this.links.returnTo(link, completedAt === null ? 'open' : 'completed'),
      connection: connectionId === null ? null : await this.connections.getById(organizationId, connectionId),
      continuation,
    });
  }
}

function requireFields(step: SetupStep, kind: keyof typeof NEEDED, body: SetupStepRequest): void {
  const needed = step === 'access' ? NEEDED[kind] : step === 'test' ? (['to'] as const) : [];
  const details = needed
    .filter((name) => body[name] === undefined)
    .map((name) => ({ field: name, rule: 'required', message: `${name} is missing.` }));
  if (details.length > 0) throw commonErrors.INVALID_REQUEST({ details });
  if (step === 'access' && body.access_token !== undefined && body.access_token.trim() === '') {
    throw invalidField('access_token', 'required', 'access_token is empty.');
  }
}

function inputOf(body: SetupStepRequest): StepInput {
  const { code, access_token: token, waba_id: wabaId, phone_number_id: phoneNumberId, pin, to, continuation } = body;
  return {
    ...(code !== undefined && { code }),
    ...(token !== undefined && { accessToken: token.trim() }),
    ...(wabaId !== undefined && { wabaId }),
    ...(phoneNumberId !== undefined && { phoneNumberId }),
    ...(pin !== undefined && { pin }),
    ...(to !== undefined && { to: to.replace('+', '') }),
    ...(continuation !== undefined && { continuation }),
  };
}
