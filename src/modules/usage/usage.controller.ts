import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { FIRST_ID } from '../../common/ids.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { RateLimiter } from '../../infrastructure/rates/rate-limiter.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { CodeUsageResponse, PeriodQuery, periodOf, questionOf, UsageQuery, UsageResponse } from './dto/usage.dto.js';
import { UsageService } from './usage.service.js';
import { codesPrice, messagesPrice, mostOfCodes, mostOfMessages } from './usage.price.js';

@ApiTags('Usage')
@Controller('usage')
export class UsageController {
  constructor(
    private readonly usage: UsageService,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Count messages by time
   *
   * @remarks How many messages were sent and received, how far they came, how long they took, and what they cost. A message
   * counts in the interval of its submission, whatever happens later.
   *
   * Figures are counted in the background; `as_of` says up to when, usually less than 30 seconds ago; states of
   * earlier quarters of an hour follow in minutes, of earlier days in hours where a quarter has very many. They are kept for 25 months.
   *
   * Each 300 rows of an answer, or 5,000 counts that are read for it, count as one request, at most 34; those that it may cost are held
   * meanwhile.
   */
  @Get()
  @RequireScope('messages:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: UsageResponse, description: 'The figures.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'USAGE_TOO_LARGE')
  async messages(
    @CurrentCaller() caller: Caller,
    @Query() query: UsageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UsageResponse> {
    const question = questionOf(caller.organizationId, query);
    const spending = this.limiter.spendingOf(caller.apiKeyId, caller.rateLimits, response);
    const answer = await spending.upTo(mostOfMessages(question), () => this.usage.messages(question), messagesPrice);
    return UsageResponse.of(answer);
  }

  /**
   * Count one-time codes by time and country
   *
   * @remarks Of the key's OTP project: how many codes were requested, sent, delivered and verified, and how many expired or
   * failed. A code counts in the interval of its request.
   */
  @Get('codes')
  @RequireScope('otp:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: CodeUsageResponse, description: 'The figures.' })
  @ApiErrors('USAGE_TOO_LARGE')
  async codes(
    @CurrentCaller() caller: Caller,
    @Query() query: PeriodQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CodeUsageResponse> {
    // Every key with the scope has a project.
    const project = caller.otpProject?.id ?? FIRST_ID;
    const period = periodOf(caller.organizationId, query);
    const spending = this.limiter.spendingOf(caller.apiKeyId, caller.rateLimits, response);
    const { rows, totals, asOf } = await spending.upTo(
      mostOfCodes(period),
      () => this.usage.codes(project, period),
      codesPrice,
    );
    return { data: rows, totals, as_of: asOf?.toISOString() ?? null };
  }
}
