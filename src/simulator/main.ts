import { parseArgs } from 'node:util';
import { DEMO_NUMBERS, DEMO_OTP_NUMBER } from './demo-numbers.js';
import { Simulator } from './simulator.js';
import { BARE_NUMBERS, type BareNumbers, type SimulatorNumber } from './simulator.types.js';

const USAGE = `Usage: node dist/src/simulator/main.js [options]
  --port <n>              default 3001; 0 takes any free one
  --host <address>        default 127.0.0.1
  --host-name <name>      under which it is called, may be repeated; addresses and localhost always do
  --webhook-url <url>     where notifications are posted; without it they wait
  --app-secret <text>     key of the signatures, default simulator-app-secret
  --access-token <text>   accepted bearer token, may be repeated; without it any
  --data-dir <folder>     state that survives a restart; without it everything is in memory
  --seed <text>           default herald
  --number <id,waba,display,name>  may be repeated; without it two demo numbers
  --status-gap-ms <n>     default 150
  --template-review-ms <n>  how long the review of a template takes, default 300
  --keep-messages <n>     default 1000000
  --bare-numbers <what>   country (default): \`to\` without + is of the sender's own country; as-is: it is international
  --enforce-window        fail free-form messages outside the 24 h window
`;

function readNumber(text: string): SimulatorNumber {
  const [phoneNumberId, wabaId, displayPhoneNumber, ...name] = text.split(',');
  if (phoneNumberId === undefined || wabaId === undefined || displayPhoneNumber === undefined) {
    throw new Error(`--number needs "id,waba,display,name", not "${text}"`);
  }
  return { phoneNumberId, wabaId, displayPhoneNumber, verifiedName: name.join(',') || 'Simulated business' };
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} needs a whole number, not "${text}"`);
  return value;
}

function readBareNumbers(text: string | undefined): BareNumbers | undefined {
  const known = BARE_NUMBERS.find((one) => one === text);
  if (text !== undefined && known === undefined) {
    throw new Error(`--bare-numbers needs ${BARE_NUMBERS.join(' or ')}, not "${text}"`);
  }
  return known;
}

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const OPTIONS = {
  port: text,
  host: text,
  'host-name': texts,
  'webhook-url': text,
  'app-secret': text,
  'access-token': texts,
  'data-dir': text,
  seed: text,
  number: texts,
  'status-gap-ms': text,
  'template-review-ms': text,
  'keep-messages': text,
  'bare-numbers': text,
  'enforce-window': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

function readArguments(): Simulator | null {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help === true) return null;
  return new Simulator({
    port: readCount('port', values.port) ?? 3001,
    host: values.host ?? '127.0.0.1',
    hostNames: values['host-name'],
    dataDir: values['data-dir'] ?? null,
    seed: values.seed ?? 'herald',
    webhookUrl: values['webhook-url'] ?? null,
    appSecret: values['app-secret'] ?? 'simulator-app-secret',
    accessTokens: values['access-token'] ?? null,
    numbers: values.number?.map(readNumber) ?? [...DEMO_NUMBERS, DEMO_OTP_NUMBER],
    statusGapMs: readCount('status-gap-ms', values['status-gap-ms']),
    templateReviewMs: readCount('template-review-ms', values['template-review-ms']),
    keepMessages: readCount('keep-messages', values['keep-messages']),
    bareNumbers: readBareNumbers(values['bare-numbers']),
    enforceWindow: values['enforce-window'] ?? false,
    log: (line) => process.stderr.write(`${line}\n`),
  });
}

async function run(): Promise<void> {
  const simulator = readArguments();
  if (simulator === null) {
    process.stdout.write(USAGE);
    return;
  }
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
