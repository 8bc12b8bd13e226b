import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { CheckMessageResponse } from '../../modules/messages/dto/check-message.js';
import type {
  JournalResponse,
  MessageListItem,
  MessageResponse,
  SingleMessageResponse,
  WaitingResponse,
} from '../../modules/messages/dto/message.response.js';
import type { ReadMessageResponse } from '../../modules/messages/dto/read-or-retry.dto.js';
import type { TimelineResponse } from '../../modules/messages/dto/timeline.response.js';
import { sendFile } from '../api/batch.js';
import type { ApiClient, Wire } from '../api/client.js';
import {
  addBodyOptions,
  type BodyOptions,
  bodyOf,
  contactOf,
  DIRECTIONS,
  FILTER_STATES,
  sendMessage,
  STATE_FIELDS,
  watchMessage,
} from '../api/message.js';
import { durationSeconds, phoneDigits, timeAhead, wholeNumber } from '../arguments.js';
import { type Answer, clock, facts, oneLine, padded, paint, paintStatus, table } from '../output.js';
import { apiAction, type Live, liveApiAction, UsageError } from '../runner.js';

interface WatchOptions {
  watch?: boolean;
  timeout: number;
}

const WATCH_OPTION = ['--watch', 'go on and print each status until it is read or has failed'] as const;

function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long to watch').argParser(durationSeconds).default(60, '1m');
}

/** `message send|check|watch|show|explain|list|retry|cancel|read`: over the API, with a key, as an integration does it. */
export function addMessageCommands(program: Command): void {
  const message = program.command('message').description('send and follow messages, over the API with a key');
  addSend(message);
  addCheck(message);
  liveApiAction<WatchOptions>(
    message
      .command('watch')
      .description('print each status of a message as it comes, until it is read or has failed')
      .argument('<id>', "the message's id")
      .addOption(timeoutOption()),
    async (live, { api }, { timeout }, id) => watched(live, api, id, timeout),
  );
  apiAction(
    message
      .command('show')
      .description('print one message: its state and times, and while it waits why and until when')
      .argument('<id>', "the message's id"),
    async ({ api }, _options, id) => {
      const { data } = await api.get<SingleMessageResponse>(pathOf(id));
      return { data, text: detailText(data) };
    },
  );
  apiAction(
    message
      .command('explain')
      .description('print what happened to a message and why, who can do something about it, and whether to retry')
      .argument('<id>', "the message's id"),
    async ({ api }, _options, id) => {
      const timeline = await api.get<TimelineResponse>(pathOf(id, '/timeline'));
      return { data: timeline, text: timelineText(id, timeline) };
    },
  );
  addList(message);
  addRetry(message);
  apiAction(
    message
      .command('cancel')
      .description('take back a message that is scheduled or queued')
      .argument('<id>', "the message's id"),
    async ({ api }, _options, id) => {
      const { data } = await api.post<SingleMessageResponse>(pathOf(id, '/cancel'), {});
      return { data, text: `${statusLine(data)}  ${data.failure_category ?? ''}` };
    },
  );
  apiAction<{ typing?: boolean }>(
    message
      .command('read')
      .description('mark a received message as read')
      .argument('<id>', "the message's id; message list --direction inbound shows it")
      .option('--typing', 'show the customer that you are typing as well, for 25 seconds'),
    async ({ api }, { typing = false }, id) => {
      const { data } = await api.post<ReadMessageResponse>(pathOf(id, '/read'), { typing_indicator: typing });
      return { data, text: `${paint.name(data.id)}  ${paint.good('read')} ${clock(new Date(data.read_at))}` };
    },
  );
}

function pathOf(id: string, rest = ''): string {
  return `/messages/${encodeURIComponent(id)}${rest}`;
}

function statusLine({ id, status }: { id: string; status: string }): string {
  return `${paint.name(id)}  ${paintStatus(status)}`;
}

interface SendOptions extends BodyOptions, WatchOptions {
  idempotencyKey?: string;
  file?: string;
  permissive?: boolean;
}

