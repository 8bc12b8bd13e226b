import type { PipeTransform } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { databaseClock } from '../../../common/clock.js';
import { EXAMPLE_KEY_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { isUuidText, OptionalTime } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { SCOPES, type Scope } from '../../../infrastructure/http/scopes.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { KEY_ID } from '../api-key-format.js';
import type { ApiKey } from '../keys.service.js';

const TIME = '2026-11-21T08:00:00.125Z';
export const MOST_SECONDS = 10 * 365 * 86_400;
const MOST_OVERLAP_SECONDS = 90 * 86_400;

export const KeyName = (): PropertyDecorator => (target, key) => {
  const notBlank = Matches(/\S/, { message: 'name must have a character that is no space.' });
  for (const rule of [IsString(), Length(1, 200), notBlank]) rule(target, key);
};

/** Of the parameter `id`: text that is not the form of a key's id gets the error of an unknown key. */
export const keyIdPipe = (unknown: () => Error): PipeTransform<string, string> => ({
  transform(text) {
    if (!KEY_ID.test(text)) throw unknown();
    return text;
  },
});

/** When what is made now ends. */
export function timeIn(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(databaseClock.now() + seconds * 1_000);
}

const Scopes = (): PropertyDecorator => (target, key) => {
  for (const rule of [IsArray(), ArrayNotEmpty(), ArrayMaxSize(SCOPES.length), IsIn(SCOPES, { each: true })])
    rule(target, key);
};

/** The query of GET /workspaces/{workspace_id}/keys, and of GET /operator-keys. */
export class ListKeysQuery {
  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 50 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 50;

  /** Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
  @OptionalTime('before')
  before?: string;

  /** Together with `before`: the last entry of the previous page. */
  @ApiPropertyOptional({ pattern: KEY_ID.source })
  @IsOptional()
  @Matches(KEY_ID, { message: 'before_id must be the id of a key.' })
  before_id?: string;
}

/** Body of POST /workspaces/{workspace_id}/keys. */
export class CreateKeyRequest {
  /** What it is called in lists. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'orders-service' })
  @KeyName()
  name!: string;

  /** What it may do. One of an OTP project has scopes that begin with `otp:`, every other key has none of these. */
  @ApiProperty({ enum: SCOPES, isArray: true, example: ['messages:read', 'messages:write'] })
  @Scopes()
  scopes!: Scope[];

  /** Seconds after which it ends; left out: never. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MOST_SECONDS })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_SECONDS)
  expires_in?: number;

  /** The key is one of this OTP project, for one-time codes only. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IfGiven()
  @isUuidText('otp_project_id')
  otp_project_id?: string;
}

/** Body of PATCH /workspaces/{workspace_id}/keys/{id}. What is left out stays as it is. */
export class ChangeKeyRequest {
  /** What it is called in lists. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'orders-service' })
  @IfGiven()
  @KeyName()
  name?: string;

  /** What it may do from now on. */
  @ApiPropertyOptional({ enum: SCOPES, isArray: true, example: ['messages:read'] })
  @IfGiven()
  @Scopes()
  scopes?: Scope[];

  /** Seconds from now after which it ends; null: never. */
  @ApiPropertyOptional({ type: 'integer', nullable: true, minimum: 1, maximum: MOST_SECONDS })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_SECONDS)
  expires_in?: number | null;
}

/** Body of POST /workspaces/{workspace_id}/keys/{id}/rotate, and of POST /operator-keys/{id}/rotate. */
export class RotateKeyRequest {
  /** Seconds for which both keys work; 0 ends the old one at once. */
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MOST_OVERLAP_SECONDS, default: 86_400 })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(MOST_OVERLAP_SECONDS)
  overlap_seconds = 86_400;
}

/** A key of a workspace, without its secret. */
export class ApiKeyResponse {
  /** The public part of the key's text. */
  @ApiProperty({ example: EXAMPLE_KEY_ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  @ApiProperty({ example: 'orders-service' })
  name!: string;

  @ApiProperty({ enum: SCOPES, isArray: true, example: ['messages:read', 'messages:write'] })
  scopes!: Scope[];

  /** Of a key for one-time codes; null: one of the workspace. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: null })
  otp_project_id!: string | null;

  /** Null: never. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  expires_at!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  revoked_at!: string | null;

  /** The last use, or up to a minute before it; null: not used yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  last_used_at!: string | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  static of(key: ApiKey): ApiKeyResponse {
    return {
      id: key.id,
      workspace_id: key.organizationId,
      name: key.name,
      scopes: key.scopes,
      otp_project_id: key.otpProjectId,
      expires_at: key.expiresAt?.toISOString() ?? null,
      revoked_at: key.revokedAt?.toISOString() ?? null,
      last_used_at: key.lastUsedAt?.toISOString() ?? null,
      created_at: key.createdAt.toISOString(),
    };
  }
}

/** A key that was just made. */
export class IssuedKeyResponse extends ApiKeyResponse {
  /** The whole text for the header Authorization. It is shown in this answer only: null in the answer to a repeat. */
  @ApiProperty({ type: 'string', nullable: true, example: `hrld_live_${EXAMPLE_KEY_ID}_example` })
  key!: string | null;
}

export class SingleApiKeyResponse {
  data!: ApiKeyResponse;
}

export class SingleIssuedKeyResponse {
  data!: IssuedKeyResponse;
}

export class ApiKeyListResponse {
  @ApiProperty({ type: [ApiKeyResponse] })
  data!: ApiKeyResponse[];

  pagination!: PaginationResponse;
}
