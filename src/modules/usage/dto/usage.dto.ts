import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Length, Matches } from 'class-validator';
import { databaseClock } from '../../../common/clock.js';
import { invalidField } from '../../../common/common.errors.js';
import { EXAMPLE_CONNECTION_ID } from '../../../common/example-ids.js';
import { OptionalTime, OptionalUuid } from '../../../infrastructure/http/page.query.js';
import { TimeZone } from '../periods.js';
import {
  type CodeFigures,
  type CodeRow,
  type Cost,
  type Group,
  GROUPS,
  type Interval,
  INTERVALS,
  type UsageAnswer,
  type UsageFigures,
  type UsageQuestion,
  type UsageRow,
} from '../usage.types.js';

const DAY_MS = 86_400_000;
const SLOT_MS = 900_000;
const DEFAULT_DAYS = 30;
/** Of one answer. */
const MAX_DAYS: Readonly<Record<Interval, number>> = { hour: 31, day: 400, month: 800 };
const TIME = '2026-11-21T00:00:00.000Z';
const GROUP_NAMES = ['connection_id', ...GROUPS];
const GROUP_LIST = new RegExp(`^(?:${GROUP_NAMES.join('|')})(?:,(?:${GROUP_NAMES.join('|')}))*$`);

/** The query of GET /usage/codes, and a part of that of GET /usage. */
export class PeriodQuery {
  /** The first moment that counts, rounded down to a quarter of an hour. Default: 30 days before `until`. */
  @OptionalTime('since')
  since?: string;

  /** The moment before which the time ends, rounded up to a quarter of an hour. Default: now. */
  @OptionalTime('until')
  until?: string;

  /** One row for each of these; `hour` takes 31 days at the most, `day` 400, `month` 800. */
  @ApiPropertyOptional({ enum: INTERVALS, default: 'day' })
  @IsOptional()
  @IsIn(INTERVALS)
  interval?: Interval;

  /** Where days and months begin: an IANA name such as `Europe/Berlin`. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 64, default: 'UTC' })
  @IsOptional()
  @Length(1, 64)
  timezone?: string;
}

/** The query of GET /usage. */
export class UsageQuery extends PeriodQuery {
  /** Separated by commas: connection_id, type, template, category, country, source; `connection` is `connection_id`. */
  @ApiPropertyOptional({ pattern: GROUP_LIST.source })
  @IsOptional()
  @Matches(GROUP_LIST, { message: `group_by must be a list of ${GROUP_NAMES.join(', ')}, separated by commas.` })
  group_by?: string;

  /** Only of this number: an id from GET /connections. */
  @OptionalUuid('connection_id')
  connection_id?: string;

  /** The same as `connection_id`, by its former name. */
  @OptionalUuid('connection')
  connection?: string;

  /** Only of this type, such as `text` or `template`. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 64 })
  @IsOptional()
  @Length(1, 64)
  type?: string;

  /** Only of the template with this name. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 512 })
  @IsOptional()
  @Length(1, 512)
  template?: string;

  /** Only what WhatsApp charged, or left free, under this category; `marketing` has `marketing_lite` too. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 64 })
  @IsOptional()
  @Length(1, 64)
  category?: string;

  /** Only to and from numbers of this country: ISO 3166 alpha-2. */
  @ApiPropertyOptional({ pattern: '^[A-Z]{2}$' })
  @IsOptional()
  @Matches(/^[A-Z]{2}$/, { message: 'country must be two capital letters such as DE.' })
  country?: string;

