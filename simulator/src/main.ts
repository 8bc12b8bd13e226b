import { Command, InvalidArgumentError, Option } from 'commander';
import { DEMO_NUMBERS, DEMO_OTP_NUMBER } from './demo-numbers.js';
import { Simulator } from './simulator.js';
import { BARE_NUMBERS, DEFAULT_OPTIONS, type SimulatorNumber, type SimulatorOptions } from './simulator.types.js';

function readNumber(text: string): SimulatorNumber {
  const [phoneNumberId, wabaId, displayPhoneNumber, ...name] = text.split(',');
  if (phoneNumberId === undefined || wabaId === undefined || displayPhoneNumber === undefined) {
    throw new InvalidArgumentError('It needs "id,waba,display,name".');
  }
  return { phoneNumberId, wabaId, displayPhoneNumber, verifiedName: name.join(',') || 'Simulated business' };
}

/** Without a slash at its end. */
function readUrl(text: string): string {
  if (!/^https?:\/\/[^/\s]/.test(text)) throw new InvalidArgumentError('It needs an http(s) address.');
  return text.replace(/\/+$/, '');
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('It needs a whole number.');
  return value;
}

function addTo<T>(read: (text: string) => T): (text: string, former?: T[]) => T[] {
  return (text, former = []) => [...former, read(text)];
}

type Given = Omit<SimulatorOptions, 'hostNames' | 'accessTokens' | 'numbers'> & {
  hostName?: string[];
  accessToken?: string[];
  number?: SimulatorNumber[];
};

function readArguments(): Simulator {
  const { statusGapMs, templateReviewMs, keepMessages, bareNumbers } = DEFAULT_OPTIONS;
  const program = new Command('herald-simulator')
    .option('--port <n>', '0 takes any free one', count, 3001)
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .option(
      '--host-name <name>',
      'under which it is called, may be repeated; addresses and localhost always do',
      addTo(String),
    )
    .option(
      '--public-url <url>',
      'where its links lead: of a proxy in front of it, such as https://simulator.test',
      readUrl,
    )
    .option('--webhook-url <url>', 'where notifications are posted; without it they wait')
    .option('--app-secret <text>', 'key of the signatures', 'simulator-app-secret')
    .option('--access-token <text>', 'accepted bearer token, may be repeated; without it any', addTo(String))
    .option('--data-dir <folder>', 'state that survives a restart; without it everything is in memory')
    .option('--seed <text>', 'decides which ids are given out', 'herald')
    .option('--number <id,waba,display,name>', 'may be repeated; without it two demo numbers', addTo(readNumber))
    .option('--status-gap-ms <n>', 'between sent, delivered and read', count, statusGapMs)
    .option('--template-review-ms <n>', 'how long the review of a template takes', count, templateReviewMs ?? 0)
    .option('--keep-messages <n>', 'how many taken messages are remembered', count, keepMessages)
    .addOption(
      new Option('--bare-numbers <what>', '`to` without +: country: of the sender’s own; as-is: it is international')
        .choices(BARE_NUMBERS)
        .default(bareNumbers),
    )
    .option('--enforce-window', 'fail free-form messages outside the 24 h window');
  const { hostName, accessToken, number, ...given } = program.parse().opts<Given>();
  return new Simulator({
    ...given,
    dataDir: given.dataDir ?? null,
    webhookUrl: given.webhookUrl ?? null,
    hostNames: hostName,
    accessTokens: accessToken ?? null,
    numbers: number ?? [...DEMO_NUMBERS, DEMO_OTP_NUMBER],
    log: (line) => process.stderr.write(`${line}\n`),
  });
}

async function run(): Promise<void> {
  const simulator = readArguments();
  const { url } = await simulator.start();
  process.stdout.write(`simulator listens on ${url}\n`);
  const stop = () => {
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
