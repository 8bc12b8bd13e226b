import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Command, Option } from 'commander';
import { announceReceiver } from '../../bootstrap/demo-file.js';
import { describeError } from '../../common/describe-error.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { answerOf } from '../../../clients/typescript/src/calls.js';
import type * as R from '../../../clients/typescript/src/resources.js';
import { isSameText } from '../../common/same-text.js';
import { newWebhookSecret, signatureHeaders, signDelivery } from '../../common/standard-webhooks.js';
import { EVENT_TYPES, WEBHOOK_EVENTS } from '../../modules/webhook/webhook.types.js';
import { type Target, type TargetOptions, targetOf } from '../api/client.js';
import { collected, pastTime, secretArgument, wholeNumber, wordsOf } from '../arguments.js';
import { clock, facts, oneLine, padded, paint } from '../output.js';
import { addVerify } from './webhook-verify.command.js';
import { apiAction, type Live, liveAction, liveApiAction, UsageError, withTarget } from '../runner.js';

/** Polling interval of a replay. */
const REPLAY_LOOK_MS = 500;

/** `webhook set|replay|listen|verify`. */
export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description("the workspace's webhook, over the API with a key");
  addSet(webhook);
  addReplay(webhook);
  addListen(webhook);
  addVerify(webhook);
}

interface SetOptions {
  events?: R.ConfigureWebhook['events'];
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
    const data = await api.webhook.set(body);
    return { data, text: factsOf(data) };
  });
}

interface ReplayOptions {
  since: Date;
  until?: Date;
  types?: R.StartReplay['types'];
  status: 'failed' | 'all';
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
    const times = { since: since.toISOString(), until: until?.toISOString() };
    let data = await api.webhook.replayMany({ ...times, types, status });
    let shown = -1;
    for (;;) {
      if (data.done !== shown && data.status !== 'done') live.say(progressOf(data, status), data);
      if (data.status === 'done') return { data, text: progressOf(data, status) };
      shown = data.done;
      await live.pause(REPLAY_LOOK_MS);
      data = await api.webhook.replayState(data.id);
    }
  });
}

/**
 * The progress of a replay. An empty replay is valid but looks like an error, so its line says why it has no events.
 */
export function progressOf(
  { id, status, done, total }: Pick<R.Replay, 'id' | 'done' | 'total'> & { status: string },
  which: string,
): string {
  const state = status === 'paused' ? paint.doubtful('paused: the webhook is not active') : status;
  const line = `${paint.name(id)}  ${done} of ${total}  ${state}`;
  if (status !== 'done' || total > 0) return line;
  return which === 'failed'
    ? `${line}: no event of that time failed to arrive; --status all repeats those that arrived`
    : `${line}: there is no event of that time`;
}

interface ListenOptions {
  secret?: string;
  port: number;
  host: string;
  forwardTo?: string;
  types?: R.Event['type'][];
}

function addListen(webhook: Command): void {
  const command = webhook
    .command('listen')
    .description('print the events of the workspace as they come, and pass each on to a program on this machine')
    .option('--forward-to <url>', 'sign each event and post it there, such as http://localhost:8080/webhook')
    .option(...TYPES_OPTION)
    .option(
      '--secret <secret>',
      'receive deliveries here instead: the signing secret whsec_..., or - for standard input',
    )
    .option('--port <n>', 'with --secret: port to listen on', wholeNumber(1, 65_535), 4_000)
    .option('--host <address>', 'with --secret: address to listen on', '127.0.0.1');
  liveAction<ListenOptions & TargetOptions>(withTarget(command), async (live, options) => {
    const { secret, forwardTo, types, url, key } = options;
    if (secret !== undefined) {
      if (forwardTo !== undefined)
        throw new UsageError('--secret receives deliveries, --forward-to makes them: give one');
      return receiveDeliveries(live, { ...options, secret: await secretArgument(secret) });
    }
    const target = forwardTo === undefined ? null : new ForwardTarget(forwardTo, live.signal);
    const source = await targetOf({ url, key }, live.signal);
    return live.untilEnded(async () => {
      if (target !== null) live.print(`signing secret: ${paint.name(target.secret)}`);
      for await (const event of eventsOf(source, live, { types })) {
        const answer = target === null ? null : await target.post(event);
        const shown = lineOf(event, new Date(event.created_at));
        live.say(answer === null ? shown : `${shown}  ${paint.faint(`-> ${answer}`)}`, event);
      }
    });
  });
}

