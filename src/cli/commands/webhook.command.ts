import { type Command, Option } from 'commander';
import { announceReceiver } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import type {
  QueuedEventResponse,
  WebhookSettingsWithSecret,
  WebhookWithSecretResponse,
} from '../../modules/webhook/dto/webhook.dto.js';
import type { ReplayData, ReplayResponse } from '../../modules/webhook/replay/replays.dto.js';
import { EVENT_TYPES, TEST_EVENT, WEBHOOK_EVENTS } from '../../modules/webhook/webhook.types.js';
import type { Wire } from '../api/client.js';
import { collected, pastTime, secretArgument, wholeNumber, wordsOf } from '../arguments.js';
import { clock, facts, oneLine, padded, paint } from '../output.js';
import { apiAction, liveAction, liveApiAction, UsageError } from '../runner.js';
import { type ReceivedEvent, WebhookReceiver } from '../webhook-receiver.js';

/** Between two looks at a replay. */
const REPLAY_LOOK_MS = 500;

/** `webhook show|set|test|replay|listen`. */
export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("the workspace's webhook, over the API with a key");
  apiAction(
    webhook.command('show').description('show the webhook and whether its deliveries succeed'),
    async ({ api }) => {
      const { data } = await api.get<WebhookWithSecretResponse>('/webhook');
      return { data, text: factsOf(data) };
    },
  );
  addSet(webhook);
  apiAction<{ type: string }>(
    webhook
      .command('test')
      .description('queue a test event, which goes out as all events do')
      .addOption(new Option('--type <type>', 'kind of the event').choices(EVENT_TYPES).default(TEST_EVENT)),
    async ({ api }, { type }) => {
      const { data } = await api.post<QueuedEventResponse>('/webhook/test', { type });
      return { data, text: facts({ Event: data.event_id, Type: data.event_type }) };
    },
  );
  addReplay(webhook);
  addListen(webhook);
}

interface SetOptions {
  events?: string[];
  connection?: string[];
  header?: string[];
  paused?: boolean;
}

function addSet(webhook: Command): void {
  const command = webhook
    .command('set')
    .description('create the webhook, or change it; the secret is shown only once, when it is created')
    .argument('<url>', 'where events are posted to: https, a public address')
    .option('--events <list>', `separated by commas: ${WEBHOOK_EVENTS.join(', ')}`, wordsOf(WEBHOOK_EVENTS))
    .option('--connection <id>', 'only events of this number; may be repeated, "all" for all', collected)
    .option('--header <name: value>', 'send this header along; may be repeated, "none" removes all', collected)
    .option('--paused', 'deliver nothing until it is set again without this');
  apiAction<SetOptions>(command, async ({ api }, { events, paused = false, connection, header }, url) => {
    const body = {
      url,
      active: !paused,
      events,
      connection_ids: connection?.filter((id) => id !== 'all'),
      headers: header && (await headersOf(header.filter((line) => line !== 'none'))),
    };
    if (/^http:\/\/127\.0\.0\.1:\d+\/$/.test(url)) announceReceiver(loadClientConfig().dataDir, url);
    const { data } = (await api.call<WebhookWithSecretResponse>('PUT', '/webhook', { body })).body;
    return { data, text: factsOf(data) };
  });
}

interface ReplayOptions {
  since: Date;
  until?: Date;
  types?: string[];
  status: string;
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
    );
  liveApiAction<ReplayOptions>(command, async (live, { api }, { since, until, types, status }) => {
    let { data } = await api.post<ReplayResponse>('/webhook/replay', { since, until, types, status });
    let shown = -1;
    for (;;) {
      if (data.done !== shown && data.status !== 'done') live.say(progressOf(data, status), data);
      if (data.status === 'done') return { data, text: progressOf(data, status) };
      shown = data.done;
      await live.pause(REPLAY_LOOK_MS);
      ({ data } = await api.get<ReplayResponse>(`/webhook/replay/${data.id}`));
    }
  });
}

/** How far a replay is. An empty one is no mistake and looks like one, so its line says why nothing came. */
export function progressOf(
  { id, status, done, total }: Pick<ReplayData, 'id' | 'done' | 'total'> & { status: string },
  which: string,
): string {
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
  liveAction<{ secret: string; port: number; host: string }>(command, async (live, { secret, port, host }) => {
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

function factsOf(webhook: Wire<WebhookSettingsWithSecret>): string {
  const { connection_ids: numbers, header_names: headers, failing_since: failingSince, secret } = webhook;
  const [last] = webhook.recent_deliveries;
  const state = webhook.active ? paint.good('active') : paint.bad(webhook.disabled_reason ?? 'paused');
  return facts({
    URL: webhook.url,
    Events: webhook.events.join(', '),
    Numbers: numbers.join(', ') || undefined,
    Headers: headers.join(', ') || undefined,
    State: failingSince === null ? state : `${state}, failing since ${failingSince}`,
    'Last attempt': last && `${last.error ?? last.status}, ${last.created_at}`,
    Secret: secret === undefined ? webhook.secret_hint : `${secret} ${paint.faint('(shown only once)')}`,
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
