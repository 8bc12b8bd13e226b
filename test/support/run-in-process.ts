import { buildProgram } from '../../src/cli/program.js';

/**
 * Runs a command of `herald` that ends well in this process, and returns what it printed: a process of its own takes 1.5 s
 * of processor time to load the program. Exit codes and standard input are tested with `runHerald`.
 */
export async function runInProcess(args: string[], env: Record<string, string>): Promise<string> {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  const write = process.stdout.write.bind(process.stdout);
  const { exitCode } = process;
  let output = '';
  Object.assign(process.env, env);
  process.stdout.write = (text: string | Uint8Array) => (output += String(text)) !== '';
  try {
    await buildProgram().parseAsync(args, { from: 'user' });
    if (process.exitCode !== exitCode)
      throw new Error(`herald ${args.join(' ')} ended with ${process.exitCode}: ${output}`);
    return output;
  } finally {
    process.exitCode = exitCode;
    process.stdout.write = write;
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
