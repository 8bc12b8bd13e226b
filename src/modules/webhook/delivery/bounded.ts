import { DeliveryFault } from './delivery-fault.js';

export interface Bounds {
  /** Milliseconds; at zero or less nothing is begun. */
  readonly timeoutMs: number;
  /** The word of the fault when they are over. */
  readonly word: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Starts a piece of work and settles once: with its end, with `word` when its time is over, or with `aborted`.
 *
 * @param start begins the work and hands back what gives it up. It is called where time or patience ended first.
 */
export function bounded<T>(
  bounds: Bounds,
  start: (resolve: (value: T) => void, reject: (fault: DeliveryFault) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const { timeoutMs, word, signal } = bounds;
    if (signal?.aborted === true || !(timeoutMs > 0)) {
      reject(new DeliveryFault(signal?.aborted === true ? 'aborted' : word));
      return;
    }
    let settled = false;
    let giveUp: (() => void) | null = null;
    const settle = (act: () => void): void => {
      if (settled) {
        return;
      }
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      act();
    };
    const stop = (fault: string): void =>
      settle(() => {
        reject(new DeliveryFault(fault));
        giveUp?.();
      });
    const onAbort = (): void => stop('aborted');
    const timer = setTimeout(() => stop(word), timeoutMs);
    signal?.addEventListener('abort', onAbort);
    try {
      giveUp = start(
        (value) => settle(() => resolve(value)),
        (fault) => settle(() => reject(fault)),
      );
    } catch {
      stop('request_not_valid');
    }
  });
}
