import { type Command, Option } from 'commander';
import { EVENT_TYPES, TEST_EVENT, WEBHOOK_EVENTS } from '../../modules/webhook/webhook.types.js';
import { KEY_OPTION, type TargetOptions, targetOf, URL_OPTION } from '../api/client.js';
import type { Single } from '../api/message.js';
import { announceReceiver } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { collected, pastTime, secretArgument, wholeNumber, wordsOf } from '../arguments.js';
import { clock, facts, oneLine, padded, paint } from '../output.js';
import { action, guide, liveAction, UsageError } from '../runner.js';
import { type ReceivedEvent, WebhookReceiver } from '../webhook-receiver.js';

interface ApiWebhook {
  url: string;
  events: string[];
  connection_ids: string[];
  header_names: string[];
  active: boolean;
  disabled_reason: string | null;
  failing_since: string | null;
  secret_hint: string;
  /** The newest first. */
  recent_deliveries: { status: string; error: string | null; created_at: string }[];
  /** Only where it was just made. */
  secret?: string;
}

interface SetOptions extends TargetOptions {
  events?: string[];
  connection?: string[];
  header?: string[];
  paused?: boolean;
}

interface TestOptions extends TargetOptions {
  type: string;
}

interface ReplayOptions extends TargetOptions {
  since: Date;
  until?: Date;
  types?: string[];
  status: string;
}

interface ApiReplay {
  id: string;
  status: string;
  total: number;
  done: number;
}

/** Between two looks at a replay. */
const REPLAY_LOOK_MS = 500;

interface ListenOptions {
  secret: string;
  port: number;
  host: string;
}

/** `webhook show|set|test|replay|listen`. */
export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("the workspace's webhook, over the API with a key");
  addShow(webhook);
  addSet(webhook);
  addTest(webhook);
  addReplay(webhook);
  addListen(webhook);
}

function addShow(webhook: Command): void {
  const command = webhook
    .command('show')
    .description('show the webhook and whether its deliveries succeed')
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald webhook show'],
    notes: 'With --json as GET /webhook answers it, with the newest deliveries.',
  });
  action<TargetOptions>(command, async (options) => {
    const { api } = await targetOf(options);
    const { data } = await api.get<Single<ApiWebhook>>('/webhook');
    return { data, text: factsOf(data) };
  });
}

function addSet(webhook: Command): void {
  const command = webhook
    .command('set')
    .description('create the webhook, or change it; the secret is shown only once, when it is created')
    .argument('<url>', 'where events are posted to: https, a public address')
    .option('--events <list>', `separated by commas: ${WEBHOOK_EVENTS.join(', ')}`, wordsOf(WEBHOOK_EVENTS))
    .option('--connection <id>', 'only events of this number; may be repeated, "all" for all', collected)
    .option('--header <name: value>', 'send this header along; may be repeated, "none" removes all', collected)
    .option('--paused', 'deliver nothing until it is set again without this')
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      'herald webhook set https://example.com/whatsapp',
      ['herald webhook set https://example.com/whatsapp --events message.received', 'only what customers write'],
      [
        'herald webhook set https://example.com/whatsapp --header "X-Api-Key: -" < key.txt',
        'a value from standard input',
      ],
    ],
    notes: [
      'Without --events a new webhook gets the two about messages. What an existing one has stays where it is not given,',
      'but headers only while scheme, host and port stay. Values of headers are stored encrypted and never shown again. A',
      'webhook that Herald disabled works again once it is set. The demo workspace of this machine also takes',
      'http://127.0.0.1:<port>/ where it is set with this command.',
    ].join('\n'),
  });
  action<SetOptions>(command, async ({ events, paused, connection, header, ...options }, url = '') => {
    const { api } = await targetOf(options);
    const body = {
      url,
      active: paused !== true,
      ...(events !== undefined && { events }),
      ...(connection !== undefined && { connection_ids: connection.filter((id) => id !== 'all') }),
      ...(header !== undefined && { headers: await headersOf(header.filter((line) => line !== 'none')) }),
    };
    if (/^http:\/\/127\.0\.0\.1:\d+\/$/.test(url)) announceReceiver(loadClientConfig().dataDir, url);
    const { data } = (await api.call<Single<ApiWebhook>>('PUT', '/webhook', { body })).body;
    return { data, text: factsOf(data) };
  });
}

function addTest(webhook: Command): void {
  const command = webhook
    .command('test')
    .description('queue a test event, which goes out as all events do')
    .addOption(new Option('--type <type>', 'kind of the event').choices(EVENT_TYPES).default(TEST_EVENT))
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      'herald webhook test',
      ['herald webhook test --type media.ready', 'an example, with "test": true in its data'],
    ],
    notes: 'It is sent whatever kinds the webhook has chosen. "herald webhook show --json" lists the attempts.',
  });
  action<TestOptions>(command, async ({ type, ...options }) => {
    const { api } = await targetOf(options);
    const { data } = await api.post<Single<{ event_id: string; event_type: string }>>('/webhook/test', { type });
    return { data, text: facts({ Event: data.event_id, Type: data.event_type }) };
  });
}

