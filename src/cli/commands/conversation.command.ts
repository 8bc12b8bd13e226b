import type { Command } from 'commander';
import { facts, oneLine, paint, table } from '../output.js';
import { phoneDigits, wholeNumber } from '../arguments.js';
import { type ApiMessage, type Page, type Single } from '../api/message.js';
import { KEY_OPTION, type TargetOptions, URL_OPTION, targetOf } from '../api/client.js';
import { action, guide } from '../runner.js';

/** What the command line reads of a conversation. */
interface ApiConversation {
  id: string;
  connection_id: string;
  contact: { phone: string | null; user_id: string | null; name: string | null };
  last_message: ApiMessage | null;
  last_inbound_at: string | null;
  service_window_closes_at: string | null;
  unread_count: number;
  updated_at: string;
}

interface ListOptions extends TargetOptions {
  limit: number;
  to?: string;
  recipient?: string;
  connection?: string;
}

const MOST_PAGES = 20;

/** `conversation list|show`: over the API, with a key. */
export function addConversationCommands(program: Command): void {
  const conversation = program.command('conversation').description('contacts with what was said last, over the API');
  const list = conversation
    .command('list')
    .description('list the conversations, newest activity first')
    .option('--limit <n>', 'how many', wholeNumber(1, 100), 20)
    .option('--to <number>', 'only with this contact', phoneDigits)
    .option('--recipient <user id>', 'only with the contact who has this user id')
    .option('--connection <id>', 'only of this number')
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(list, {
    examples: ['herald conversation list', 'herald conversation list --to +15550001234'],
    notes: 'UNREAD counts what came after the newest message that was marked as read: herald message read <id>.',
  });
  action<ListOptions>(list, async (options) => {
    const { api } = await targetOf(options);
    const data: ApiConversation[] = [];
    let pagination: Page<ApiConversation>['pagination'] = { next_before: null, next_before_id: null };
    // A page may be short before the end, where a few contacts have very many messages.
    for (let turned = 0; turned < MOST_PAGES && data.length < options.limit; turned++) {
      const page = await api.get<Page<ApiConversation>>('/conversations', {
        limit: String(options.limit - data.length),
        to: options.to,
        recipient: options.recipient,
        connection_id: options.connection,
        before: pagination.next_before ?? undefined,
        before_id: pagination.next_before_id ?? undefined,
      });
      data.push(...page.data);
      pagination = page.pagination;
      if (pagination.next_before === null) break;
    }
    return { data: { data, pagination }, text: conversationTable(data) };
  });

  const show = conversation
    .command('show')
    .description('show one conversation')
    .argument('<id>', "the conversation's id; conversation list shows it")
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(show, {
    examples: ['herald conversation show 01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f'],
    notes: 'Its thread: herald message list --conversation <id>.',
    failure: 'there is no such conversation',
  });
  action<TargetOptions>(show, async (options, id = '') => {
    const { api } = await targetOf(options);
    const { data } = await api.get<Single<ApiConversation>>(`/conversations/${encodeURIComponent(id)}`);
    return {
      data,
      text: facts({
        Conversation: data.id,
        Number: data.connection_id,
        Contact: contactText(data),
        Window: windowText(data),
        Unread: unreadText(data),
        'Last message': data.last_message === null ? '-' : lastText(data.last_message),
        'Last activity': data.updated_at,
      }),
    };
  });
}

function conversationTable(conversations: ApiConversation[]): string {
  return table(
    ['ID', 'LAST ACTIVITY', 'CONTACT', 'WINDOW', 'UNREAD', 'LAST MESSAGE'],
    conversations.map((row) => [
      row.id,
      row.updated_at,
      contactText(row),
      windowText(row),
      unreadText(row),
      row.last_message === null ? '-' : lastText(row.last_message),
    ]),
    'No conversations.',
  );
}

function contactText({ contact: { phone, user_id: userId, name } }: ApiConversation): string {
  const address = phone === null ? userId : `+${phone}`;
  return [address, name === null ? null : oneLine(name, 24)].filter((part) => part !== null).join(' ') || '-';
}

function windowText({ service_window_closes_at: closesAt }: ApiConversation): string {
  if (closesAt === null) return 'never open';
  return new Date(closesAt).getTime() > Date.now() ? paint.good(`until ${closesAt}`) : `closed ${closesAt}`;
}

/** The API counts to 100. */
function unreadText({ unread_count: count }: ApiConversation): string {
  return count >= 100 ? '99+' : String(count);
}

function lastText({ direction, type, body }: ApiMessage): string {
  return `${direction === 'inbound' ? '<' : '>'} ${oneLine(body ?? type, 40)}`;
}
