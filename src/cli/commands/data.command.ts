import type { Command } from 'commander';
import { facts, type Answer } from '../answer.js';
import { phoneDigits, userId } from '../arguments.js';
import { guide } from '../help.js';
import { doesWithServices } from '../runner.js';

interface EraseOptions {
  workspace: string;
  number?: string;
  userId?: string;
  yes?: boolean;
}

/** `data erase`. */
export function addDataCommands(program: Command): void {
  const data = program.command('data').description('what is kept of a person');
  const erase = data
    .command('erase')
    .description('erase what a workspace holds of a person; without --yes it only counts')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--number <E.164>', 'the phone number with its country code', phoneDigits)
    .option('--user-id <id>', "instead of it the platform's id of the user, such as DE.1795...", userId)
    .option('--yes', 'do it: messages that wait are cancelled, and nothing comes back');
  guide(erase, {
    examples: [
      ['herald data erase --workspace <id> --number +15550001234', 'count what there is'],
      ['herald data erase --workspace <id> --number +15550001234 --yes', 'erase it'],
      ['herald data erase --workspace <id> --user-id DE.1795100000000001 --yes', 'of a contact without a number'],
    ],
    notes:
      'Removes contents, contact, files that were sent in, codes, events and notifications, under every name of the\ncontact; the journal keeps empty rows. Run it beside a working service, which finishes what is under way. Files\nthat the workspace uploaded stay, and so do logs and backups. An interrupted run is simply run again.',
    failure: 'something to or from the contact is under way and did not end within a minute: run it again',
  });
  doesWithServices<EraseOptions>(erase, async (services, options) => {
    const { workspace, number, userId: user, yes = false } = options;
    const name = number ?? user;
    if (name === undefined || (number !== undefined && user !== undefined)) {
      throw new Error('name the person with --number or with --user-id, and not with both');
    }
    const { id } = await services.workspaces.getById(workspace);
    const erasure = services.erasure;
    const { counts, names } = yes ? await erasure.erase(id, name) : await erasure.count(id, name);
    return answer(counts, names, yes);
  });
}

function answer(counts: Readonly<Record<string, number>>, names: number, erased: boolean): Answer {
  const rows = Object.fromEntries(
    Object.entries(counts).map(([word, count]) => [word.replaceAll('_', ' '), String(count)]),
  );
  const others = names > 1 ? ` The contact is known by ${names} names; all were looked for.` : '';
  const end = erased
    ? 'Erased. Uploaded files that were sent to the contact belong to the workspace and stay; logs end by themselves.'
    : 'Nothing was erased: this only counts. Run it again with --yes.';
  return { data: { erased, names, counts }, text: `${facts(rows)}\n${end}${others}` };
}
