import { within } from '../common/within.js';

/** What a start has begun and a stop must end, newest first. */
export class Teardown {
  private readonly steps: { name: string; last: boolean; end: () => Promise<void> }[] = [];
  private running: Promise<void> | null = null;

  constructor(private readonly onError: (step: string, error: unknown) => void) {}

  /** @param last ended after everything else, and by `halt` too: a server that would outlive this process. */
  add(name: string, end: () => Promise<void>, last = false): void {
    this.steps.push({ name, last, end });
  }

  /**
   * Ends everything in the opposite order of its beginning; a step that fails keeps no other from its end. Where
   * `withinMs` has passed, what is left of the ordinary steps is given up.
   */
  run(withinMs: number): Promise<void> {
    this.running ??= this.runOnce(withinMs);
    return this.running;
  }

  /** Ends only what would outlive this process. */
  async halt(): Promise<void> {
    for (const step of this.steps.filter(({ last }) => last)) await this.end(step);
  }

  private async runOnce(withinMs: number): Promise<void> {
    const steps = this.steps.toReversed();
    const ordinary = async (): Promise<true> => {
      for (const step of steps.filter(({ last }) => !last)) await this.end(step);
      return true;
    };
    if ((await within(withinMs, ordinary())) === null) {
      this.onError('stop', new Error(`not everything ended within ${withinMs} ms`));
    }
    await this.halt();
  }

  private async end(step: { name: string; end: () => Promise<void> }): Promise<void> {
    try {
      await step.end();
    } catch (error) {
      this.onError(step.name, error);
    }
  }
}
