import { type Command, Option } from 'commander';
import type { ConnectionCheckService, Credentials } from '../../modules/connections/connection-check.service.js';
import {
  MARKETING_ROUTES,
  type Connection,
  type ConnectionStatus,
  type MarketingRoute,
  type NewConnection,
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
      const token = await secretArgument(options.token);
      const credentials = { phoneNumberId: options.phoneNumberId, wabaId: options.wabaId, token };
      const number = options.verify
        ? await verified(services.connectionCheck, credentials, options.phoneNumber)
        : unseen(options.phoneNumber);
      const added = await services.connections.add({
        organizationId: workspace.id,
        ...credentials,
        ...number,
        ...(options.marketingRoute !== undefined && { marketingRoute: options.marketingRoute }),
        ...(options.throughput !== undefined && { throughputPerSecond: options.throughput, throughputFixed: true }),
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
      const sum = await services.historyImport.run(workspace, id, ({ notifications, imported, progress }) => {
        const handedOver = progress === null ? '' : `, ${progress} % handed over`;
        process.stderr.write(`${notifications} notifications, ${imported} messages imported${handedOver}\n`);
      });
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

async function verified(
  check: ConnectionCheckService,
  credentials: Credentials,
  given: string | undefined,
): Promise<Pick<NewConnection, 'phoneNumber'> & Partial<NewConnection>> {
  const number = await check.check(credentials);
  const phoneNumber = number.phoneNumber ?? given;
  if (phoneNumber === undefined) throw new Error('the platform did not report the number; pass it with --phone-number');
  if (given !== undefined && given !== phoneNumber) {
    throw new Error(`the platform says that this is the number ${phoneNumber}, not ${given}; leave out --phone-number`);
  }
  await check.subscribe(credentials);
  return {
    phoneNumber,
    verifiedName: number.verifiedName,
    qualityRating: number.qualityRating,
    messagingLimit: number.messagingLimit,
    marketingStatus: number.marketingStatus,
    ...(number.throughputPerSecond !== null && { throughputPerSecond: number.throughputPerSecond }),
    ...(number.status !== null && { status: number.status }),
  };
}

function unseen(phoneNumber: string | undefined): Pick<NewConnection, 'phoneNumber'> {
  if (phoneNumber === undefined) throw new UsageError('--no-verify needs --phone-number');
  return { phoneNumber };
}

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
