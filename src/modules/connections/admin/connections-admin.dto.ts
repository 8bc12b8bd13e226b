import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';
import { EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { OptionalUuid, PageQuery } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import {
  CONNECTION_STATUSES,
  type Connection,
  type ConnectionStatus,
  MARKETING_ROUTES,
  type MarketingRoute,
} from '../connections.types.js';
import { ConnectionResponse } from '../dto/connection.response.js';

const PLATFORM_ID = /^\d{5,25}$/;
const MOST_A_SECOND = 10_000;

const PlatformId = (name: string): PropertyDecorator =>
  Matches(PLATFORM_ID, { message: `${name} must be the id as the platform shows it, digits only.` });

/** Body of POST /workspaces/{workspace_id}/connections. */
export class AddConnectionRequest {
  /** The platform's id of the number, from the API setup page of the Meta app. */
  @ApiProperty({ pattern: PLATFORM_ID.source, example: '106540352242922' })
  @PlatformId('phone_number_id')
  phone_number_id!: string;

  /** Id of the WhatsApp Business Account that has the number. */
  @ApiProperty({ pattern: PLATFORM_ID.source, example: '102290129340398' })
  @PlatformId('waba_id')
  waba_id!: string;

  /** Access token of a system user; it is stored encrypted, and shown nowhere. */
  @ApiProperty({ minLength: 1, maxLength: 2_000, example: '<token of a system user>' })
  @IsString()
  @Length(1, 2_000)
  token!: string;

  /** The number itself, digits only, where the platform does not report it. */
  @ApiPropertyOptional({ pattern: '^[0-9]{5,20}$' })
  @IfGiven()
  @Matches(/^[0-9]{5,20}$/, { message: 'phone_number must be the digits of the number with its country code.' })
  phone_number?: string;

  /** Messages a second; left out: as the platform says. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MOST_A_SECOND })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_A_SECOND)
  throughput_per_second?: number;

  /** Endpoint for marketing templates: what WhatsApp asks for (`auto`), or always `messages`. */
  @ApiPropertyOptional({ enum: MARKETING_ROUTES })
  @IfGiven()
  @IsIn(MARKETING_ROUTES)
  marketing_route?: MarketingRoute;
}

/** The query of GET /connections. */
export class ListAllConnectionsQuery extends PageQuery {
  /** Only of this workspace. */
  @OptionalUuid('workspace_id')
  workspace_id?: string;

  /** Only those in this state. */
  @ApiPropertyOptional({ enum: CONNECTION_STATUSES })
  @IsOptional()
  @IsIn(CONNECTION_STATUSES)
  status?: ConnectionStatus;

  /** Only the one with this id of the platform. */
  @ApiPropertyOptional({ pattern: PLATFORM_ID.source })
  @IsOptional()
  @PlatformId('phone_number_id')
  phone_number_id?: string;
}

/** Body of PATCH /workspaces/{workspace_id}/connections/{id}. */
export class ChangeConnectionRequest {
  /** Endpoint for marketing templates: what WhatsApp asks for (`auto`), or always `messages`. */
  @ApiProperty({ enum: MARKETING_ROUTES, example: 'messages' })
  @IsIn(MARKETING_ROUTES)
  marketing_route!: MarketingRoute;
}

/** A number, with what the platform calls it. */
export class OperatedConnectionResponse extends ConnectionResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  /** The platform's id of the number. */
  @ApiProperty({ example: '106540352242922' })
  phone_number_id!: string;

  /** Id of the WhatsApp Business Account. */
  @ApiProperty({ example: '102290129340398' })
  waba_id!: string;

  static override of(connection: Connection): OperatedConnectionResponse {
    const { organizationId, phoneNumberId, wabaId } = connection;
    const platform = { workspace_id: organizationId, phone_number_id: phoneNumberId, waba_id: wabaId };
    return { ...ConnectionResponse.of(connection), ...platform };
  }
}

export class SingleOperatedConnectionResponse {
  data!: OperatedConnectionResponse;
}

export class AllConnectionsResponse {
  data!: OperatedConnectionResponse[];

  pagination!: PaginationResponse;
}

export class OperatedConnectionListResponse {
  data!: OperatedConnectionResponse[];
}
