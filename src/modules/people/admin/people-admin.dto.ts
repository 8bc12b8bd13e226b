import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, MaxLength, Min } from 'class-validator';
import { databaseClock } from '../../../common/clock.js';
import { EXAMPLE_INVITATION_ID, EXAMPLE_PERSON_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { EXAMPLE_URL } from '../../../infrastructure/http/api-description.js';
import { PageQuery } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { PERSON_ROLES, type PersonRole, strongest, type WorkspaceRole } from '../../../infrastructure/http/roles.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { EMAIL, MOST_EMAIL } from '../email-address.js';
import type { Invitation } from '../invitations/invitations.service.js';
import type { Member, Person } from '../people.service.js';
import type { PersonSession } from '../sessions/sessions.repository.js';

const TIME = '2026-11-21T08:00:00.125Z';
const EXAMPLE_EMAIL = 'robin@example.com';
const ROLES: readonly WorkspaceRole[] = ['viewer', 'agent', 'developer', 'admin'];
const SECONDS = { least: 300, most: 30 * 86_400, usual: 7 * 86_400 } as const;
const STATUSES = ['open', 'accepted', 'revoked', 'expired'] as const;

const EMAIL_MESSAGE = { message: 'email must be an e-mail address, such as robin@example.com.' };

/** The query of GET /people. */
export class ListPeopleQuery extends PageQuery {
  /** Only who has this e-mail address, in any case. */
  @ApiPropertyOptional({ maxLength: MOST_EMAIL })
  @IsOptional()
  @MaxLength(MOST_EMAIL)
  @Matches(EMAIL, EMAIL_MESSAGE)
  email?: string;
}

/** Body of PATCH /workspaces/{workspace_id}/people/{id}. */
export class ChangeMemberRequest {
  /** What the person may do in this workspace from now on. */
  @ApiProperty({ enum: ROLES, example: 'agent' })
  @IsIn(ROLES)
  role!: WorkspaceRole;
}

/** Body of POST /workspaces/{workspace_id}/invitations. */
export class CreateInvitationRequest {
  /** Who signs in first with this address, verified by the issuer, has the role. */
  @ApiProperty({ maxLength: MOST_EMAIL, example: EXAMPLE_EMAIL })
  @MaxLength(MOST_EMAIL)
  @Matches(EMAIL, EMAIL_MESSAGE)
  email!: string;

  @ApiProperty({ enum: ROLES, example: 'agent' })
  @IsIn(ROLES)
  role!: WorkspaceRole;

  /** Seconds after which the invitation has ended. */
  @ApiPropertyOptional({ type: 'integer', minimum: SECONDS.least, maximum: SECONDS.most, default: SECONDS.usual })
  @IfGiven()
  @IsInt()
  @Min(SECONDS.least)
  @Max(SECONDS.most)
  expires_in: number = SECONDS.usual;
}

/** A person as a member of a workspace. */
export class MemberResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_PERSON_ID })
  id!: string;

  @ApiProperty({ example: 'Robin Wells' })
  name!: string;

  /** As of the last sign-in. */
  @ApiProperty({ example: EXAMPLE_EMAIL })
  email!: string;

  /** The stronger one of both. */
  @ApiProperty({ enum: ROLES, example: 'agent' })
  role!: WorkspaceRole;

  /** By a group of the issuer, as of the last sign-in; null: by none. */
  @ApiProperty({ type: 'string', enum: ROLES, nullable: true, example: null })
  group_role!: WorkspaceRole | null;

  /** By an invitation, or set since; null: by none. */
  @ApiProperty({ type: 'string', enum: ROLES, nullable: true, example: 'agent' })
  given_role!: WorkspaceRole | null;

  /** When the person became a member. */
  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  last_signed_in_at!: string;

  static of({ id, name, email, groupRole, givenRole, createdAt, lastSignedInAt }: Member): MemberResponse {
    const role = strongest([groupRole, givenRole].filter((each) => each !== null)) ?? 'viewer';
    return {
      id,
      name,
      email,
      role,
      group_role: groupRole,
      given_role: givenRole,
      created_at: createdAt.toISOString(),
      last_signed_in_at: lastSignedInAt.toISOString(),
    };
  }
}

