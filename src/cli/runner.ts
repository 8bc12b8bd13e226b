import { type Command, Option } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, paint, printable } from './output.js';
import { AppError } from '../common/app-error.js';
import { describeError } from '../common/describe-error.js';
import { HeraldConnectionError, HeraldError } from '../../clients/typescript/src/errors.js';
import { refusalOf, type Target, type TargetOptions, targetOf } from './api/client.js';
import type { Services } from '../bootstrap/services.js';
import { INTERRUPTED, type Operator, type OperatorOptions, withOperator, withSession } from './operator.js';

/** The exit codes of commands. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, interrupted: INTERRUPTED } as const;

/** The output of a long-running command, and its end. */
export class Live {
  private readonly controller = new AbortController();
  private readonly interrupt = (): void => this.controller.abort(new Error('interrupted'));

  constructor(readonly json: boolean) {
    process.once('SIGINT', this.interrupt);
    process.once('SIGTERM', this.interrupt);
    // When a reader such as `head` closes the pipe, the command ends like with Ctrl-C.
    process.stdout.once('error', this.interrupt);
  }

  /** Aborted by Ctrl-C, by SIGTERM, and when the reader is gone. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Prints a line: the text, or the data with `--json`. */
  say(text: string, data: unknown): void {
    if (this.signal.aborted) return;
    process.stdout.write(`${this.json ? JSON.stringify(data) : printable(text)}\n`);
  }

  /** Prints a line for people only. */
  print(text: string): void {
    if (!this.json && !this.signal.aborted) process.stdout.write(`${printable(text)}\n`);
  }

