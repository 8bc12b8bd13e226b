import { Command, CommanderError, Help } from 'commander';
import { heraldVersion } from '../common/version.js';
import { addCompletionCommand } from './commands/completion.command.js';
import { addConsoleCommand } from './commands/console.command.js';
import { addConnectionCommands } from './commands/connection.command.js';
import { addDemoCommand } from './commands/demo.command.js';
import { addKeyCommands } from './commands/key.command.js';
import { addMessageCommands } from './commands/message.command.js';
import { addOperationsCommands } from './commands/operations.command.js';
import { addSetupLinkCommands } from './commands/setup-link.command.js';
import { addOperatorKeyCommands } from './commands/operator-key.command.js';
import { addOtpCommands } from './commands/otp.command.js';
import { addSimulateCommands } from './commands/simulate.command.js';
import { addTailCommand } from './commands/tail.command.js';
import { addEventsCommands, addWebhookCommands } from './commands/webhook.command.js';
import { addUsageCommands } from './commands/usage.command.js';
import { addDataCommands, addWorkspaceCommands } from './commands/workspace.command.js';
import { addGuides } from './guides.js';
import { EXIT } from './runner.js';
import { paint } from './output.js';

/** The command `herald` with everything that it can do. */
export function buildProgram(): Command {
  const program = new Command('herald')
    .description('Workspaces, keys, numbers, messages and the health of a Herald installation.')
    .version(heraldVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showSuggestionAfterError(true)
    .showHelpAfterError(WANTS_JSON ? false : '(--help shows what there is)')
    .exitOverride(endWith)
    .configureOutput({ outputError: writeUsageError })
    .configureHelp({
      showGlobalOptions: false,
      styleTitle: paint.heading,
      styleCommandText: paint.name,
      styleSubcommandText: paint.name,
      optionDescription(option) {
        const described = Help.prototype.optionDescription.call(this, option);
        return option.mandatory ? `${described} (required)` : described;
      },
    });
  program.addHelpText('after', PROGRAM_NOTES);
  addWorkspaceCommands(program);
  addKeyCommands(program);
  addOperatorKeyCommands(program);
  addConnectionCommands(program);
  addSetupLinkCommands(program);
  addOtpCommands(program);
  addMessageCommands(program);
  addTailCommand(program);
  addWebhookCommands(program);
  addEventsCommands(program);
  addSimulateCommands(program);
  addDemoCommand(program);
  addConsoleCommand(program);
  addUsageCommands(program);
  addDataCommands(program);
  addOperationsCommands(program);
  addCompletionCommand(program);
  addGuides(program);
  return program;
}

// For errors that commander finds before it reads options.
const WANTS_JSON = process.argv.includes('--json');

const PROGRAM_NOTES = `
Every command takes --json, and exits with 0 when it is done, 1 when it is not, 2 when it was called wrongly.
Settings come from the environment and from .env, as those of the service do. Colours: NO_COLOR=1, FORCE_COLOR=1.`;

/** Commander wants to end the program: requested help and version are no errors, everything else is wrong use. */
function endWith(end: CommanderError): never {
  process.exit(end.exitCode === 0 ? EXIT.done : EXIT.wrongUse);
}

/** A program that reads JSON gets errors as JSON too. */
function writeUsageError(text: string, write: (text: string) => void): void {
  const message = text.trim().replace(/^error: /, '');
  if (!WANTS_JSON) write(`${paint.bad('herald:')} ${message}\n`);
  else process.stdout.write(`${JSON.stringify({ error: { code: 'WRONG_USE', message } })}\n`);
}
