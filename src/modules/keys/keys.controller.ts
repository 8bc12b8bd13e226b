import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { heraldVersion } from '../../common/version.js';
import { RequireKey } from '../../infrastructure/http/route-policy.js';
import { MANAGED_SCOPES, OPERATOR_ROLE_SCOPES } from '../../infrastructure/http/roles.js';
import { type Caller, CurrentCaller, type PersonOfCaller } from './caller.decorator.js';
import { KeyResponse, type PersonOfKey } from './keys.dto.js';
import { ApiKeysService } from './keys.service.js';

const VERSION = heraldVersion();

@ApiTags('Key')
@Controller('key')
export class KeysController {
  constructor(private readonly keys: ApiKeysService) {}

  /**
   * Read your key
   *
   * @remarks The workspace, the scopes and the rate of the key that makes this call: what a program may do with it,
   * without trying. Every valid key may ask, one of an OTP project too, and the session of a person. The key itself is not shown.
   */
  @Get()
  @RequireKey()
  @ApiOkResponse({ type: KeyResponse, description: 'The key.' })
  async get(@CurrentCaller() caller: Caller): Promise<KeyResponse> {
    const { name, workspaceName, expiresAt, otpProject } = await this.keys.describe(caller);
    const { person } = caller;
    const { ratePerSecond, burst } = caller.rateLimits;
    return {
      data: {
        workspace: { id: caller.organizationId, name: workspaceName },
        name,
        scopes: [...caller.scopes],
        mode: otpProject?.mode === 'sandbox' ? 'test' : 'live',
        otp_project: otpProject,
        expires_at: expiresAt,
        person: person ? personOf(person) : null,
        rate_limit: { per_second: ratePerSecond, burst },
        version: VERSION,
      },
    };
  }
}

function personOf({ id, name, email, workspace: { role } }: PersonOfCaller): PersonOfKey {
  const managed = role === 'operator' ? OPERATOR_ROLE_SCOPES : MANAGED_SCOPES[role];
  return { id, name, email, role, admin_scopes: [...managed] };
}
