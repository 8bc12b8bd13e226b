import { setTimeout as sleep } from 'node:timers/promises';

/** The output of a command that goes on for a while, and the wish to end it. */
export class Live {
  private readonly controller = new AbortController();
  private readonly interrupt = (): void => this.controller.abort(new Error('interrupted'));

  constructor(readonly json: boolean) {
    process.once('SIGINT', this.interrupt);
    process.once('SIGTERM', this.interrupt);
    // A reader that has seen enough, such as `head`, ends the command as Ctrl-C does.
    process.stdout.once('error', this.interrupt);
  }

  /** Aborted by Ctrl-C, SIGTERM, and a reader that went away. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Prints a line: the text, or with `--json` the data. */
  say(text: string, data: unknown): void {
    if (this.signal.aborted) return;
    process.stdout.write(`${this.json ? JSON.stringify(data) : text}\n`);
  }

  /** Prints a line for people only. */
  tell(text: string): void {
    if (!this.json && !this.signal.aborted) process.stdout.write(`${text}\n`);
  }

  /** @throws AbortError when the command is to end. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal });
  }

  end(): void {
    process.off('SIGINT', this.interrupt);
    process.off('SIGTERM', this.interrupt);
    process.stdout.off('error', this.interrupt);
  }
}
