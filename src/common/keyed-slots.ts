import { commonErrors } from './common.errors.js';

export interface KeyedSlotsOptions {
  /** Of each key. */
  slots: number;
  /** Callers that may wait for a slot of one key. */
  mostWaiting: number;
  /** How long each of them waits. */
  waitMs: number;
}

interface Line {
  taken: number;
  /** In order of arrival; a Set, so that a caller whose time is over is removed at once. */
  waiting: Set<() => void>;
}

/**
 * Limits how many callers of each key run at once, and how many wait and for how long. Callers of one key never delay
 * those of another.
 */
export class KeyedSlots {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly options: KeyedSlotsOptions) {}

  /**
   * Takes a slot, which `leave` returns; without a promise if a slot is free.
   *
   * @returns false where too many callers wait, or no slot became free in time.
   */
  enter(key: string): boolean | Promise<boolean> {
    const line = this.lines.get(key);
    if (line === undefined) {
      this.lines.set(key, { taken: 1, waiting: new Set() });
      return true;
    }
    if (line.taken < this.options.slots) {
      line.taken += 1;
      return true;
    }
    if (line.waiting.size >= this.options.mostWaiting) return false;
    return new Promise((resolve) => {
      const grant = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        line.waiting.delete(grant);
        resolve(false);
      }, this.options.waitMs);
      line.waiting.add(grant);
    });
  }

  /** Runs `work` in a slot. @throws SERVICE_UNAVAILABLE (503) where none is free. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (!(await this.enter(key))) throw commonErrors.SERVICE_UNAVAILABLE(undefined);
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  leave(key: string): void {
    const line = this.lines.get(key);
    if (line === undefined) return;
    const [next] = line.waiting;
    if (next !== undefined) {
      line.waiting.delete(next);
      next();
    } else if (line.taken > 1) {
      line.taken -= 1;
    } else {
      this.lines.delete(key);
    }
  }
}
