import { type Command, Option } from 'commander';
import type { HistoryImport } from '../../modules/inbound/history-import.service.js';
import {
  MARKETING_ROUTES,
  type Connection,
  type ConnectionStatus,
  type MarketingRoute,
} from '../../modules/connections/connections.types.js';
import { facts, listed } from '../output.js';
import { decimalId, phoneDigits, secretArgument, wholeNumber } from '../arguments.js';
import { serviceAction, UsageError } from '../runner.js';

interface AddOptions {
  workspace: string;
  phoneNumberId: string;
  wabaId: string;
  token: string;
  phoneNumber?: string;
  throughput?: number;
  marketingRoute?: MarketingRoute;
  verify: boolean;
}

/** `connection add|list|set|disconnect|import-history`. */
export function addConnectionCommands(program: Command): void {
  const connection = program.command('connection').description('WhatsApp numbers of a workspace');
  serviceAction<AddOptions>(
    connection
      .command('add')
      .description(
        'check a number with the platform, subscribe to its notifications, and add it or give it a new token',
      )
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--phone-number-id <id>', "the platform's id of the number", decimalId)
      .requiredOption('--waba-id <id>', 'id of the WhatsApp Business Account', decimalId)
      .requiredOption('--token <token>', 'access token, or - to read it from standard input')
      .option('--phone-number <number>', 'the number itself, where the platform does not report it', phoneDigits)
      .option('--throughput <n>', 'messages a second; without it as the platform says', wholeNumber(1, 10_000))
      .addOption(marketingRouteOption())
      .option('--no-verify', 'add it unseen; needs --phone-number'),
    async (services, options) => {
      const workspace = await services.workspaces.getById(options.workspace);
      const { phoneNumber, throughput, marketingRoute, phoneNumberId, wabaId } = options;
      const number = {
        organizationId: workspace.id,
        phoneNumberId,
        wabaId,
        token: await secretArgument(options.token),
        ...(marketingRoute !== undefined && { marketingRoute }),
        ...(throughput !== undefined && { throughputPerSecond: throughput }),
      };
      if (!options.verify && phoneNumber === undefined) throw new UsageError('--no-verify needs --phone-number');
      const added =
        options.verify || phoneNumber === undefined
          ? await services.connectionCheck.connect({ ...number, ...(phoneNumber !== undefined && { phoneNumber }) })
          : await services.connections.add({
              ...number,
              phoneNumber,
              ...(throughput !== undefined && { throughputFixed: true }),
            });
      const hint = added.status === 'connected' ? '' : `\n${HINTS[added.status]}`;
      return {
        data: bodyOf(added),
        text:
          facts({ Connection: added.id, Number: added.phoneNumber, Status: added.status, ...MARKETING(added) }) + hint,
      };
    },
  );
  serviceAction<{ workspace: string }>(
    connection.command('list').description('list the numbers').requiredOption('--workspace <id>', 'the workspace'),
    async (services, options) => {
      const workspace = await services.workspaces.getById(options.workspace);
      const rows = await services.connections.list(workspace.id);
      return listed(
        rows,
        bodyOf,
        { ID: 'id', NUMBER: 'phoneNumber', NAME: 'verifiedName', STATUS: 'status', 'PHONE NUMBER ID': 'phoneNumberId' },
        'This workspace has no numbers.',
      );
    },
  );
  serviceAction<{ workspace: string; marketingRoute: MarketingRoute }>(
    connection
      .command('set')
      .description('change a setting of a number')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace')
      .addOption(marketingRouteOption().makeOptionMandatory()),
    async (services, { workspace, marketingRoute }, id) => {
      const connections = services.connections;
      await connections.setMarketingRoute(workspace, id, marketingRoute);
      const changed = await connections.getById(workspace, id);
      return { data: bodyOf(changed), text: facts(MARKETING(changed)) };
    },
  );
  serviceAction<{ workspace: string; request?: true }>(
    connection
      .command('import-history')
      .description('import the history of the WhatsApp Business app that WhatsApp has handed over')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--request', 'ask WhatsApp for it first: once, within 24 hours after the number was connected'),
    async (services, { workspace, request }, id) => {
      if (request !== undefined) {
        await services.historyImport.request(workspace, id);
        const text = 'WhatsApp hands the history over within minutes. Then run this again without --request.';
        return { data: { requested: true }, text };
      }
      const onProgress = ({ notifications, imported, progress }: HistoryImport): void => {
        const handedOver = progress === null ? '' : `, ${progress} % handed over`;
        process.stderr.write(`${notifications} notifications, ${imported} messages imported${handedOver}\n`);
      };
      const { next: _all, ...sum } = await services.historyImport.run(workspace, id, { onProgress });
      const rows = facts({
        Notifications: String(sum.notifications),
        'Messages in them': String(sum.found),
        Imported: String(sum.imported),
        Unreadable: String(sum.unreadable),
        'Handed over': sum.progress === null ? 'not known' : `${sum.progress} %`,
      });
      return { data: sum, text: rows + (sum.declined ? '\nThe business does not share its history.' : '') };
    },
  );
  serviceAction<{ workspace: string }>(
    connection
      .command('disconnect')
      .description('stop sending from a number; what is queued waits')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace'),
    async (services, options, id) => {
      const connections = services.connections;
      await connections.disconnect(options.workspace, id);
      const changed = await connections.getById(options.workspace, id);
      return { data: bodyOf(changed), text: `Disconnected ${changed.phoneNumber}.` };
    },
  );
}

function marketingRouteOption(): Option {
  const what = 'endpoint for marketing templates: what WhatsApp asks for (auto), or always messages';
  return new Option('--marketing-route <route>', what).choices(MARKETING_ROUTES);
}

const MARKETING = ({ marketingRoute, marketingStatus }: Connection) => ({
  'Marketing route': marketingRoute,
  'Marketing status': marketingStatus ?? 'not known yet',
});

const HINTS: Readonly<Record<ConnectionStatus, string>> = {
  connected: '',
  pending: 'The platform has not finished registering this number; it can send once it is CONNECTED there.',
  restricted: 'The platform restricts this number; it may refuse some messages.',
  disconnected: 'The platform does not let this number send; look at it in the WhatsApp Manager.',
};

function bodyOf(connection: Connection): object {
  return {
    id: connection.id,
    organization_id: connection.organizationId,
    workspace_id: connection.organizationId,
    phone_number_id: connection.phoneNumberId,
    waba_id: connection.wabaId,
    phone_number: connection.phoneNumber,
    verified_name: connection.verifiedName,
    status: connection.status,
    status_reason: connection.statusReason,
    throughput_per_second: connection.throughputPerSecond,
    marketing_route: connection.marketingRoute,
    marketing_status: connection.marketingStatus,
    created_at: connection.createdAt,
  };
}
