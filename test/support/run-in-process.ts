import { buildProgram } from '../../src/cli/program.js';

/**
 * Runs a command of `herald` that ends well in this process, and returns what it printed: a process of its own takes 1.5 s
 * of processor time to load the program. Exit codes and standard input are tested with `runHerald`.
 *
 * @throws Error with what it printed, where it does not end well.
 */
export async function runInProcess(args: string[], env: Record<string, string>): Promise<string> {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  const write = process.stdout.write.bind(process.stdout);
  const writeError = process.stderr.write.bind(process.stderr);
  const { exitCode } = process;
  let output = '';
  let errors = '';
  Object.assign(process.env, env);
  process.stdout.write = (text: string | Uint8Array) => (output += String(text)) !== '';
  process.stderr.write = (text: string | Uint8Array) => (errors += String(text)) !== '';
  try {
    await buildProgram().parseAsync(args, { from: 'user' });
    if (process.exitCode !== exitCode)
      throw new Error(`herald ${args.join(' ')} ended with ${process.exitCode}: ${output}${errors}`);
    return output;
  } finally {
    process.exitCode = exitCode;
    process.stdout.write = write;
    process.stderr.write = writeError;
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
