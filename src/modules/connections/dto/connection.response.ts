import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID } from '../../../common/example-ids.js';
import { MARKETING_ROUTES, type Connection, type MarketingRoute } from '../connections.types.js';
import { CONNECTION_STATUSES, STATUS_REASONS, type ConnectionStatus, type StatusReason } from '../connection-status.js';

/** A WhatsApp number of the workspace. */
export class ConnectionResponse {
  /** Connection ID, used as `connection_id` when sending. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  id!: string;

  /** The number with its country code, digits only. */
  @ApiProperty({ example: '15550100001' })
  phone_number!: string;

  @ApiProperty({ example: 'Lighthouse Coffee' })
  verified_name!: string | null;

  @ApiProperty({ enum: CONNECTION_STATUSES, example: 'connected' })
  status!: ConnectionStatus;

  /**
   * Why it is not connected: its token was refused, it was disconnected by hand, the platform says so, its account was
   * removed from the app or the platform, or has no valid payment method.
   */
  @ApiProperty({ type: 'string', enum: [...STATUS_REASONS, null], nullable: true, example: null })
  status_reason!: StatusReason | null;

  /** The platform's rating of the number: GREEN, YELLOW, RED or UNKNOWN. */
  @ApiProperty({ example: 'GREEN' })
  quality_rating!: string | null;

  /** How many people the business may write to first in 24 hours. */
  @ApiProperty({ example: 'TIER_2K' })
  messaging_limit!: string | null;

  /** Messages a second that the platform takes from this number. */
  @ApiProperty({ type: 'integer', example: 80 })
  throughput_per_second!: number;

  /** When the number's free service messages of a month were used up last: later ones are charged. */
  @ApiProperty({ format: 'date-time', example: null })
  service_charged_since!: string | null;

  /** Which endpoint of WhatsApp marketing templates go by: the one that it asks for, or always `messages`. */
  @ApiProperty({ enum: MARKETING_ROUTES, example: 'auto' })
  marketing_route!: MarketingRoute;

  /** WhatsApp's word on whether the account may use its endpoint of marketing messages; only `ONBOARDED` may. */
  @ApiProperty({ type: 'string', nullable: true, example: 'ONBOARDED' })
  marketing_status!: string | null;

  @ApiProperty({ example: 'Europe/Berlin' })
  timezone!: string | null;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:00:00.000Z' })
  created_at!: string;

  static of(connection: Connection): ConnectionResponse {
    return {
      id: connection.id,
      phone_number: connection.phoneNumber,
      verified_name: connection.verifiedName,
      status: connection.status,
      status_reason: connection.statusReason,
      quality_rating: connection.qualityRating,
      messaging_limit: connection.messagingLimit,
      throughput_per_second: connection.throughputPerSecond,
      service_charged_since: connection.serviceChargedSince?.toISOString() ?? null,
      marketing_route: connection.marketingRoute,
      marketing_status: connection.marketingStatus,
      timezone: connection.timezone,
      created_at: connection.createdAt.toISOString(),
    };
  }
}

export class ConnectionListResponse {
  data!: ConnectionResponse[];
}
