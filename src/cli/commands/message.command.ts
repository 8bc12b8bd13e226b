import type { Command } from 'commander';
import { table, type Answer } from '../answer.js';
import { durationSeconds, phoneDigits, wholeNumber } from '../arguments.js';
import { type ApiMessage, type ApiMessageDetail, type Page } from '../api/message.js';
import { connectionOf, sendMessage, uploadFile } from '../api/send.js';
import { KEY_OPTION, type Target, type TargetOptions, targetOf, URL_OPTION } from '../api/target.js';
import { isOver, watchMessage } from '../api/watch.js';
import { oneLine } from '../one-line.js';
import { guide } from '../help.js';
import type { Live } from '../live.js';
import { action, doesLive } from '../runner.js';
import { paint, paintStatus } from '../style.js';

const STATES = [
  'queued',
  'processing',
  'accepted',
  'sent',
  'delivered',
  'read',
  'received',
  'failed',
  'outcome_unknown',
];
const DEFAULT_WATCH_SECONDS = 60;

interface SendOptions extends TargetOptions {
  to?: string;
  recipient?: string;
  text?: string;
  template?: string;
  language: string;
  param?: string[];
  media?: string;
  connection?: string;
  replyTo?: string;
  clientMessageId?: string;
  idempotencyKey?: string;
  watch?: boolean;
  timeout: number;
}

interface ListOptions extends TargetOptions {
  limit: number;
  status?: string;
  direction?: string;
  from?: string;
  to?: string;
  recipient?: string;
  conversation?: string;
  connection?: string;
}

/** `message send|watch|list`: over the API, with a key, as an integration does it. */
export function addMessageCommands(program: Command): void {
  const message = program.command('message').description('send and follow messages, over the API with a key');
  addSend(message);
  addWatch(message);
  addList(message);
}

function addSend(message: Command): void {
  const command = message
    .command('send')
    .description('send a message: a text, a template or a file')
    .option('--to <number>', 'recipient, with the country code', phoneDigits)
    .option('--recipient <user-id>', 'instead of --to: the user id of a contact who may hide the number')
    .option('--text <text>', 'the text; with --media the caption')
    .option('--template <name>', 'an approved template instead, which needs no open window')
    .option('--language <code>', "the template's language", 'en_US')
    .option('--param <value>', "value of the template's next variable; repeat it for each", collected)
    .option('--media <file>', 'a file to upload and send; its type is told from its bytes')
    .option('--connection <id>', 'the number to send from; default the only one')
    .option('--reply-to <id>', 'the message that it answers')
    .option('--client-message-id <id>', 'your own id of the message')
    .option('--idempotency-key <uuid>', 'repeat a request with its key: nothing is sent twice; default a new one')
    .option('--watch', 'go on and print each status until it is read or has failed')
    .option('--timeout <duration>', 'how long to watch', durationSeconds, DEFAULT_WATCH_SECONDS)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      ['herald message send --to +15550001234 --text "Your table is ready." --watch', 'to a customer of the demo'],
      ['herald message send --to +15550004444 --template order_update --param Ana --param 4711', 'writing first'],
      ['herald message send --to +15550001234 --media menu.pdf --text "Today"', 'a file with a caption'],
    ],
    notes: 'Ordinary messages may go only to somebody who wrote in the last 24 hours; to others an approved template.',
    failure: 'refused, or with --watch: it failed or was not read within --timeout; the message says why',
  });
  doesLive<SendOptions>(command, async (live, options) => {
    const target = await targetOf(options, live.signal);
    const sent = await sendMessage(target.api, await bodyOf(target, options), options.idempotencyKey);
    const note = sent.replayed ? ' (this key was used before: nothing was sent again)' : '';
    const text = `${paint.name(sent.id)}  ${paintStatus(sent.status)}${note}`;
    if (options.watch !== true) return { data: sent, text };
    live.say(text, { event: 'accepted', ...sent });
    return watched(live, target, sent.id, options.timeout);
  });
}

function addWatch(message: Command): void {
  const command = message
    .command('watch')
    .description('print each status of a message as it comes, until it is read or has failed')
    .argument('<id>', "the message's id")
    .option('--timeout <duration>', 'how long to watch', durationSeconds, DEFAULT_WATCH_SECONDS)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message watch 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e --timeout 10m'],
    notes: 'Times are those of the API; WhatsApp tells of sent, delivered and read in whole seconds.',
    failure: 'the message failed, or was not read within --timeout',
  });
  doesLive<TargetOptions & { timeout: number }>(command, async (live, options, id = '') =>
    watched(live, await targetOf(options, live.signal), id, options.timeout),
  );
}

