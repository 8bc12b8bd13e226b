import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches, MaxLength, ValidateBy } from 'class-validator';
import { FAILURE_CATEGORIES, type FailureCategory } from '../../../common/failure-category.js';
import { cursorOf, OptionalTime, OptionalUuid, PageQuery } from '../../../infrastructure/http/page.query.js';
import { OptionalPhone, OptionalUserId } from '../../conversations/dto/recipient.decorator.js';
import type { JournalQuery } from '../journal/journal-page.js';
import { MESSAGE_SOURCES, type MessageSource } from '../../message-state/message.types.js';
import { TAG, TAG_MEANING } from '../../message-state/tag.types.js';
import { MESSAGE_STATUSES, type MessageStatus } from '../../message-state/message-state.types.js';

/** The specification leaves `accepted` out; such messages are found by the other filters. */
const FILTER_STATUSES = MESSAGE_STATUSES.filter((status) => status !== 'accepted');
const STATUSES: ReadonlySet<string> = new Set(FILTER_STATUSES);
const DIRECTIONS = ['outbound', 'inbound'] as const;

/** The query of GET /messages. */
export class ListMessagesQuery extends PageQuery {
  /** Only messages of this number: an id from GET /connections. */
  @OptionalUuid('connection_id')
  connection_id?: string;

  /** Only messages of this conversation, in both directions. */
  @OptionalUuid('conversation_id')
  conversation_id?: string;

  /** `outbound`: sent here; `inbound`: written by customers. */
  @ApiPropertyOptional({ enum: DIRECTIONS })
  @IsOptional()
  @IsIn(DIRECTIONS)
  direction?: (typeof DIRECTIONS)[number];

  /**
   * `api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of
   * before the number was connected.
   */
  @ApiPropertyOptional({ enum: MESSAGE_SOURCES })
  @IsOptional()
  @IsIn(MESSAGE_SOURCES)
  source?: MessageSource;

  /** `received` selects inbound messages. */
  @ApiPropertyOptional({ enum: FILTER_STATUSES })
  @IsOptional()
  @IsIn(FILTER_STATUSES)
  status?: MessageStatus;

  /** Messages in one of these states, separated by commas, such as `failed,outcome_unknown`. Instead of `status`. */
  @ApiPropertyOptional({ type: String, maxLength: 100, example: 'failed,outcome_unknown' })
  @IsOptional()
  @MaxLength(100)
  @ValidateBy({
    name: 'one_of',
    validator: {
      validate: (text) => typeof text === 'string' && text.split(',').every((each) => STATUSES.has(each)),
      defaultMessage: () =>
        `statuses must be one or more of these, separated by commas: ${FILTER_STATUSES.join(', ')}.`,
    },
  })
  @ValidateBy({
    name: 'exactly_one',
    validator: {
      validate: (_text, given) => (given?.object as ListMessagesQuery | undefined)?.status === undefined,
      defaultMessage: () => 'Give one of status and statuses.',
    },
  })
  statuses?: string;

  /** Messages that failed for this reason, or whose outcome is unknown for it. */
  @ApiPropertyOptional({ enum: FAILURE_CATEGORIES })
  @IsOptional()
  @IsIn(FAILURE_CATEGORIES)
  failure_category?: FailureCategory;

  /** Messages that were made at this time or later, such as `2026-11-21T08:00:00.000Z`. */
  @OptionalTime('since')
  since?: string;

  /** Messages that were made before this time. */
  @OptionalTime('until')
  until?: string;

  /** Your own id, as sent. */
  @ApiPropertyOptional({ maxLength: 200 })
  @IsOptional()
  @MaxLength(200)
  client_message_id?: string;

  /** Messages of this group, as sent. */
  @ApiPropertyOptional({ type: String, maxLength: 64, pattern: TAG.source })
  @IsOptional()
  @Matches(TAG, { message: `tag must be ${TAG_MEANING}.` })
  tag?: string;

  /** Messages that send this file, refer to it, or came with it: an id from GET /media. */
  @OptionalUuid('media_object_id')
  media_object_id?: string;

  /** The message that has this id at WhatsApp, or had it with an earlier attempt: `meta_message_id`. */
  @ApiPropertyOptional({ maxLength: 512 })
  @IsOptional()
  @MaxLength(512)
  meta_message_id?: string;

  /** Outbound messages to this number. */
  @OptionalPhone('to')
  to?: string;

  /** Messages from this number: a customer's, or one of yours. */
  @OptionalPhone('from')
  from?: string;

  /** Messages to and from the contact with this business-scoped user id, such as `DE.1795`. */
  @OptionalUserId()
  recipient?: string;
}

export type JournalFilter = Omit<JournalQuery, 'organizationId'>;

/** One state is asked for as before. */
function statesOf({ status, statuses }: ListMessagesQuery): Pick<JournalQuery, 'status' | 'statuses'> {
  const all = [...new Set(statuses?.split(',') as MessageStatus[] | undefined)];
  return all.length > 1 ? { statuses: all } : { status: status ?? all[0] };
}

export function filterOf(query: ListMessagesQuery): JournalFilter {
  return {
    limit: query.limit,
    ...cursorOf(query),
    connectionId: query.connection_id?.toLowerCase(),
    conversationId: query.conversation_id?.toLowerCase(),
    direction: query.direction,
    source: query.source,
    ...statesOf(query),
    clientMessageId: query.client_message_id,
    tag: query.tag,
    mediaObjectId: query.media_object_id?.toLowerCase(),
    metaMessageId: query.meta_message_id,
    failureCategory: query.failure_category,
    since: query.since === undefined ? undefined : new Date(query.since),
    until: query.until === undefined ? undefined : new Date(query.until),
    from: query.from?.replace('+', ''),
    to: query.to?.replace('+', ''),
    recipient: query.recipient,
  };
}
