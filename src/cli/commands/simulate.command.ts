import { Argument, type Command } from 'commander';
import type { SingleMessageResponse } from '../../modules/messages/dto/message.response.js';
import type { Target } from '../api/client.js';
import { decimalId, phoneDigits, wholeNumber } from '../arguments.js';
import { facts, paintStatus } from '../output.js';
import { apiAction } from '../runner.js';
import { SimulatorControl } from '../simulator-control.js';

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
