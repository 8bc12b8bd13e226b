import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { EXAMPLE_OPERATOR_KEY_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { UUID_PATTERN } from '../../../common/ids.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { OPERATOR_SCOPES, type OperatorScope } from '../../../infrastructure/http/scopes.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { KeyName, MOST_SECONDS } from './keys-admin.dto.js';
import type { IssuedOperatorKey, OperatorKey } from './operator-keys.service.js';

const TIME = '2026-11-21T08:00:00.125Z';
const MOST_WORKSPACES = 100;

/** Body of POST /operator-keys. */
export class CreateOperatorKeyRequest {
  /** What it is called in lists. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'onboarding' })
  @KeyName()
  name!: string;

  /** What it may do. A key gives only scopes that it has. */
  @ApiProperty({ enum: OPERATOR_SCOPES, isArray: true, example: ['workspaces:read', 'keys:write'] })
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(OPERATOR_SCOPES.length)
  @IsIn(OPERATOR_SCOPES, { each: true })
  scopes!: OperatorScope[];

  /** The only workspaces that exist for it. Null or left out: all, which no key gives that is limited itself. */
  @ApiPropertyOptional({
    type: 'array',
    nullable: true,
    minItems: 1,
    maxItems: MOST_WORKSPACES,
    items: { type: 'string', format: 'uuid' },
    example: [EXAMPLE_WORKSPACE_ID],
  })
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(MOST_WORKSPACES)
  @Matches(UUID_PATTERN, { each: true, message: 'each of workspace_ids must be a UUID.' })
  workspace_ids?: string[] | null;

  /** Seconds after which it ends; left out: never, which no key gives that ends itself. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MOST_SECONDS })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_SECONDS)
  expires_in?: number;
}

/** What an operator key is called, and what it may do. */
class OperatorKeyRights {
  /** The public part of the key's text, or the person's id. */
  @ApiProperty({ example: EXAMPLE_OPERATOR_KEY_ID })
  id!: string;

  @ApiProperty({ example: 'onboarding' })
  name!: string;

  @ApiProperty({ enum: OPERATOR_SCOPES, isArray: true, example: ['workspaces:read', 'keys:write'] })
  scopes!: OperatorScope[];

  /** The only workspaces that exist for it; null: all. */
  @ApiProperty({ type: 'array', nullable: true, items: { type: 'string', format: 'uuid' }, example: null })
  workspace_ids!: string[] | null;

  /** When the key or the session ends; null: never. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  expires_at!: string | null;
}

/** An operator key, or a person with the role operator, as the caller may know it. */
export class OperatorKeyResponse extends OperatorKeyRights {
  /** Of Herald. */
  @ApiProperty({ example: '0.2.0' })
  version!: string;
}

export class SingleOperatorKeyResponse {
  data!: OperatorKeyResponse;
}

/** An operator key in a list, without its secret. */
export class ListedOperatorKeyResponse extends OperatorKeyRights {
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  revoked_at!: string | null;

  /** The last use, or up to a minute before it; null: not used yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  last_used_at!: string | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  static of(key: OperatorKey): ListedOperatorKeyResponse {
    return {
      id: key.id,
      name: key.name,
      scopes: key.scopes,
      workspace_ids: key.workspaceIds,
      expires_at: key.expiresAt?.toISOString() ?? null,
      revoked_at: key.revokedAt?.toISOString() ?? null,
      last_used_at: key.lastUsedAt?.toISOString() ?? null,
      created_at: key.createdAt.toISOString(),
    };
  }
}

/** An operator key that was just made. */
export class IssuedOperatorKeyResponse extends ListedOperatorKeyResponse {
  /** The whole text for the header Authorization. It is shown in this answer only: null in the answer to a repeat. */
  @ApiProperty({ type: 'string', nullable: true, example: `hrld_admin_${EXAMPLE_OPERATOR_KEY_ID}_example` })
  key!: string | null;
}

export class SingleListedOperatorKeyResponse {
  data!: ListedOperatorKeyResponse;
}

export class SingleIssuedOperatorKeyResponse {
  data!: IssuedOperatorKeyResponse;

  static of({ key, ...made }: IssuedOperatorKey): SingleIssuedOperatorKeyResponse {
    return { data: { ...ListedOperatorKeyResponse.of(made), key } };
  }
}

export class OperatorKeyListResponse {
  @ApiProperty({ type: [ListedOperatorKeyResponse] })
  data!: ListedOperatorKeyResponse[];

  pagination!: PaginationResponse;
}
