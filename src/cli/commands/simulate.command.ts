import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Argument, type Command } from 'commander';
import { fetchFrom, type Target } from '../api/client.js';
import { decimalId, phoneDigits, wholeNumber } from '../arguments.js';
import { facts, paintStatus } from '../output.js';
import { apiAction, UsageError } from '../runner.js';

interface SimulatorOptions {
  phoneNumberId?: string;
  simulator?: string;
}

const SIMULATOR_OPTION = ['--simulator <url>', "the simulator; default the demo's"] as const;
const NUMBER_OPTION = ['--phone-number-id <id>', "the platform's id of your number; default the demo's first"] as const;
const FROM_OPTION = [
  '--from <number>',
  "the customer's number; default the demo's first recipient",
  phoneDigits,
] as const;
const STATUSES = ['sent', 'delivered', 'read', 'failed'];

/** `simulate inbound|failure|status|echo|contact|history|opt-out`: makes the simulator report what WhatsApp would. */
export function addSimulateCommands(program: Command): void {
  const simulate = program.command('simulate').description('make the simulator report what WhatsApp would report');
  const inbound = simulate
    .command('inbound')
    .description('a customer writes to your number, which opens the 24-hour window')
    .option(...FROM_OPTION)
    .option('--new-number', 'a customer who has never written')
    .option('--text <text>', 'what they write; with --image: below the picture; default Where is my order?')
    .option('--button <id>', 'they press this reply button')
    .option('--list <id>', 'they choose this row of a list')
    .option('--image <file>', 'they send this picture: .jpg or .png')
    .option('--reaction <emoji>', 'they react to a message, the last one that you sent them or that of --to')
    .option('--to <id>', 'the message that they answer or react to')
    .option('--edit <id>', 'they change this message of theirs, to --text')
    .option('--revoke <id>', 'they delete this message of theirs')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & InboundOptions>(inbound, async (target, options) => {
    const { from, sent } = await inboundOf(target, options);
    const { control, phoneNumberId } = simulatorOf(target, options);
    const data = await control.inbound(phoneNumberId, from, sent);
    const { type } = data.message;
    return {
      data,
      text: facts({ From: plusNumber(from), To: phoneNumberId, Type: type, 'Platform id': data.id }),
    };
  });

  addAppCommands(simulate);

  const optOut = simulate
    .command('opt-out')
    .description('a customer stops your marketing messages in WhatsApp, or resumes them')
    .option(...FROM_OPTION)
    .option('--resume', 'they want them again')
    .option('--late', 'later ones are refused by a status, not at once')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & { from?: string; resume?: true; late?: true }>(optOut, async (target, options) => {
    const from = senderOf(target, options);
    const { control, phoneNumberId } = simulatorOf(target, options);
    const value = options.resume === undefined ? 'stop' : 'resume';
    const refusal = options.late === undefined ? 'answer' : 'status';
    const data = await control.preference(phoneNumberId, from, { value, refusal });
    return { data, text: facts({ From: plusNumber(from), To: phoneNumberId, Chose: value }) };
  });

  const failure = simulate
    .command('failure')
    .description('the next messages that are sent fail with this code of WhatsApp')
    .argument('<code>', "WhatsApp's error code, such as 131049", wholeNumber(1, 9_999_999))
    .option('--to <recipient>', 'only those to this number or user id; default: all')
    .option('--times <n>', 'how many of them fail', wholeNumber(1, 1_000_000), 1)
    .option('--answer', 'WhatsApp refuses them at once; default: it accepts them, and reports the failure')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & { to?: string; times: number; answer?: true }>(
    failure,
    async (target, options, code) => {
      const { control, phoneNumberId } = simulatorOf(target, options);
      const { to, times, answer } = options;
      const as = answer === undefined ? 'status' : 'answer';
      const data = await control.failure({ phone_number_id: phoneNumberId, code: Number(code), to, times, as });
      return { data, text: facts({ Code: String(Number(code)), To: to ?? 'all', Times: String(times), As: as }) };
    },
  );

  const report = simulate
    .command('status')
    .description('report a status of a message that was sent')
    .argument('<id>', "the message's id")
    .addArgument(new Argument('<status>', 'the status').choices(STATUSES))
    .option('--code <n>', "with failed: the platform's error code", wholeNumber(1, 9_999_999), 131_026)
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & { code: number }>(report, async (target, options, id, status) => {
    const message = await sentMessage(target, id);
    const { control, phoneNumberId } = simulatorOf(target, options);
    await control.notify({
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: phoneNumberId },
      statuses: [
        {
          id: message.platformId,
          status,
          timestamp: String(Math.floor(Date.now() / 1_000)),
          recipient_id: message.to ?? undefined,
          ...(status === 'failed' && { errors: [{ code: options.code, title: 'Simulated failure' }] }),
        },
      ],
    });
    return { data: { id, status }, text: facts({ Message: id, Reported: paintStatus(status) }) };
  });
}