  /** @throws AbortError when the command is to end. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal });
  }

  /** Runs work that lasts until Ctrl-C, which then is not a failure. */
  async untilEnded(work: () => Promise<unknown>): Promise<null> {
    try {
      await work();
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
    return null;
  }

  end(): void {
    process.off('SIGINT', this.interrupt);
    process.off('SIGTERM', this.interrupt);
    process.stdout.off('error', this.interrupt);
  }
}

/** An invalid combination of options, which commander cannot detect. */
export class UsageError extends Error {
  readonly code = 'WRONG_USE';
  readonly extra = {};
}

/** Runs one command with its dependencies, and the options and arguments that commander read. */
type Handler<Needs extends unknown[], O, R = Answer> = (...given: [...Needs, O, ...string[]]) => Promise<R>;

/** Gives a command `--json` and its handler. An error is printed, and ends the program with exit code 1. */
export function action<O extends object>(command: Command, handler: Handler<[], O>): Command {
  return register<O>(command, 'print JSON', async (json, options, args) => {
    const answer = await handler(options, ...args);
    process.stdout.write(`${json ? JSON.stringify(answer.data, null, 2) : printable(answer.text)}\n`);
    if (answer.failed === true) process.exitCode = EXIT.failed;
  });
}

/** Where a command runs; the documentation shows it for each. */
export type Place =
  /** Here, or over the admin API of a service elsewhere. */
  | 'anywhere'
  /** It calls the messages API, or needs no service. */
  | 'caller'
  /** On the server only, for this reason. */
  | { onlyHere: string };

const places = new WeakMap<Command, Place>();

export function placeOf(command: Command): Place {
  return places.get(command) ?? 'caller';
}

/** Like `action`, for operators' commands: over the admin API of this process, or of a service elsewhere. */
export function operatorAction<O extends object>(command: Command, handler: Handler<[Operator], O>): Command {
  places.set(command, 'anywhere');
  return action<O & OperatorOptions>(
    command
      .option('--url <url>', 'run it on a service elsewhere; default HERALD_URL where HERALD_OPERATOR_KEY is set too')
      .option('--key-stdin', 'read the operator key from standard input; default HERALD_OPERATOR_KEY'),
    async ({ url, keyStdin, ...options }, ...args) =>
      withOperator({ url, keyStdin }, (operator) => handler(operator, options as O, ...args)),
  );
}

/** Like `action`, for work that no route of the admin API does. @param why ends the sentence that refuses `--url` */
export function localAction<O extends object>(command: Command, why: string, handler: Handler<[], O>): Command {
  places.set(command, { onlyHere: why });
  return action<O & OperatorOptions>(
    command.addOption(new Option('--url <url>').hideHelp()),
    async ({ url, ...options }, ...args) => {
      if (url === undefined) return handler(options as O, ...args);
      throw new UsageError(`this command runs on the server only: ${why}. Run it there, without --url`);
    },
  );
}

/** Like `localAction`, for work that needs services: opens them, and always closes them. */
export function serviceAction<O extends object>(
  command: Command,
  why: string,
  handler: Handler<[Services], O>,
): Command {
  return localAction<O>(command, why, async (options, ...args) =>
    withSession(({ services }) => handler(services, options, ...args)),
  );
}

/**
 * Like `action`, for long-running work: `live.say` prints at once, with `--json` one object per line. Ctrl-C aborts
 * `live.signal`; then the handler ends, and the program exits with 130 unless the handler set another code.
 */
export function liveAction<O extends object>(command: Command, handler: Handler<[Live], O, Answer | null>): Command {
  return register<O>(command, 'print JSON, one object a line', async (json, options, args) => {
    const live = new Live(json);
    try {
      const answer = await handler(live, options, ...args);
      if (answer !== null) live.say(answer.text, answer.data);
      if (answer?.failed === true) process.exitCode = EXIT.failed;
    } catch (error) {
      if (!live.signal.aborted) throw error;
      process.exitCode = EXIT.interrupted;
    } finally {
      live.end();
    }
  });
}

/** Like `action`, for calls of the API, with the options for the address and the key. */
export function apiAction<O extends object>(command: Command, handler: Handler<[Target], O>): Command {
  return action<O & TargetOptions>(withTarget(command), async ({ url, key, ...options }, ...args) =>
    handler(await targetOf({ url, key }), options as O, ...args),
  );
}

/** Like `liveAction`, for calls of the API. */
export function liveApiAction<O extends object>(
  command: Command,
  handler: Handler<[Live, Target], O, Answer | null>,
): Command {
  return liveAction<O & TargetOptions>(withTarget(command), async (live, { url, key, ...options }, ...args) =>
    handler(live, await targetOf({ url, key }, live.signal), options as O, ...args),
  );
}

/** The options for the address and the key. */
export function withTarget(command: Command): Command {
  return command
    .option('--url <url>', 'the service; default HERALD_URL, the demo, or this machine')
    .option('--key <key>', 'API key, or - for standard input; default HERALD_API_KEY, or the demo’s');
}

type Act<O> = (json: boolean, options: O, args: string[]) => Promise<void>;

function register<O extends object>(command: Command, jsonMeaning: string, act: Act<O>): Command {
  return command.option('--json', jsonMeaning).action(async (...given: unknown[]) => {
    given.pop();
    const { json = false, ...options } = given.pop() as O & { json?: boolean };
    try {
      await act(json, options as O, given as string[]);
    } catch (error) {
      printError(json, error);
      process.exitCode = error instanceof UsageError ? EXIT.wrongUse : EXIT.failed;
    }
  });
}

/** `{"error": {...}}` on standard output with `--json`, otherwise one line on standard error. */
function printError(json: boolean, error: unknown): void {
  const { code, message, extra } = faceOf(error);
  if (json) {
    process.stdout.write(`${JSON.stringify({ error: { code, message, ...extra } })}\n`);
    return;
  }
  // The API's documents are searched by its codes.
  const text = error instanceof HeraldError ? `${code}: ${message}` : message;
  process.stderr.write(`${paint.bad('herald:')} ${printable(text)}\n`);
}

/** The text of an error for a person, or its fields for a program with `--json`. */
export function faceOf(error: unknown): { code?: string; message: string; extra?: object } {
  if (error instanceof HeraldError) return refusalOf(error);
  // Its cause says why, and what to do.
  if (error instanceof HeraldConnectionError) return { message: describeError(error.cause) };
  const known = error instanceof AppError || error instanceof UsageError ? error : null;
  return { code: known?.code, message: describeError(error), extra: known?.extra };
}
