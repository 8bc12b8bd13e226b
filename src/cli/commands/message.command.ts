import { type Command, Option } from 'commander';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import type { Message, MessageTimeline } from '../../../clients/typescript/src/resources.js';
import { sendFile } from '../api/batch.js';
import { type BodyOptions, bodyOf, sendMessage, watchMessage } from '../api/message.js';
import { collected, durationSeconds, phoneDigits, timeAhead } from '../arguments.js';
import { type Answer, padded, paint, paintStatus } from '../output.js';
import { apiAction, type Live, liveApiAction, UsageError } from '../runner.js';

interface WatchOptions {
  watch?: boolean;
  timeout: number;
}

const WATCH_OPTION = ['--watch', 'go on and print each status until it is read or has failed'] as const;

function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long to watch').argParser(durationSeconds).default(60, '1m');
}

/** `message send|watch|explain`: uses the API with a key, like an integration. */
export function addMessageCommands(program: Command): void {
  const message = program.command('message').description('send and follow messages, over the API with a key');
  addSend(message);
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
      .command('explain')
      .description('print what happened to a message and why, who can do something about it, and whether to retry')
      .argument('<id>', "the message's id"),
    async ({ api }, _options, id) => {
      const timeline = await api.messages.timeline(id);
      return { data: timeline, text: timelineText(id, timeline) };
    },
  );
}

function statusLine({ id, status }: { id: string; status: string }): string {
  return `${paint.name(id)}  ${paintStatus(status)}`;
}

interface SendOptions extends BodyOptions, WatchOptions {
  idempotencyKey?: string;
  file?: string;
  permissive?: boolean;
}

/** Options allowed with `--file`: those that say how to send it, and those with a default. */
const WITH_FILE = new Set(['file', 'connection', 'permissive', 'language', 'timeout']);

function addSend(message: Command): void {
  const command = message
    .command('send')
    .description('send a message: a text, a template or a file; or many from a file')
    .option('--to <number>', 'recipient, with the country code', phoneDigits)
    .option('--recipient <user-id>', 'instead of --to: the user id of a contact who may hide the number')
    .option('--text <text>', 'the text; with --media the caption')
    .option('--template <name>', 'an approved template instead, which needs no open window')
    .option('--language <code>', "the template's language", 'en_US')
    .option('--param <value>', "value of the template's next variable; repeat it for each", collected)
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

async function watched(live: Live, api: HeraldClient, id: string, timeoutSeconds: number): Promise<Answer> {
  const { message, timedOut } = await watchMessage(api, id, live, { timeoutMs: timeoutSeconds * 1_000 });
  const failed = timedOut || message.status === 'failed';
  return { data: { event: 'end', timed_out: timedOut, message }, text: endText(message, timedOut), failed };
}

function endText(message: Message, timedOut: boolean): string {
  if (timedOut) return paint.doubtful(`${message.status} when the time to watch was over; --timeout gives it more`);
  if (message.status !== 'failed') return paint.good(`done: ${message.status}`);
  return (
    paint.bad(`failed: ${message.failure_category ?? 'unknown'}`) +
    `; why, and whether to retry: herald message explain ${message.id}`
  );
}

const RESPONSIBLE = {
  you: 'you',
  recipient: 'the recipient',
  operator: 'the operator of Herald',
  whatsapp: 'WhatsApp',
};

function timelineText(id: string, { data, explanation, not_kept: notKept }: MessageTimeline): string {
  const { summary, responsible, retry } = explanation;
  const advice = retry.not_before === null ? 'advised' : `advised, not before ${retry.not_before}`;
  return [
    paint.heading(summary),
    ...(responsible === null ? [] : [`Who can do something about it: ${RESPONSIBLE[responsible]}`]),
    ...(retry.advised ? [`A retry is ${advice}: POST /messages/${id}/retry`] : []),
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