  /** Only from here: `api` is sent with the API, `app` in the WhatsApp Business app, `customer` was received. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 64 })
  @IsOptional()
  @Length(1, 64)
  source?: string;
}

type Period = Omit<UsageQuestion, 'groupBy' | 'filter'>;

/** @throws INVALID_REQUEST (400). */
export function periodOf(organizationId: string, query: PeriodQuery): Period {
  const { interval = 'day', timezone = 'UTC' } = query;
  const until = new Date(
    Math.ceil((query.until === undefined ? databaseClock.now() : Date.parse(query.until)) / SLOT_MS) * SLOT_MS,
  );
  const since =
    query.since === undefined
      ? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS)
      : new Date(Math.floor(Date.parse(query.since) / SLOT_MS) * SLOT_MS);
  if (since >= until) throw invalidField('since', 'range', 'since must be before until.');
  const days = (until.getTime() - since.getTime()) / DAY_MS;
  if (days > MAX_DAYS[interval]) {
    const message = `An interval of ${interval} takes at most ${MAX_DAYS[interval]} days from since to until.`;
    throw invalidField('since', 'range', message);
  }
  if (!TimeZone.exists(timezone)) {
    throw invalidField('timezone', 'timezone', 'timezone must be an IANA name such as Europe/Berlin.');
  }
  return { organizationId, since, until, interval, timezone };
}

/** @throws INVALID_REQUEST (400). */
export function questionOf(organizationId: string, query: UsageQuery): UsageQuestion {
  const names = (query.group_by ?? '').split(',').filter((name) => name !== '');
  const groupBy = [...new Set(names.map((name) => (name === 'connection_id' ? 'connection' : name)))] as Group[];
  const connections = new Set([query.connection_id, query.connection].flatMap((id) => id?.toLowerCase() ?? []));
  if (connections.size > 1) {
    throw invalidField('connection', 'equal', 'connection and connection_id are the same filter: give connection_id.');
  }
  const [connection] = connections;
  const filter = Object.fromEntries(
    GROUPS.flatMap((group) => {
      const value = group === 'connection' ? connection : query[group];
      return value === undefined ? [] : [[group, value]];
    }),
  );
  return { ...periodOf(organizationId, query), groupBy, filter };
}

export class DeliveryTimesResponse {
  /** Half of the delivered messages took no longer, about. */
  @ApiProperty({ type: 'integer', example: 1_240 })
  p50!: number;

  @ApiProperty({ type: 'integer', example: 4_800 })
  p95!: number;
}

/** Estimated: from the operator's prices and the messages that WhatsApp reported as billable. */
export class CostResponse {
  @ApiProperty({ pattern: '^[A-Z]{3}$', example: 'EUR' })
  currency!: string;

  @ApiProperty({ pattern: String.raw`^\d+\.\d{2,6}$`, example: '12.4410' })
  amount!: string;
}

const counts = (example: Record<string, number>): object => ({
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 0 },
  example,
});

export class UsageFiguresResponse {
  /** What POST /messages took. */
  @ApiProperty({ type: 'integer', example: 1_200 })
  submitted!: number;

  /** Accepted by WhatsApp, or further. */
  @ApiProperty({ type: 'integer', example: 1_190 })
  accepted!: number;

  /** Sent, delivered or read. */
  @ApiProperty({ type: 'integer', example: 1_188 })
  sent!: number;

  /** Delivered or read. */
  @ApiProperty({ type: 'integer', example: 1_151 })
  delivered!: number;

  @ApiProperty({ type: 'integer', example: 804 })
  read!: number;

  /** Failed; some of them after they were accepted or sent. */
  @ApiProperty({ type: 'integer', example: 9 })
  failed!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  outcome_unknown!: number;

  /** Written by customers. */
  @ApiProperty({ type: 'integer', example: 310 })
  received!: number;

  /** Failed messages by `failure_category`. */
  @ApiProperty(counts({ recipient_unreachable: 9 }))
  failures!: Record<string, number>;

  /** Messages that WhatsApp reported as billable, by category. */
  @ApiProperty(counts({ marketing: 110 }))
  billable!: Record<string, number>;

  /** Messages that WhatsApp reported as free, by type. */
  @ApiProperty(counts({ free_customer_service: 1_041 }))
  free!: Record<string, number>;

