import { type Command, Option } from 'commander';
import { isOtpScope, SCOPES, type Scope } from '../../infrastructure/http/scopes.js';
import { databaseClock } from '../../common/clock.js';
import { type Answer, facts, table } from '../output.js';
import { durationSeconds, lifetimeSeconds, nameText, scopeList } from '../arguments.js';
import { onServer, type Operator, PAGE, rowsOf, type Schemas } from '../operator.js';
import { operatorAction, UsageError } from '../runner.js';

type Key = Schemas['ApiKeyResponse'];

interface CreateOptions {
  workspace?: string;
  otpProject?: string;
  name: string;
  scopes?: Scope[];
  expiresIn?: number;
}

/** `key create|list|revoke|rotate`. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys of a workspace');
  operatorAction<CreateOptions>(
    key
      .command('create')
      .description('create a key; it is shown only once')
      .option('--workspace <id>', 'the workspace')
      .option('--otp-project <id>', 'an OTP project instead; its keys have scopes of OTP only')
      .option('--name <name>', 'its name in lists', nameText, 'API key')
      .option('--scopes <list>', 'scopes separated by commas; default all, of an OTP project all of OTP', scopeList)
      .option('--expires-in <duration>', 'such as 12h or 30d; without it the key does not expire', lifetimeSeconds),
    async (operator, options) => {
      const { otpProject: project, name, expiresIn } = options;
      const workspace = options.workspace ?? (await workspaceOfProject(operator, project));
      const scopes = options.scopes ?? SCOPES.filter((scope) => isOtpScope(scope) === (project !== undefined));
      const body = { name, scopes, expires_in: expiresIn, otp_project_id: project };
      return issuedAnswer(await operator.admin.keys.create(workspace, body));
    },
  );
  operatorAction<{ workspace: string }>(
    key
      .command('list')
      .description('list the keys of a workspace, oldest first')
      .requiredOption('--workspace <id>', 'the workspace'),
    async ({ admin }, { workspace }) => {
      const data = (await rowsOf(admin.keys.list(workspace, { limit: PAGE }))).toReversed();
      const columns = {
        ID: 'id',
        NAME: 'name',
        STATE: (each: Key) => stateOf(each.revoked_at, each.expires_at),
        'LAST USED': 'last_used_at',
        SCOPES: 'scopes',
      } as const;
      return { data, text: table(data, columns, 'This workspace has no keys.') };
    },
  );
  operatorAction<{ workspace?: string }>(
    key
      .command('revoke')
      .description('revoke a key at once')
      .argument('<key-id>', 'its id, as in the list')
      .option(...WORKSPACE_OPTION),
    async (operator, { workspace }, id) => {
      const data = await operator.admin.keys.revoke(workspace ?? (await workspaceOfKey(operator, id)), id);
      return { data, text: `Revoked ${data.id} (${data.name}).` };
    },
  );
  operatorAction<{ workspace?: string; overlap: number }>(
    key
      .command('rotate')
      .description('replace a key; the old one stays valid for a while')
      .argument('<key-id>', 'id of the old key')
      .option(...WORKSPACE_OPTION)
      .addOption(
        new Option('--overlap <duration>', 'how long both work; 0s ends the old one at once')
          .argParser(durationSeconds)
          .default(86_400, '1d'),
      ),
    async (operator, { workspace, overlap }, id) => {
      const of = workspace ?? (await workspaceOfKey(operator, id));
      return issuedAnswer(await operator.admin.keys.rotate(of, id, { overlap_seconds: overlap }));
    },
  );
}

/** Paths of the admin API begin with the workspace; on the server the workspace is looked up. */
export const WORKSPACE_OPTION = ['--workspace <id>', 'its workspace; needed with --url'] as const;

async function workspaceOfKey(operator: Operator, id: string): Promise<string> {
  return (await onServer(operator, 'a key without --workspace', FOUND).apiKeys.getById(id)).organizationId;
}

/** @throws UsageError without a project */
export async function workspaceOfProject(operator: Operator, id: string | undefined): Promise<string> {
  if (id === undefined) throw new UsageError('name the owner with --workspace or --otp-project');
  return (await onServer(operator, 'a project without --workspace', FOUND).otpProjects.getById(id)).organizationId;
}

const FOUND = 'its workspace is looked up in the database';

function issuedAnswer(data: Schemas['IssuedKeyResponse']): Answer {
  const text = facts({
    Key: data.key ?? undefined,
    Id: data.id,
    Scopes: data.scopes.join(', '),
    Expires: data.expires_at ?? 'never',
  });
  return { data, text: `${text}\nKeep the key now: it is not shown again.` };
}

/** The state of an API key or an operator key. */
export function stateOf(revokedAt: unknown, expiresAt: string | null): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'valid';
  return Date.parse(expiresAt) <= databaseClock.now() ? 'expired' : `until ${expiresAt}`;
}