function addList(message: Command): void {
  const command = message
    .command('list')
    .description('list the newest messages')
    .option('--limit <n>', 'how many', wholeNumber(1, 100), 20)
    .option('--status <status>', `only ${STATES.join(', ')}`)
    .option('--direction <direction>', 'only outbound or inbound')
    .option('--from <number>', 'only from this number', phoneDigits)
    .option('--to <number>', 'only to this number', phoneDigits)
    .option('--recipient <user id>', 'only to and from the contact with this user id')
    .option('--conversation <id>', 'only of this conversation')
    .option('--connection <id>', 'only of this number')
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message list', 'herald message list --status failed --limit 100 --json'],
    notes: 'With --json as GET /messages answers it: data, and pagination for the next page.',
  });
  action<ListOptions>(command, async (options) => {
    const { api } = await targetOf(options);
    const page = await api.get<Page<ApiMessage>>('/messages', {
      limit: String(options.limit),
      status: options.status,
      direction: options.direction,
      from: options.from,
      to: options.to,
      recipient: options.recipient,
      conversation_id: options.conversation,
      connection_id: options.connection,
    });
    return { data: page, text: journalTable(page.data) };
  });
}

async function watched(live: Live, { api }: Target, id: string, timeoutSeconds: number): Promise<Answer | null> {
  const { message, timedOut } = await watchMessage(api, id, live, { until: isOver, timeoutMs: timeoutSeconds * 1_000 });
  const failed = timedOut || message.status === 'failed';
  return { data: { event: 'end', timed_out: timedOut, message }, text: endText(message, timedOut), failed };
}

function endText(message: ApiMessageDetail, timedOut: boolean): string {
  if (timedOut) return paint.doubtful(`${message.status} when the time to watch was over; --timeout gives it more`);
  if (message.status !== 'failed') return paint.good(`done: ${message.status}`);
  return (
    paint.bad(`failed: ${message.failure_category ?? 'unknown'}`) + `; POST /messages/${message.id}/retry tries again`
  );
}

async function bodyOf(target: Target, options: SendOptions): Promise<object> {
  const { to, recipient, text, template, media } = options;
  if ((to === undefined) === (recipient === undefined)) throw new Error('give exactly one of --to and --recipient');
  if (template !== undefined && (text !== undefined || media !== undefined)) {
    throw new Error('give --template alone, or --text and --media');
  }
  if (template === undefined && options.param !== undefined) throw new Error('--param belongs to --template');
  const common = {
    connection_id: await connectionOf(target, options.connection),
    ...(to === undefined ? { recipient } : { to: `+${to}` }),
    ...(options.replyTo !== undefined && { reply_to_message_id: options.replyTo }),
    ...(options.clientMessageId !== undefined && { client_message_id: options.clientMessageId }),
  };
  if (template !== undefined) return { ...common, type: 'template', template: templateOf(template, options) };
  if (media === undefined) {
    if (text === undefined) throw new Error('nothing to send: give --text, --template or --media');
    return { ...common, type: 'text', text: { body: text } };
  }
  const { id, type } = await uploadFile(target.api, common.connection_id, media);
  return { ...common, type, media: { id, ...(text !== undefined && { caption: text }) } };
}

function templateOf(name: string, { language, param = [] }: SendOptions): object {
  const parameters = param.map((text) => ({ type: 'text', text }));
  const components = parameters.length === 0 ? {} : { components: [{ type: 'body', parameters }] };
  return { name, language: { code: language }, ...components };
}

function journalTable(messages: ApiMessage[]): string {
  return table(
    ['ID', 'CREATED', 'STATUS', 'FROM', 'TO', 'TYPE', 'BODY'],
    messages.map((row) => [
      row.id,
      row.created_at,
      paintStatus(row.status),
      row.from ?? '-',
      row.to ?? row.recipient ?? '-',
      row.type,
      oneLine(row.body ?? row.failure_category ?? ''),
    ]),
    'No messages.',
  );
}

function collected(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}
