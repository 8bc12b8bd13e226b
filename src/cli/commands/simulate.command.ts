import { Argument, type Command } from 'commander';
import type { SingleMessageResponse } from '../../modules/messages/dto/message.response.js';
import { request, type Target } from '../api/client.js';
import { decimalId, phoneDigits, wholeNumber } from '../arguments.js';
import { facts, paintStatus } from '../output.js';
import { apiAction } from '../runner.js';

interface SimulatorOptions {
  phoneNumberId?: string;
  simulator?: string;
}

const SIMULATOR_OPTION = ['--simulator <url>', "the simulator; default the demo's"] as const;
const NUMBER_OPTION = ['--phone-number-id <id>', "the platform's id of your number; default the demo's first"] as const;
const STATUSES = ['sent', 'delivered', 'read', 'failed'];

/** `simulate inbound|status`: what WhatsApp would report, through the simulator. */
export function addSimulateCommands(program: Command): void {
  const simulate = program.command('simulate').description('make the simulator report what WhatsApp would report');
  const inbound = simulate
    .command('inbound')
    .description('a customer writes to your number, which opens the 24-hour window')
    .option('--from <number>', "the customer's number; default the demo's first recipient", phoneDigits)
    .option('--text <text>', 'what they write', 'Where is my order?')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & { from?: string; text: string }>(inbound, async (target, options) => {
    const from = options.from ?? target.demo.recipients?.[0]?.to;
    if (from === undefined) throw new Error('name the customer with --from');
    const { control, phoneNumberId } = simulatorOf(target, options);
    const data = await control.inbound(phoneNumberId, from, options.text);
    return { data, text: facts({ From: `+${from.replace('+', '')}`, To: phoneNumberId, 'Platform id': data.id }) };
  });

  const report = simulate
    .command('status')
    .description('report a status of a message that was sent')
    .argument('<id>', "the message's id")
    .addArgument(new Argument('<status>', 'the status').choices(STATUSES))
    .option('--code <n>', "with failed: the platform's error code", wholeNumber(1, 9_999_999), 131_026)
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION);
  apiAction<SimulatorOptions & { code: number }>(report, async (target, options, id, status) => {
    const { data: message } = await target.api.get<SingleMessageResponse>(`/messages/${encodeURIComponent(id)}`);
    if (message.meta_message_id === null) throw new Error(`${id} is ${message.status}: it has no platform id yet`);
    const { control, phoneNumberId } = simulatorOf(target, options);
    await control.notify({
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: phoneNumberId },
      statuses: [
        {
          id: message.meta_message_id,
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

function simulatorOf({ demo }: Target, { simulator, phoneNumberId }: SimulatorOptions) {
  const url = simulator ?? demo.simulator_url;
  if (!url)
    throw new Error('there is no simulator here: start Herald with the role simulator, or name it with --simulator');
  const number = phoneNumberId ?? demo.phone_number_id;
  if (number === undefined) throw new Error('name your number with --phone-number-id');
  return { control: new SimulatorControl(url.replace(/\/+$/, '')), phoneNumberId: decimalId(number) };
}

/** The simulator's control calls, see docs/simulator.md. */
export class SimulatorControl {
  constructor(
    private readonly url: string,
    private readonly signal?: AbortSignal,
  ) {}

  /** A customer writes to a number. */
  async inbound(phoneNumberId: string, from: string, text: string): Promise<{ id: string }> {
    const message = { type: 'text', text: { body: text } };
    return (await this.call('/inbound', { phone_number_id: phoneNumberId, from, message })) as { id: string };
  }

  /** Posts the `value` of a notification about messages. */
  async notify(value: object): Promise<void> {
    await this.call('/notify', { value });
  }

  /** Holds back the simulator's notifications about messages, or releases them. */
  async statuses(mode: 'hold' | 'on'): Promise<void> {
    await this.call('/faults', { statuses: mode });
  }

  /** How often the platform took a text for a recipient. */
  async timesTaken(to: string, text: string): Promise<number> {
    const query = new URLSearchParams({ to, limit: '1000' });
    const { data } = (await this.call(`/messages?${query.toString()}`)) as { data: object[] };
    return data.filter((message) => JSON.stringify(message).includes(text)).length;
  }

  private async call(path: string, body?: object): Promise<unknown> {
    const method = body === undefined ? 'GET' : 'POST';
    // What was held back must be let go also when the command is being ended.
    const signal = body !== undefined && 'statuses' in body ? undefined : this.signal;
    const response = await request(this.url, `${this.url}/_simulator${path}`, { method, body, signal });
    if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${path}: ${await response.text()}`);
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  }
}
