import { randomInt, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { announceReceiver, type DemoFile, readDemoFile } from '../../bootstrap/demo-file.js';
import { describeError } from '../../common/describe-error.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import { type ErrorCode, isHeraldError } from '../../../clients/typescript/src/errors.js';
import type { Message } from '../../../clients/typescript/src/resources.js';
import { apiAt } from '../api/client.js';
import { sendMessage, watchMessage } from '../api/message.js';
import { type Answer, oneLine, paint } from '../output.js';
import { type Live, liveAction, UsageError } from '../runner.js';
import { SimulatorControl } from './simulate.command.js';
import { type ReceivedEvent, WebhookReceiver } from './webhook.command.js';

/** Long, because the machine may be busy. */
const PATIENCE_MS = 40_000;
const READING_MS = 700;

/** A chapter that can't run here; says what it would need. */
class Skipped extends Error {}

/** A step had another result than expected. */
class StepFailed extends Error {}

/** One part of the guided tour. */
interface Chapter {
  name: string;
  title: string;
  /** What the user will see, and why. */
  intro: string;
  play: (stage: Stage) => Promise<void>;
}

/** What chapters use: the demo's API and simulator, and output. */
class Stage {
  private readonly seen = new Map<string, Set<string>>();

  constructor(
    readonly live: Live,
    readonly api: HeraldClient,
    readonly demo: DemoFile,
    readonly simulator: SimulatorControl,
    private readonly isFast: boolean,
  ) {}

  /** A line of the guided tour. */
  note(text: string): void {
    this.live.say(`   ${text}`, { event: 'note', text });
  }

  /** A pause for reading. */
  async breathe(): Promise<void> {
    if (!this.isFast && !this.live.json) await this.live.pause(READING_MS);
  }

  /** @throws StepFailed where `isSo` is false. */
  expect(isSo: boolean, text: string): void {
    if (!isSo) throw new StepFailed(text);
    this.live.say(`   ${paint.good('✓')} ${text}`, { event: 'check', text });
  }

  /** Sends from the demo's first number; prints the content and the recipient. */
  async send(to: string, content: object, shown: string, idempotencyKey?: string) {
    const body = { connection_id: this.demo.connection_id, to, ...content };
    const sent = await sendMessage(this.api, body, idempotencyKey);
    this.note(`${paint.name('→')} ${to}  "${oneLine(shown, 60)}"  ${paint.faint(`202, ${sent.id}`)}`);
    return sent;
  }

  sendText(to: string, text: string, idempotencyKey?: string) {
    return this.send(to, { type: 'text', text: { body: text } }, text, idempotencyKey);
  }

  /** Prints the message's statuses until it has the given one. */
  async until(id: string, status: string, attempts = 1): Promise<Message> {
    const seen = this.seen.get(id) ?? new Set<string>();
    this.seen.set(id, seen);
    const { message } = await watchMessage(this.api, id, this.live, {
      until: (each) => each.status === status && each.attempt_count >= attempts,
      timeoutMs: PATIENCE_MS,
      indent: '     ',
      seen,
    });
    if (message.status !== status) throw new StepFailed(`the message is ${message.status}, and should be ${status}`);
    return message;
  }

  /** The error code of a refused call; null where it is not refused. */
  async refusal(call: () => Promise<unknown>): Promise<string | null> {
    try {
      await call();
      return null;
    } catch (error) {
      if (isHeraldError(error)) return error.code;
      throw error;
    }
  }

  /** Polls until there is a result. */
  async waitFor<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new StepFailed(`${what}: nothing of it in ${PATIENCE_MS / 1_000} s`);
      await this.live.pause(150);
    }
  }
}

/** Numbers of the demo, named by what the simulator does with a message to them. */
const FAILS = '+15550100002';
const LOSES_THE_ANSWER = '+15550100005';

