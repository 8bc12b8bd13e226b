import type { Command } from 'commander';
import type { Restoration, RestorePlan } from '../../infrastructure/lanes/restoration.js';
import type { Answer } from '../answer.js';
import { dayOrTime } from '../arguments.js';
import { doesWithServices } from '../runner.js';

interface RestoreOptions {
  before?: Date;
  dryRun?: boolean;
  nothingLost?: boolean;
  force?: boolean;
}

/** A worker finishes several sweeps in this time. */
const WORKERS_ARE_OFF_AFTER_SECONDS = 15;

/** `restore`. */
export function addRestoreCommand(program: Command): void {
  doesWithServices<RestoreOptions>(
    program
      .command('restore')
      .description('after a backup was restored: keep what waits in it from being sent a second time')
      .option(
        '--before <time>',
        'only what was queued before this time (default: everything that waits now)',
        dayOrTime,
      )
      .option('--dry-run', 'count, and change nothing')
      .option('--nothing-lost', 'the database only moved (nothing was sent after the backup): keep the queue as it is')
      .option('--force', 'although a worker seems to run'),
    async (services, options) => {
      const restoration = services.restoration;
      const before = options.before;
      if (options.dryRun === true) return counted(await restoration.plan(before));
      if (options.force !== true) await requireNoWorkers(restoration);
      if (options.nothingLost === true) {
        await restoration.adopt();
        return { data: { adopted: true }, text: 'Taken as it is. What waits is sent when workers start.' };
      }
      return marked(await restoration.mark(before));
    },
  );
}

async function requireNoWorkers(restoration: Restoration): Promise<void> {
  const silent = await restoration.silentSeconds();
  if (silent === null || silent >= WORKERS_ARE_OFF_AFTER_SECONDS) return;
  throw new Error(
    `a worker was at work on this database ${Math.max(0, Math.round(silent))} s ago: stop all of them first and wait ` +
      `${WORKERS_ARE_OFF_AFTER_SECONDS} s, or say --force`,
  );
}

function counted({ before, counts }: RestorePlan): Answer {
  return { data: { before, would_mark: counts }, text: `Would be marked as outcome_unknown: ${listOf(counts)}.` };
}

function marked({ before, counts }: RestorePlan): Answer {
  return {
    data: { before, marked: counts },
    text:
      `Marked as outcome_unknown: ${listOf(counts)}. They are not sent by themselves; ` +
      'POST /messages/{id}/retry with confirm_outcome_unknown sends one again.',
  };
}

function listOf(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
