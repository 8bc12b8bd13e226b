import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EXAMPLE_CONVERSATION_ID } from '../../../common/example-ids.js';
import { openWords } from '../../../infrastructure/http/open-words.js';
import type { ErrorFields } from '../../../infrastructure/http/error.filter.js';
import { ENDPOINTS, type Endpoint } from '../../../infrastructure/whatsapp/graph-error.js';
import { LIMIT_KINDS, type LimitKind } from '../../billing/limits.types.js';
import { OWNERS, type Owner } from '../../conversations/control/owner.types.js';
import { MAX_AHEAD } from '../../sending/sending.types.js';

/** What does not keep Herald from taking a message, but may keep it from arriving. */
const WARNING_CODES = [
  'NUMBER_RESTRICTED',
  'NUMBER_QUALITY_LOW',
  'RECIPIENT_IS_SENDER',
  'RECIPIENT_DOUBTFUL',
  'RECIPIENT_FAILED_BEFORE',
  'TEMPLATE_QUALITY_LOW',
  'TEMPLATE_VALUES_UNUSED',
  'MARKETING_TO_UNITED_STATES',
  'NOT_CONVERSATION_OWNER',
  'WINDOW_CLOSES_BEFORE_SEND',
  'EXPIRES_BEFORE_SEND',
  'MEDIA_LINK_NOT_CHECKED',
  'MEDIA_FIELD_NOT_SENT',
  'ACTION_REFUSED',
] as const;

export class CheckWarningResponse {
  @ApiProperty({ ...openWords('WarningCode', WARNING_CODES, 'Stable.'), example: 'TEMPLATE_QUALITY_LOW' })
  code!: (typeof WARNING_CODES)[number];

  /** One sentence that says what to do. */
  @ApiProperty({
    example:
      'WhatsApp rates the quality of this template YELLOW; it pauses templates whose quality stays low, and then refuses them.',
  })
  message!: string;

  /** The field of the body that it is about. */
  @ApiPropertyOptional({ example: 'template.name' })
  field?: string;
}

export class RenderedHeader {
  /** TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION ... */
  @ApiProperty({ example: 'TEXT' })
  format!: string;

  /** Null where the header is no text. */
  @ApiProperty({ type: 'string', nullable: true, example: 'Order 4711' })
  text!: string | null;
}

export class RenderedButtonResponse {
  /** QUICK_REPLY, URL, LIST ... */
  @ApiProperty({ example: 'URL' })
  type!: string;

  @ApiProperty({ example: 'Track' })
  text!: string;

  @ApiPropertyOptional({ example: 'https://example.com/t/4711' })
  url?: string;

  @ApiPropertyOptional({ example: '+15550100001' })
  phone_number?: string;

  /** What the button copies. */
  @ApiPropertyOptional({ example: '123456' })
  code?: string;
}

export class RenderedMessageResponse {
  @ApiProperty({ type: RenderedHeader, nullable: true, example: null })
  header!: RenderedHeader | null;

  /** Text, or the caption of a file. */
  @ApiProperty({ type: 'string', nullable: true, example: 'Your table for two is ready.' })
  body!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: null })
  footer!: string | null;

  @ApiProperty({ type: [RenderedButtonResponse], example: [] })
  buttons!: RenderedButtonResponse[];
}

export class CheckedWindow {
  /** Whether ordinary messages may be sent now; templates always may. */
  @ApiProperty({ type: Boolean, example: true })
  open!: boolean;

  /** When it closes or has closed; null where the contact never wrote. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-22T07:12:00.000Z' })
  closes_at!: string | null;
}

export class CheckedQueue {
  /** Messages of the number that leave first, counted up to 10,000. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: MAX_AHEAD, example: 0 })
  ahead!: number;

  /** Null where it cannot be known: the number cannot send, or more than 10,000 messages wait. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:00:00.125Z' })
  estimated_send_at!: string | null;
}

const MESSAGES_OR_AMOUNT = {
  anyOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: String.raw`^\d+\.\d{2,6}$` },
  ],
};

export class CheckedLimit {
  /** Which limit, by its name at the command line. */
  @ApiProperty({ enum: LIMIT_KINDS, example: 'messages_per_day' })
  kind!: LimitKind;

  /** Messages, or of `spend_per_month` an amount as a decimal. */
  @ApiProperty({ ...MESSAGES_OR_AMOUNT, example: 1_000 })
  limit!: number | string;

  /** Accepted in the period, less what failed unsent. */
  @ApiProperty({ ...MESSAGES_OR_AMOUNT, example: 250 })
  used!: number | string;

  @ApiProperty({ ...MESSAGES_OR_AMOUNT, example: 750 })
  remaining!: number | string;

  /** Of `spend_per_month`, which is estimated from the operator's prices. */
  @ApiPropertyOptional({ pattern: '^[A-Z]{3}$', example: 'EUR' })
  currency?: string;

  /** When the next period begins, in the workspace's time zone. */
  @ApiProperty({ format: 'date-time', example: '2026-11-22T00:00:00.000Z' })
  renews_at!: string;
}

export class MessageCheck {
  /** POST /messages would take it at this moment: there are no problems. */
  @ApiProperty({ type: Boolean, example: true })
  sendable!: boolean;

  /** What POST /messages would refuse it for: the errors that it would answer, with all their fields. */
  @ApiProperty({
    type: 'array',
    items: {
      type: 'object',
      required: ['code', 'message', 'doc_url'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        doc_url: { type: 'string', format: 'uri' },
        details: { type: 'array', items: { $ref: '#/components/schemas/ErrorDetail' } },
      },
      additionalProperties: true,
    },
    example: [],
  })
  problems!: ErrorFields[];

  @ApiProperty({ type: [CheckWarningResponse] })
  warnings!: CheckWarningResponse[];

  /** What the recipient would see; every part null or empty where the template is not known. */
  @ApiProperty({ type: RenderedMessageResponse })
  rendered!: RenderedMessageResponse;

  /** Null where there is none with this contact yet; left out for a key without `messages:read`. */
  @ApiPropertyOptional({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_CONVERSATION_ID })
  conversation_id?: string | null;

  /** Left out for a key without `messages:read`. */
  @ApiPropertyOptional({ type: CheckedWindow })
  window?: CheckedWindow;

  /** Who may send ordinary messages to this contact; left out for a key without `messages:read`. */
  @ApiPropertyOptional({ enum: OWNERS, example: 'you' })
  owner?: Owner;

  /** Of another app that is the owner, where it is known; left out for a key without `messages:read`. */
  @ApiPropertyOptional({ type: 'string', nullable: true, example: null })
  owner_role?: string | null;

  /**
   * The endpoint of WhatsApp that the message goes by: `marketing_messages` for a marketing template, where the account
   * may use it and the number's `marketing_route` is `auto`. Left out where the number is not known.
   */
  @ApiPropertyOptional({ enum: ENDPOINTS, example: 'messages' })
  endpoint?: Endpoint;

  @ApiProperty({ type: CheckedQueue })
  queue!: CheckedQueue;

  /** What is left of the limits that the message counts against; empty where the workspace has none. */
  @ApiProperty({ type: [CheckedLimit], example: [] })
  limits!: CheckedLimit[];
}

export class MessageCheckResponse {
  @ApiProperty({ type: MessageCheck })
  data!: MessageCheck;
}
