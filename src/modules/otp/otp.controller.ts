import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { EXAMPLE_IDEMPOTENCY_KEY, EXAMPLE_OTP_ID } from '../../common/example-ids.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { RateLimiter } from '../../infrastructure/rates/rate-limiter.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { Config } from '../../infrastructure/config/config.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { SendOtpRequest, VerifyOtpRequest } from './dto/otp.request.js';
import {
  REPEATED_EXAMPLES,
  SingleOtpResponse,
  STATE_EXAMPLES,
  TAKEN_EXAMPLES,
  VERIFIED_EXAMPLES,
} from './dto/otp.response.js';
import { otpErrors } from './otp.errors.js';
import { OtpService } from './otp.service.js';

const KEY = /^[\x21-\x7e][\x20-\x7e]{6,126}[\x21-\x7e]$/;
const KEY_FORM = '8 to 128 printable ASCII characters';
/** Seconds of the rate that may be used up at once. */
const BURST_SECONDS = 5;
/** Keys of one project together, as a multiple of one key. */
const PROJECT_KEYS = 3;

const REPLAYED = {
  'Idempotency-Replayed': {
    description: '`true`: the key stood for this request already and nothing new was made.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

@ApiTags('One-time codes')
@Controller('otp')
export class OtpController {
  constructor(
    private readonly otp: OtpService,
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /**
   * Send a one-time code
   *
   * @remarks Makes a code of six digits and sends it over WhatsApp. It is valid for `ttl` seconds and five guesses, and
   * ends an older code for the same number. A sandbox project sends nothing and answers with `test_code`. A repeat with
   * the same Idempotency-Key and parameters answers 200 with the same challenge and sends nothing; a send whose outcome
   * is unknown is never repeated. The same number can be sent another code after 60 seconds.
   *
   * All calls about codes need a key of an OTP project; that of a workspace answers 403.
   */
  @Post('send')
  @HttpCode(202)
  @RequireScope('otp:send')
  @ApiHeader({
    name: 'Idempotency-Key',
    required: true,
    description: '8 to 128 printable ASCII characters, such as a UUID or `login 4711`; new for each code.',
    schema: { type: 'string', minLength: 8, maxLength: 128 },
    example: EXAMPLE_IDEMPOTENCY_KEY,
  })
  @ApiAcceptedResponse({ type: SingleOtpResponse, description: 'The code was taken.', examples: TAKEN_EXAMPLES })
  @ApiOkResponse({
    type: SingleOtpResponse,
    description: 'A repeat: the same challenge, without `test_code`.',
    headers: REPLAYED,
    examples: REPEATED_EXAMPLES,
  })
  @ApiErrors(
    'IDEMPOTENCY_KEY_REQUIRED',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'OTP_PROJECT_REQUIRED',
    'OTP_RECIPIENT_INVALID',
    'OTP_RESEND_TOO_SOON',
    'OTP_SENDER_NOT_READY',
    'OTP_PACKAGE_REQUIRED',
    'OTP_PACKAGE_EXHAUSTED',
  )
  async send(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: SendOtpRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SingleOtpResponse> {
    await this.limit('otp_send', caller, this.config.limits.otpSendsPerSecond);
    const { challenge, replayed } = await this.otp.send(
      caller,
      requiredKey(request.headersDistinct['idempotency-key']),
      body,
    );
    if (replayed) response.status(200).setHeader('Idempotency-Replayed', 'true');
    return { data: challenge };
  }

  /**
   * Verify a code
   *
   * @remarks Takes the `id` of the send and what the user typed; in a sandbox that is `test_code`. Succeeds once for each
   * code, and takes five guesses. A wrong code, an id that does not exist and one of another project answer
   * alike: `OTP_CODE_INCORRECT`.
   */
  @Post('verify')
  @HttpCode(200)
  @RequireScope('otp:verify')
  @ApiOkResponse({
    type: SingleOtpResponse,
    description: 'The code was right; the challenge is `verified`.',
    examples: VERIFIED_EXAMPLES,
  })
  @ApiErrors(
    'OTP_PROJECT_REQUIRED',
    'OTP_CODE_INCORRECT',
    'OTP_CODE_EXPIRED',
    'OTP_CODE_ALREADY_USED',
    'OTP_ATTEMPTS_EXHAUSTED',
  )
  async verify(@CurrentCaller() caller: Caller, @Body() body: VerifyOtpRequest): Promise<SingleOtpResponse> {
    await this.limit('otp_verify', caller, this.config.limits.otpVerifiesPerSecond);
    return { data: await this.otp.verify(caller, body.id.toLowerCase(), body.code) };
  }

  /**
   * Read the state of a code
   *
   * @remarks Reports whether the code was sent, delivered, read and verified; never the code itself.
   *
   * `verified` and `expired` end any state but `failed`.
   */
  @Get(':id')
  @RequireScope('otp:read')
  @ApiOkResponse({ type: SingleOtpResponse, description: 'The challenge.', examples: STATE_EXAMPLES })
  @ApiErrors('OTP_PROJECT_REQUIRED', 'OTP_NOT_FOUND')
  async get(
    @CurrentCaller() caller: Caller,
    @UuidParam('id', {
      malformed: otpErrors.OTP_NOT_FOUND,
      description: 'Id of the challenge, from POST /otp/send.',
      example: EXAMPLE_OTP_ID,
    })
    id: string,
  ): Promise<SingleOtpResponse> {
    return { data: await this.otp.getById(caller, id) };
  }

  /** Besides the key's own limit: by key, and by project for all its keys. @throws RATE_LIMITED (429). */
  private async limit(name: string, caller: Caller, ratePerSecond: number): Promise<void> {
    const { apiKeyId, otpProject } = caller;
    const buckets: [key: string, ratePerSecond: number][] = [[`${name}:${apiKeyId}`, ratePerSecond]];
    if (otpProject !== null) buckets.push([`${name}:${otpProject.id}`, ratePerSecond * PROJECT_KEYS]);
    for (const [key, rate] of buckets) {
      const decision = await this.limiter.take(key, { ratePerSecond: rate, burst: rate * BURST_SECONDS });
      if (!decision.allowed) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: decision.resetSeconds });
    }
  }
}

/** @param keys each header of that name: two would otherwise be joined into one key with a comma and a space. */
function requiredKey([key = '', ...others]: string[] = []): string {
  if (key === '' && others.length === 0) throw otpErrors.IDEMPOTENCY_KEY_REQUIRED({ form: KEY_FORM });
  if (others.length > 0 || !KEY.test(key)) throw otpErrors.IDEMPOTENCY_KEY_INVALID({ form: KEY_FORM });
  return key;
}
