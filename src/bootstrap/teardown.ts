import { within } from '../common/within.js';

/** The started parts that a stop must end, newest first. */
export class Teardown {
  private readonly steps: { name: string; last: boolean; end: () => Promise<void> }[] = [];
  private running: Promise<void> | null = null;

  constructor(private readonly onError: (step: string, error: unknown) => void) {}

  /**
   * @param last the step runs after all other steps, and also in `halt`: for a server that would outlive this process.
   */
  add(name: string, end: () => Promise<void>, last = false): void {
    this.steps.push({ name, last, end });
  }

  /**
   * Ends everything in reverse order. If one step fails, the others still run. After `withinMs` this no longer waits
   * for the ordinary steps: the `last` steps run at once, and the remaining ordinary steps go on beside them until the
   * process exits.
   */
  run(withinMs: number): Promise<void> {
    this.running ??= this.runOnce(withinMs);
    return this.running;
  }

  /** Runs only the `last` steps. */
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
