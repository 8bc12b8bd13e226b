import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ConnectionsService } from './connections.service.js';
import { ConnectionListResponse, ConnectionResponse } from './dto/connection.response.js';

@ApiTags('Connections')
@Controller('connections')
export class ConnectionsController {
  constructor(private readonly connections: ConnectionsService) {}

  /**
   * List the workspace's WhatsApp numbers
   *
   * @remarks Each has a connection ID, which names the sending number in every other call.
   */
  @Get()
  @RequireScope('connections:read')
  @ApiOkResponse({ type: ConnectionListResponse, description: 'All of them, oldest first; there are no pages.' })
  @ApiErrors('API_VERSION_NOT_SUPPORTED')
  async list(@CurrentCaller() caller: Caller): Promise<ConnectionListResponse> {
    const connections = await this.connections.list(caller.organizationId);
    return { data: connections.map((connection) => ConnectionResponse.of(connection)) };
  }
}