const CHAPTERS: readonly Chapter[] = [
  {
    name: 'send',
    title: 'Send a message',
    intro: 'The answer is 202: stored and queued. Then each status comes as WhatsApp reports it.',
    play: async (stage) => {
      const key = randomUUID();
      const to = stage.demo.recipients[0]?.to ?? '+15550001234';
      const { id } = await stage.sendText(to, 'Your table is ready.', key);
      await stage.until(id, 'read');
      await stage.breathe();
      stage.note('The same request once more, with the same Idempotency-Key:');
      const again = await stage.sendText(to, 'Your table is ready.', key);
      stage.expect(again.id === id && again.replayed, 'the same id comes back, and nothing is sent twice');
    },
  },
  {
    name: 'retry',
    title: 'Fail on purpose, and try again',
    intro: 'At the simulator the last digits of a number select the outcome: 0002 can’t be reached.',
    play: async (stage) => {
      const { id } = await stage.sendText(FAILS, 'Are you there?');
      const failed = await stage.until(id, 'failed');
      stage.expect(failed.failure_category === 'recipient_unreachable', 'it says why: recipient_unreachable');
      await stage.breathe();
      stage.note(`POST /messages/${id}/retry`);
      await stage.api.messages.retry(id);
      const twice = await stage.until(id, 'failed', 2);
      stage.expect(twice.attempts?.length === 2, 'it fails again, and both attempts are on record');
    },
  },
  {
    name: 'outcome-unknown',
    title: 'Lose an answer',
    intro: '0005 takes the message and cuts the line before it answers. Others would send it twice, or lose it.',
    play: async (stage) => {
      const text = `Did you get this? (${randomUUID().slice(0, 8)})`;
      await stage.simulator.statuses('hold');
      let id;
      try {
        ({ id } = await stage.sendText(LOSES_THE_ANSWER, text));
        await stage.until(id, 'outcome_unknown');
        stage.expect(true, 'Herald does not know, says so, and does not send it again');
        await stage.breathe();
      } finally {
        await stage.simulator.statuses('on');
      }
      stage.note('Now WhatsApp reports the status of it, and the outcome is known:');
      await stage.until(id, 'read');
      const taken = await stage.simulator.timesTaken(LOSES_THE_ANSWER, text);
      stage.expect(taken === 1, 'the customer has it once');
    },
  },
  {
    name: 'inbound',
    title: 'Answer a customer',
    intro: 'You can message only customers who wrote in the last 24 hours. Then a customer writes.',
    play: async (stage) => {
      const customer = newCustomer();
      const tooEarly = await stage.refusal(() => stage.sendText(`+${customer}`, 'Hello?'));
      stage.expect(tooEarly === 'SERVICE_WINDOW_CLOSED', `a message to +${customer} is refused: SERVICE_WINDOW_CLOSED`);
      await stage.breathe();
      await stage.simulator.inbound(stage.demo.phone_number_id, customer, { message: 'A table for two?' });
      const question = await stage.waitFor('the customer’s message', async () => {
        const { items: data } = await stage.api.messages.list({ status: 'received', limit: 20 }).page();
        return data.find((message) => message.from === customer);
      });
      stage.note(`${paint.name('←')} +${customer}  "${question.body ?? ''}"  ${paint.faint(question.id)}`);
      await stage.breathe();
      const content = { type: 'text', text: { body: 'With pleasure.' }, reply_to_message_id: question.id };
      const { id } = await stage.send(`+${customer}`, content, 'With pleasure.');
      await stage.until(id, 'read');
      stage.expect(true, 'the window is open now, and the answer quotes the question');
    },
  },
  {
    name: 'template',
    title: 'Write first',
    intro: 'A customer who has not written may get an approved template. Its values are filled in.',
    play: async (stage) => {
      const parameters = ['Ana', '4711'];
      const asked = { template_name: 'order_update', parameters: { body: parameters } };
      const text = (await stage.api.templates.preview(stage.demo.connection_id, asked)).body ?? '';
      stage.note(`preview: "${text}"`);
      const template = {
        name: 'order_update',
        language: { code: 'en_US' },
        components: [{ type: 'body', parameters: parameters.map((value) => ({ type: 'text', text: value })) }],
      };
      const { id } = await stage.send(`+${newCustomer()}`, { type: 'template', template }, text);
      await stage.until(id, 'read');
      stage.expect(true, 'a customer who has not written before has read it');
    },
  },
  {
    name: 'file',
    title: 'Send a file',
    intro: 'Uploaded once, sent as often as you like. Its MIME type is detected from its content.',
    play: async (stage) => {
      const menu = `Soup, bread, coffee. ${new Date().toDateString()}\n`;
      const from = { connection_id: stage.demo.connection_id };
      const media = await stage.api.media.upload({ ...from, file: new Blob([menu]), filename: 'menu.txt' });
      stage.note(`menu.txt is ${media.mime_type}, a ${media.type}  ${paint.faint(media.id)}`);
      const content = { type: media.type, media: { id: media.id, caption: 'Today' } };
      const { id } = await stage.send(stage.demo.recipients[0]?.to ?? '', content, 'menu.txt: Today');
      await stage.until(id, 'read');
      const link = await stage.api.media.link(media.id);
      const bytes = await (await fetch(link.url, { signal: stage.live.signal })).text();
      stage.expect(bytes === menu, 'a signed link, valid for 15 minutes, returns the same bytes');
    },
  },
  {
    name: 'code',
    title: 'Check a phone number',
    intro: 'A sandbox key sends nothing and answers with the code; a live one sends it over WhatsApp.',
    play: async (stage) => {
      const { otp } = apiAt(stage.demo.base_url, stage.demo.otp_sandbox_key, stage.live.signal);
      const to = `+4915112${randomInt(100_000, 1_000_000)}`;
      const { id, test_code: code = '' } = await otp.send({ to }, { idempotencyKey: `demo-${randomUUID()}` });
      stage.note(`${paint.name('→')} ${to}  the code is ${paint.heading(code)}`);
      const wrong = code === '000000' ? '000001' : '000000';
      const verify = (guess: string): Promise<unknown> => otp.verify({ id, code: guess });
      const refused = await stage.refusal(() => verify(wrong));
      stage.expect(refused === 'OTP_CODE_INCORRECT', `${wrong} is refused: OTP_CODE_INCORRECT`);
      await verify(code);
      stage.expect(true, `${code} is right`);
      stage.expect((await stage.refusal(() => verify(code))) === 'OTP_CODE_ALREADY_USED', 'and is right only once');
    },
  },
  {
    name: 'webhook',
    title: 'Receive webhooks',
    intro: 'Herald posts every message in and every status to your address, signed, until it is acknowledged.',
    // Uses a webhook of its own, which it removes again.
    play: async (stage) => {
      const known = await unlessRefused('WEBHOOK_NOT_FOUND', stage.api.webhook.get());
      if (known !== null) {
        throw new Skipped(`the workspace has a webhook, ${known.url}: it stays; DELETE /webhook takes it away`);
      }
      const events: ReceivedEvent[] = [];
      const receiver = await WebhookReceiver.listen({ onEvent: (event) => events.push(event) });
      const withdraw = announceReceiver(loadClientConfig().dataDir, receiver.url);
      try {
        const put = stage.api.webhook.set({ url: receiver.url, active: true });
        const set = await unlessRefused('WEBHOOK_URL_NOT_ALLOWED', put);
        if (set === null) {
          throw new Skipped(
            'this Herald delivers to public https addresses only; the chapter needs its DATA_DIR on this machine, or a start with WEBHOOK_ALLOW_PRIVATE_TARGETS=true npm start',
          );
        }
        receiver.secret = set.secret ?? '';
        await stage.api.webhook.test();
        await stage.waitFor('the test event', () => events.find(({ type }) => type === 'webhook.test'));
        stage.expect(true, 'received a test event, signature OK');
        await stage.breathe();
        const { id } = await stage.sendText(stage.demo.recipients[0]?.to ?? '', 'Your order is on its way.');
        for (const status of ['accepted', 'sent', 'delivered', 'read']) {
          const isIt = ({ data }: ReceivedEvent): boolean => data.message_id === id && data.status === status;
          await stage.waitFor(`the event of ${status}`, () => events.find(isIt));
          stage.note(`${paint.name('⇠')} message.status.updated  ${status}  ${paint.good('signature OK')}`);
        }
        stage.expect(receiver.forged === 0, 'every signature was verified from the raw bytes');
      } finally {
        await receiver.close();
        if (receiver.secret !== null) await stage.api.webhook.remove().catch(() => undefined);
        withdraw();
      }
    },
  },
];

