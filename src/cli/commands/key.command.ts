import { type Command, Option } from 'commander';
import { databaseClock } from '../../common/clock.js';
import type { OtpProject } from '../../modules/otp/otp.types.js';
import type { ApiKey, IssuedApiKey } from '../../modules/keys/keys.service.js';
import { isOtpScope, SCOPES, type Scope } from '../../infrastructure/http/scopes.js';
import { type Answer, facts, listed, snakeCased } from '../output.js';
import { durationSeconds, lifetimeSeconds, nameText, scopeList } from '../arguments.js';
import { serviceAction, UsageError } from '../runner.js';
import type { Services } from '../../bootstrap/services.js';

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
  serviceAction<CreateOptions>(
    key
      .command('create')
      .description('create a key; it is shown only once')
      .option('--workspace <id>', 'the workspace')
      .option('--otp-project <id>', 'an OTP project instead; its keys have scopes of OTP only')
      .option('--name <name>', 'its name in lists', nameText, 'API key')
      .option('--scopes <list>', 'scopes separated by commas; default all, of an OTP project all of OTP', scopeList)
      .option('--expires-in <duration>', 'such as 12h or 30d; without it the key does not expire', lifetimeSeconds),
    async (services, options) => {
      const { name, expiresIn } = options;
      const { organizationId, otpProject } = await ownerOf(services, options);
      const ofOtp = otpProject !== undefined;
      const scopes = options.scopes ?? SCOPES.filter((scope) => isOtpScope(scope) === ofOtp);
      const expiresAt = expiresIn === undefined ? null : new Date(databaseClock.now() + expiresIn * 1_000);
      const issued = await services.apiKeys.create({ organizationId, name, scopes, expiresAt, otpProject });
      return issuedAnswer(issued);
    },
  );
  serviceAction<{ workspace: string }>(
    key.command('list').description('list the keys of a workspace').requiredOption('--workspace <id>', 'the workspace'),
    async (services, { workspace }) => {
      const { id } = await services.workspaces.getById(workspace);
      const keys = await services.apiKeys.list(id);
      return listed(
        keys,
        snakeCased,
        { ID: 'id', NAME: 'name', STATE: stateOf, 'LAST USED': 'lastUsedAt', SCOPES: 'scopes' },
        'This workspace has no keys.',
      );
    },
  );
  serviceAction(
    key.command('revoke').description('revoke a key at once').argument('<key-id>', 'its id, as in the list'),
    async (services, _options, id) => {
      const revoked = await services.apiKeys.revoke(id);
      return { data: snakeCased(revoked), text: `Revoked ${revoked.id} (${revoked.name}).` };
    },
  );
  serviceAction<{ overlap: number }>(
    key
      .command('rotate')
      .description('replace a key; the old one stays valid for a while')
      .argument('<key-id>', 'id of the old key')
      .addOption(
        new Option('--overlap <duration>', 'how long both work; 0s ends the old one at once')
          .argParser(durationSeconds)
          .default(86_400, '1d'),
      ),
    async (services, { overlap }, id) => issuedAnswer(await services.apiKeys.rotate(id, overlap)),
  );
}

/** Whose key it will be: a workspace's, or an OTP project's. */
async function ownerOf(
  services: Services,
  { workspace, otpProject }: CreateOptions,
): Promise<{ organizationId: string; otpProject?: OtpProject }> {
  if (otpProject !== undefined) {
    const project = await services.otpProjects.getById(otpProject);
    if (workspace !== undefined && workspace !== project.organizationId) {
      throw new Error(`the OTP project ${otpProject} is not of the workspace ${workspace}`);
    }
    return { organizationId: project.organizationId, otpProject: project };
  }
  if (workspace === undefined) throw new UsageError('name the owner with --workspace or --otp-project');
  return { organizationId: (await services.workspaces.getById(workspace)).id };
}

function issuedAnswer(issued: IssuedApiKey): Answer {
  const text = facts({
    Key: issued.key,
    Id: issued.id,
    Scopes: issued.scopes.join(', '),
    Expires: issued.expiresAt?.toISOString() ?? 'never',
  });
  return { data: snakeCased(issued), text: `${text}\nKeep the key now: it is not shown again.` };
}

/** Of an API key, or of an operator key. */
export function stateOf(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>): string {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt === null) return 'valid';
  return key.expiresAt.getTime() <= databaseClock.now() ? 'expired' : `until ${key.expiresAt.toISOString()}`;
}
