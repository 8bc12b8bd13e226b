import type { Command } from 'commander';
import type { Workspace } from '../../platform/access/workspaces.types.js';
import { facts, table, timeText, type Answer } from '../answer.js';
import { timeOrNone } from '../arguments.js';
import { doesWithServices } from '../runner.js';

/** `workspace create|list` and `subscription set`. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('make and list workspaces');
  doesWithServices<{ name: string }>(
    workspace.command('create').description('make a workspace').requiredOption('--name <name>', 'its name'),
    async (services, { name }) => answerOf(await services.workspaces.create(name)),
  );
  doesWithServices(workspace.command('list').description('list all workspaces'), async (services) => {
    const workspaces = await services.workspaces.list();
    return {
      data: workspaces.map(bodyOf),
      text: table(
        ['ID', 'NAME', 'PAID UNTIL', 'CREATED'],
        workspaces.map((row) => [row.id, row.name, timeText(row.apiPaidUntil), timeText(row.createdAt)]),
        'There are no workspaces: herald workspace create --name <name>',
      ),
    };
  });

  const subscription = program.command('subscription').description('what a workspace has paid for');
  doesWithServices<{ workspace: string; paidUntil: Date | null }>(
    subscription
      .command('set')
      .description('set until when a workspace may send')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--paid-until <time>', 'a day, a time of ISO 8601, or none', timeOrNone),
    async (services, options) =>
      answerOf(await services.workspaces.setSubscription(options.workspace, options.paidUntil)),
  );
}

function bodyOf(workspace: Workspace): object {
  return {
    id: workspace.id,
    name: workspace.name,
    api_paid_until: workspace.apiPaidUntil,
    rate_per_second: workspace.ratePerSecond,
    rate_burst: workspace.rateBurst,
    created_at: workspace.createdAt,
  };
}

function answerOf(workspace: Workspace): Answer {
  const text = facts({
    Workspace: workspace.id,
    Name: workspace.name,
    'Paid until': timeText(workspace.apiPaidUntil, 'not paid: herald subscription set'),
  });
  return { data: bodyOf(workspace), text };
}
