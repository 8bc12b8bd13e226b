import { describeError } from '../common/describe-error.js';
import type { Command } from 'commander';
import { AppError } from '../common/app-error.js';
import type { Answer } from './answer.js';
import { openServices, type ServiceSession } from './session.js';

/** Runs one command with its arguments and options, as commander read them. */
export type Handler<O> = (options: O, ...args: string[]) => Promise<Answer>;

/** As `Handler`, with the application's services. */
export type ServiceHandler<O> = (session: ServiceSession, options: O, ...args: string[]) => Promise<Answer>;

/** Gives a command `--json` and its work. What it throws is printed, and ends the program with exit code 1. */
export function does<O extends object>(command: Command, handler: Handler<O>): Command {
  return command.option('--json', 'print JSON').action(async (...given: unknown[]) => {
    given.pop();
    const { json = false, ...options } = given.pop() as O & { json?: boolean };
    try {
      const answer = await handler(options as O, ...(given as string[]));
      process.stdout.write(`${json ? JSON.stringify(answer.data, null, 2) : answer.text}\n`);
      if (answer.failed === true) process.exitCode = 1;
    } catch (error) {
      if (json) process.stdout.write(`${JSON.stringify({ error: errorBody(error) }, null, 2)}\n`);
      else process.stderr.write(`herald: ${errorBody(error).message}\n`);
      process.exitCode = 1;
    }
  });
}

/** As `does`, for work that needs services: opens them, and closes them whatever happens. */
export function doesWithServices<O extends object>(command: Command, handler: ServiceHandler<O>): Command {
  return does<O>(command, async (options, ...args) => {
    const session = await openServices();
    // An interrupt must not leave behind an embedded database that was started for this command.
    const interrupt = (): void => {
      void session.close().finally(() => process.exit(130));
    };
    process.once('SIGINT', interrupt);
    process.once('SIGTERM', interrupt);
    try {
      return await handler(session, options, ...args);
    } finally {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
      await session.close();
    }
  });
}

function errorBody(error: unknown): { code?: string; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return { message: describeError(error) };
}