/** A number without a contact whose last digits select no simulated outcome. */
function newCustomer(): string {
  return `1555020${randomInt(2_000, 10_000)}`;
}

/** The answer of the call; null where it is refused with this code. */
async function unlessRefused<T>(code: ErrorCode, call: Promise<T>): Promise<T | null> {
  return call.catch((error: unknown) => {
    if (isHeraldError(error, code)) return null;
    throw error;
  });
}

interface Result {
  chapter: string;
  result: 'passed' | 'skipped' | 'failed';
  reason: string | null;
  duration_ms: number;
}

/** Plays the chapters in order; the next one is played even if one fails. */
async function play(stage: Stage, chapters: readonly Chapter[]): Promise<Answer> {
  const results: Result[] = [];
  for (const [index, chapter] of chapters.entries()) {
    const { name, title, intro } = chapter;
    const heading = paint.heading(`${index + 1}. ${title}`);
    stage.live.say(`\n${heading}\n   ${paint.faint(intro)}`, { event: 'chapter', name, title });
    await stage.breathe();
    results.push(await playOne(stage, chapter));
    await stage.breathe();
  }
  const passed = results.filter(({ result }) => result === 'passed').length;
  const failed = results.filter(({ result }) => result === 'failed');
  return {
    data: { event: 'end', passed: failed.length === 0, results },
    text: `\n${endText(passed, results.length, failed)}`,
    failed: failed.length > 0,
  };
}

