import { Argument, type Command } from 'commander';
import { KEY_OPTION, type Target, type TargetOptions, targetOf, URL_OPTION } from '../api/client.js';
import type { ApiMessageDetail, Single } from '../api/message.js';
import { decimalId, phoneDigits, wholeNumber } from '../arguments.js';
import { SimulatorControl } from '../simulator-control.js';
import { facts, paintStatus } from '../output.js';
import { action, guide } from '../runner.js';

interface InboundOptions extends TargetOptions {
  from?: string;
  text: string;
  phoneNumberId?: string;
  simulator?: string;
}

interface StatusOptions extends TargetOptions {
  code: number;
  phoneNumberId?: string;
  simulator?: string;
}

const SIMULATOR_OPTION = ['--simulator <url>', "the simulator; default the demo's"] as const;
const NUMBER_OPTION = ['--phone-number-id <id>', "the platform's id of your number; default the demo's first"] as const;
const STATUSES = ['sent', 'delivered', 'read', 'failed'];

/** `simulate inbound|status`: what WhatsApp would report, through the simulator. */
export function addSimulateCommands(program: Command): void {
  const simulate = program.command('simulate').description('make the simulator report what WhatsApp would report');
  addInbound(simulate);
  addStatus(simulate);
}

function addInbound(simulate: Command): void {
  const command = simulate
    .command('inbound')
    .description('a customer writes to your number, which opens the 24-hour window')
    .option('--from <number>', "the customer's number; default the demo's first recipient", phoneDigits)
    .option('--text <text>', 'what they write', 'Where is my order?')
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald simulate inbound --from +4915112345678 --text "Is my table ready?"'],
    notes: 'The answer is what the simulator posted as a notification. docs/simulator.md has every kind of message.',
    failure: 'no simulator answers, or it does not know the number',
  });
  action<InboundOptions>(command, async (options) => {
    const target = await targetOf(options);
    const from = options.from ?? target.demo.recipients?.[0]?.to;
    if (from === undefined) throw new Error('name the customer with --from');
    const { control, phoneNumberId } = simulatorOf(target, options);
    const data = await control.inbound(phoneNumberId, from, options.text);
    return { data, text: facts({ From: `+${from.replace('+', '')}`, To: phoneNumberId, 'Platform id': data.id }) };
  });
}

function addStatus(simulate: Command): void {
  const command = simulate
    .command('status')
    .description('report a status of a message that was sent')
    .argument('<id>', "the message's id")
    .addArgument(new Argument('<status>', 'the status').choices(STATUSES))
    .option('--code <n>', "with failed: the platform's error code", wholeNumber(1, 9_999_999), 131_026)
    .option(...NUMBER_OPTION)
    .option(...SIMULATOR_OPTION)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      'herald simulate status 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e read',
      ['herald simulate status 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e failed --code 131026', 'it cannot be delivered'],
    ],
    notes: 'A status never goes back: after read a delivered changes nothing.',
    failure: 'no simulator answers, or the message was never sent',
  });
  action<StatusOptions>(command, async (options, id = '', status = '') => {
    const target = await targetOf(options);
    const { data: message } = await target.api.get<Single<ApiMessageDetail>>(`/messages/${encodeURIComponent(id)}`);
    if (message.meta_message_id === null) throw new Error(`${id} is ${message.status}: it has no platform id yet`);
    const { control, phoneNumberId } = simulatorOf(target, options);
    const report = {
      id: message.meta_message_id,
      status,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      recipient_id: message.to ?? undefined,
      ...(status === 'failed' && { errors: [{ code: options.code, title: 'Simulated failure' }] }),
    };
    await control.notify({
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: phoneNumberId },
      statuses: [report],
    });
    return { data: { id, status }, text: facts({ Message: id, Reported: paintStatus(status) }) };
  });
}

function simulatorOf(
  { demo }: Target,
  { simulator, phoneNumberId }: { simulator?: string; phoneNumberId?: string },
): { control: SimulatorControl; phoneNumberId: string } {
  const url = simulator ?? demo.simulator_url;
  if (!url)
    throw new Error('there is no simulator here: start Herald with the role simulator, or name it with --simulator');
  const number = phoneNumberId ?? demo.phone_number_id;
  if (number === undefined) throw new Error('name your number with --phone-number-id');
  return { control: new SimulatorControl(url.replace(/\/+$/, '')), phoneNumberId: decimalId(number) };
}
