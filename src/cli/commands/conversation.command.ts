import type { Command } from 'commander';
import type {
  ConversationResponse,
  ConversationsResponse,
  SingleConversationResponse,
} from '../../modules/conversations/dto/conversations.dto.js';
import type { Wire } from '../api/client.js';
import { phoneDigits, wholeNumber } from '../arguments.js';
import { facts, oneLine, paint, table } from '../output.js';
import { apiAction } from '../runner.js';

interface ListOptions {
  limit: number;
  to?: string;
  recipient?: string;
  connection?: string;
}

type Conversation = Wire<ConversationResponse>;

const MAX_PAGES = 20;

/** `conversation list|show`: over the API, with a key. */
export function addConversationCommands(program: Command): void {
  const conversation = program.command('conversation').description('contacts with what was said last, over the API');
  const list = conversation
    .command('list')
    .description('list the conversations, newest activity first')
    .option('--limit <n>', 'how many', wholeNumber(1, 100), 20)
    .option('--to <number>', 'only with this contact', phoneDigits)
    .option('--recipient <user id>', 'only with the contact who has this user id')
    .option('--connection <id>', 'only of this number');
  apiAction<ListOptions>(list, async ({ api }, { limit, connection, ...filter }) => {
    const all: Wire<ConversationsResponse> = { data: [], pagination: { next_before: null, next_before_id: null } };
    // A page may be short before the end, where a few contacts have very many messages.
    for (let turned = 0; turned < MAX_PAGES && all.data.length < limit; turned++) {
      const { data, pagination } = await api.get<ConversationsResponse>('/conversations', {
        ...filter,
        limit: limit - all.data.length,
        connection_id: connection,
        before: all.pagination.next_before ?? undefined,
        before_id: all.pagination.next_before_id ?? undefined,
      });
      all.data.push(...data);
      all.pagination = pagination;
      if (pagination.next_before === null) break;
    }
    return { data: all, text: table(all.data, COLUMNS, 'No conversations.') };
  });

  const show = conversation
    .command('show')
    .description('show one conversation')
    .argument('<id>', "the conversation's id; conversation list shows it");
  apiAction(show, async ({ api }, _options, id) => {
    const { data } = await api.get<SingleConversationResponse>(`/conversations/${encodeURIComponent(id)}`);
    return {
      data,
      text: facts({
        Conversation: data.id,
        Number: data.connection_id,
        Contact: contactText(data),
        Window: windowText(data),
        Unread: unreadText(data),
        'Last message': lastText(data),
        'Last activity': data.updated_at,
      }),
    };
  });
}

const COLUMNS = {
  ID: 'id',
  'LAST ACTIVITY': 'updated_at',
  CONTACT: contactText,
  WINDOW: windowText,
  UNREAD: unreadText,
  'LAST MESSAGE': lastText,
} as const;

function contactText({ contact: { phone, user_id: userId, name } }: Conversation): string {
  const address = phone === null ? userId : `+${phone}`;
  return [address, name === null ? null : oneLine(name, 24)].filter((part) => part !== null).join(' ') || '-';
}

function windowText({ service_window_closes_at: closesAt }: Conversation): string {
  if (closesAt === null) return 'never open';
  return new Date(closesAt).getTime() > Date.now() ? paint.good(`until ${closesAt}`) : `closed ${closesAt}`;
}

/** The API counts to 100. */
function unreadText({ unread_count: count }: Conversation): string {
  return count >= 100 ? '99+' : String(count);
}

function lastText({ last_message: last }: Conversation): string {
  return last === null ? '-' : `${last.direction === 'inbound' ? '<' : '>'} ${oneLine(last.body ?? last.type, 40)}`;
}
