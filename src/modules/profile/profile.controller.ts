import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { SingleProfileResponse } from './dto/profile.response.js';
import { UpdateProfileRequest } from './dto/update-profile.request.js';
import { ProfileService } from './profile.service.js';

const ConnectionId = (): ParameterDecorator =>
  UuidParam('id', { description: 'Connection ID, from GET /connections.', example: EXAMPLE_CONNECTION_ID });

@ApiTags('Profile')
@Controller('connections/:id/profile')
export class ProfileController {
  constructor(private readonly profiles: ProfileService) {}

  /**
   * Read a number's business profile
   *
   * @remarks Read from the WhatsApp platform, and kept for 5 seconds: a change made elsewhere may show that much later. Reads
   * and changes that reach the platform are 100 at once of one number, and one a second: beyond that it is 429, with
   * `scope: "number_profile"`.
   */
  @Get()
  @RequireScope('profile:read')
  @ApiOkResponse({ type: SingleProfileResponse, description: 'The whole profile.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'CONNECTION_NOT_READY', 'PLATFORM_UNAVAILABLE', 'PLATFORM_TIMEOUT')
  async get(@CurrentCaller() caller: Caller, @ConnectionId() id: string): Promise<SingleProfileResponse> {
    return { data: await this.profiles.get(caller.organizationId, id) };
  }

  /**
   * Change a number's business profile
   *
   * @remarks Changes the fields given and answers with the whole profile. What the platform refuses comes back as
   * `PLATFORM_REJECTED` with its reason. Repeating a request does no harm.
   */
  @Put()
  @RequireScope('profile:write')
  @ApiOkResponse({ type: SingleProfileResponse, description: 'The whole profile.' })
  @ApiErrors(
    'CONNECTION_NOT_FOUND',
    'CONNECTION_NOT_READY',
    'PLATFORM_REJECTED',
    'PLATFORM_UNAVAILABLE',
    'PLATFORM_TIMEOUT',
  )
  async update(
    @CurrentCaller() caller: Caller,
    @ConnectionId() id: string,
    @Body() change: UpdateProfileRequest,
  ): Promise<SingleProfileResponse> {
    return { data: await this.profiles.change(caller.organizationId, id, change) };
  }
}
