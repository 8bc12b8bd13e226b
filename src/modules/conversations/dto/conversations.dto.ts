import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString, Length, Matches, MaxLength } from 'class-validator';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_CONVERSATION_ID, EXAMPLE_PERSON_ID } from '../../../common/example-ids.js';
import {
  cursorOf,
  isUuidText,
  type ListCursor,
  OptionalUuid,
  type Period,
  PeriodQuery,
  periodOf,
} from '../../../infrastructure/http/page.query.js';
import type { PreviousNames } from '../conversations.types.js';
import { OWNERS, type Owner } from '../control/owner.types.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { OptionalPhone, OptionalUserId } from './recipient.decorator.js';
import { ContactResponse, JournalPagination, MessageListItem } from '../../message-state/message-list-item.response.js';

/** So many unread messages are counted; more are not looked at. */
export const UNREAD_LIMIT = 100;
/** Pages of all conversations that one page of the unread ones looks at. */
export const UNREAD_PAGES = 5;
const ROLE = /^[A-Za-z0-9_]{1,64}$/;
/** The platform takes no longer ones. */
const MAX_NOTE = 2_000;
export const MAX_ASSIGNEE = 100;
const NOT_BLANK = /\S/;
const MAX_SEARCH = 100;
const TIME = '2026-11-21T08:00:00.125Z';

/** The query of GET /conversations. */
export class ListConversationsQuery extends PeriodQuery {
  /** Only conversations of this number: an id from GET /connections. */
  @OptionalUuid('connection_id')
  connection_id?: string;

  /** Only those with the contact who has this number. */
  @OptionalPhone('to')
  to?: string;

  /** Only those with the contact who has this business-scoped user id, such as `DE.1795`. */
  @OptionalUserId()
  recipient?: string;

  /** `true`: only those with messages that wait to be read, as `unread_count` counts them. */
  @ApiPropertyOptional({ enum: ['true', 'false'] })
  @IfGiven()
  @IsIn(['true', 'false'])
  unread?: 'true' | 'false';

  /**
   * `true`: only those in which the customer wrote last, so that they wait for an answer. They are in the order of what the
   * customer wrote. Reactions, corrections and withdrawals of the customer do not count, and neither does an answer of yours that failed.
   */
  @ApiPropertyOptional({ enum: ['true', 'false'] })
  @IfGiven()
  @IsIn(['true', 'false'])
  waiting?: 'true' | 'false';

  /** `true`: only closed conversations; `false`: only those that are not. */
  @ApiPropertyOptional({ enum: ['true', 'false'] })
  @IfGiven()
  @IsIn(['true', 'false'])
  closed?: 'true' | 'false';

  /** Only those with exactly this assignee, such as `ana@example.com`. */
  @ApiPropertyOptional({ type: String, minLength: 1, maxLength: MAX_ASSIGNEE })
  @IfGiven()
  @IsString()
  @Length(1, MAX_ASSIGNEE)
  assignee?: string;

  /** Only those that are assigned to this person: an id from GET /members. */
  @OptionalUuid('assignee_id')
  assignee_id?: string;

  /**
   * Only those whose contact's name, or last name, begins with this, whatever the case and accents; or whose number
   * begins or ends with these digits, spaces and `+` aside. The first 50 matches are looked at: write more for others.
   */
  @ApiPropertyOptional({ type: String, minLength: 1, maxLength: MAX_SEARCH })
  @IfGiven()
  @IsString()
  @Length(1, MAX_SEARCH)
  @Matches(/[\p{L}\p{N}]/u, { message: 'search must have a letter or a digit.' })
  search?: string;
}

/** Names that are not valid any more, because WhatsApp reported new ones. */
export class PreviousNamesResponse implements PreviousNames {
  @ApiProperty({ type: [String], example: ['15550100000'] })
  phones!: string[];

  @ApiProperty({ type: [String], example: ['DE.1794'] })
  user_ids!: string[];
}

/** The contact of a conversation. */
export class ConversationContactResponse extends ContactResponse {
  /**
   * What the contact was named before; a message to one of these goes to the present number or user id. Missing where
   * WhatsApp reported no change.
   */
  @ApiPropertyOptional({ type: PreviousNamesResponse })
  previous?: PreviousNamesResponse;
}

/** One contact on one of your numbers. */
export class ConversationResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONVERSATION_ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id!: string;

  @ApiProperty({ type: ConversationContactResponse })
  contact!: ConversationContactResponse;

  /** The newest message, in either direction; null where the contact has called only. */
  @ApiProperty({ type: MessageListItem, nullable: true })
  last_message!: MessageListItem | null;

  /** When the contact last wrote to you or called; null where that never happened. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  last_inbound_at!: Date | null;

  /** Until then ordinary messages may be sent; in the past, or null: only templates. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-22T08:00:00.125Z' })
  service_window_closes_at!: Date | null;

  /**
   * Messages of the contact after the newest one that was marked as read with POST /messages/{id}/read; 100 means 100 or
   * more. Reactions, corrections, withdrawals and what was written to another app are not counted. An answer alone marks nothing as read.
   */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: UNREAD_LIMIT, example: 1 })
  unread_count!: number;

  /**
   * Who may send ordinary messages, where several apps answer on this number: `you`, another app (`other`), or `unknown`, as of
   * the last notification. Templates may be sent by all. See `conversation.control.updated`.
   */
  @ApiProperty({ enum: OWNERS, example: 'you' })
  owner!: Owner;

  /**
   * Of the other app: `customer_service`, `marketing`, `utility`, `ctwa`, `ai_agent`, `escalation`, or a later role; null
   * where it is not known, or you are the owner.
   */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  owner_role!: string | null;

  /** Set with PATCH /conversations/{id}; the next message of the customer makes it false. It keeps nothing from being sent. */
  @ApiProperty({ type: Boolean, example: false })
  closed!: boolean;

  /** Who looks after it, in your own words, as set with PATCH /conversations/{id}; null where that is not said. */
  @ApiProperty({ type: 'string', nullable: true, example: 'ana@example.com' })
  assignee!: string | null;

  /** The person who was chosen by `assignee_id`; null where only a text was given. Kept where the person is no member any more. */
  @ApiPropertyOptional({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_PERSON_ID })
  assignee_id!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  created_at!: Date;

  /** When the last message was taken or received: lists are in this order. */
  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  updated_at!: Date;
}

