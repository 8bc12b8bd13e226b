import { Get, Req } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { heraldVersion } from '../../../common/version.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorKey } from '../../../infrastructure/http/route-policy.js';
import { OPERATOR_ROLE_SCOPES } from '../../../infrastructure/http/roles.js';
import type { AuthenticatedRequest } from '../caller.decorator.js';
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
   * @remarks What the operator key of the call may do: its scopes, and the workspaces that it is limited to. Any valid operator key may ask, and
   * a person with the role operator.
   */
  @Get()
  @RequireOperatorKey()
  @ApiOkResponse({ type: SingleOperatorKeyResponse, description: 'The key, without its secret.' })
  async get(
    @CurrentOperator() { keyId }: Operator,
    @Req() { person }: AuthenticatedRequest,
  ): Promise<SingleOperatorKeyResponse> {
    if (person !== undefined) {
      const { id, name, expiresAt } = person;
      const scopes = [...OPERATOR_ROLE_SCOPES];
      const rest = { workspace_ids: null, expires_at: expiresAt.toISOString(), version: this.version };
      return { data: { id, name, scopes, ...rest } };
    }
    const { id, name, scopes, workspaceIds, expiresAt } = await this.keys.getById(keyId);
    const rest = { workspace_ids: workspaceIds, expires_at: expiresAt?.toISOString() ?? null, version: this.version };
    return { data: { id, name, scopes, ...rest } };
  }
}
