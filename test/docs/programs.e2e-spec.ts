import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emit, installClient } from '../client/client-package.js';
import { HeraldProcess, runHerald, temporaryDataDir } from '../support/herald-process.js';
import { readProjectFile, ROOT } from '../support/project-files.js';
import { waitFor } from '../support/wait-for.js';
import { OPEN_TARGETS } from '../webhook/fixture.js';

/*
 * The programs of docs/examples that integrators begin with, each in TypeScript, Python and shell, run against a running
 * Herald with the simulator. The commands of the pages are run by commands.e2e-spec.ts.
 */

const START_WITHIN_MS = 90_000;
const ANSWER_WITHIN_MS = 60_000;
const EXAMPLES = join(ROOT, 'docs/examples');
const LANGUAGES = [
  ['TypeScript', process.execPath, 'js'],
  ['Python', 'python3', 'py'],
  ['shell', 'sh', 'sh'],
] as const;

interface Order {
  key?: string;
  message?: string;
}

describe('the programs of the documentation', () => {
  const data = temporaryDataDir();
  const folder = join(data.path, 'programs');
  let herald: HeraldProcess;
  let demo: Record<string, string>;
  const children: ChildProcessWithoutNullStreams[] = [];
  // One that a failed test leaves behind would answer in the next one too.
  afterEach(() => children.splice(0).forEach((child) => child.kill()));

  beforeAll(async () => {
    herald = await HeraldProcess.start({ DATA_DIR: data.path, ...OPEN_TARGETS }, START_WITHIN_MS);
    demo = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8')) as Record<string, string>;
    mkdirSync(folder);
    installClient(folder);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const files = readdirSync(EXAMPLES);
    const sources = files.filter((file) => file.endsWith('.ts'));
    emit(folder, Object.fromEntries(sources.map((file) => [file, readProjectFile(`docs/examples/${file}`)])));
    for (const file of files) if (/\.(py|sh)$/.test(file)) copyFileSync(join(EXAMPLES, file), join(folder, file));
  }, 300_000);

  afterAll(async () => {
    await herald?.end();
    data.remove();
  });

  function start(program: string, args: string[], env: Record<string, string> = {}) {
    const own = { PATH: process.env.PATH, HERALD_URL: demo.base_url, HERALD_API_KEY: demo.api_key, ...env };
    const child: ChildProcessWithoutNullStreams = spawn(program, args, { cwd: folder, env: own });
    children.push(child);
    const running = { child, output: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (running.output += text.toString()));
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => resolve());
    });
    const says = (text: string): Promise<unknown> =>
      waitFor(() => running.output.includes(text), {
        what: `“${text}” from ${args.join(' ')}, which said: ${running.output}`,
        timeoutMs: ANSWER_WITHIN_MS,
      });
    const kill = async (): Promise<void> => {
      child.kill();
      await ended;
    };
    return Object.assign(running, { ended, says, kill });
  }

  async function run(program: string, args: string[], env?: Record<string, string>): Promise<string[]> {
    const running = start(program, args, env);
    await running.ended;
    const lines = running.output.trim().split('\n');
    // On a quick machine a shell program calls faster than its key may; curl says so, and waits.
    return lines.filter((line) => !/^curl: \(22\) .* 429$|^Warning: Problem/.test(line));
  }

  async function call<T>(path: string, method = 'GET', body?: object): Promise<T> {
    const answer = await fetch(`${demo.base_url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${demo.api_key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(answer.ok).toBe(true);
    return (await answer.json()) as T;
  }

  async function write(from: string, body: string): Promise<void> {
    const answer = await fetch(`${demo.simulator_url}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number_id: demo.phone_number_id, from, message: body }),
    });
    expect(answer.status).toBe(200);
  }

  const sentTo = async (number: string, filter = ''): Promise<{ body: string }[]> =>
    (await call<{ data: { body: string }[] }>(`/messages?direction=outbound&to=${number}${filter}`)).data;

  describe('confirmations of orders', () => {
    const ORDERS = [
      { id: '4711', name: 'Ana', to: '+15550001234' },
      { id: '4712', name: 'Ben', to: '+15550100002' },
      { id: '4713', name: 'Cem', to: '+15550100004' },
    ];
    const PRINTED = ['4711: confirmed', '4712: failed, send an e-mail', '4713: confirmed'];
    const saved = () => JSON.parse(readFileSync(join(folder, 'orders.json'), 'utf8')) as Order[];
    let handle: string;

    beforeAll(async () => {
      const graph = `${demo.simulator_url}/v26.0`;
      const sample = '%PDF-1.4\n';
      const query = `file_name=a.pdf&file_type=application/pdf&file_length=${sample.length}`;
      const headers = { authorization: 'OAuth anything' };
      const begun = await fetch(`${graph}/670843887433847/uploads?${query}`, { method: 'POST', headers });
      const { id } = (await begun.json()) as { id: string };
      const done = await fetch(`${graph}/${id}`, { method: 'POST', headers, body: sample });
      handle = ((await done.json()) as { h: string }).h;
    });

    it.each(LANGUAGES.slice(0, 2))(
      '%s confirms each order once, after a crash too',
      async (_language, program, end) => {
        const orders = () => run(program, [`orders.${end}`], { HANDLE: handle });
        writeFileSync(join(folder, 'orders.json'), JSON.stringify(ORDERS));
        expect(await orders()).toEqual(PRINTED);
        const first = saved();
        const messages = first.map(({ message }) => message);
        expect(new Set(messages).size).toBe(ORDERS.length);

        // As a crash leaves it: the keys are saved, the messages are not.
        writeFileSync(join(folder, 'orders.json'), JSON.stringify(first.map(({ message: _lost, ...order }) => order)));
        expect(await orders()).toEqual(PRINTED);
        expect(saved().map(({ message }) => message)).toEqual(messages);
      },
    );

    it('shell confirms each order once, however often it runs', async () => {
      writeFileSync(join(folder, 'orders.csv'), ORDERS.map(({ id, name, to }) => `${id},${name},${to}\n`).join(''));
      expect(await run('sh', ['orders.sh'])).toEqual(PRINTED);
      const before = await sentTo('15550001234');
      expect(await run('sh', ['orders.sh'])).toEqual(PRINTED);
      expect(await sentTo('15550001234')).toHaveLength(before.length);
    });
  });

  it.each(LANGUAGES)('%s sends a campaign, each recipient once, and reports it', async (_language, program, end) => {
    const tag = `sale-${end}`;
    const recipients = Array.from({ length: 120 }, (_, index) => `+1555000${4_100 + index},Ana “A\\B”,${index}`);
    const campaign = (lines: string[]): Promise<string[]> => {
      writeFileSync(join(folder, 'recipients.csv'), `${['to,name,order', ...lines].join('\n')}\n`);
      return run(program, [`campaign.${end}`, tag]);
    };
    const report = ['122 messages, 1 failed', 'failed: +15550100002 recipient_unreachable'];
    const all = [...recipients, '+15550100002,Ben,1', '+15550001234,Cem,2'];
    expect(await campaign(['123,Nobody,0', ...all])).toEqual(['not taken: 123 VALIDATION_FAILED', ...report]);
    // A file in another order has the same recipients.
    expect(await campaign(all.toReversed())).toEqual(report);
    expect(await sentTo('15550001234', `&tag=${tag}`)).toMatchObject([
      { body: 'Hello Cem, your order 2 is on its way.' },
    ]);
  });

  it.each(LANGUAGES)(
    '%s answers by events, each customer once, and goes on where it was',
    async (language, program, end) => {
      const customer = `1555000${7_100 + LANGUAGES.findIndex(([one]) => one === language)}`;
      const place = `place-${end}.txt`;
      const args = end === 'sh' ? ['inbox.sh', place] : [`inbox.${end}`, 'events', place];
      const first = start(program, args);
      // It reads from its first call on: what was written before is not answered.
      await waitFor(
        async () => {
          await write(customer, 'Where is my order?');
          return (await sentTo(customer)).length > 0;
        },
        { what: `an answer, not “${first.output}”`, everyMs: 1_000, timeoutMs: ANSWER_WITHIN_MS },
      );
      await first.says('answered');
      await first.kill();
      const before = (await sentTo(customer)).length;
      await write(customer, 'Are you there?');
      const second = start(program, args);
      await waitFor(async () => (await sentTo(customer)).length > before, {
        what: 'the answer to what came meanwhile',
      });
      await second.kill();
      const answers = (await sentTo(customer)).map(({ body }) => body);
      expect(answers[0]).toContain(end === 'sh' ? 'We answer soon.' : 'We read “Are you there?” and answer soon.');
    },
  );

  it.each(LANGUAGES.slice(0, 2))(
    '%s answers by webhook, an event that comes again too, once',
    async (language, program, end) => {
      const customer = `1555000${7_200 + LANGUAGES.findIndex(([one]) => one === language)}`;
      // The secret is shown by the first PUT only.
      await fetch(`${demo.base_url}/api/v1/webhook`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${demo.api_key}` },
      });
      const { data: webhook } = await call<{ data: { secret: string } }>('/webhook', 'PUT', {
        url: 'http://127.0.0.1:9/',
      });
      const inbox = start(program, [`inbox.${end}`, 'webhook'], { WEBHOOK_SECRET: webhook.secret, PORT: '0' });
      await inbox.says('listening on port');
      const port = /port (\d+)/.exec(inbox.output)?.[1];
      const address = `http://127.0.0.1:${port}/`;
      await call('/webhook', 'PUT', { url: address });
      await write(customer, 'Where is my order?');
      await inbox.says('answered Where is my order?');
      expect((await fetch(address, { method: 'POST', body: '{}' })).status).toBe(401);
      const filter = 'event_type=message.received&status=succeeded&limit=1';
      const delivered = await waitFor(async () => {
        const { data: rows } = await call<{ data: { id: string }[] }>(`/webhook/deliveries?${filter}`);
        return rows[0]?.id;
      });
      await call(`/webhook/deliveries/${delivered}/replay`, 'POST');
      await waitFor(() => inbox.output.split('answered Where').length > 2, { what: 'the event once more' });
      await inbox.kill();
      expect(await sentTo(customer)).toMatchObject([{ body: 'We read “Where is my order?” and answer soon.' }]);
    },
  );

  it.each(LANGUAGES)('%s logs a person in by a code', async (_language, program, end) => {
    const key = { HERALD_API_KEY: demo.otp_sandbox_key ?? '' };
    const login = start(program, [`codes.${end}`, '+15550100003'], key);
    await login.says('Type the code:');
    const code = /test code (\d{6})/.exec(login.output)?.[1] ?? '';
    // Another code, then the right one.
    login.child.stdin.write(`${code.replaceAll(/\d/g, (digit) => String((Number(digit) + 1) % 10))}\n`);
    await login.says('not right: OTP_CODE_INCORRECT');
    login.child.stdin.write(`${code}\n`);
    await login.ended;
    expect(login.output.trim().split('\n').at(-1)).toBe('logged in: 15550100003');
  });

  it(
    'TypeScript, Python and shell print the same bill, with what has no price',
    async () => {
      const rates = join(folder, 'rates.csv');
      const head = 'countries,category,tier_from,price,currency,valid_from';
      const month = new Date().toISOString().slice(0, 7);
      writeFileSync(rates, `${head}\n*,marketing,1,0.0500,EUR,${month}-01\n`);
      const set = await runHerald(['rates', 'set', '--file', rates], { DATA_DIR: data.path });
      expect({ code: set.code, stderr: set.stderr }).toMatchObject({ code: 0 });
      writeFileSync(join(folder, 'orders.csv'), 'bill,Ana,+15550001234\n');
      expect(await run('sh', ['orders.sh'])).toEqual(['bill: confirmed']);
      const settled = Date.now();
      // Figures are counted each 30 seconds.
      await waitFor(async () => Date.parse((await call<{ as_of: string }>('/usage?interval=month')).as_of) > settled, {
        what: 'figures',
        timeoutMs: 2 * ANSWER_WITHIN_MS,
      });
      const bills: string[][] = [];
      for (const [, program, end] of LANGUAGES) bills.push(await run(program, [`bill.${end}`, month]));
      const [bill = []] = bills;
      expect(bill).toEqual([
        expect.stringMatching(new RegExp(`^${month}: \\d+ submitted, \\d+ delivered$`)),
        expect.stringMatching(/^utility: (\d+), \1 without a price$/),
        'estimated: 0.00 EUR',
      ]);
      expect(bills).toEqual([bill, bill, bill]);
    },
    4 * ANSWER_WITHIN_MS,
  );
});