export class ConversationsResponse {
  data!: ConversationResponse[];

  pagination!: JournalPagination;
}

export const CONTROL_ACTIONS = ['pass', 'release', 'take'] as const;
export type ControlAction = (typeof CONTROL_ACTIONS)[number];

/** Body of POST /conversations/{id}/control. */
export class ControlRequest {
  /**
   * `pass`: another app becomes the owner. `release`: none is, until the contact writes again. `take`: you become the
   * owner, which WhatsApp allows to the escalation partner only.
   */
  @ApiProperty({ enum: CONTROL_ACTIONS, example: 'pass' })
  @IsIn(CONTROL_ACTIONS)
  action!: ControlAction;

  /** With `pass`: the role that becomes the owner, such as `ai_agent`; without it WhatsApp chooses. */
  @ApiPropertyOptional({ type: String, minLength: 1, maxLength: 64, pattern: ROLE.source, example: 'ai_agent' })
  @IfGiven()
  @Matches(ROLE, { message: 'role must be a role such as ai_agent or customer_service.' })
  role?: string;

  /** For the new owner; it is in its notification. */
  @ApiPropertyOptional({ type: String, maxLength: MAX_NOTE, example: 'Asks for a refund of order 4711.' })
  @IfGiven()
  @IsString()
  @MaxLength(MAX_NOTE)
  note?: string;
}

/** What `messages:write` alone learns of a conversation. */
export class ControlledConversation {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONVERSATION_ID })
  id!: string;

  @ApiProperty({ enum: OWNERS, example: 'other' })
  owner!: Owner;

  @ApiProperty({ type: 'string', nullable: true, example: 'ai_agent' })
  owner_role!: string | null;
}

export class ControlledConversationResponse {
  @ApiProperty({ type: ControlledConversation })
  data!: ControlledConversation;
}

/** Body of PATCH /conversations/{id}: what is left out stays as it is. */
export class UpdateConversationRequest {
  /** `true` takes it out of the work to be done; a message of the customer sets it to `false` again. */
  @ApiPropertyOptional({ type: Boolean, example: true })
  @IfGiven()
  @IsBoolean()
  closed?: boolean;

  /**
   * Who looks after it: any text of yours, such as a name or an address. `null`: none. Another text alone ends `assignee_id`.
   */
  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: MAX_ASSIGNEE,
    pattern: NOT_BLANK.source,
    example: 'ana@example.com',
  })
  @IsOptional()
  @IsString()
  @Length(1, MAX_ASSIGNEE)
  @Matches(NOT_BLANK, { message: 'assignee must not be blank; null removes it.' })
  assignee?: string | null;

  /**
   * A person of the workspace: an id from GET /members. Without a text `assignee` becomes the name of the person. `null` removes the
   * person, and the text with it.
   */
  @ApiPropertyOptional({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_PERSON_ID })
  @IsOptional()
  @isUuidText('assignee_id')
  assignee_id?: string | null;
}

/** What `messages:write` alone learns of a changed conversation. */
export class UpdatedConversation {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONVERSATION_ID })
  id!: string;

  @ApiProperty({ type: Boolean, example: true })
  closed!: boolean;

  @ApiProperty({ type: 'string', nullable: true, example: 'ana@example.com' })
  assignee!: string | null;

  @ApiPropertyOptional({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_PERSON_ID })
  assignee_id!: string | null;
}

export class UpdatedConversationResponse {
  @ApiProperty({ type: UpdatedConversation })
  data!: UpdatedConversation;
}

export class SingleConversationResponse {
  data!: ConversationResponse;
}

/** What is null does not filter. */
export interface ConversationFilter extends ListCursor, Period {
  connectionId: string | null;
  /** Digits. */
  to: string | null;
  /** A user id. */
  recipient: string | null;
  /** Only those with unread messages. */
  unread: boolean;
  /** Only those in which the customer wrote last. */
  waiting: boolean;
  closed: boolean | null;
  assignee: string | null;
  /** A person. */
  assigneeId: string | null;
  /** The beginning of a name, or digits of a number. */
  search: string | null;
  limit: number;
}

export function conversationFilterOf(query: ListConversationsQuery): ConversationFilter {
  return {
    limit: query.limit,
    ...cursorOf(query),
    ...periodOf(query),
    connectionId: query.connection_id?.toLowerCase() ?? null,
    to: query.to?.replace('+', '') ?? null,
    recipient: query.recipient ?? null,
    unread: query.unread === 'true',
    waiting: query.waiting === 'true',
    closed: query.closed === undefined ? null : query.closed === 'true',
    assignee: query.assignee ?? null,
    assigneeId: query.assignee_id?.toLowerCase() ?? null,
    search: query.search ?? null,
  };
}
