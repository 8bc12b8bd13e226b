import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether a program is installed, by asking for its version. */
export async function isInstalled(program: string, ask = '--version'): Promise<boolean> {
  try {
    await run(program, [ask]);
    return true;
  } catch {
    return false;
  }
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Ends a process unless it has ended already; it is gone when this returns. */
export async function endProcess(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(server)) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}
