import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { type Answer, clock, oneLine, padded, paint, paintStatus, table } from '../output.js';
import { durationSeconds, phoneDigits, timeAhead, wholeNumber, wordsOf } from '../arguments.js';
import {
  type ApiMessage,
  type ApiMessageDetail,
  type Page,
  type Single,
  isOver,
  sendMessage,
  shortId,
  watchMessage,
} from '../api/message.js';
import { sendFile } from '../api/batch.js';
import { KEY_OPTION, type Target, type TargetOptions, URL_OPTION, targetOf } from '../api/client.js';
import { addHistoryCommands } from './message-history.command.js';
import { addBodyOptions, type BodyOptions, bodyOf } from '../api/message-body.js';
import { addCheckCommand } from './message-check.command.js';
import { type Live, action, liveAction, guide, UsageError } from '../runner.js';
import { JournalTail, type TailEvent } from '../api/journal-tail.js';

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
const DIRECTIONS = ['inbound', 'outbound'];

const WATCH_FAILURE = 'refused, or with --watch: it failed or was not read within --timeout; the message says why';

function watchOption(): Option {
  return new Option('--watch', 'go on and print each status until it is read or has failed');
}

function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long to watch').argParser(durationSeconds).default(60, '1m');
}

interface SendOptions extends BodyOptions {
  idempotencyKey?: string;
  file?: string;
  permissive?: boolean;
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

/** `message send|check|watch|show|explain|list|retry|cancel|read`: over the API, with a key, as an integration does it. */
export function addMessageCommands(program: Command): void {
  const message = program.command('message').description('send and follow messages, over the API with a key');
  addSend(message);
  addCheckCommand(message);
  addWatch(message);
  addHistoryCommands(message);
  addList(message);
  addRetry(message);
  addCancel(message);
  addRead(message);
}

function addSend(message: Command): void {
  const command = addBodyOptions(
    message.command('send').description('send a message: a text, a template or a file; or many from a file'),
    'the text; with --media the caption',
  )
    .option('--media <file>', 'a file to upload and send; its MIME type is detected from its content')
    .option('--connection <id>', 'the number to send from; default the only one')
    .option('--reply-to <id>', 'the message that it answers')
    .option('--client-message-id <id>', 'your own id of the message')
    .option('--send-at <time>', 'send it later: a time with its zone, or one from now, such as 2h', timeAhead)
    .option('--ttl <duration>', 'how long it may wait from then on, such as 1h', durationSeconds)
    .option('--idempotency-key <uuid>', 'repeat a request with its key: nothing is sent twice; default a new one')
    .option('--file <path>', 'instead: the messages of a JSON file, as POST /messages takes them; - for standard input')
    .option('--permissive', 'with --file: take what can be sent where others cannot')
    .addOption(watchOption())
    .addOption(timeoutOption())
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      ['herald message send --to +15550001234 --text "Your table is ready." --watch', 'to a customer of the demo'],
      ['herald message send --to +15550004444 --template order_update --param Ana --param 4711', 'writing first'],
      ['herald message send --to +15550001234 --media menu.pdf --text "Today"', 'a file with a caption'],
      ['herald message send --file messages.json --permissive', 'many'],
      [
        'herald message send --to +15550001234 --text "See you at eight." --send-at 2h --ttl 1h',
        'later, or not at all',
      ],
    ],
    notes: [
      'Ordinary messages may go only to customers who wrote in the last 24 hours; others may get an approved template.',
      'What is sent with a duration from now is another message at each call: repeat it with the time itself.',
      '--file takes a JSON array or one message a line, and sends a hundred with each request: all of them, or',
      'none where one cannot be sent; with --permissive those that can. Where a message has no idempotency_key, it gets one:',
      'give them yourself to repeat a file without sending twice.',
    ].join('\n'),
    failure: WATCH_FAILURE,
  });
  liveAction<SendOptions>(command, async (live, options) => {
    const target = await targetOf(options, live.signal);
    if (options.file !== undefined) return sendFile(live, target, fileOptions(options));
    if (options.permissive === true) throw new UsageError('--permissive belongs to --file');
    const sent = await sendMessage(target.api, await bodyOf(target, options), options.idempotencyKey);
    const note = sent.replayed ? ' (this key was used before: nothing was sent again)' : '';
    const text = `${paint.name(sent.id)}  ${paintStatus(sent.status)}${note}`;
    if (options.watch !== true) return { data: sent, text };
    live.say(text, { event: 'accepted', ...sent });
    return watched(live, target, sent.id, options.timeout);
  });
}