function addReplay(webhook: Command): void {
  const command = webhook
    .command('replay')
    .description('deliver the events of a time again, and show how far it is')
    .requiredOption('--since <time>', 'from then on: a time of ISO 8601, or how long ago, such as 2h', pastTime)
    .option('--until <time>', 'up to then; default now', pastTime)
    .option('--types <list>', `only these kinds: ${EVENT_TYPES.join(', ')}`, wordsOf(EVENT_TYPES))
    .addOption(
      new Option('--status <which>', 'failed: only what was not delivered')
        .choices(['failed', 'all'])
        .default('failed'),
    )
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      ['herald webhook replay --since 2h', 'after an outage of the receiver'],
      'herald webhook replay --since 2026-11-21T08:00:00Z --until 2026-11-21T10:30:00Z --status all --types message.received',
    ],
    notes: [
      'The events go out once more, under their ids, the oldest first; fresh ones do not wait for them. Ctrl-C ends the',
      'watching only: the replay goes on.',
    ].join('\n'),
    failure: 'there is no webhook, a replay is running, or the time has too many events',
  });
  liveAction<ReplayOptions>(command, async (live, { since, until, types, status, ...options }) => {
    const { api } = await targetOf(options, live.signal);
    const body = { since, until, types, status };
    let { data } = (await api.call<Single<ApiReplay>>('POST', '/webhook/replay', { body })).body;
    let shown = -1;
    for (;;) {
      if (data.done !== shown && data.status !== 'done') live.say(progressOf(data, status), data);
      if (data.status === 'done') return { data, text: progressOf(data, status) };
      shown = data.done;
      await live.pause(REPLAY_LOOK_MS);
      ({ data } = await api.get<Single<ApiReplay>>(`/webhook/replay/${data.id}`));
    }
  });
}

/** How far a replay is. An empty one is no mistake and looks like one, so its line says why nothing came. */
export function progressOf({ id, status, done, total }: ApiReplay, which: string): string {
  const state = status === 'paused' ? paint.doubtful('paused: the webhook is not active') : status;
  const line = `${paint.name(id)}  ${done} of ${total}  ${state}`;
  if (status !== 'done' || total > 0) return line;
  return which === 'failed'
    ? `${line}: no event of that time failed to arrive; --status all repeats those that arrived`
    : `${line}: there is no event of that time`;
}

function addListen(webhook: Command): void {
  const command = webhook
    .command('listen')
    .description('receive deliveries on this machine, verify each, and print the events as they come')
    .requiredOption('--secret <secret>', 'the signing secret whsec_..., or - for standard input')
    .option('--port <n>', 'port to listen on', wholeNumber(1, 65_535), 4_000)
    .option('--host <address>', 'address to listen on', '127.0.0.1');
  guide(command, {
    examples: [
      ['herald webhook listen --secret -', 'until Ctrl-C'],
      ['herald webhook listen --secret - --json | jq .data', 'for another program'],
    ],
    notes: [
      'Herald delivers to public https addresses only: put a tunnel or a proxy with a certificate in front, and set its',
      'address with "herald webhook set". The demo workspace of a Herald on this machine takes the address that this',
      'prints, while it listens on 127.0.0.1; others do with WEBHOOK_ALLOW_PRIVATE_TARGETS=true. A delivery whose',
      'signature is wrong is answered 400 and counted.',
    ].join('\n'),
    failure: 'the port is taken; Ctrl-C ends it with 0',
  });
  liveAction<ListenOptions>(command, async (live, { secret, port, host }) => {
    const receiver = await WebhookReceiver.listen({
      port,
      host,
      secret: await secretArgument(secret),
      onEvent: (event) => live.say(lineOf(event), event),
      onForged: () => live.print(paint.bad('a delivery with a wrong signature was refused (400)')),
    });
    const withdraw = announceReceiver(loadClientConfig().dataDir, receiver.url);
    live.print(paint.faint(`listening on ${receiver.url}; Ctrl-C ends it`));
    await new Promise((resolve) => live.signal.addEventListener('abort', resolve, { once: true }));
    await receiver.close();
    withdraw();
    return null;
  });
}

/** @throws UsageError for a line that is none. */
async function headersOf(lines: readonly string[]): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    if (at < 1) throw new UsageError('--header takes "Name: value"');
    headers[line.slice(0, at).trim()] = await secretArgument(line.slice(at + 1).trim());
  }
  return headers;
}

function factsOf(webhook: ApiWebhook): string {
  const [last] = webhook.recent_deliveries;
  const state = webhook.active ? paint.good('active') : paint.bad(webhook.disabled_reason ?? 'paused');
  return facts({
    URL: webhook.url,
    Events: webhook.events.join(', '),
    ...(webhook.connection_ids.length > 0 && { Numbers: webhook.connection_ids.join(', ') }),
    ...(webhook.header_names.length > 0 && { Headers: webhook.header_names.join(', ') }),
    State: webhook.failing_since === null ? state : `${state}, failing since ${webhook.failing_since}`,
    ...(last !== undefined && { 'Last attempt': `${last.error ?? last.status}, ${last.created_at}` }),
    Secret:
      webhook.secret === undefined ? webhook.secret_hint : `${webhook.secret} ${paint.faint('(shown only once)')}`,
  });
}

const TYPE_WIDTH = Math.max(...EVENT_TYPES.map((type) => type.length));

/** An event in one line; by default it is shown as it comes. */
export function lineOf({ type, data }: Pick<ReceivedEvent, 'type' | 'data'>, at = new Date()): string {
  const parts = [data.message_id ?? data.message?.id, data.status ?? data.message?.status];
  const what = parts.filter((part) => part !== undefined).join('  ');
  return [paint.faint(clock(at)), padded(paint.name(type), TYPE_WIDTH), what || oneLine(JSON.stringify(data), 80)]
    .join('  ')
    .trimEnd();
}
