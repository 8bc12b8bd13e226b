import type { Command } from 'commander';
import { ConnectionsService } from '../../modules/connections/connections.service.js';
import type { Connection } from '../../modules/connections/connections.types.js';
import { WorkspacesService } from '../../platform/access/workspaces.service.js';
import { CloudApiClient } from '../../platform/whatsapp/cloud-api-client.js';
import { facts, table } from '../answer.js';
import { decimalId, phoneDigits, secretArgument } from '../arguments.js';
import { doesWithServices } from '../runner.js';

interface AddOptions {
  workspace: string;
  phoneNumberId: string;
  wabaId: string;
  token: string;
  phoneNumber?: string;
  throughput?: number;
}

/** Messages a second of the platform's two levels. */
const THROUGHPUT: Readonly<Record<string, number>> = { STANDARD: 80, HIGH: 1_000 };

/** `connection add|list|disconnect`. */
export function addConnectionCommands(program: Command): void {
  const connection = program.command('connection').description('WhatsApp numbers of a workspace');
  doesWithServices<AddOptions>(
    connection
      .command('add')
      .description('add a number, or give a known one a new token')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--phone-number-id <id>', "the platform's id of the number", decimalId)
      .requiredOption('--waba-id <id>', 'id of the WhatsApp Business Account', decimalId)
      .requiredOption('--token <token>', 'access token, or - to read it from standard input')
      .option('--phone-number <number>', 'the number itself; without it the platform is asked', phoneDigits)
      .option('--throughput <n>', 'messages a second; without it the platform is asked', Number),
    async ({ app }, options) => {
      const workspace = await app.get(WorkspacesService).getById(options.workspace);
      const token = await secretArgument(options.token);
      const number = await describeNumber(app.get(CloudApiClient), options, token);
      const added = await app.get(ConnectionsService).add({
        organizationId: workspace.id,
        phoneNumberId: options.phoneNumberId,
        wabaId: options.wabaId,
        token,
        ...number,
      });
      return {
        data: bodyOf(added),
        text: facts({ Connection: added.id, Number: added.phoneNumber, Status: added.status }),
      };
    },
  );
  doesWithServices<{ workspace: string }>(
    connection.command('list').description('list the numbers').requiredOption('--workspace <id>', 'the workspace'),
    async ({ app }, options) => {
      const workspace = await app.get(WorkspacesService).getById(options.workspace);
      const rows = await app.get(ConnectionsService).list(workspace.id);
      return {
        data: rows.map(bodyOf),
        text: table(
          ['ID', 'NUMBER', 'NAME', 'STATUS', 'PHONE NUMBER ID'],
          rows.map((row) => [row.id, row.phoneNumber, row.verifiedName ?? '-', row.status, row.phoneNumberId]),
          'This workspace has no numbers.',
        ),
      };
    },
  );
  doesWithServices<{ workspace: string }>(
    connection
      .command('disconnect')
      .description('stop sending from a number; what is queued waits')
      .argument('<connection-id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'the workspace'),
    async ({ app }, options, id = '') => {
      const connections = app.get(ConnectionsService);
      await connections.setStatus(options.workspace, id, 'disconnected');
      const changed = await connections.getById(options.workspace, id);
      return { data: bodyOf(changed), text: `Disconnected ${changed.phoneNumber}.` };
    },
  );
}

/** What the platform knows of the number; asking also shows that the token is good. */
async function describeNumber(
  client: CloudApiClient,
  options: AddOptions,
  token: string,
): Promise<{ phoneNumber: string; verifiedName?: string | null; throughputPerSecond?: number }> {
  const { phoneNumber, throughput } = options;
  if (phoneNumber !== undefined) return { phoneNumber, throughputPerSecond: throughput };
  const answer = await client.getPhoneNumber(options.phoneNumberId, token);
  if (!answer.ok) {
    throw new Error(`the platform did not describe the number (${answer.message}); or name it with --phone-number`);
  }
  const { displayPhoneNumber, verifiedName, throughputLevel } = answer.body;
  if (displayPhoneNumber === null) throw new Error('the platform did not tell the number; name it with --phone-number');
  return {
    phoneNumber: phoneDigits(displayPhoneNumber),
    verifiedName,
    throughputPerSecond: throughput ?? THROUGHPUT[throughputLevel ?? ''],
  };
}

function bodyOf(connection: Connection): object {
  return {
    id: connection.id,
    organization_id: connection.organizationId,
    phone_number_id: connection.phoneNumberId,
    waba_id: connection.wabaId,
    phone_number: connection.phoneNumber,
    verified_name: connection.verifiedName,
    status: connection.status,
    throughput_per_second: connection.throughputPerSecond,
    created_at: connection.createdAt,
  };
}
