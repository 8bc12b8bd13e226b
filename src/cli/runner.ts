import { type Command, Option } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, paint, printable } from './output.js';
import { AppError } from '../common/app-error.js';
import { describeError } from '../common/describe-error.js';
import { HeraldConnectionError, HeraldError } from '../../clients/typescript/src/errors.js';
import { refusalOf, type Target, type TargetOptions, targetOf } from './api/client.js';
import type { Services } from '../bootstrap/services.js';
import { INTERRUPTED, type Operator, type OperatorOptions, withOperator, withSession } from './operator.js';

/** What the shell learns of a command's end. */
export const EXIT = { done: 0, failed: 1, wrongUse: 2, interrupted: INTERRUPTED } as const;

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

  /** Does what goes on until Ctrl-C, which is then no failure. */
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

/** Options that do not go together, which commander cannot see. */
export class UsageError extends Error {
  readonly code = 'WRONG_USE';
  readonly extra = {};
}

/** Runs one command with what it needs, its options and its arguments, as commander read them. */
type Handler<Needs extends unknown[], O, R = Answer> = (...given: [...Needs, O, ...string[]]) => Promise<R>;

/** Gives a command `--json` and its work. What it throws is printed, and ends the program with exit code 1. */
export function action<O extends object>(command: Command, handler: Handler<[], O>): Command {
  return register<O>(command, 'print JSON', async (json, options, args) => {
    const answer = await handler(options, ...args);
    process.stdout.write(`${json ? JSON.stringify(answer.data, null, 2) : printable(answer.text)}\n`);
    if (answer.failed === true) process.exitCode = EXIT.failed;
  });
}

/** Where a command runs; the documentation says it of each. */
export type Place =
  /** Here, or over the admin API of a service elsewhere. */
  | 'anywhere'
  /** It calls the API of messages, or needs no service. */
  | 'caller'
  /** On the server only, for this reason. */
  | { onlyHere: string };

const places = new WeakMap<Command, Place>();

export function placeOf(command: Command): Place {
  return places.get(command) ?? 'caller';
}

/** As `action`, for what operators do: over the admin API, that of this process or of a service elsewhere. */
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

/** As `action`, for what no route of the admin API does. @param why ends the sentence that refuses `--url` */
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

/** As `localAction`, for work that needs services: opens them, and closes them whatever happens. */
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
 * As `action`, for work that goes on for a while: `live.say` prints as things happen, with `--json` one object a line.
 * Ctrl-C aborts `live.signal`; the handler ends then, and the program with 130 unless the handler chose otherwise.
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

/** As `action`, for calls of the API, with the options for where to call, and as whom. */
export function apiAction<O extends object>(command: Command, handler: Handler<[Target], O>): Command {
  return action<O & TargetOptions>(withTarget(command), async ({ url, key, ...options }, ...args) =>
    handler(await targetOf({ url, key }), options as O, ...args),
  );
}

/** As `liveAction`, for calls of the API. */
export function liveApiAction<O extends object>(
  command: Command,
  handler: Handler<[Live, Target], O, Answer | null>,
): Command {
  return liveAction<O & TargetOptions>(withTarget(command), async (live, { url, key, ...options }, ...args) =>
    handler(live, await targetOf({ url, key }, live.signal), options as O, ...args),
  );
}

/** The options for where to call, and as whom. */
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

/** `{"error": {...}}` on standard output with `--json`, else one line on standard error. */
function printError(json: boolean, error: unknown): void {
  const { code, message, extra } = faceOf(error);
  if (json) {
    process.stdout.write(`${JSON.stringify({ error: { code, message, ...extra } })}\n`);
    return;
  }
  // The API's code is what its documents are searched by.
  const text = error instanceof HeraldError ? `${code}: ${message}` : message;
  process.stderr.write(`${paint.bad('herald:')} ${printable(text)}\n`);
}

/** What a person, or with `--json` a program, is told of an error. */
export function faceOf(error: unknown): { code?: string; message: string; extra?: object } {
  if (error instanceof HeraldError) return refusalOf(error);
  // Its cause says why, and what to do.
  if (error instanceof HeraldConnectionError) return { message: describeError(error.cause) };
  const known = error instanceof AppError || error instanceof UsageError ? error : null;
  return { code: known?.code, message: describeError(error), extra: known?.extra };
}