  /** Milliseconds from accepted to delivered; null: nothing was delivered. */
  @ApiProperty({ type: DeliveryTimesResponse, nullable: true })
  delivery_ms!: DeliveryTimesResponse | null;

  /** Estimated; null: the operator has set no price for some of the messages. */
  @ApiProperty({ type: CostResponse, nullable: true })
  cost!: Cost | null;

  /** The same of those with a price; null: there are no prices. */
  @ApiProperty({ type: CostResponse, nullable: true })
  cost_of_priced!: Cost | null;

  /** Billable messages without a price, by category. */
  @ApiProperty(counts({}))
  unpriced!: Record<string, number>;
}

export class UsageRowResponse extends UsageFiguresResponse {
  /** Where the interval begins, with the offset of the time zone. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T00:00:00.000+01:00' })
  start!: string;

  /** With `group_by=connection_id`. */
  @ApiPropertyOptional({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id?: string | null;

  /** As `connection_id`. */
  @ApiPropertyOptional({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection?: string | null;

  /** With `group_by=type`. */
  @ApiPropertyOptional({ example: 'template' })
  type?: string | null;

  /** With `group_by=template`; null: no template, or its message's content is gone. */
  @ApiPropertyOptional({ type: 'string', nullable: true, example: 'order_shipped' })
  template?: string | null;

  /** With `group_by=category`; null: WhatsApp has reported none. */
  @ApiPropertyOptional({ type: 'string', nullable: true, example: 'marketing' })
  category?: string | null;

  /** With `group_by=country`; null: unknown. */
  @ApiPropertyOptional({ type: 'string', nullable: true, example: 'DE' })
  country?: string | null;

  /** With `group_by=source`: `api`, `app` or `customer`. */
  @ApiPropertyOptional({ example: 'api' })
  source?: string | null;

  static of({ start, groups, ...figures }: UsageRow): UsageRowResponse {
    const { connection } = groups;
    return { start, ...(connection !== undefined && { connection_id: connection }), ...groups, ...figures };
  }
}

export class UsageResponse {
  /** The oldest interval first; those without messages are left out. */
  @ApiProperty({ type: [UsageRowResponse] })
  data!: UsageRowResponse[];

  /** All rows together. */
  @ApiProperty({ type: UsageFiguresResponse })
  totals!: UsageFigures;

  /** Up to when everything is counted; null: nothing is yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  as_of!: string | null;

  static of({ rows, totals, asOf }: UsageAnswer): UsageResponse {
    return { data: rows.map((row) => UsageRowResponse.of(row)), totals, as_of: asOf?.toISOString() ?? null };
  }
}

/** One-time codes by the time of their request. */
export class CodeFiguresResponse {
  /** What POST /otp/send took. */
  @ApiProperty({ type: 'integer', example: 420 })
  requested!: number;

  @ApiProperty({ type: 'integer', example: 418 })
  sent!: number;

  @ApiProperty({ type: 'integer', example: 411 })
  delivered!: number;

  @ApiProperty({ type: 'integer', example: 377 })
  verified!: number;

  @ApiProperty({ type: 'integer', example: 41 })
  expired!: number;

  @ApiProperty({ type: 'integer', example: 2 })
  failed!: number;
}

export class CodeRowResponse extends CodeFiguresResponse {
  /** Where the interval begins, with the offset of the time zone. */
  @ApiProperty({ format: 'date-time', example: TIME })
  start!: string;

  /** ISO 3166 alpha-2; null: the number was erased before it was counted. */
  @ApiProperty({ type: 'string', nullable: true, example: 'DE' })
  country!: string | null;
}

export class CodeUsageResponse {
  /** The oldest interval first; those without codes are left out. */
  @ApiProperty({ type: [CodeRowResponse] })
  data!: CodeRow[];

  /** All rows together. */
  @ApiProperty({ type: CodeFiguresResponse })
  totals!: CodeFigures;

  /** Up to when everything is counted; null: nothing is yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  as_of!: string | null;
}