/** Besides what says how to send a file, options that have a default. */
const WITH_FILE = new Set(['file', 'connection', 'permissive', 'language', 'timeout']);

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
    .option(...WATCH_OPTION)
    .addOption(timeoutOption());
  liveApiAction<SendOptions>(command, async (live, target, options) => {
    const { file, connection, permissive = false } = options;
    if (file !== undefined) {
      if (Object.keys(options).some((name) => !WITH_FILE.has(name))) {
        throw new UsageError('give --file alone: the messages of the file say everything');
      }
      return sendFile(live, target, { file, connection, permissive });
    }
    if (permissive) throw new UsageError('--permissive belongs to --file');
    const sent = await sendMessage(target.api, await bodyOf(target, options), options.idempotencyKey);
    const note = sent.replayed ? ' (this key was used before: nothing was sent again)' : '';
    const text = `${statusLine(sent)}${note}`;
    if (options.watch !== true) return { data: sent, text };
    live.say(text, { event: 'accepted', ...sent });
    return watched(live, target.api, sent.id, options.timeout);
  });
}

function addCheck(message: Command): void {
  const command = addBodyOptions(
    message.command('check').description('say what would become of a message; nothing is sent'),
    'the text',
  )
    .option('--connection <id>', 'the number to send from; default the only one')
    .option('--reply-to <id>', 'the message that it answers')
    .option(
      '--send-at <time>',
      'as if it were sent later: a time with its zone, or one from now, such as 2h',
      timeAhead,
    )
    .option('--ttl <duration>', 'how long it may wait from then on, such as 1h', durationSeconds);
  apiAction<BodyOptions>(command, async (target, options) => {
    const { data } = await target.api.post<CheckMessageResponse>('/messages/check', await bodyOf(target, options));
    return { data, text: checkText(data), failed: !data.sendable };
  });
}

interface ListOptions {
  limit: number;
  status?: string;
  direction?: string;
  from?: string;
  to?: string;
  recipient?: string;
  conversation?: string;
  connection?: string;
}

function addList(message: Command): void {
  const command = message
    .command('list')
    .description('list the newest messages')
    .option('--limit <n>', 'how many', wholeNumber(1, 100), 20)
    .addOption(new Option('--status <status>', 'only of this status').choices(FILTER_STATES))
    .addOption(new Option('--direction <direction>', 'only in this direction').choices(DIRECTIONS))
    .option('--from <number>', 'only from this number', phoneDigits)
    .option('--to <number>', 'only to this number', phoneDigits)
    .option('--recipient <user id>', 'only to and from the contact with this user id')
    .option('--conversation <id>', 'only of this conversation')
    .option('--connection <id>', 'only of this number');
  apiAction<ListOptions>(command, async ({ api }, { conversation, connection, ...filter }) => {
    const query = { ...filter, conversation_id: conversation, connection_id: connection };
    const page = await api.get<JournalResponse>('/messages', query);
    return { data: page, text: table(page.data, JOURNAL, 'No messages.') };
  });
}

const JOURNAL = {
  ID: 'id',
  CREATED: 'created_at',
  STATUS: ({ status }: MessageListItem) => paintStatus(status),
  FROM: 'from',
  TO: ({ to, recipient }: MessageListItem) => to ?? recipient ?? '-',
  TYPE: 'type',
  BODY: ({ body, failure_category: category }: MessageListItem) => oneLine(body ?? category ?? ''),
} as const;

interface RetryOptions extends WatchOptions {
  confirmOutcomeUnknown?: boolean;
  idempotencyKey?: string;
}

function addRetry(message: Command): void {
  const command = message
    .command('retry')
    .description('send a failed message again')
    .argument('<id>', "the message's id")
    .option('--confirm-outcome-unknown', 'also where it may have been sent: the recipient may then get it twice')
    .option('--idempotency-key <uuid>', 'repeat a request with its key: it is queued once; default a new one')
    .option(...WATCH_OPTION)
    .addOption(timeoutOption());
  liveApiAction<RetryOptions>(command, async (live, { api }, options, id) => {
    const { data } = await api.post<SingleMessageResponse>(
      pathOf(id, '/retry'),
      { confirm_outcome_unknown: options.confirmOutcomeUnknown === true },
      { 'idempotency-key': options.idempotencyKey ?? randomUUID() },
    );
    const text = statusLine(data);
    if (options.watch !== true) return { data, text };
    live.say(text, { event: 'queued', id: data.id, status: data.status });
    return watched(live, api, id, options.timeout);
  });
}

async function watched(live: Live, api: ApiClient, id: string, timeoutSeconds: number): Promise<Answer> {
  const { message, timedOut } = await watchMessage(api, id, live, { timeoutMs: timeoutSeconds * 1_000 });
  const failed = timedOut || message.status === 'failed';
  return { data: { event: 'end', timed_out: timedOut, message }, text: endText(message, timedOut), failed };
}

