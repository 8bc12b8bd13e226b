import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_CONVERSATION_ID, EXAMPLE_MESSAGE_ID } from '../../common/example-ids.js';
import { FAILURE_CATEGORY, nullable } from '../../infrastructure/http/open-words.js';
import { RECEIVED_CONTENT } from '../../infrastructure/http/received-content.js';
import { MESSAGE_STATUSES } from './message-state.types.js';
import { type Message, MESSAGE_SOURCES } from './message.types.js';

const ID = EXAMPLE_MESSAGE_ID;
const TIME = '2026-11-21T08:00:00.125Z';
const META_ID = 'wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA';

/** Who is on the other side. */
export class ContactResponse {
  @ApiProperty({ type: 'string', nullable: true, example: '15550100001' })
  phone!: string | null;

  /** The platform's business-scoped id of a contact who may hide the number. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  user_id!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'Ana Lima' })
  name!: string | null;
}

/** What WhatsApp charges for a message, in its own words. The amount is in none of its reports. */
export class PricingResponse {
  @ApiProperty({ type: 'boolean', nullable: true, example: true })
  billable!: boolean | null;

  /** `utility`, `marketing`, `authentication`, `service` or another. */
  @ApiProperty({ type: 'string', nullable: true, example: 'utility' })
  category!: string | null;

  /** `regular` is charged; what begins with `free_` is not. */
  @ApiProperty({ type: 'string', nullable: true, example: 'regular' })
  type!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: null })
  subtype!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'PMP' })
  model!: string | null;
}

/** How a received message came about. */
export class InboundContextResponse {
  @ApiProperty({ required: false })
  forwarded?: boolean;

  @ApiProperty({ required: false })
  frequently_forwarded?: boolean;

  /** The product that the customer asks about. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  referred_product?: Record<string, unknown>;

  /** WhatsApp's id of the message that it answers, where that is none of the journal. */
  @ApiProperty({ required: false, example: META_ID })
  quoted_platform_id?: string;
}

/** What a message says since its last edit. */
export class CurrentResponse {
  @ApiProperty({ type: 'string', nullable: true, example: 'Is my table ready at eight?' })
  body!: string | null;

  @ApiProperty({ ...RECEIVED_CONTENT, example: { body: 'Is my table ready at eight?' } })
  content!: Record<string, unknown>;
}

/** A message as it is in the journal. */
export class MessageListItem {
  @ApiProperty({ format: 'uuid', example: ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id!: string;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_CONVERSATION_ID })
  conversation_id!: string | null;

  @ApiProperty({ enum: ['outbound', 'inbound'], example: 'outbound' })
  direction!: string;

  /**
   * `api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of
   * before the number was connected, imported from that app.
   */
  @ApiProperty({ enum: MESSAGE_SOURCES, example: 'api' })
  source!: string;

  @ApiProperty({ type: 'string', nullable: true, example: '15550100002' })
  from!: string | null;

  /** The recipient; for an inbound message the workspace's own number; null where it is addressed to a user id. */
  @ApiProperty({ type: 'string', nullable: true, example: '15550100001' })
  to!: string | null;

  /** The user id that it is addressed to instead of a number. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  recipient!: string | null;

  @ApiProperty({ type: ContactResponse })
  contact!: ContactResponse;

  @ApiProperty({ example: 'text' })
  type!: string;

  @ApiProperty({ type: 'string', nullable: true, example: 'Your table is ready.' })
  body!: string | null;

  /** The variant's object as it was sent or received. */
  @ApiProperty({ ...RECEIVED_CONTENT, example: { body: 'Your table is ready.' } })
  content!: Record<string, unknown>;

