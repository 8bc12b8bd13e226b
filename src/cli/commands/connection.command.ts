import { type Command, Option } from 'commander';
import { MARKETING_ROUTES, type MarketingRoute } from '../../modules/connections/connections.types.js';
import { facts, table } from '../output.js';
import { decimalId, phoneDigits, secretArgument, wholeNumber } from '../arguments.js';
import { onServer, type Schemas } from '../operator.js';
import { operatorAction, UsageError } from '../runner.js';

type Connection = Schemas['OperatedConnectionResponse'];

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
  operatorAction<AddOptions>(
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
    async (operator, { workspace, verify, ...options }) => {
      const { phoneNumber, throughput, marketingRoute, phoneNumberId, wabaId } = options;
      if (!verify && phoneNumber === undefined) throw new UsageError('--no-verify needs --phone-number');
      const token = await secretArgument(options.token);
      const { connections } = operator.admin;
      let added: Connection | undefined;
      if (verify || phoneNumber === undefined) {
        added = await connections.add(workspace, {
          phone_number_id: phoneNumberId,
          waba_id: wabaId,
          token,
          phone_number: phoneNumber,
          throughput_per_second: throughput,
          marketing_route: marketingRoute,
        });
      } else {
        const services = onServer(operator, '--no-verify', 'the admin API adds no number that it has not checked');
        const { id: organizationId } = await services.workspaces.getById(workspace);
        const { id } = await services.connections.add({
          organizationId,
          phoneNumberId,
          wabaId,
          token,
          phoneNumber,
          ...(marketingRoute !== undefined && { marketingRoute }),
          ...(throughput !== undefined && { throughputPerSecond: throughput, throughputFixed: true }),
        });
        added = (await connections.list(workspace)).find((each) => each.id === id);
      }
      if (added === undefined) throw new Error('the number was removed at once');
      const hint = added.status === 'connected' ? '' : `\n${HINTS[added.status]}`;
      const rows = { Connection: added.id, Number: added.phone_number, Status: added.status, ...MARKETING(added) };
      return { data: added, text: facts(rows) + hint };
    },
  );
  operatorAction<{ workspace: string }>(
    connection.command('list').description('list the numbers').requiredOption('--workspace <id>', 'the workspace'),
    async ({ admin }, { workspace }) => {
      const data = await admin.connections.list(workspace);
      const columns = {
        ID: 'id',
        NUMBER: 'phone_number',
        NAME: 'verified_name',
        STATUS: 'status',
        'PHONE NUMBER ID': 'phone_number_id',
      } as const;
      return { data, text: table(data, columns, 'This workspace has no numbers.') };
    },
  );
  operatorAction<{ workspace: string; marketingRoute: MarketingRoute }>(
    connection
      .command('set')
      .description('change a setting of a number')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace')
      .addOption(marketingRouteOption().makeOptionMandatory()),
    async ({ admin }, { workspace, marketingRoute }, id) => {
      const data = await admin.connections.change(workspace, id, { marketing_route: marketingRoute });
      return { data, text: facts(MARKETING(data)) };
    },
  );
  operatorAction<{ workspace: string; request?: true }>(
    connection
      .command('import-history')
      .description('import the history of the WhatsApp Business app that WhatsApp has handed over')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace')
      .option('--request', 'ask WhatsApp for it first: once, within 24 hours after the number was connected'),
    async ({ admin: { history } }, { workspace, request }, id) => {
      if (request !== undefined) {
        const text = 'WhatsApp hands the history over within minutes. Then run this again without --request.';
        return { data: await history.request(workspace, id), text };
      }
      const sum = { notifications: 0, found: 0, imported: 0, unreadable: 0, progress: null as number | null };
      let declined = false;
      for (let after: string | null | undefined; after !== null;) {
        const part = await history.run(workspace, id, { after });
        for (const name of ['notifications', 'found', 'imported', 'unreadable'] as const) sum[name] += part[name];
        sum.progress = part.progress ?? sum.progress;
        declined ||= part.declined;
        after = part.next;
        const handedOver = sum.progress === null ? '' : `, ${sum.progress} % handed over`;
        process.stderr.write(`${sum.notifications} notifications, ${sum.imported} messages imported${handedOver}\n`);
      }
      const rows = facts({
        Notifications: String(sum.notifications),
        'Messages in them': String(sum.found),
        Imported: String(sum.imported),
        Unreadable: String(sum.unreadable),
        'Handed over': sum.progress === null ? 'not known' : `${sum.progress} %`,
      });
      return {
        data: { ...sum, declined },
        text: rows + (declined ? '\nThe business does not share its history.' : ''),
      };
    },
  );
  operatorAction<{ workspace: string }>(
    connection
      .command('disconnect')
      .description('stop sending from a number; what is queued waits')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace'),
    async ({ admin }, { workspace }, id) => {
      const data = await admin.connections.disconnect(workspace, id);
      return { data, text: `Disconnected ${data.phone_number}.` };
    },
  );
}

function marketingRouteOption(): Option {
  const what = 'endpoint for marketing templates: what WhatsApp asks for (auto), or always messages';
  return new Option('--marketing-route <route>', what).choices(MARKETING_ROUTES);
}

const MARKETING = ({ marketing_route: route, marketing_status: status }: Connection) => ({
  'Marketing route': route,
  'Marketing status': status ?? 'not known yet',
});

const HINTS: Readonly<Record<Connection['status'], string>> = {
  connected: '',
  pending: 'The platform has not finished registering this number; it can send once it is CONNECTED there.',
  restricted: 'The platform restricts this number; it may refuse some messages.',
  disconnected: 'The platform does not let this number send; look at it in the WhatsApp Manager.',
};