interface InboundOptions {
  from?: string;
  newNumber?: true;
  text?: string;
  button?: string;
  list?: string;
  image?: string;
  reaction?: string;
  to?: string;
  edit?: string;
  revoke?: string;
}

const KINDS = ['button', 'list', 'image', 'reaction', 'edit', 'revoke'] as const;
const PICTURES: Readonly<Record<string, string>> = { '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.png': 'image/png' };

/** Actions of the business in the WhatsApp Business app; from the first one on, the number is used in the app too. */
function addAppCommands(simulate: Command): void {
  const echo = simulate
    .command('echo')
    .description('the business writes to a customer in the WhatsApp Business app')
    .option('--to <number>', "the customer's number; default the demo's first recipient", phoneDigits)
    .option('--text <text>', 'what it writes')
    .option('--image <file>', 'it sends this picture: .jpg or .png; --text stands below')
    .option('--status <list>', 'what is reported of it, separated by commas; default sent,delivered,read', statusList)
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & EchoOptions>(echo, async (target, { to, text, image, status, ...options }) => {
    const party = senderOf(target, { from: to });
    const { control, phoneNumberId } = simulatorOf(target, options);
    const shown = image === undefined ? { text } : await pictureOf(image, text);
    const data = await control.inApp(phoneNumberId, { action: 'send', to: party, statuses: status, ...shown });
    return { data, text: facts({ To: plusNumber(party), 'Platform id': String(data.id) }) };
  });

  const contact = simulate
    .command('contact')
    .description('the business adds a contact in the WhatsApp Business app, or removes one')
    .option('--to <number>', "the contact's number; default the demo's first recipient", phoneDigits)
    .option('--name <name>', 'as the business calls them')
    .option('--remove', 'it removes the contact')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & { to?: string; name?: string; remove?: true }>(contact, async (target, options) => {
    const to = senderOf(target, { from: options.to });
    const { control, phoneNumberId } = simulatorOf(target, options);
    const change = options.remove === undefined ? 'add' : 'remove';
    const data = await control.inApp(phoneNumberId, { action: 'contact', to, name: options.name, change });
    return { data, text: facts({ Contact: plusNumber(to), Change: change }) };
  });

  const history = simulate
    .command('history')
    .description('the business shares the history of the WhatsApp Business app, or declines to')
    .option('--contacts <n>', 'customers in it', wholeNumber(0, 50), 2)
    .option('--messages <n>', 'messages with each', wholeNumber(1, 500), 6)
    .option('--declined', 'it does not share it')
    .option('--later', 'it comes when it is asked for: herald connection import-history --request')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & HistoryOptions>(history, async (target, options) => {
    const { contacts, messages, declined = false, later = false } = options;
    const { control, phoneNumberId } = simulatorOf(target, options);
    const data = await control.inApp(phoneNumberId, {
      action: 'history',
      contacts,
      messages,
      declined,
      notify: !later,
    });
    return { data, text: facts({ Number: phoneNumberId, Messages: String(data.messages) }) };
  });
}

