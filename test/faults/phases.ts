import type { Links } from './fault-stage.js';

/**
 * Moments in a worker's handling of a message, recognized by the names of the statements that it runs and by what it
 * writes to the platform.
 */
export const PHASES = {
  /** The claim is committed, the hold on the lane with it, and its answer not read. */
  claiming: { link: 'database', text: 'message_claim' },
  /** The request was written and there is no answer yet. */
  on_the_wire: { link: 'platform', text: 'POST /' },
  /** The platform has answered and the outcome is written, which the process does not know yet: its commit is still to come. */
  recording: { link: 'database', text: 'message_write' },
} as const satisfies Record<string, { link: keyof Links; text: string }>;

export type Phase = keyof typeof PHASES;

/**
 * Calls `then` at the first moment in which the process behind these links is in the phase: for a statement when the
 * database has run it and the process has not read the answer, for a request as it is written. Returns what takes
 * the trap away.
 */
export function atPhase(phase: Phase, links: Links, then: () => void): () => void {
  const { link, text } = PHASES[phase];
  const proxy = links[link];
  let sprung = false;
  proxy.inspect = (bytes) => {
    if (sprung || !bytes.includes(text)) return 'pass';
    sprung = true;
    if (link === 'database') return then;
    then();
    return 'pass';
  };
  return () => {
    proxy.inspect = null;
  };
}
