/**
 * `docs/command-line.md` from the program itself: each command with its arguments, options, notes and examples.
 *
 * @param commands pairs of a command's words and the command of commander, as `commandsOf` gives them
 * @param guides the rest of each command's help, by its words
 * @param placeOf where a command runs
 */
export function renderCliPage(commands, guides, placeOf) {
  const toc = commands.map(([words]) => `[${words}](#herald-${anchor(words)})`).join(' · ');
  return [
    '# The command line',
    '',
    '<!-- written by `npm run generate` from src/cli -->',
    '',
    'In a clone: `npx herald <command>`; in the image: `herald <command>`. Every command takes `--json`, which prints JSON, and exits with 0 when it',
    'is done, 1 when it is not, 2 when it was called wrongly. Settings come from the environment and from `.env`, as those of',
    'the service do.',
    '',
    '**From another machine:** the commands of operators work on the service of this machine, or with `--url https://herald.example.com` on that of',
    'another one, over the [admin API](admin-api.md#the-command-line-from-another-machine). What they print is the same, with `--json` the `data` of the API. The operator',
    'key comes from `HERALD_OPERATOR_KEY`, or with `--key-stdin` from standard input. `HERALD_URL` counts as `--url` where a key is given too. Below, each command',
    'says where it runs.',
    '',
    toc,
    '',
    ...commands.flatMap(([words, command]) => section(words, command, guides[words], placeOf(command))),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

function section(words, command, guide, place) {
  const isAnywhere = place === 'anywhere';
  const options = command.options
    .filter((option) => isOwn(option) && !(isAnywhere && OPERATED.has(option.long)))
    .map((option) => [`\`${option.flags}\``, optionText(option)]);
  const args = command.registeredArguments.map((argument) => [`\`${argument.name()}\``, argumentText(argument)]);
  const rows = [...args, ...options];
  const examples = (guide?.examples ?? []).flatMap((example) => {
    const [line, purpose] = typeof example === 'string' ? [example] : example;
    return purpose === undefined ? [line] : [`# ${purpose}`, line];
  });
  return [
    `## herald ${words}`,
    '',
    `${capital(command.description())}.`,
    '',
    ...(guide?.notes === undefined ? [] : [guide.notes, '']),
    ...(isAnywhere ? ['Runs from another machine too: `--url`.', ''] : []),
    ...(place.onlyHere === undefined ? [] : [`Runs on the server only: ${place.onlyHere}.`, '']),
    '```text',
    ...examples,
    '```',
    '',
    ...rows.map(([name, meaning]) => `- ${name}: ${meaning.replaceAll('\n', ' ')}`),
    '',
  ];
}

/** `--json` is that of every command: the head of the page has it. */
const isOwn = ({ hidden, flags, description }) => !hidden && (flags !== '--json' || description !== 'print JSON');

/** The head of the page has these, too. */
const OPERATED = new Set(['--url', '--key-stdin']);

function optionText(option) {
  const choices = option.argChoices === undefined ? '' : `; one of ${option.argChoices.join(', ')}`;
  const value = option.defaultValueDescription ?? option.defaultValue;
  const standard = value === undefined || value === true ? '' : `; default ${value}`;
  return `${option.description}${choices}${standard}${option.mandatory ? ' (required)' : ''}`;
}

function argumentText(argument) {
  const choices = argument.argChoices === undefined ? '' : `; one of ${argument.argChoices.join(', ')}`;
  return `${argument.description}${choices}`;
}

function anchor(words) {
  return words.replaceAll(' ', '-');
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
