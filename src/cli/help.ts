import type { Command } from 'commander';
import { paint } from './style.js';

/** What the shell learns of a command's end. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const;

export interface Guide {
  /** Command lines as one would type them, each with what it is for where that is not plain. */
  examples: readonly (string | readonly [line: string, purpose: string])[];
  /** More than the description says: limits, dangers, where the facts come from. */
  notes?: string;
  /** What exit code 1 means here, where it is more than "it failed; the message says why". */
  failure?: string;
}

const guides = new WeakMap<Command, Guide>();

/** Gives a command the rest of its help: notes, examples, exit codes. Every command must have it; a test looks. */
export function guide<C extends Command>(command: C, about: Guide): C {
  guides.set(command, about);
  return command.addHelpText('after', () => helpOf(about));
}

/** The guide of a command; undefined where it has none. */
export function guideOf(command: Command): Guide | undefined {
  return guides.get(command);
}

function helpOf({ examples, notes, failure }: Guide): string {
  const lines = examples.flatMap((example) => {
    const [line, purpose] = typeof example === 'string' ? [example, undefined] : example;
    return [...(purpose === undefined ? [] : [paint.faint(`  # ${purpose}`)]), `  ${line}`];
  });
  return [
    ...(notes === undefined ? [] : ['', notes]),
    '',
    paint.heading(examples.length === 1 ? 'Example:' : 'Examples:'),
    ...lines,
    '',
    paint.heading('Exit codes:'),
    '  0  done',
    `  1  ${failure ?? 'not done; the message says why'}`,
    '  2  wrong use: unknown option, missing or malformed argument',
  ].join('\n');
}