  /** The file that it sends, refers to, or that came with it: GET /media/{id}/url. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: null })
  media_object_id!: string | null;

  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: null })
  reply_to_message_id!: string | null;

  @ApiProperty({ enum: MESSAGE_STATUSES, example: 'delivered' })
  status!: string;

  @ApiProperty({ ...nullable(FAILURE_CATEGORY), example: null })
  failure_category!: string | null;

  /** Null until WhatsApp has said it, which it does with `sent`, `delivered` or `read`, and of received messages. */
  @ApiProperty({
    nullable: true,
    example: { billable: true, category: 'utility', type: 'regular', subtype: null, model: 'PMP' },
  })
  pricing!: PricingResponse | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'order-4711' })
  client_message_id!: string | null;

  /** The group of messages that it belongs to; null of received messages, and where it has none. */
  @ApiProperty({ type: 'string', nullable: true, example: 'spring-sale' })
  tag!: string | null;

  /** Your own strings, as sent. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { customer: 'c-17' },
  })
  metadata!: Record<string, string> | null;

  @ApiProperty({ type: 'string', nullable: true, example: META_ID })
  meta_message_id!: string | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  /** Received as an observer: the customer wrote to another app, which owned the conversation. Do not answer it. */
  @ApiProperty({ type: Boolean, example: false })
  standby!: boolean;

  /** When it is to go. Only while the message is scheduled. */
  @ApiProperty({ format: 'date-time', required: false, example: '2026-11-24T09:00:00.000Z' })
  scheduled_for?: string;

  @ApiProperty({ type: InboundContextResponse, required: false })
  context?: InboundContextResponse;

  /** The advertisement or post that led the customer here, as WhatsApp reports it. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { source_type: 'ad', source_id: '120210', ctwa_clid: 'ARAkLkA8' },
  })
  referral?: Record<string, unknown>;

  /** State of the customer's keys, where the number checks for changes. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  identity?: Record<string, unknown>;

  /** The customer's WhatsApp user name. */
  @ApiProperty({ required: false, example: 'ana.lima' })
  username?: string;

  /** Only on what was said in a group: it belongs to no conversation and opens no window. */
  @ApiProperty({ required: false, example: 'Y2FwaV9ncm91cDox' })
  group_id?: string;

  /** Only on `type` `edit`: the message that it corrects; null where that is not known. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, required: false, example: ID })
  edits_message_id?: string | null;

  /** Only on `type` `revoke`: the message that it withdraws; null where that is not known. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, required: false, example: ID })
  revokes_message_id?: string | null;

  /** When its author last corrected it. Only on a message that was edited or revoked. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, required: false, example: TIME })
  edited_at?: string | null;

  /** When its author withdrew it: show its text no longer. Only on a message that was edited or revoked. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, required: false, example: null })
  revoked_at?: string | null;

  /** What it says since the last edit, beside `body` and `content`, which stay; null where it was revoked. */
  @ApiProperty({ type: CurrentResponse, nullable: true, required: false })
  current?: CurrentResponse | null;
}

export class JournalPagination {
  /** Pass it as `before` for the next page; null on the last one. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:00:00.125Z' })
  next_before!: string | null;

  /** Pass it as `before_id` together with `before`. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_MESSAGE_ID })
  next_before_id!: string | null;
}

export function listItemOf(message: Message): MessageListItem {
  const { phone, userId, name } = message.contact;
  return {
    id: message.id,
    connection_id: message.connectionId,
    conversation_id: message.conversationId,
    direction: message.direction,
    source: message.source,
    from: message.sender,
    to: message.recipient,
    recipient: message.recipientUserId,
    contact: { phone, user_id: userId, name },
    type: message.type,
    body: message.body,
    content: message.content,
    media_object_id: message.mediaObjectId,
    reply_to_message_id: message.replyToMessageId,
    status: message.status,
    failure_category: message.failureCategory,
    pricing: pricingOf(message),
    client_message_id: message.clientMessageId,
    tag: message.tag,
    metadata: message.metadata,
    meta_message_id: message.metaMessageId,
    created_at: message.createdAt.toISOString(),
    standby: message.standby,
    ...(message.scheduledFor !== null && { scheduled_for: message.scheduledFor.toISOString() }),
    ...message.inboundContext,
    ...message.changes,
  };
}

function pricingOf(message: Message): PricingResponse | null {
  const { billable, pricingCategory: category, pricingType: type, pricingSubtype, pricingModel } = message;
  if (category === null && type === null) return null;
  return { billable, category, type, subtype: pricingSubtype, model: pricingModel };
}
