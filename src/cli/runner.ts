import type { Command } from 'commander';
import { AppError } from '../common/app-error.js';
import { describeError } from '../common/describe-error.js';
import { ApiFault } from './api/api-fault.js';
import type { Answer } from './answer.js';
import { EXIT } from './help.js';
import { Live } from './live.js';
import type { Services } from './services.js';
import { openServices } from './session.js';
import { paint } from './style.js';

/** Runs one command with its arguments and options, as commander read them. */
export type Handler<O> = (options: O, ...args: string[]) => Promise<Answer>;

/** As `Handler`, with the application's services. */
export type ServiceHandler<O> = (services: Services, options: O, ...args: string[]) => Promise<Answer>;

/** As `Handler`, for a command that tells what happens while it happens; what it returns is said last. */
export type LiveHandler<O> = (live: Live, options: O, ...args: string[]) => Promise<Answer | null>;

/** Gives a command `--json` and its work. What it throws is printed, and ends the program with exit code 1. */
export function action<O extends object>(command: Command, handler: Handler<O>): Command {
  return register<O>(command, 'print JSON', async (json, options, args) => {
    const answer = await handler(options, ...args);
    process.stdout.write(`${json ? JSON.stringify(answer.data, null, 2) : answer.text}\n`);
    if (answer.failed === true) process.exitCode = EXIT.failed;
  });
}

/** As `action`, for work that needs services: opens them, and closes them whatever happens. */
export function doesWithServices<O extends object>(command: Command, handler: ServiceHandler<O>): Command {
  return action<O>(command, async (options, ...args) => {
    const session = await openServices();
    // An interrupt must not leave behind an embedded database that was started for this command.
    const interrupt = (): void => {
      void session.close().finally(() => process.exit(EXIT.interrupted));
    };
    process.once('SIGINT', interrupt);
    process.once('SIGTERM', interrupt);
    try {
      return await handler(session.services, options, ...args);
    } finally {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
      await session.close();
    }
  });
}

/**
 * As `action`, for work that goes on for a while: `live.say` prints as things happen, with `--json` one object a line.
 * Ctrl-C aborts `live.signal`; the handler ends then, and the program with 130 unless the handler chose otherwise.
 */
export function doesLive<O extends object>(command: Command, handler: LiveHandler<O>): Command {
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

type Act<O> = (json: boolean, options: O, args: string[]) => Promise<void>;

function register<O extends object>(command: Command, jsonMeaning: string, act: Act<O>): Command {
  return command.option('--json', jsonMeaning).action(async (...given: unknown[]) => {
    given.pop();
    const { json = false, ...options } = given.pop() as O & { json?: boolean };
    try {
      await act(json, options as O, given as string[]);
    } catch (error) {
      printError(json, error);
      process.exitCode = EXIT.failed;
    }
  });
}

/** `{"error": {...}}` on standard output with `--json`, else one line on standard error. */
function printError(json: boolean, error: unknown): void {
  const body = errorBody(error);
  if (json) process.stdout.write(`${JSON.stringify({ error: body })}\n`);
  else process.stderr.write(`${paint.bad('herald:')} ${textOf(error)}\n`);
}

/** The API's code is what its documents are searched by. */
function textOf(error: unknown): string {
  return error instanceof ApiFault ? `${error.code}: ${error.message}` : describeError(error);
}

function errorBody(error: unknown): { code?: string; message: string } {
  if (error instanceof AppError || error instanceof ApiFault) {
    return { code: error.code, message: error.message, ...error.extra };
  }
  return { message: describeError(error) };
}