interface EchoOptions {
  to?: string;
  text?: string;
  image?: string;
  status?: string[];
}

interface HistoryOptions {
  contacts: number;
  messages: number;
  declined?: true;
  later?: true;
}

function statusList(text: string): string[] {
  const statuses = text.split(',').filter((status) => status !== '');
  if (!statuses.every((status) => STATUSES.includes(status)))
    throw new UsageError(`--status takes ${STATUSES.join(', ')}`);
  return statuses;
}

const plusNumber = (digits: string): string => `+${digits.replace('+', '')}`;

function senderOf({ demo }: Target, { from, newNumber }: InboundOptions): string {
  if (newNumber !== undefined && from !== undefined) throw new UsageError('--from and --new-number: give one');
  // A number reserved for fiction, so that it belongs to no person.
  if (newNumber !== undefined) return `1555${String(randomInt(10_000_000)).padStart(7, '0')}`;
  const known = from ?? demo.recipients?.[0]?.to;
  if (known === undefined) throw new Error('name the customer with --from');
  return known;
}

/** The sender, and the rest of the simulator's request. */
async function inboundOf(target: Target, options: InboundOptions): Promise<{ from: string; sent: object }> {
  const given = KINDS.filter((kind) => options[kind] !== undefined);
  if (given.length > 1) throw new UsageError(`${given.map((kind) => `--${kind}`).join(' and ')}: give one`);
  const { edit, revoke, text } = options;
  const changed = edit ?? revoke;
  if (changed === undefined) {
    const from = senderOf(target, options);
    return { from, sent: await newMessageOf(target, from, options) };
  }
  if (edit !== undefined && text === undefined) throw new UsageError('--edit: give the new words with --text');
  const { from, platformId } = await receivedMessage(target, changed);
  const of = { original_message_id: platformId };
  const message =
    edit === undefined
      ? { type: 'revoke', revoke: of }
      : { type: 'edit', edit: { ...of, message: { type: 'text', text: { body: text } } } };
  return { from: options.from ?? from, sent: { message } };
}

async function newMessageOf(target: Target, from: string, options: InboundOptions): Promise<object> {
  const { text = 'Where is my order?', button, list, image, reaction, to } = options;
  const answered = to === undefined ? undefined : (await sentMessage(target, to)).platformId;
  const context = answered === undefined ? {} : { context: { id: answered } };
  if (button !== undefined) return { message: { ...context, ...reply('button_reply', button) } };
  if (list !== undefined) return { message: { ...context, ...reply('list_reply', list) } };
  if (image !== undefined) {
    const { message, file } = await pictureOf(image, options.text);
    return { message: { ...context, ...message }, file };
  }
  if (reaction !== undefined) {
    const id = answered ?? (await lastSentTo(target, from));
    return { message: { type: 'reaction', reaction: { message_id: id, emoji: reaction } } };
  }
  return { message: { ...context, type: 'text', text: { body: text } } };
}

async function pictureOf(path: string, caption: string | undefined): Promise<{ message: object; file: object }> {
  const mimeType = PICTURES[extname(path).toLowerCase()];
  if (mimeType === undefined) throw new UsageError('--image takes a .jpg or .png file');
  const file = { base64: (await readFile(path)).toString('base64'), mime_type: mimeType };
  return { message: { type: 'image', image: { caption } }, file };
}

function reply(type: 'button_reply' | 'list_reply', id: string): object {
  return { type: 'interactive', interactive: { type, [type]: { id, title: id } } };
}

/** @throws Error where the message was not sent yet. */
async function sentMessage({ api }: Target, id: string): Promise<{ to: string | null; platformId: string }> {
  const { to, meta_message_id: platformId, status } = await api.messages.get(id);
  if (platformId === null) throw new Error(`${id} is ${status}: it has no platform id yet`);
  return { to, platformId };
}

