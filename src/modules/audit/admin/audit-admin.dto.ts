import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, Min, ValidateBy } from 'class-validator';
import { EXAMPLE_KEY_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { OptionalTime, OptionalUuid } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import type { AuditEvent } from '../audit.service.js';
import { AUDIT_ACTIONS, type AuditAction } from '../audit.types.js';

const TIME = '2026-11-21T08:00:00.125Z';
export const MOST_LINES = 10_000;
const ACTORS = ['key', 'operator', 'operator_key', 'person', 'setup_link', 'service'] as const;

/** The query of GET /audit. */
export class ListAuditQuery {
  /** Only of this workspace, a deleted one too. */
  @OptionalUuid('workspace_id')
  workspace_id?: string;

  /** Only what this key, operator key, person or account did: its id, or the account's name. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200 })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  actor?: string;

  /** Only this kind of change. */
  @ApiPropertyOptional({ enum: AUDIT_ACTIONS })
  @IsOptional()
  @IsIn(AUDIT_ACTIONS)
  action?: AuditAction;

  /** From this time on. */
  @OptionalTime('since')
  since?: string;

  /** Before this time. */
  @OptionalTime('until')
  until?: string;

  /** `ndjson`: one event a line, as `application/x-ndjson`; up to 10,000 of them at once. */
  @ApiPropertyOptional({ enum: ['json', 'ndjson'], default: 'json' })
  @IsOptional()
  @IsIn(['json', 'ndjson'])
  format: 'json' | 'ndjson' = 'json';

  /** How many at the most: up to 100, with `format=ndjson` up to 10,000. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MOST_LINES, default: 50 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_LINES)
  @ValidateBy({
    name: 'most',
    validator: {
      validate: (limit, given) =>
        (given?.object as ListAuditQuery | undefined)?.format === 'ndjson' || Number(limit) <= 100,
      defaultMessage: () => 'limit must be at most 100; with format=ndjson at most 10000.',
    },
  })
  limit = 50;

  /** Together with `before_id`: the `occurred_at` of the last event of the previous page. */
  @OptionalTime('before')
  before?: string;

  /** Together with `before`: the `id` of the last event of the previous page. */
  @ApiPropertyOptional({ pattern: '^[0-9]{1,18}$' })
  @IsOptional()
  @Matches(/^[0-9]{1,18}$/, { message: 'before_id must be the id of an event.' })
  @ValidateBy({
    name: 'requiresBefore',
    validator: {
      validate: (_id, given) => (given?.object as ListAuditQuery | undefined)?.before !== undefined,
      defaultMessage: () => 'before_id needs before: pass both as the last page gave them.',
    },
  })
  before_id?: string;
}

/** A change, and who made it. */
export class AuditEventResponse {
  @ApiProperty({ example: '4711' })
  id!: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  occurred_at!: string;

  @ApiProperty({ example: 'key.created' })
  action!: string;

  /** Null: it concerns the whole service. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string | null;

  /** Id of what was changed. */
  @ApiProperty({ type: 'string', nullable: true, example: EXAMPLE_KEY_ID })
  target!: string | null;

  /** A key of a workspace, an account that ran a command, an operator key, a person with a setup link, or the service itself. */
  @ApiProperty({ enum: ACTORS, example: 'operator_key' })
  actor_kind!: (typeof ACTORS)[number];

  /** Id of the key, operator key or setup link, or the account's name. */
  @ApiProperty({ type: 'string', nullable: true, example: 'Zq3vTn8RkW1b' })
  actor!: string | null;

  /** The caller's address, or the machine on which a command ran. */
  @ApiProperty({ type: 'string', nullable: true, example: '203.0.113.7' })
  address!: string | null;

  /** What was changed; never a secret. */
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    example: { name: 'orders-service', scopes: ['messages:write'] },
  })
  details!: Record<string, unknown> | null;

  static of(event: AuditEvent): AuditEventResponse {
    const { id, occurredAt, action, organizationId, target, actorKind, actor, address, details } = event;
    return {
      id,
      occurred_at: occurredAt.toISOString(),
      action,
      workspace_id: organizationId,
      target,
      actor_kind: actorKind,
      actor,
      address,
      details,
    };
  }
}

export class AuditListResponse {
  data!: AuditEventResponse[];

  pagination!: PaginationResponse;
}
