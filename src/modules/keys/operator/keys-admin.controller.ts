import { Body, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_KEY_ID } from '../../../common/example-ids.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { keysErrors } from '../keys.errors.js';
import { ApiKeysService, type IssuedApiKey } from '../keys.service.js';
import {
  ApiKeyListResponse,
  ApiKeyResponse,
  ChangeKeyRequest,
  CreateKeyRequest,
  keyIdPipe,
  ListKeysQuery,
  RotateKeyRequest,
  SingleApiKeyResponse,
  SingleIssuedKeyResponse,
  timeIn,
} from './keys-admin.dto.js';

const keyId = keyIdPipe(() => keysErrors.KEY_NOT_FOUND());

const KeyId = (): MethodDecorator =>
  ApiParam({ name: 'id', description: 'Id of the key, from the list.', example: EXAMPLE_KEY_ID });

@ApiTags('Keys')
@AdminController('workspaces/:workspace_id/keys')
export class KeysAdminController {
  constructor(private readonly keys: ApiKeysService) {}

  /**
   * List keys
   *
   * @remarks Of the workspace and of its OTP projects, newest first, ended ones too; never with their secrets. For the next
   * page pass `next_before` and `next_before_id` of the answer as `before` and `before_id`.
   */
  @Get()
  @RequireOperatorScope('keys:read')
  @ApiOkResponse({ type: ApiKeyListResponse, description: 'One page.' })
  async list(@WorkspaceParam() { id }: Workspace, @Query() query: ListKeysQuery): Promise<ApiKeyListResponse> {
    const { before } = cursorOf(query);
    const { limit, before_id: beforeId = null } = query;
    const found = await this.keys.page(id, { before, beforeId, limit: limit + 1 });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((key) => ApiKeyResponse.of(key)), pagination };
  }

  /**
   * Make a key
   *
   * @remarks Its text is in `key` of this answer, and nowhere else: the service stores a hash. Keep it at once. A repeat with the same
   * Idempotency-Key answers the same key with `key: null`. A person makes no key with scopes that the person's role lacks.
   */
  @Post()
  @RequireOperatorScope('keys:write')
  @Repeatable()
  @ApiCreatedResponse({ type: SingleIssuedKeyResponse, description: 'The key, with its text.' })
  @ApiErrors('KEY_SCOPES_MIXED', 'KEY_PROJECT_NOT_FOUND', 'KEY_BEYOND_ROLE')
  async create(
    @CurrentOperator() { keyScopes }: Operator,
    @WorkspaceParam() { id }: Workspace,
    @Body() body: CreateKeyRequest,
  ): Promise<SingleIssuedKeyResponse> {
    const { name, scopes, expires_in: expiresIn, otp_project_id: project } = body;
    const otpProject = project === undefined ? undefined : await this.keys.getProject(id, project);
    const given = { organizationId: id, name: name.trim(), scopes, expiresAt: timeIn(expiresIn ?? null) };
    return issued(await this.keys.create({ ...given, ...(otpProject && { otpProject }) }, keyScopes));
  }

  /**
   * Change a key
   *
   * @remarks Its name, its scopes, and when it ends. What is left out stays as it is; the text of the key stays the same.
   * Every process knows of it within five seconds.
   */
  @Patch(':id')
  @RequireOperatorScope('keys:write')
  @KeyId()
  @ApiOkResponse({ type: SingleApiKeyResponse, description: 'The key as it is now.' })
  @ApiErrors('KEY_NOT_FOUND', 'KEY_ENDED', 'KEY_SCOPES_MIXED', 'KEY_BEYOND_ROLE')
  async change(
    @CurrentOperator() { keyScopes }: Operator,
    @WorkspaceParam() workspace: Workspace,
    @Param('id', keyId) id: string,
    @Body() { name, scopes, expires_in: expiresIn }: ChangeKeyRequest,
  ): Promise<SingleApiKeyResponse> {
    const change = {
      ...(name !== undefined && { name: name.trim() }),
      ...(scopes !== undefined && { scopes }),
      ...(expiresIn !== undefined && { expiresAt: timeIn(expiresIn) }),
    };
    return { data: ApiKeyResponse.of(await this.keys.change(workspace.id, id, change, keyScopes)) };
  }

  /**
   * Rotate a key
   *
   * @remarks Makes a key of the same name and scopes in its place. Both work for `overlap_seconds`, then the old one has
   * expired. The text of the new one is in `key` of this answer, and nowhere else.
   */
  @Post(':id/rotate')
  @RequireOperatorScope('keys:write')
  @Repeatable()
  @KeyId()
  @ApiCreatedResponse({ type: SingleIssuedKeyResponse, description: 'The new key, with its text.' })
  @ApiErrors('KEY_NOT_FOUND', 'KEY_ENDED', 'KEY_BEYOND_ROLE')
  async rotate(
    @CurrentOperator() { keyScopes }: Operator,
    @WorkspaceParam() workspace: Workspace,
    @Param('id', keyId) id: string,
    @Body() { overlap_seconds: overlap }: RotateKeyRequest,
  ): Promise<SingleIssuedKeyResponse> {
    await this.keys.getOf(workspace.id, id);
    return issued(await this.keys.rotate(id, overlap, keyScopes));
  }

  /**
   * Revoke a key
   *
   * @remarks Every process refuses it within five seconds, mostly at once. It stays in the list with `revoked_at`. Revoking it again
   * changes nothing.
   */
  @Delete(':id')
  @HttpCode(200)
  @RequireOperatorScope('keys:write')
  @KeyId()
  @ApiOkResponse({ type: SingleApiKeyResponse, description: 'The key, which has ended.' })
  @ApiErrors('KEY_NOT_FOUND')
  async revoke(@WorkspaceParam() workspace: Workspace, @Param('id', keyId) id: string): Promise<SingleApiKeyResponse> {
    await this.keys.getOf(workspace.id, id);
    return { data: ApiKeyResponse.of(await this.keys.revoke(id)) };
  }
}

function issued({ key, ...made }: IssuedApiKey): SingleIssuedKeyResponse {
  return { data: { ...ApiKeyResponse.of(made), key } };
}