async function receiveDeliveries(
  live: Live,
  { secret, port, host }: ListenOptions & { secret: string },
): Promise<null> {
  const receiver = await WebhookReceiver.listen({
    port,
    host,
    secret,
    onEvent: (event) => live.say(lineOf(event), event),
    onForged: () => live.print(paint.bad('a delivery with a wrong signature was refused (400)')),
  });
  const withdraw = announceReceiver(loadClientConfig().dataDir, receiver.url);
  live.print(paint.faint(`listening on ${receiver.url}; Ctrl-C ends it`));
  await new Promise((resolve) => live.signal.addEventListener('abort', resolve, { once: true }));
  await receiver.close();
  withdraw();
  return null;
}

const FORWARD_TIMEOUT_MS = 15_000;

/**
 * A program under development that gets events in the form of Herald's deliveries, on whatever network this machine is
 * in.
 */
class ForwardTarget {
  /** A secret for this run; deliveries of the workspace's webhook have another one. */
  readonly secret = newWebhookSecret();

  /** @throws UsageError for text that is not an http or https address. */
  constructor(
    private readonly url: string,
    private readonly signal: AbortSignal,
  ) {
    if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
      throw new UsageError('--forward-to takes an address of http or https');
  }

  /** Posts the event once. @returns the result for people: the status, or why there was no answer. */
  async post(event: R.Event): Promise<string> {
    const body = JSON.stringify(event);
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...signatureHeaders([this.secret], event.id, body) },
        redirect: 'manual',
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
      });
      await response.body?.cancel();
      return String(response.status);
    } catch (error) {
      if (this.signal.aborted) throw error;
      return `not delivered: ${describeError(error)}`;
    }
  }
}

/** @throws UsageError for a malformed line. */
async function headersOf(lines: readonly string[]): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    if (at < 1) throw new UsageError('--header takes "Name: value"');
    headers[line.slice(0, at).trim()] = await secretArgument(line.slice(at + 1).trim());
  }
  return headers;
}