function fileOptions({ file = '', connection, permissive = false, ...others }: SendOptions) {
  const { to, recipient, text, template, param, media, replyTo, clientMessageId, sendAt, ttl } = others;
  const { idempotencyKey, watch } = others;
  const named = [to, recipient, text, template, param, media, replyTo, clientMessageId, sendAt, ttl];
  const alone = [...named, idempotencyKey, watch];
  if (alone.some((option) => option !== undefined)) {
    throw new UsageError('give --file alone: the messages of the file say everything');
  }
  return { file, permissive, ...(connection !== undefined && { connection }) };
}

function addWatch(message: Command): void {
  const command = message
    .command('watch')
    .description('print each status of a message as it comes, until it is read or has failed')
    .argument('<id>', "the message's id")
    .addOption(timeoutOption())
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message watch 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e --timeout 10m'],
    notes: 'Times are those of the API; WhatsApp reports sent, delivered and read in whole seconds.',
    failure: 'the message failed, or was not read within --timeout',
  });
  liveAction<TargetOptions & { timeout: number }>(command, async (live, options, id = '') =>
    watched(live, await targetOf(options, live.signal), id, options.timeout),
  );
}

function addList(message: Command): void {
  const command = message
    .command('list')
    .description('list the newest messages')
    .option('--limit <n>', 'how many', wholeNumber(1, 100), 20)
    .addOption(new Option('--status <status>', 'only of this status').choices(STATES))
    .addOption(new Option('--direction <direction>', 'only in this direction').choices(DIRECTIONS))
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

interface RetryOptions extends TargetOptions {
  confirmOutcomeUnknown?: boolean;
  idempotencyKey?: string;
  watch?: boolean;
  timeout: number;
}

function addRetry(message: Command): void {
  const command = message
    .command('retry')
    .description('send a failed message again')
    .argument('<id>', "the message's id")
    .option('--confirm-outcome-unknown', 'also where it may have been sent: the recipient may then get it twice')
    .option('--idempotency-key <uuid>', 'repeat a request with its key: it is queued once; default a new one')
    .addOption(watchOption())
    .addOption(timeoutOption())
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      'herald message retry 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e --watch',
      ['herald message retry 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e --confirm-outcome-unknown', 'it may have been sent'],
    ],
    failure: WATCH_FAILURE,
  });
  liveAction<RetryOptions>(command, async (live, options, id = '') => {
    const target = await targetOf(options, live.signal);
    const { data } = await target.api.post<Single<ApiMessageDetail>>(
      `/messages/${encodeURIComponent(id)}/retry`,
      { confirm_outcome_unknown: options.confirmOutcomeUnknown === true },
      { 'idempotency-key': options.idempotencyKey ?? randomUUID() },
    );
    const text = `${paint.name(data.id)}  ${paintStatus(data.status)}`;
    if (options.watch !== true) return { data, text };
    live.say(text, { event: 'queued', id: data.id, status: data.status });
    return watched(live, target, id, options.timeout);
  });
}

function addCancel(message: Command): void {
  const command = message
    .command('cancel')
    .description('take back a message that is scheduled or queued')
    .argument('<id>', "the message's id")
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message cancel 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e'],
    notes: 'It is failed, as canceled; message retry queues it again, at once. Repeating it answers as the first time.',
    failure: 'refused: it was taken for sending already, or has an outcome',
  });
  action<TargetOptions>(command, async (options, id = '') => {
    const { api } = await targetOf(options);
    const { data } = await api.post<Single<ApiMessageDetail>>(`/messages/${encodeURIComponent(id)}/cancel`, {});
    return { data, text: `${paint.name(data.id)}  ${paintStatus(data.status)}  ${data.failure_category ?? ''}` };
  });
}

interface ReadMark {
  id: string;
  read_at: string;
  typing_until: string | null;
}

