import { ApiProperty } from '@nestjs/swagger';
import { OPERATOR_SCOPES, type OperatorScope, SCOPES, type Scope } from '../../infrastructure/http/scopes.js';
import type { KeyMode } from './api-key-format.js';
import { PERSON_ROLES, type PersonRole } from '../../infrastructure/http/roles.js';
import type { OtpMode } from './caller.decorator.js';

export class WorkspaceOfKey {
  @ApiProperty({ format: 'uuid', example: '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f' })
  id!: string;

  @ApiProperty({ example: 'Example Ltd' })
  name!: string;
}

export class ProjectOfKey {
  @ApiProperty({ format: 'uuid', example: '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0' })
  id!: string;

  @ApiProperty({ example: 'Login' })
  name!: string;

  /** `sandbox` sends nothing. */
  @ApiProperty({ enum: ['sandbox', 'live'], example: 'live' })
  mode!: OtpMode;
}

export class RateOfKey {
  /** Requests a second, over time. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 50 })
  per_second!: number;

  /** Requests at once. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 100 })
  burst!: number;
}

/** Who is signed in, where the call has a session and no key. */
export class PersonOfKey {
  @ApiProperty({ format: 'uuid', example: '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea1' })
  id!: string;

  @ApiProperty({ example: 'Robin Wells' })
  name!: string;

  @ApiProperty({ example: 'robin@example.com' })
  email!: string;

  /** In this workspace. */
  @ApiProperty({ enum: PERSON_ROLES, example: 'agent' })
  role!: PersonRole;

  /** What the person may call of the admin API for this workspace. */
  @ApiProperty({ enum: OPERATOR_SCOPES, isArray: true, example: [] })
  admin_scopes!: OperatorScope[];
}

export class KeyData {
  workspace!: WorkspaceOfKey;

  /** As it was given when the key was made; of a session the name of the person. */
  @ApiProperty({ example: 'orders-service' })
  name!: string;

  @ApiProperty({ enum: SCOPES, isArray: true, example: ['messages:read', 'messages:write'] })
  scopes!: Scope[];

  /** `test`: a key of a sandbox project, which sends nothing. */
  @ApiProperty({ enum: ['live', 'test'], example: 'live' })
  mode!: KeyMode;

  /** Of a key for one-time codes; null: one of the workspace. */
  @ApiProperty({ type: ProjectOfKey, nullable: true, example: null })
  otp_project!: ProjectOfKey | null;

  /** Null: never. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  expires_at!: Date | null;

  /** Of a session in the console; null: a key. */
  @ApiProperty({ type: PersonOfKey, nullable: true, example: null })
  person!: PersonOfKey | null;

  rate_limit!: RateOfKey;

  /** Of Herald. */
  @ApiProperty({ example: '0.2.0' })
  version!: string;
}

export class KeyResponse {
  data!: KeyData;
}
