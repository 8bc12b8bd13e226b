import { type ApiClient, ApiError } from '../api/client.js';
import type { DemoFile } from '../../bootstrap/demo-file.js';
import type { MessageResponse } from '../../modules/messages/dto/message.response.js';
import { sendMessage, watchMessage } from '../api/message.js';
import type { Live } from '../runner.js';
import type { SimulatorControl } from '../simulator-control.js';
import { oneLine, paint } from '../output.js';

/** Generous: the machine may be busy. */
const PATIENCE_MS = 40_000;
const READING_MS = 700;

/** A chapter that can't be played here; says how it could. */
export class Skipped extends Error {}

/** A step had another result than expected. */
export class StepFailed extends Error {}

/** One part of the guided tour. */
export interface Chapter {
  name: string;
  title: string;
  /** What will be seen, and why it is so. */
  intro: string;
  play: (stage: Stage) => Promise<void>;
}

/** Where chapters are played: the demo's API and simulator, and lines for who watches. */
export class Stage {
  private readonly seen = new Map<string, Set<string>>();

  constructor(
    readonly live: Live,
    readonly api: ApiClient,
    readonly demo: DemoFile,
    readonly simulator: SimulatorControl,
    private readonly isFast: boolean,
  ) {}

  /** A line of the guided tour. */
  note(text: string): void {
    this.live.say(`   ${text}`, { event: 'note', text });
  }

  /** Time to read what was said. */
  async breathe(): Promise<void> {
    if (!this.isFast && !this.live.json) await this.live.pause(READING_MS);
  }

  /** @throws StepFailed where `isSo` is false. */
  expect(isSo: boolean, text: string): void {
    if (!isSo) throw new StepFailed(text);
    this.live.say(`   ${paint.good('✓')} ${text}`, { event: 'check', text });
  }

  /** Sends from the demo's first number; says what and to whom. */
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
  async until(id: string, status: string, attempts = 1): Promise<MessageResponse> {
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

  /** The code with which a call is refused; null where it is not. */
  async refusal(call: () => Promise<unknown>): Promise<string | null> {
    try {
      await call();
      return null;
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
  }

  /** Looks until there is something. */
  async waitFor<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new StepFailed(`${what}: nothing of it in ${PATIENCE_MS / 1_000} s`);
      await this.live.pause(150);
    }
  }
}