function addRead(message: Command): void {
  const command = message
    .command('read')
    .description('mark a received message as read')
    .argument('<id>', "the message's id; message list --direction inbound shows it")
    .option('--typing', 'show the customer that you are typing as well, for 25 seconds')
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message read 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e --typing'],
    notes: 'The customer sees the two blue ticks on this message and on all earlier ones of the conversation.',
    failure: 'refused; the message says why',
  });
  action<TargetOptions & { typing?: boolean }>(command, async (options, id = '') => {
    const { api } = await targetOf(options);
    const path = `/messages/${encodeURIComponent(id)}/read`;
    const { data } = await api.post<Single<ReadMark>>(path, { typing_indicator: options.typing === true });
    return { data, text: `${paint.name(data.id)}  ${paint.good('read')} ${clock(new Date(data.read_at))}` };
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
    paint.bad(`failed: ${message.failure_category ?? 'unknown'}`) +
    `; why, and whether to retry: herald message explain ${message.id}`
  );
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

interface TailOptions extends TargetOptions {
  direction?: string;
  status?: string[];
  contact?: string;
  connection?: string;
  interval: number;
}

/** `tail`. */
export function addTailCommand(program: Command): void {
  const command = program
    .command('tail')
    .description('print what happens in a workspace as it happens: messages in and out, changes of status')
    .addOption(new Option('--direction <direction>', 'only in this direction').choices(DIRECTIONS))
    .option('--status <list>', `only these, separated by commas: ${STATES.join(', ')}`, wordsOf(STATES))
    .option('--contact <number>', 'only from or to this number', phoneDigits)
    .option('--connection <id>', 'only of this connection')
    .option('--interval <ms>', 'milliseconds between two polls', wholeNumber(100, 60_000), 500)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      ['herald tail', 'until Ctrl-C'],
      ['herald tail --direction inbound --json | jq -r .message.body', 'what customers write, for another program'],
      ['herald tail --status failed,outcome_unknown', 'only what went wrong'],
    ],
    notes: [
      'Needs a key with messages:read, nothing else: it polls the journal. So a state that lasts for',
      'less than --interval may not be shown, and of messages older than the newest hundred ten are read in each poll.',
      'To miss nothing, set a webhook.',
    ].join('\n'),
    failure: 'the service does not answer or refuses the key; Ctrl-C ends it with 0',
  });
  liveAction<TailOptions>(command, async (live, options) => {
    const { api } = await targetOf(options, live.signal);
    const tail = new JournalTail(api);
    try {
      await tail.look();
      live.print(paint.faint(`following ${api.url}; Ctrl-C ends it`));
      for (;;) {
        await live.pause(options.interval);
        for (const event of await tail.look()) if (isWanted(event, options)) live.say(lineOf(event), event);
        if (tail.isBehind)
          live.print(paint.doubtful('… more messages came than one poll shows; GET /messages has them all'));
      }
    } catch (error) {
      // To be ended is how it is meant to end.
      if (live.signal.aborted) return null;
      throw error;
    }
  });
}

function isWanted({ message }: TailEvent, options: TailOptions): boolean {
  const { direction: wanted, status, contact, connection } = options;
  return (
    (wanted === undefined || message.direction === wanted) &&
    (status === undefined || status.includes(message.status)) &&
    (contact === undefined || message.from === contact || message.to === contact) &&
    (connection === undefined || message.connection_id === connection)
  );
}

function lineOf({ event, at, message, previous_status: previous }: TailEvent): string {
  const inbound = message.direction === 'inbound';
  const contact = (inbound ? message.from : (message.to ?? message.recipient)) ?? 'unknown';
  const status = previous === null ? paintStatus(message.status) : `${previous} → ${paintStatus(message.status)}`;
  const why = message.failure_category === null ? '' : paint.bad(message.failure_category);
  const what = event === 'message' ? `${paint.faint(message.type)} ${oneLine(message.body ?? '')}` : why;
  return [
    paint.faint(clock(new Date(at))),
    inbound ? paint.name('in ') : 'out',
    padded(contact, 14),
    paint.faint(shortId(message.id)),
    padded(status, event === 'message' ? 10 : 24),
    what,
  ]
    .join('  ')
    .trimEnd();
}
