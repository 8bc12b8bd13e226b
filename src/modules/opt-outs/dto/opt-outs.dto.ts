import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Length, Matches } from 'class-validator';
import { EXAMPLE_OPT_OUT_ID } from '../../../common/example-ids.js';
import { USER_ID } from '../../../common/user-id.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { cursorOf, PeriodQuery, periodOf } from '../../../infrastructure/http/page.query.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { OptionalPhone, OptionalUserId } from '../../conversations/dto/recipient.decorator.js';
import type { OptOutFilter } from '../opt-outs.repository.js';
import {
  OPT_OUT_CATEGORIES,
  OPT_OUT_SOURCES,
  type OptOut,
  type OptOutCategory,
  type OptOutSource,
} from '../opt-outs.types.js';

const TIME = '2026-11-21T08:00:00.125Z';
/** As POST /messages takes it. */
const PHONE = /^\+?(?:[1-9][0-9]|0[1-9])[0-9]{6,14}$/;

/** The query of GET /opt-outs. */
export class ListOptOutsQuery extends PeriodQuery {
  /** Only those of the person who has this number. */
  @OptionalPhone('to')
  to?: string;

  /** Only those of the person who has this business-scoped user id, such as `DE.1795`. */
  @OptionalUserId()
  recipient?: string;

  /** Only what the workspace recorded (`own`), or what WhatsApp reported (`platform`). */
  @ApiPropertyOptional({ enum: OPT_OUT_SOURCES })
  @IsOptional()
  @IsIn(OPT_OUT_SOURCES)
  source?: OptOutSource;

  /** Only those of this category. */
  @ApiPropertyOptional({ enum: OPT_OUT_CATEGORIES })
  @IsOptional()
  @IsIn(OPT_OUT_CATEGORIES)
  category?: OptOutCategory;
}

export function optOutFilterOf(query: ListOptOutsQuery): OptOutFilter {
  return {
    limit: query.limit,
    ...cursorOf(query),
    ...periodOf(query),
    category: query.category ?? null,
    phone: query.to?.replace('+', '') ?? null,
    userId: query.recipient ?? null,
    source: query.source ?? null,
  };
}

/** Body of PUT /opt-outs: exactly one of `to` and `recipient`. */
export class PutOptOutRequest {
  /** The person's number with its country code, without 00; a leading + may stand before it. */
  @ApiPropertyOptional({ pattern: PHONE.source, example: '15550100001' })
  @IfGiven()
  @Matches(PHONE, { message: 'to must be a phone number of 8 to 16 digits with its country code, never with 00.' })
  to?: string;

  /** Instead of `to`: the person's user id, from `contact.user_id`. */
  @ApiPropertyOptional({ pattern: USER_ID.source })
  @IfGiven()
  @Matches(USER_ID, { message: 'recipient must be a user id such as DE.1795.' })
  recipient?: string;

  /** `marketing`: no marketing templates. `all`: no message of POST /messages at all; one-time codes still go. */
  @ApiProperty({ enum: OPT_OUT_CATEGORIES, example: 'marketing' })
  @IsIn(OPT_OUT_CATEGORIES)
  category!: OptOutCategory;

  /** Where or why they opted out, for your own records. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'Asked on the phone' })
  @IfGiven()
  @IsString()
  @Length(1, 200)
  reason?: string;
}

/** Who opted out. */
export class OptOutContactResponse {
  @ApiProperty({ type: 'string', nullable: true, example: '15550100001' })
  phone!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: null })
  user_id!: string | null;
}

/** A person who wants no marketing templates, or no messages at all. */
export class OptOutResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_OPT_OUT_ID })
  id!: string;

  /** The number that an entry of WhatsApp is about; null for those of the workspace, which hold for all its numbers. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: null })
  connection_id!: string | null;

  @ApiProperty({ type: OptOutContactResponse })
  contact!: OptOutContactResponse;

  /** `own`: recorded by the workspace, with PUT /opt-outs or by a keyword. `platform`: reported by WhatsApp. */
  @ApiProperty({ enum: OPT_OUT_SOURCES, example: 'own' })
  source!: OptOutSource;

  @ApiProperty({ enum: OPT_OUT_CATEGORIES, example: 'marketing' })
  category!: OptOutCategory;

  @ApiProperty({ type: 'string', nullable: true, example: 'Asked on the phone' })
  reason!: string | null;

  /** When they opted out; lists are in this order. */
  @ApiProperty({ format: 'date-time', example: TIME })
  since!: string;

  static of({ id, connectionId, phone, userId, source, category, reason, since }: OptOut): OptOutResponse {
    const contact = { phone, user_id: userId };
    return { id, connection_id: connectionId, contact, source, category, reason, since: since.toISOString() };
  }
}

export class SingleOptOutResponse {
  data!: OptOutResponse;
}

export class OptOutListResponse {
  data!: OptOutResponse[];

  pagination!: PaginationResponse;
}
