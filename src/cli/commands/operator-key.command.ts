import { type Command, Option } from 'commander';
import { OPERATOR_SCOPES, type OperatorScope } from '../../infrastructure/http/scopes.js';
import { durationSeconds, lifetimeSeconds, nameText, operatorScopeList, uuidList } from '../arguments.js';
import { PAGE, rowsOf, type Schemas } from '../operator.js';
import { type Answer, facts, table } from '../output.js';
import { operatorAction } from '../runner.js';
import { stateOf } from './key.command.js';

type OperatorKey = Schemas['ListedOperatorKeyResponse'];

interface CreateOptions {
  name: string;
  scopes: OperatorScope[];
  workspaces?: string[];
  expiresIn?: number;
}

/** `operator-key create|list|revoke|rotate`. */
export function addOperatorKeyCommands(program: Command): void {
  const key = program.command('operator-key').description('keys of the admin API, which manages workspaces over HTTP');
  operatorAction<CreateOptions>(
    key
      .command('create')
      .description('create an operator key; it is shown only once')
      .requiredOption('--name <name>', 'its name in lists and in the audit trail', nameText)
      .requiredOption(
        '--scopes <list>',
        `scopes separated by commas, or all: ${OPERATOR_SCOPES.join(', ')}`,
        operatorScopeList,
      )
      .option('--workspaces <ids>', 'limit it to these workspaces, separated by commas; it then makes none', uuidList)
      .option('--expires-in <duration>', 'such as 12h or 30d; without it the key does not expire', lifetimeSeconds),
    async ({ admin }, { name, scopes, workspaces, expiresIn }) =>
      issuedAnswer(await admin.operatorKeys.create({ name, scopes, workspace_ids: workspaces, expires_in: expiresIn })),
  );
  operatorAction(key.command('list').description('list the operator keys, oldest first'), async ({ admin }) => {
    const data = (await rowsOf(admin.operatorKeys.list({ limit: PAGE }))).toReversed();
    const columns = {
      ID: 'id',
      NAME: 'name',
      STATE: (each: OperatorKey) => stateOf(each.revoked_at, each.expires_at),
      'LAST USED': 'last_used_at',
      WORKSPACES: ({ workspace_ids: ids }: OperatorKey) => ids?.join(',') ?? 'all',
      SCOPES: 'scopes',
    } as const;
    const none = 'There are no operator keys, so the admin API answers 401: herald operator-key create';
    return { data, text: table(data, columns, none) };
  });
  operatorAction(
    key.command('revoke').description('revoke an operator key at once').argument('<key-id>', 'its id, as in the list'),
    async ({ admin }, _options, id) => {
      const data = await admin.operatorKeys.revoke(id);
      return { data, text: `Revoked ${data.id} (${data.name}).` };
    },
  );
  operatorAction<{ overlap: number }>(
    key
      .command('rotate')
      .description('replace an operator key; the old one stays valid for a while')
      .argument('<key-id>', 'id of the old key')
      .addOption(
        new Option('--overlap <duration>', 'how long both work; 0s ends the old one at once')
          .argParser(durationSeconds)
          .default(86_400, '1d'),
      ),
    async ({ admin }, { overlap }, id) =>
      issuedAnswer(await admin.operatorKeys.rotate(id, { overlap_seconds: overlap })),
  );
}

function issuedAnswer(data: Schemas['IssuedOperatorKeyResponse']): Answer {
  const text = facts({
    Key: data.key ?? undefined,
    Id: data.id,
    Scopes: data.scopes.join(', '),
    Workspaces: data.workspace_ids?.join(', ') ?? 'all',
    Expires: data.expires_at ?? 'never',
  });
  return { data, text: `${text}\nKeep the key now: it is not shown again.` };
}
