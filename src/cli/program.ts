import { Command } from 'commander';
import { addConnectionCommands } from './commands/connection.command.js';
import { addDoctorCommand } from './commands/doctor.command.js';
import { addKeyCommands } from './commands/key.command.js';
import { addMigrateCommand } from './commands/migrate.command.js';
import { addOtpCommands } from './commands/otp.command.js';
import { addQueueCommands } from './commands/queue.command.js';
import { addRestoreCommand } from './commands/restore.command.js';
import { addWorkspaceCommands } from './commands/workspace.command.js';

/** The command `herald` with everything that it can do. */
export function buildProgram(): Command {
  const program = new Command('herald')
    .description('Workspaces, keys, numbers and the health of a Herald installation.')
    .showHelpAfterError('(--help shows what there is)')
    .configureHelp({
      showGlobalOptions: false,
      optionDescription: ({ description, mandatory }) => (mandatory ? `${description} (required)` : description),
    });
  addWorkspaceCommands(program);
  addKeyCommands(program);
  addConnectionCommands(program);
  addOtpCommands(program);
  addMigrateCommand(program);
  addDoctorCommand(program);
  addQueueCommands(program);
  addRestoreCommand(program);
  return program;
}