function factsOf(webhook: R.WebhookSettings): string {
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

/** An event in one line; by default it is printed as received. */
export function lineOf({ type, data: any }: { type: string; data: object }, at = new Date()): string {
  const data = any as ReceivedEvent['data'];
  const parts = [data.message_id ?? data.message?.id, data.status ?? data.message?.status];
  const what = parts.filter((part) => part !== undefined).join('  ');
  return [paint.faint(clock(at)), padded(paint.name(type), TYPE_WIDTH), what || oneLine(JSON.stringify(data), 80)]
    .join('  ')
    .trimEnd();
}

const MAX_EVENTS = 250;
const POLL_MS = 1_000;

const TYPES_OPTION = [
  '--types <list>',
  `only these, separated by commas: ${EVENT_TYPES.join(', ')}`,
  wordsOf(EVENT_TYPES),
] as const;

/** `events list|tail`. */
export function addEventsCommands(program: Command): void {
  const events = program
    .command('events')
    .description('what happened in the workspace, in order, over the API with a key');
  const list = events
    .command('list')
    .description('print one page of events, oldest first, and the cursor of the next one')
    .option('--after <cursor>', 'behind this one, or now; default: from the oldest that is kept')
    .option(...TYPES_OPTION)
    .option('--limit <n>', 'how many at the most', wholeNumber(1, MAX_EVENTS), 100);
  apiAction<{ after?: string; types?: string[]; limit: number }>(list, async (target, { after, types, limit }) => {
    const page = await pageOf(target, { after, types: types?.join(','), limit });
    const lines = page.data.map((event) => lineOf(event, new Date(event.created_at)));
    lines.push(paint.faint(`${page.done ? 'no more for now' : 'there is more'}; next: ${page.next}`));
    return { data: page, text: lines.join('\n') };
  });

  const tail = events
    .command('tail')
    .description('print events as they come, each once, in order')
    .option('--after <cursor>', 'first what follows this one; default: only what comes from now on', 'now')
    .option(...TYPES_OPTION)
    .option('--interval <ms>', 'milliseconds between two polls', wholeNumber(100, 60_000), POLL_MS);
  liveApiAction<FollowOptions>(tail, async (live, target, options) =>
    live.untilEnded(async () => {
      for await (const event of eventsOf(target, live, options))
        live.say(lineOf(event, new Date(event.created_at)), event);
    }),
  );
}

interface FollowOptions {
  /** Default: only new events. */
  after?: string;
  types?: R.Event['type'][];
  /** Polling interval in milliseconds. Default: the service holds the request until the next event. */
  interval?: number;
}

/** The events of the workspace, each once, in order; endless. */
async function* eventsOf(
  target: Target,
  live: Live,
  { after = 'now', types, interval }: FollowOptions,
): AsyncGenerator<R.Event> {
  // Starts at this moment, so that events which come while the line is printed are not missed.
  const from = after === 'now' ? (await pageOf(target, { after, limit: 1 })).next : after;
  if (after === 'now') live.print(paint.faint(`following ${target.url}; Ctrl-C ends it`));
  yield* target.api.events.follow({ after: from, types }, { everyMs: interval, signal: live.signal });
}

async function pageOf({ api }: Target, query: { after?: string; types?: string; limit: number }) {
  return answerOf(await api.api.GET('/api/v1/events', { params: { query } }));
}

export interface ReceivedEvent {
  id: string;
  type: string;
  data: { message_id?: string; status?: string; message?: { id?: string; status?: string } };
}

const MAX_BODY_BYTES = 1_048_576;
/** Tolerance of a delivery's timestamp (Standard Webhooks): an attacker may replay older ones. */
const TOLERANCE_SECONDS = 300;

interface ReceiverOptions {
  /** Default: any free one. */
  port?: number;
  host?: string;
  /** Null: set it once it is known; until then every delivery is refused. */
  secret?: string | null;
  onEvent: (event: ReceivedEvent) => void;
  onForged?: () => void;
}

/** A receiver as described in docs/webhooks.md: verifies each delivery from its raw bytes before use. */
export class WebhookReceiver {
  secret: string | null;
  /** Deliveries with a wrong signature. */
  forged = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: ReceiverOptions,
  ) {
    this.secret = options.secret ?? null;
    server.on('request', (request, response) => {
      this.receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.destroy(),
      );
    });
  }

  /** @throws Error where the port is taken. */
  static async listen(options: ReceiverOptions): Promise<WebhookReceiver> {
    const server = createServer();
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
    await once(server, 'listening');
    return new WebhookReceiver(server, options);
  }

  get url(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address.includes(':') ? `[${address}]` : address}:${port}/`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BODY_BYTES) return 413;
      chunks.push(chunk as Buffer);
    }
    const body = Buffer.concat(chunks);
    if (!isGenuine(this.secret, request.headers, body)) {
      this.forged++;
      this.options.onForged?.();
      return 400;
    }
    this.options.onEvent(JSON.parse(body.toString('utf8')) as ReceivedEvent);
    return 204;
  }
}

function isGenuine(secret: string | null, headers: IncomingMessage['headers'], body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (secret === null || typeof id !== 'string' || typeof signatures !== 'string') return false;
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
  const expected = signDelivery([secret], id, Number(timestamp), body);
  return signatures.split(' ').some((given) => isSameText(given, expected));
}
