import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';
import { isSupportedCountry } from 'libphonenumber-js/max';
import { EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { OtpAllowance, OtpPackage } from '../../billing/otp-packages.types.js';
import type { OtpMode, OtpProject, OtpSender } from '../otp.types.js';

const TIME = '2026-11-21T08:00:00.125Z';
const PLATFORM_ID = /^\d{5,25}$/;
const MODES = ['sandbox', 'live'] as const;
const MOST_CODES = 1_000_000_000;

export const EXAMPLE_PROJECT_ID = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8ea0';

/** Body of POST /workspaces/{workspace_id}/otp-projects. */
export class CreateOtpProjectRequest {
  /** What it is called in lists. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Login' })
  @IsString()
  @Length(1, 200)
  @Matches(/\S/, { message: 'name must have a character that is no space.' })
  name!: string;

  /** `sandbox` sends nothing, and answers with the code. */
  @ApiProperty({ enum: MODES, example: 'live' })
  @IsIn(MODES)
  mode!: OtpMode;

  /** Language of the template that carries the codes. */
  @ApiPropertyOptional({ pattern: '^[A-Za-z]{2,3}(_[A-Za-z]{2,4})?$', default: 'en_US' })
  @IfGiven()
  @Matches(/^[A-Za-z]{2,3}(_[A-Za-z]{2,4})?$/, { message: 'template_language must be a language such as en_US or de.' })
  template_language?: string;

  /** Countries to which it may send, ISO 3166 alpha-2; left out: any. */
  @ApiPropertyOptional({ type: [String], example: ['DE', 'US'] })
  @IfGiven()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(300)
  @ValidateBy(
    {
      name: 'country',
      validator: {
        validate: (code) => typeof code === 'string' && isSupportedCountry(code),
        defaultMessage: () => 'allowed_countries must have codes of countries such as DE.',
      },
    },
    { each: true },
  )
  allowed_countries?: string[];
}

/** Body of PUT /workspaces/{workspace_id}/otp-projects/{id}/packages/{country}. */
export class SetOtpPackageRequest {
  /** Codes in each calendar month (UTC), from the present one on; 0 ends the package. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: MOST_CODES, example: 10_000 })
  @IsInt()
  @Min(0)
  @Max(MOST_CODES)
  monthly_limit!: number;
}

/** Body of PUT /otp-sender. */
export class SetOtpSenderRequest {
  /** The platform's id of the number. It is no number of a workspace. */
  @ApiProperty({ pattern: PLATFORM_ID.source, example: '106540352242922' })
  @Matches(PLATFORM_ID, { message: 'phone_number_id must be the id as the platform shows it, digits only.' })
  phone_number_id!: string;

  /** Id of its WhatsApp Business Account. */
  @ApiProperty({ pattern: PLATFORM_ID.source, example: '102290129340398' })
  @Matches(PLATFORM_ID, { message: 'waba_id must be the id as the platform shows it, digits only.' })
  waba_id!: string;

  /** An approved template of the category AUTHENTICATION. */
  @ApiProperty({ minLength: 1, maxLength: 512, example: 'login_code' })
  @IsString()
  @Length(1, 512)
  template!: string;

  /** Access token of a system user; it is stored encrypted, and shown nowhere. */
  @ApiProperty({ minLength: 1, maxLength: 2_000, example: '<token of a system user>' })
  @IsString()
  @Length(1, 2_000)
  token!: string;

  /** Messages a second; left out: as the platform says. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 10_000 })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(10_000)
  throughput_per_second?: number;
}

/** An application of a workspace that sends codes. */
export class OtpProjectResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_PROJECT_ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  @ApiProperty({ example: 'Login' })
  name!: string;

  @ApiProperty({ enum: MODES, example: 'live' })
  mode!: OtpMode;

  @ApiProperty({ example: 'en_US' })
  template_language!: string;

  /** Null: any country. */
  @ApiProperty({ type: [String], nullable: true, example: ['DE', 'US'] })
  allowed_countries!: string[] | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  static of(project: OtpProject): OtpProjectResponse {
    return {
      id: project.id,
      workspace_id: project.organizationId,
      name: project.name,
      mode: project.mode,
      template_language: project.templateLanguage,
      allowed_countries: project.allowedCountries,
      created_at: project.createdAt.toISOString(),
    };
  }
}

export class SingleOtpProjectResponse {
  data!: OtpProjectResponse;
}

export class OtpProjectListResponse {
  data!: OtpProjectResponse[];
}

/** What a project may send to a country each month. */
export class OtpAllowanceResponse {
  @ApiProperty({ example: 'DE' })
  country!: string;

  @ApiProperty({ type: 'integer', example: 10_000 })
  monthly_limit!: number;
}

/** What a project has sent to a country in a month. */
export class OtpMonthResponse extends OtpAllowanceResponse {
  @ApiProperty({ pattern: '^[0-9]{4}-[0-9]{2}$', example: '2026-11' })
  month!: string;

  /** Accepted and not sent yet. */
  @ApiProperty({ type: 'integer', example: 2 })
  reserved!: number;

  @ApiProperty({ type: 'integer', example: 4_711 })
  used!: number;
}

export class OtpPackagesData {
  allowances!: OtpAllowanceResponse[];

  /** Newest month first. */
  months!: OtpMonthResponse[];

  static of(allowances: readonly OtpAllowance[], months: readonly OtpPackage[]): OtpPackagesData {
    return {
      allowances: allowances.map(({ country, monthlyLimit }) => ({ country, monthly_limit: monthlyLimit })),
      months: months.map(({ country, monthlyLimit, month, reserved, used }) => {
        return { country, monthly_limit: monthlyLimit, month, reserved, used };
      }),
    };
  }
}

export class OtpPackagesResponse {
  data!: OtpPackagesData;
}

/** The service's own number, from which the codes of all projects are sent. */
export class OtpSenderData {
  @ApiProperty({ example: '106540352242922' })
  phone_number_id!: string;

  @ApiProperty({ type: 'string', nullable: true, example: '15550100009' })
  phone_number!: string | null;

  @ApiProperty({ example: 'login_code' })
  template!: string;

  @ApiProperty({ type: 'integer', example: 80 })
  throughput_per_second!: number;

  /** `disconnected`: the platform refuses its token; set it again. */
  @ApiProperty({ enum: ['connected', 'disconnected'], example: 'connected' })
  status!: 'connected' | 'disconnected';

  /** In which the template is approved; null where only the stored sender was read. */
  @ApiProperty({ type: [String], nullable: true, example: ['en_US'] })
  languages!: string[] | null;

  static of(sender: OtpSender, languages: string[] | null = null): OtpSenderData {
    return {
      languages,
      phone_number_id: sender.phoneNumberId,
      phone_number: sender.phoneNumber,
      template: sender.templateName,
      throughput_per_second: sender.throughputPerSecond,
      status: sender.status,
    };
  }
}

export class OtpSenderResponse {
  data!: OtpSenderData;
}