/** @throws Error unless a customer with a number wrote it. */
async function receivedMessage({ api }: Target, id: string): Promise<{ from: string; platformId: string }> {
  const { from, meta_message_id: platformId, direction } = await api.messages.get(id);
  if (direction !== 'inbound') throw new Error(`${id} was sent by you: customers change their own messages only`);
  if (from === null || platformId === null) throw new Error(`the customer of ${id} is not known by a number`);
  return { from, platformId };
}

async function lastSentTo({ api }: Target, from: string): Promise<string> {
  const { items } = await api.messages.list({ to: from, direction: 'outbound', limit: 10 }).page();
  const sent = items.find((message) => message.meta_message_id !== null);
  const id = sent?.meta_message_id ?? null;
  if (id === null) throw new Error(`nothing was sent to ${from} yet: name a message with --to`);
  return id;
}

function simulatorOf({ demo }: Target, { simulator, phoneNumberId }: SimulatorOptions) {
  const url = simulator ?? demo.simulator_url;
  if (!url)
    throw new Error('there is no simulator here: start Herald with the role simulator, or name it with --simulator');
  const number = phoneNumberId ?? demo.phone_number_id;
  if (number === undefined) throw new Error('name your number with --phone-number-id');
  return { control: new SimulatorControl(url.replace(/\/+$/, '')), phoneNumberId: decimalId(number) };
}

interface InboundAnswer {
  /** The platform's. */
  id: string;
  message: { type: string };
}

const TIMEOUT_MS = 30_000;

/** The simulator's control calls, see docs/simulator.md. */
export class SimulatorControl {
  constructor(
    private readonly url: string,
    private readonly signal?: AbortSignal,
  ) {}

  /** A customer writes to a number: `sent` has the `message`, and the `file` for a picture. */
  async inbound(phoneNumberId: string, from: string, sent: object): Promise<InboundAnswer> {
    return (await this.call('/inbound', { phone_number_id: phoneNumberId, from, ...sent })) as InboundAnswer;
  }

  /** The business acts in the WhatsApp Business app. */
  async inApp(phoneNumberId: string, done: object): Promise<Record<string, unknown>> {
    return (await this.call(`/numbers/${phoneNumberId}/app`, done)) as Record<string, unknown>;
  }

  /** A customer chooses whether they want marketing messages. */
  async preference(phoneNumberId: string, from: string, chosen: object): Promise<object> {
    return (await this.call('/preferences', { phone_number_id: phoneNumberId, from, ...chosen })) as object;
  }

  /** Makes sends fail. */
  async failure(asked: object): Promise<object> {
    return (await this.call('/failures', asked)) as object;
  }

  /** Posts the `value` of a notification about messages. */
  async notify(value: object): Promise<void> {
    await this.call('/notify', { value });
  }

  /** Holds back the simulator's notifications about messages, or releases them. */
  async statuses(mode: 'hold' | 'on'): Promise<void> {
    await this.call('/faults', { statuses: mode });
  }

  /** How often the platform accepted a text for a recipient. */
  async timesTaken(to: string, text: string): Promise<number> {
    const query = new URLSearchParams({ to, limit: '1000' });
    const { data } = (await this.call(`/messages?${query.toString()}`)) as { data: object[] };
    return data.filter((message) => JSON.stringify(message).includes(text)).length;
  }

  private async call(path: string, body?: object): Promise<unknown> {
    const method = body === undefined ? 'GET' : 'POST';
    // Held notifications must be released even while the command is being ended.
    const ends = body !== undefined && 'statuses' in body ? [] : [this.signal ?? []].flat();
    const response = await fetchFrom(this.url)(`${this.url}/_simulator${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...ends]),
    });
    if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${path}: ${await response.text()}`);
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  }
}
