import { Body, Controller, Delete, Get, HttpCode, Put, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { invalidField } from '../../common/common.errors.js';
import { EXAMPLE_OPT_OUT_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import {
  ListOptOutsQuery,
  optOutFilterOf,
  OptOutListResponse,
  OptOutResponse,
  PutOptOutRequest,
  SingleOptOutResponse,
} from './dto/opt-outs.dto.js';
import { optOutsErrors } from './opt-outs.errors.js';
import { OptOutsService } from './opt-outs.service.js';

const OptOutId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: optOutsErrors.OPT_OUT_NOT_FOUND,
    description: 'Opt-out ID, from GET /opt-outs.',
    example: EXAMPLE_OPT_OUT_ID,
  });

@ApiTags('Opt-outs')
@Controller('opt-outs')
export class OptOutsController {
  constructor(private readonly optOuts: OptOutsService) {}

  /**
   * List opt-outs
   *
   * @remarks Who wants no marketing templates, or no messages at all: what WhatsApp reported of each of your numbers,
   * and what you recorded yourself. Newest first. For the next page pass `next_before` and `next_before_id` of the answer
   * as `before` and `before_id`; both are null on the last page.
   *
   * `to` and `recipient` find a person by any name under which your conversations know them. Contacts that were erased
   * are not listed, and still get no messages.
   */
  @Get()
  @RequireScope('messages:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: OptOutListResponse, description: 'One page.' })
  async list(@CurrentCaller() caller: Caller, @Query() query: ListOptOutsQuery): Promise<OptOutListResponse> {
    const { rows, pagination } = await this.optOuts.list(caller.organizationId, optOutFilterOf(query));
    return { data: rows.map((one) => OptOutResponse.of(one)), pagination };
  }

  /**
   * Record an opt-out
   *
   * @remarks From now on POST /messages refuses messages to this person with 422 `RECIPIENT_OPTED_OUT`, from every number
   * of the workspace: with the category `marketing` marketing templates, with `all` everything. One-time codes still go.
   * Scheduled messages fail at their time.
   *
   * Give exactly one of `to` and `recipient`. One entry a person and category: a repeat answers the same entry, with the
   * reason that is given. WhatsApp is not told, and what a person chooses in WhatsApp does not change this entry.
   */
  @Put()
  @RequireScope('messages:write')
  @ApiOkResponse({ type: SingleOptOutResponse, description: 'The entry.' })
  async put(@CurrentCaller() caller: Caller, @Body() body: PutOptOutRequest): Promise<SingleOptOutResponse> {
    const { to, recipient, category, reason = null } = body;
    if ((to === undefined) === (recipient === undefined)) {
      throw invalidField('to', 'exactly_one', 'Give exactly one of to (a phone number) and recipient (a user id).');
    }
    const person = { phone: to?.replace('+', '') ?? null, userId: recipient ?? null };
    const entry = await this.optOuts.put(caller.organizationId, { ...person, category, reason });
    return { data: OptOutResponse.of(entry) };
  }

  /**
   * Remove an opt-out
   *
   * @remarks Only one of your own, such as after the person opted in again on your website. What WhatsApp reported ends
   * when the person opts in again in WhatsApp: 409 `OPT_OUT_NOT_YOURS`.
   */
  @Delete(':id')
  @HttpCode(204)
  @RequireScope('messages:write')
  @ApiNoContentResponse({ description: 'Removed.' })
  @ApiErrors('OPT_OUT_NOT_FOUND', 'OPT_OUT_NOT_YOURS')
  async remove(@CurrentCaller() caller: Caller, @OptOutId() id: string): Promise<void> {
    await this.optOuts.remove(caller.organizationId, id);
  }
}