/** A person who was let in at least once. */
export class PersonResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_PERSON_ID })
  id!: string;

  @ApiProperty({ example: 'Robin Wells' })
  name!: string;

  /** As of the last sign-in. */
  @ApiProperty({ example: EXAMPLE_EMAIL })
  email!: string;

  /** Address of the issuer at which the person signs in. */
  @ApiProperty({ example: 'https://login.example.com' })
  issuer!: string;

  /** Of all workspaces, by a group of the issuer. */
  @ApiProperty({ example: false })
  is_operator!: boolean;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  last_signed_in_at!: string;

  static of({ id, name, email, issuer, isOperator, createdAt, lastSignedInAt }: Person): PersonResponse {
    return {
      id,
      name,
      email,
      issuer,
      is_operator: isOperator,
      created_at: createdAt.toISOString(),
      last_signed_in_at: lastSignedInAt.toISOString(),
    };
  }
}

/** A workspace in which the person is a member. */
export class WorkspaceOfPersonResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  id!: string;

  @ApiProperty({ example: 'Example Ltd' })
  name!: string;

  @ApiProperty({ enum: PERSON_ROLES, example: 'agent' })
  role!: PersonRole;
}

/** A browser in which the person is signed in. */
export class SessionOfPersonResponse {
  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  /** The last use, or up to a minute before it. */
  @ApiProperty({ format: 'date-time', example: TIME })
  last_seen_at!: string;

  /** When it ends at the latest. */
  @ApiProperty({ format: 'date-time', example: TIME })
  expires_at!: string;

  static of({ createdAt, lastSeenAt, expiresAt }: PersonSession): SessionOfPersonResponse {
    return {
      created_at: createdAt.toISOString(),
      last_seen_at: lastSeenAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    };
  }
}

/** A person, with what the person may do where, and where the person is signed in. */
export class PersonDetailResponse extends PersonResponse {
  /** At most 200, by name; an operator has all others too. */
  @ApiProperty({ type: [WorkspaceOfPersonResponse] })
  workspaces!: WorkspaceOfPersonResponse[];

  /** At most 50, newest first; those that ended stay for up to a minute. */
  @ApiProperty({ type: [SessionOfPersonResponse] })
  sessions!: SessionOfPersonResponse[];
}

/** A role for the first person who signs in with a verified address. */
export class InvitationResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_INVITATION_ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  @ApiProperty({ example: EXAMPLE_EMAIL })
  email!: string;

  @ApiProperty({ enum: ROLES, example: 'agent' })
  role!: WorkspaceRole;

  /** `accepted`: a person signed in with the address, is a member, and the invitation has ended. */
  @ApiProperty({ enum: STATUSES, example: 'open' })
  status!: (typeof STATUSES)[number];

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-28T08:00:00.125Z' })
  expires_at!: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  accepted_at!: string | null;

  /** The person who accepted it; null: none yet. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: null })
  person_id!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  revoked_at!: string | null;

  /** Where the person signs in: send it to them, as Herald sends no e-mail. Null: no issuer is set up, so it cannot be accepted yet. */
  @ApiProperty({ type: 'string', nullable: true, example: `${EXAMPLE_URL}/console` })
  sign_in_url!: string | null;

  static of(invitation: Invitation, signInUrl: string | null): InvitationResponse {
    const { id, email, role, acceptedAt, acceptedBy, revokedAt, expiresAt, createdAt } = invitation;
    return {
      id,
      workspace_id: invitation.organizationId,
      email,
      role,
      status: statusOf(invitation),
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
      accepted_at: acceptedAt?.toISOString() ?? null,
      person_id: acceptedBy,
      revoked_at: revokedAt?.toISOString() ?? null,
      sign_in_url: signInUrl,
    };
  }
}

function statusOf({ acceptedAt, revokedAt, expiresAt }: Invitation): InvitationResponse['status'] {
  if (acceptedAt !== null) return 'accepted';
  if (revokedAt !== null) return 'revoked';
  return expiresAt.getTime() <= databaseClock.now() ? 'expired' : 'open';
}

export class PersonListResponse {
  @ApiProperty({ type: [PersonResponse] })
  data!: PersonResponse[];

  pagination!: PaginationResponse;
}

export class SinglePersonResponse {
  data!: PersonDetailResponse;
}

export class MemberListResponse {
  @ApiProperty({ type: [MemberResponse] })
  data!: MemberResponse[];

  pagination!: PaginationResponse;
}

export class SingleMemberResponse {
  data!: MemberResponse;
}

export class InvitationListResponse {
  @ApiProperty({ type: [InvitationResponse] })
  data!: InvitationResponse[];

  pagination!: PaginationResponse;
}

export class SingleInvitationResponse {
  data!: InvitationResponse;
}
