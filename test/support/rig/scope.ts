type Release = () => Promise<void> | void;

/**
 * Gives back, in the opposite order, whatever was taken while it was open: processes, databases, folders. Closing the
 * outermost scope of a run leaves nothing behind, also when the run is interrupted.
 */
export class Scope {
  private readonly releases: Release[] = [];
  private closing: Promise<void> | null = null;

  /** @throws Error when the scope is closing: what was just taken is given back at once */
  defer(release: Release): void {
    this.releases.push(release);
    if (this.closing === null) return;
    this.closing = this.closing.then(() => this.releaseAll());
    throw new Error('the run was stopped');
  }

  /** Whether it is closing or closed: nothing more may be taken. */
  get isClosed(): boolean {
    return this.closing !== null;
  }

  /** A scope that may be closed earlier and is closed with this one at the latest. */
  child(): Scope {
    const child = new Scope();
    this.defer(() => child.close());
    return child;
  }

  /** Releases everything; one that fails is reported and does not keep the others. */
  close(): Promise<void> {
    this.closing ??= this.releaseAll();
    return this.closing;
  }

  /** Runs `work` in a child scope and closes it. */
  async within<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
    const child = this.child();
    try {
      return await work(child);
    } finally {
      await child.close();
    }
  }

  private async releaseAll(): Promise<void> {
    for (let release = this.releases.pop(); release !== undefined; release = this.releases.pop()) {
      try {
        await release();
      } catch (error) {
        process.stderr.write(`while cleaning up: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  }
}
