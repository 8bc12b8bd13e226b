import { type Command, Option } from 'commander';
import { databaseClock } from '../../common/clock.js';
import { OPERATOR_SCOPES, type OperatorScope } from '../../infrastructure/http/scopes.js';
import type { IssuedOperatorKey, OperatorKey } from '../../modules/keys/operator/operator-keys.service.js';
import { durationSeconds, lifetimeSeconds, nameText, operatorScopeList, uuidList } from '../arguments.js';
import { type Answer, facts, snakeCased, table } from '../output.js';
import { serviceAction } from '../runner.js';
import { stateOf } from './key.command.js';

const WHY = 'a key that can make keys would have no end; keys of the admin API are made where its database is';

interface CreateOptions {
  name: string;
  scopes: OperatorScope[];
  workspaces?: string[];
  expiresIn?: number;
}

/** `operator-key create|list|revoke|rotate`. */
export function addOperatorKeyCommands(program: Command): void {
  const key = program.command('operator-key').description('keys of the admin API, which manages workspaces over HTTP');
  serviceAction<CreateOptions>(
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
    WHY,
    async (services, { name, scopes, workspaces, expiresIn }) => {
      const expiresAt = expiresIn === undefined ? null : new Date(databaseClock.now() + expiresIn * 1_000);
      const given = { name, scopes, workspaceIds: workspaces ?? null, expiresAt };
      return issuedAnswer(await services.operatorKeys.create(given));
    },
  );
  serviceAction(key.command('list').description('list the operator keys'), WHY, async (services) => {
    const keys = await services.operatorKeys.list();
    const columns = {
      ID: 'id',
      NAME: 'name',
      STATE: (each: OperatorKey) => stateOf(each.revokedAt, each.expiresAt?.toISOString() ?? null),
      'LAST USED': 'lastUsedAt',
      WORKSPACES: ({ workspaceIds }: OperatorKey) => workspaceIds?.join(',') ?? 'all',
      SCOPES: 'scopes',
    } as const;
    const none = 'There are no operator keys, so the admin API answers 401: herald operator-key create';
    return { data: keys.map(snakeCased), text: table(keys, columns, none) };
  });
  serviceAction(
    key.command('revoke').description('revoke an operator key at once').argument('<key-id>', 'its id, as in the list'),
    WHY,
    async (services, _options, id) => {
      const revoked = await services.operatorKeys.revoke(id);
      return { data: snakeCased(revoked), text: `Revoked ${revoked.id} (${revoked.name}).` };
    },
  );
  serviceAction<{ overlap: number }>(
    key
      .command('rotate')
      .description('replace an operator key; the old one stays valid for a while')
      .argument('<key-id>', 'id of the old key')
      .addOption(
        new Option('--overlap <duration>', 'how long both work; 0s ends the old one at once')
          .argParser(durationSeconds)
          .default(86_400, '1d'),
      ),
    WHY,
    async (services, { overlap }, id) => issuedAnswer(await services.operatorKeys.rotate(id, overlap)),
  );
}

function issuedAnswer(issued: IssuedOperatorKey): Answer {
  const text = facts({
    Key: issued.key,
    Id: issued.id,
    Scopes: issued.scopes.join(', '),
    Workspaces: issued.workspaceIds?.join(', ') ?? 'all',
    Expires: issued.expiresAt?.toISOString() ?? 'never',
  });
  return { data: snakeCased(issued), text: `${text}\nKeep the key now: it is not shown again.` };
}