async function playOne(stage: Stage, { name, play: work }: Chapter): Promise<Result> {
  const startedAt = performance.now();
  const ended = (result: Result['result'], reason: string | null): Result => {
    return { chapter: name, result, reason, duration_ms: Math.round(performance.now() - startedAt) };
  };
  try {
    await work(stage);
    return ended('passed', null);
  } catch (error) {
    if (stage.live.signal.aborted) throw error;
    const reason = describeError(error);
    const isSkipped = error instanceof Skipped;
    const mark = isSkipped ? paint.doubtful('– skipped:') : paint.bad('✗ failed:');
    stage.live.say(`   ${mark} ${reason}`, { event: isSkipped ? 'skipped' : 'failed', reason });
    return ended(isSkipped ? 'skipped' : 'failed', reason);
  }
}

function endText(passed: number, all: number, failed: readonly Result[]): string {
  if (failed.length > 0) return paint.bad(`Failed: ${failed.map(({ chapter }) => chapter).join(', ')}.`);
  const skipped = passed === all ? '' : `, ${all - passed} skipped`;
  return paint.good(`All steps passed: ${passed} chapters${skipped}.`);
}

interface DemoOptions {
  fast?: boolean;
  chapter?: string[];
}

/** `demo`. */
export function addDemoCommand(program: Command): void {
  const names = CHAPTERS.map(({ name }) => name).join(', ');
  const command = program
    .command('demo')
    .description('run a guided tour in the terminal, against the demo that "npm start" runs')
    .option('--fast', 'without pauses for reading')
    .option('--chapter <list>', `only these, separated by commas: ${names}`, (text) => text.split(',').filter(Boolean));
  liveAction<DemoOptions>(command, async (live, { fast = false, chapter: wanted }) => {
    const unknown = (wanted ?? []).filter((name) => CHAPTERS.every((chapter) => chapter.name !== name));
    if (unknown.length > 0) throw new UsageError(`no chapter is called ${unknown.join(', ')}; there are ${names}`);
    const stage = await openStage(live, fast);
    live.print(
      `${paint.heading('Herald')} at ${stage.demo.base_url}, the simulator at ${stage.demo.simulator_url ?? ''}`,
    );
    return play(
      stage,
      CHAPTERS.filter(({ name }) => wanted === undefined || wanted.includes(name)),
    );
  });
}

async function openStage(live: Live, isFast: boolean): Promise<Stage> {
  const { dataDir } = loadClientConfig();
  const demo = readDemoFile(dataDir);
  if (!isWhole(demo)) {
    throw new Error(
      `there is no demo in ${dataDir}: start it with "npm start" in another terminal, in this folder (or set DATA_DIR), then try again`,
    );
  }
  const { simulator_url: simulatorUrl } = demo;
  if (simulatorUrl === null) throw new Error('the demo needs the simulator: start Herald with the role simulator');
  const api = apiAt(demo.base_url, demo.api_key, live.signal);
  // Fails at once if no service answers, or the key belongs to a deleted demo.
  await api.connections.list();
  return new Stage(live, api, demo, new SimulatorControl(simulatorUrl, live.signal), isFast);
}

function isWhole(demo: Partial<DemoFile>): demo is DemoFile {
  return demo.base_url !== undefined && demo.api_key !== undefined && Array.isArray(demo.recipients);
}
