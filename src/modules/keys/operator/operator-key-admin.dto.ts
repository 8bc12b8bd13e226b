import { ApiProperty } from '@nestjs/swagger';
import { OPERATOR_SCOPES, type OperatorScope } from '../../../infrastructure/http/scopes.js';

/** An operator key, or a person with the role operator, as the caller may know it. */
export class OperatorKeyResponse {
  /** The public part of the key's text, or the person's id. */
  @ApiProperty({ example: 'Zq3vTn8RkW1b' })
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

  /** Of Herald. */
  @ApiProperty({ example: '0.2.0' })
  version!: string;
}

export class SingleOperatorKeyResponse {
  data!: OperatorKeyResponse;
}
