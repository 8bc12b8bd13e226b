import { Body, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_OPERATOR_KEY_ID } from '../../../common/example-ids.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import type { Operator } from '../../../infrastructure/http/herald-request.js';
import { AdminController, CurrentOperator, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import type { AuthenticatedRequest } from '../caller.decorator.js';
import { keysErrors } from '../keys.errors.js';
import { keyIdPipe, ListKeysQuery, RotateKeyRequest, timeIn } from './keys-admin.dto.js';
import {
  CreateOperatorKeyRequest,
  ListedOperatorKeyResponse,
  OperatorKeyListResponse,
  SingleIssuedOperatorKeyResponse,
  SingleListedOperatorKeyResponse,
} from './operator-key-admin.dto.js';
import { OperatorKeysService } from './operator-keys.service.js';

const keyId = keyIdPipe(() => keysErrors.OPERATOR_KEY_NOT_FOUND());

const KeyId = (): MethodDecorator =>
  ApiParam({ name: 'id', description: 'Id of the operator key, from the list.', example: EXAMPLE_OPERATOR_KEY_ID });

@ApiTags('Operator keys')
@AdminController('operator-keys')
export class OperatorKeysAdminController {
  constructor(private readonly keys: OperatorKeysService) {}

  /**
   * List operator keys
   *
   * @remarks Newest first, ended ones too; never with their secrets. For the next page pass `next_before` and `next_before_id` of
   * the answer as `before` and `before_id`. A key that is limited to some workspaces lists those that are limited to some of these.
   * Who made a key is in the audit trail: `GET /audit?action=operator_key.created`.
   */
  @Get()
  @RequireOperatorScope('operator-keys:read')
  @ApiOkResponse({ type: OperatorKeyListResponse, description: 'One page.' })
  async list(
    @CurrentOperator() { workspaceIds: only }: Operator,
    @Query() query: ListKeysQuery,
  ): Promise<OperatorKeyListResponse> {
    const { before } = cursorOf(query);
    const { limit, before_id: beforeId = null } = query;
    const found = await this.keys.page({ before, beforeId, limit: limit + 1, only });
    const { rows, pagination } = pageOf(found, limit, ({ createdAt }) => createdAt);
    return { data: rows.map((key) => ListedOperatorKeyResponse.of(key)), pagination };
  }

  /**
   * Make an operator key
   *
   * @remarks Its text is in `key` of this answer, and nowhere else: the service stores a hash. Keep it at once. A repeat with the same
   * Idempotency-Key answers the same key with `key: null`. A key gives no more than it has: scopes of its own, workspaces that it may see, and an
   * end that is not after its own. What it made stays when it ends.
   */
  @Post()
  @RequireOperatorScope('operator-keys:write')
  @Repeatable()
  @ApiCreatedResponse({ type: SingleIssuedOperatorKeyResponse, description: 'The key, with its text.' })
  @ApiErrors('OPERATOR_KEY_BEYOND', 'OPERATOR_KEY_LIMITED', 'KEY_WORKSPACE_NOT_FOUND')
  async create(
    @CurrentOperator() operator: Operator,
    @Req() req: AuthenticatedRequest,
    @Body() body: CreateOperatorKeyRequest,
  ): Promise<SingleIssuedOperatorKeyResponse> {
    const { name, scopes, expires_in: expiresIn = null } = body;
    const workspaceIds = body.workspace_ids?.map((id) => id.toLowerCase()) ?? null;
    const given = { name: name.trim(), scopes, workspaceIds, expiresAt: timeIn(expiresIn) };
    return SingleIssuedOperatorKeyResponse.of(await this.keys.create(given, giverOf(operator, req)));
  }

  /**
   * Read an operator key
   *
   * @remarks As in the list.
   */
  @Get(':id')
  @RequireOperatorScope('operator-keys:read')
  @KeyId()
  @ApiOkResponse({ type: SingleListedOperatorKeyResponse, description: 'The key, without its secret.' })
  @ApiErrors('OPERATOR_KEY_NOT_FOUND')
  async get(
    @CurrentOperator() { workspaceIds }: Operator,
    @Param('id', keyId) id: string,
  ): Promise<SingleListedOperatorKeyResponse> {
    return { data: ListedOperatorKeyResponse.of(await this.keys.getById(id, workspaceIds)) };
  }

  /**
   * Rotate an operator key
   *
   * @remarks Makes a key of the same name, scopes and workspaces in its place. Both work for `overlap_seconds`, then the old one has
   * expired. The new one never ends, or with the calling key where that ends. Its text is in `key` of this answer, and nowhere else. A key may rotate
   * itself, and others that have no scope which it lacks.
   */
  @Post(':id/rotate')
  @RequireOperatorScope('operator-keys:write')
  @Repeatable()
  @KeyId()
  @ApiCreatedResponse({ type: SingleIssuedOperatorKeyResponse, description: 'The new key, with its text.' })
  @ApiErrors('OPERATOR_KEY_NOT_FOUND', 'OPERATOR_KEY_ENDED', 'OPERATOR_KEY_BEYOND')
  async rotate(
    @CurrentOperator() operator: Operator,
    @Req() req: AuthenticatedRequest,
    @Param('id', keyId) id: string,
    @Body() { overlap_seconds: overlap }: RotateKeyRequest,
  ): Promise<SingleIssuedOperatorKeyResponse> {
    return SingleIssuedOperatorKeyResponse.of(await this.keys.rotate(id, overlap, giverOf(operator, req)));
  }

  /**
   * Revoke an operator key
   *
   * @remarks Every process refuses it within five seconds, mostly at once. It stays in the list with `revoked_at`; keys that it made stay
   * valid. Revoking it again changes nothing. A key may revoke itself, and others that have no scope which it lacks, whenever they end.
   */
  @Delete(':id')
  @HttpCode(200)
  @RequireOperatorScope('operator-keys:write')
  @KeyId()
  @ApiOkResponse({ type: SingleListedOperatorKeyResponse, description: 'The key, which has ended.' })
  @ApiErrors('OPERATOR_KEY_NOT_FOUND', 'OPERATOR_KEY_BEYOND')
  async revoke(
    @CurrentOperator() operator: Operator,
    @Req() req: AuthenticatedRequest,
    @Param('id', keyId) id: string,
  ): Promise<SingleListedOperatorKeyResponse> {
    return { data: ListedOperatorKeyResponse.of(await this.keys.revoke(id, giverOf(operator, req))) };
  }
}

/** The operator key of the call. Null: a person with the role operator, or a command on the server, who have all rights and no end. */
function giverOf({ keyId: id }: Operator, { person }: AuthenticatedRequest): string | null {
  return id === '' || person !== undefined ? null : id;
}
