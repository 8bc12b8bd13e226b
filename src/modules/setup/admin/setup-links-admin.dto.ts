import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { databaseClock } from '../../../common/clock.js';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_SETUP_LINK_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { EXAMPLE_URL } from '../../../infrastructure/http/api-description.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { IssuedLink } from '../setup-links.service.js';
import {
  isReturnUrl,
  LINK_SECONDS,
  LINK_STATUSES,
  type LinkStatus,
  LOCALE,
  MENDERS,
  type Mender,
  SETUP_STEPS,
  type SetupLink,
  type SetupStep,
  SIGNUP_KINDS,
  type SignupKind,
  statusOf,
  stepsOf,
} from '../setup.types.js';

const TIME = '2026-11-21T08:00:00.125Z';

/** Body of POST /workspaces/{workspace_id}/setup-links. */
export class CreateSetupLinkRequest {
  /**
   * How the business gives access to its number: `cloud` by the dialog of Meta, `app` the same for a number that stays in the WhatsApp
   * Business app, `manual` by ids and a token that it pastes. Default: `cloud` where embedded signup is set up, else `manual`.
   */
  @ApiPropertyOptional({ enum: SIGNUP_KINDS, example: 'manual' })
  @IfGiven()
  @IsIn(SIGNUP_KINDS)
  signup?: SignupKind;

  /** Where the page leads at the end, with `setup` and `status` added; its origin must be one of SETUP_RETURN_ORIGINS. */
  @ApiPropertyOptional({ type: 'string', format: 'uri', nullable: true, maxLength: 2_000 })
  @IsOptional()
  @MaxLength(2_000)
  @ValidateBy({
    name: 'format',
    validator: {
      validate: isReturnUrl,
      defaultMessage: () => 'return_url must be an address that begins with https://, without user and password.',
    },
  })
  return_url?: string | null;

  /** Seconds after which the link has ended. */
  @ApiPropertyOptional({
    type: 'integer',
    minimum: LINK_SECONDS.least,
    maximum: LINK_SECONDS.most,
    default: LINK_SECONDS.usual,
  })
  @IfGiven()
  @IsInt()
  @Min(LINK_SECONDS.least)
  @Max(LINK_SECONDS.most)
  expires_in: number = LINK_SECONDS.usual;

  /** Language of the dialog of Meta, such as `de_DE`; of the page too, where it has that language. */
  @ApiPropertyOptional({ type: 'string', pattern: LOCALE.source, default: 'en_US' })
  @IfGiven()
  @Matches(LOCALE, { message: 'locale must be a language and a country, such as en_US.' })
  locale = 'en_US';
}

/** Why a step failed, and who can mend it. */
export class SetupProblemResponse {
  /** The kind of failure, for programs; there may be more kinds later. */
  @ApiProperty({ example: 'pin_wrong' })
  code!: string;

  /** What is wrong and what to do, in one or two sentences. */
  @ApiProperty({ example: 'The number has another PIN. Type the PIN of its two-step verification.' })
  message!: string;

  /** Who can mend it: who opened the link, who runs the service, or time alone. */
  @ApiProperty({ enum: MENDERS, example: 'business' })
  mended_by!: Mender;

  /** The words of the platform; null where it said nothing. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  platform_message!: string | null;
}

/** One step of a setup link, and how it went. */
export class SetupStepResponse {
  @ApiProperty({ enum: SETUP_STEPS, example: 'access' })
  name!: SetupStep;

  /** `open`: not tried yet, or to be done again. */
  @ApiProperty({ enum: ['open', 'done', 'failed'], example: 'open' })
  state!: 'open' | 'done' | 'failed';

  /** When it was tried last; null: not yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  at!: string | null;

  /** Why it failed; null where it did not. */
  @ApiProperty({ type: SetupProblemResponse, nullable: true, example: null })
  problem!: SetupProblemResponse | null;
}

/** A setup link, without its address. */
export class SetupLinkResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_SETUP_LINK_ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  /** `completed`: a number was connected with it, and the link has ended. */
  @ApiProperty({ enum: LINK_STATUSES, example: 'open' })
  status!: LinkStatus;

  @ApiProperty({ enum: SIGNUP_KINDS, example: 'manual' })
  signup!: SignupKind;

  @ApiProperty({ example: 'en_US' })
  locale!: string;

  @ApiProperty({ type: 'string', nullable: true, example: null })
  return_url!: string | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-28T08:00:00.125Z' })
  expires_at!: string;

  /** When its page was opened first; null: not yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  opened_at!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  completed_at!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  revoked_at!: string | null;

  /** The number that was connected with it; null: none yet. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_CONNECTION_ID })
  connection_id!: string | null;

  /** In their order, with what failed and who can mend it. */
  @ApiProperty({ type: [SetupStepResponse] })
  steps!: SetupStepResponse[];

  static of(link: SetupLink): SetupLinkResponse {
    return {
      id: link.id,
      workspace_id: link.organizationId,
      status: statusOf(link, databaseClock.now()),
      signup: link.signup,
      locale: link.locale,
      return_url: link.returnUrl,
      created_at: link.createdAt.toISOString(),
      expires_at: link.expiresAt.toISOString(),
      opened_at: link.openedAt?.toISOString() ?? null,
      completed_at: link.completedAt?.toISOString() ?? null,
      revoked_at: link.revokedAt?.toISOString() ?? null,
      connection_id: link.connectionId,
      steps: stepsOf(link.signup).map((name) => {
        const { state, at, problem } = link.steps[name] ?? { state: 'open', at: null, problem: null };
        if (problem === null) return { name, state, at, problem };
        const { code, message, mendedBy, platform } = problem;
        return { name, state, at, problem: { code, message, mended_by: mendedBy, platform_message: platform } };
      }),
    };
  }
}

/** A setup link that was just made. */
export class IssuedSetupLinkResponse extends SetupLinkResponse {
  /** The address of its page: a person who has it can connect a number. It is in this answer only: null in the answer to a repeat. */
  @ApiProperty({ type: 'string', nullable: true, example: `${EXAMPLE_URL}/setup/hrld_setup_example` })
  url!: string | null;

  static issued({ url, ...link }: IssuedLink): IssuedSetupLinkResponse {
    return { ...SetupLinkResponse.of(link), url };
  }
}

export class SingleSetupLinkResponse {
  data!: SetupLinkResponse;
}

export class SingleIssuedSetupLinkResponse {
  data!: IssuedSetupLinkResponse;
}

export class SetupLinkListResponse {
  @ApiProperty({ type: [SetupLinkResponse] })
  data!: SetupLinkResponse[];

  pagination!: PaginationResponse;
}
