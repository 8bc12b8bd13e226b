import { Argument, type Command } from 'commander';
import { action } from '../runner.js';

/** `completion bash|zsh|fish`. */
export function addCompletionCommand(program: Command): void {
  const command = program
    .command('completion')
    .description('print a script for shell completion of commands and options')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']));
  action(command, async (_options, shell) => {
    const script = completionScript(program, shell);
    return { data: { shell, script }, text: script };
  });
}

/** A function that looks up the words before the cursor; it runs no command while the user types. */
function completionScript(program: Command, shell: string): string {
  if (shell === 'fish') return fishScript(program);
  const cases = branchesOf(program, []).map(([path, words]) => `    '${path}') known='${words.join(' ')}' ;;`);
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_herald() {',
    '  local known="" path="" word',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$word" in [a-z]*) path="${path:+$path }$word" ;; *) break ;; esac',
    '  done',
    '  case "$path" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$known" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _herald herald',
  ].join('\n');
}

/** The same for fish, which passes the words so far. */
function fishScript(program: Command): string {
  const cases = branchesOf(program, []).map(
    ([path, words]) => `    case '${path}'\n      printf '%s\\n' ${words.join(' ')}`,
  );
  return [
    'function __herald_words',
    '  set -l path',
    '  for word in (commandline -opc)[2..]',
    "    string match -qr '^[a-z]' -- $word; and set -a path $word; or break",
    '  end',
    '  switch "$path"',
    ...cases,
    '  end',
    'end',
    "complete -c herald -f -a '(__herald_words)'",
  ].join('\n');
}

/** For each command, the words that may follow: its subcommands or its options. */
function branchesOf(command: Command, path: readonly string[]): [path: string, words: string[]][] {
  const below = command.commands.map((inner) => inner.name());
  const options = command.options.flatMap(({ hidden, long }) => (hidden ? [] : (long ?? [])));
  const own: [string, string[]] = [path.join(' '), [...below, ...options, '--help']];
  return [own, ...command.commands.flatMap((inner) => branchesOf(inner, [...path, inner.name()]))];
}