function endText(message: MessageResponse, timedOut: boolean): string {
  if (timedOut) return paint.doubtful(`${message.status} when the time to watch was over; --timeout gives it more`);
  if (message.status !== 'failed') return paint.good(`done: ${message.status}`);
  return (
    paint.bad(`failed: ${message.failure_category ?? 'unknown'}`) +
    `; why, and whether to retry: herald message explain ${message.id}`
  );
}

function detailText(message: MessageResponse): string {
  const { direction, error, waiting } = message;
  const times = STATE_FIELDS.map(([, field]) => [
    field.replace(/_at$/, ' at').replace(/^./, (c) => c.toUpperCase()),
    message[field] ?? undefined,
  ]);
  const inbound = direction === 'inbound';
  return facts({
    Message: message.id,
    Status: paintStatus(message.status),
    Waits: waiting && waitingText(message, waiting),
    'Expires at': message.expires_at,
    Failure:
      message.failure_category === null
        ? undefined
        : paint.bad([message.failure_category, error?.code, error?.message].filter(Boolean).join(', ')),
    [inbound ? 'From' : 'To']: contactOf(message) ?? '-',
    Type: message.type,
    Body: oneLine(message.body ?? ''),
    Attempts: String(message.attempt_count),
    'Created at': message.created_at,
    ...Object.fromEntries(times),
  });
}

function waitingText(
  { estimated_send_at: estimated }: MessageResponse,
  { reason, until, ahead }: WaitingResponse,
): string {
  return [
    paint.doubtful(reason),
    until === null ? '' : `until ${until}`,
    ahead === 0 ? '' : `${ahead} ahead`,
    estimated === null || estimated === undefined ? 'when it leaves is not known' : `leaves at about ${estimated}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const RESPONSIBLE = {
  you: 'you',
  recipient: 'the recipient',
  operator: 'the operator of Herald',
  whatsapp: 'WhatsApp',
};

function timelineText(id: string, { data, explanation, not_kept: notKept }: Wire<TimelineResponse>): string {
  const { summary, responsible, retry } = explanation;
  const advice = retry.not_before === null ? 'advised' : `advised, not before ${retry.not_before}`;
  return [
    paint.heading(summary),
    ...(responsible === null ? [] : [`Who can do something about it: ${RESPONSIBLE[responsible]}`]),
    ...(retry.advised ? [`A retry is ${advice}: herald message retry ${id}`] : []),
    '',
    ...data.flatMap(({ at, event, source, summary: text, delivery_ids: deliveries = [] }) => [
      [paint.faint(at), padded(paintStatus(event), 16), padded(source, 8), text].join('  '),
      ...(deliveries.length === 0
        ? []
        : [paint.faint(`${' '.repeat(26)}webhook deliveries: ${deliveries.join(', ')}`)]),
    ]),
    ...(notKept.length === 0 ? [] : ['', ...notKept.map((text) => paint.faint(`Not kept: ${text}`))]),
  ].join('\n');
}

type Checked = Wire<CheckMessageResponse>['data'];

function checkText({ sendable, problems, warnings, rendered, window, queue }: Checked): string {
  const lines = (notices: readonly { code: string; message: string }[], mark: (text: string) => string): string[] =>
    notices.map(({ code, message }) => `${mark(code)}  ${message}`);
  const until =
    window === undefined || window.closes_at === null ? '' : ` ${window.open ? 'until' : 'since'} ${window.closes_at}`;
  const leaves = queue.estimated_send_at === null ? 'not known when it leaves' : `leaves at ${queue.estimated_send_at}`;
  const { header, body, footer, buttons } = rendered;
  const shown = [
    header && paint.heading(header.text ?? `[${header.format.toLowerCase()}]`),
    body,
    footer && paint.faint(footer),
    ...buttons.map(({ text, url }) => `[ ${text} ]${url === undefined ? '' : ` ${url}`}`),
  ].filter((part) => part !== null);
  return [
    sendable ? paint.good('would be taken') : paint.bad('would be refused'),
    ...lines(problems, paint.bad),
    ...lines(warnings, paint.doubtful),
    facts({ window: window && `${window.open ? 'open' : 'closed'}${until}`, queue: `${queue.ahead} ahead, ${leaves}` }),
    ...(shown.length === 0 ? [] : ['', ...shown]),
  ].join('\n');
}
