import { Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { heraldVersion } from '../../../common/version.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorKey } from '../../../infrastructure/http/route-policy.js';
import { SingleOperatorKeyResponse } from './operator-key-admin.dto.js';
import { OperatorKeysService } from './operator-keys.service.js';

@ApiTags('Key')
@AdminController('key')
export class OperatorKeyAdminController {
  private readonly version = heraldVersion();

  constructor(private readonly keys: OperatorKeysService) {}

  /**
   * Read the key
   *
   * @remarks What the operator key of the call may do: its scopes, and the workspaces that it is limited to. Any valid operator key may ask.
   */
  @Get()
  @RequireOperatorKey()
  @ApiOkResponse({ type: SingleOperatorKeyResponse, description: 'The key, without its secret.' })
  async get(@CurrentOperator() { keyId }: Operator): Promise<SingleOperatorKeyResponse> {
    const { id, name, scopes, workspaceIds, expiresAt } = await this.keys.getById(keyId);
    const rest = { workspace_ids: workspaceIds, expires_at: expiresAt?.toISOString() ?? null, version: this.version };
    return { data: { id, name, scopes, ...rest } };
  }
}
