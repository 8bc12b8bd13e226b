import { type Command, InvalidArgumentError, Option } from 'commander';
import { databaseClock } from '../../common/clock.js';
import {
  isReturnUrl,
  LINK_SECONDS,
  LOCALE,
  type SetupLink,
  SIGNUP_KINDS,
  type SignupKind,
  statusOf,
} from '../../modules/setup/setup.types.js';
import { durationSeconds } from '../arguments.js';
import { facts, listed, snakeCased } from '../output.js';
import { serviceAction } from '../runner.js';

interface CreateOptions {
  workspace: string;
  signup?: SignupKind;
  returnUrl?: string;
  expiresIn: number;
  locale: string;
}

/** The newest ones: a workspace has few, and the admin API has pages. */
const LISTED = 100;

/** `setup-link create|list|revoke`. */
export function addSetupLinkCommands(program: Command): void {
  const link = program.command('setup-link').description('pages on which a business connects its number itself');
  serviceAction<CreateOptions>(
    link
      .command('create')
      .description('make a setup link; its address is shown only once')
      .requiredOption('--workspace <id>', 'the workspace that gets the number')
      .addOption(
        new Option(
          '--signup <kind>',
          'by the dialog of Meta, the same for a number that stays in the app, or by hand; default cloud where embedded signup is set up',
        ).choices(SIGNUP_KINDS),
      )
      .option('--return-url <address>', 'where the page leads at the end', returnUrl)
      .addOption(
        new Option('--expires-in <duration>', 'when it ends, from 5m to 30d')
          .argParser(linkSeconds)
          .default(LINK_SECONDS.usual, '7d'),
      )
      .option('--locale <locale>', 'language of the dialog of Meta, such as de_DE', locale, 'en_US'),
    async (services, { workspace, signup, returnUrl: url, expiresIn, locale: language }) => {
      const { id: organizationId } = await services.workspaces.getById(workspace);
      const made = await services.setupLinks.create({
        organizationId,
        returnUrl: url ?? null,
        expiresInSeconds: expiresIn,
        locale: language,
        ...(signup !== undefined && { signup }),
      });
      const text = facts({
        Link: made.url,
        Id: made.id,
        Signup: made.signup,
        Expires: made.expiresAt.toISOString(),
      });
      return { data: snakeCased(made), text: `${text}\nSend the link to the business now: it is not shown again.` };
    },
  );
  serviceAction<{ workspace: string }>(
    link
      .command('list')
      .description(`list the newest ${LISTED} setup links of a workspace`)
      .requiredOption('--workspace <id>', 'the workspace'),
    async (services, { workspace }) => {
      const { id } = await services.workspaces.getById(workspace);
      return listed(
        await services.setupLinks.page(id, { before: null, beforeId: null, limit: LISTED }),
        snakeCased,
        {
          ID: 'id',
          SIGNUP: 'signup',
          STATUS: (each: SetupLink) => statusOf(each, databaseClock.now()),
          STEP: stepOf,
          EXPIRES: 'expiresAt',
        },
        'This workspace has no setup links.',
      );
    },
  );
  serviceAction<{ workspace: string }>(
    link
      .command('revoke')
      .description('end a setup link that is not used yet')
      .argument('<id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'its workspace'),
    async (services, { workspace }, id) => {
      const { id: organizationId } = await services.workspaces.getById(workspace);
      const revoked = await services.setupLinks.revoke(organizationId, id);
      return { data: snakeCased(revoked), text: `Revoked ${revoked.id}.` };
    },
  );
}

/** How far it is: the step that failed, else the last one that is done. */
function stepOf({ steps }: SetupLink): string {
  const tried = Object.entries(steps);
  const failed = tried.find(([, step]) => step.state === 'failed');
  if (failed !== undefined) return `${failed[0]}: ${failed[1].problem?.code ?? 'failed'}`;
  return tried.at(-1)?.[0] ?? '';
}

function returnUrl(text: string): string {
  if (!isReturnUrl(text)) throw new InvalidArgumentError('give an address such as https://app.example.com/done.');
  return text;
}

function locale(text: string): string {
  if (!LOCALE.test(text)) throw new InvalidArgumentError('give a language and a country, such as en_US.');
  return text;
}

function linkSeconds(text: string): number {
  const seconds = durationSeconds(text);
  if (seconds < LINK_SECONDS.least || seconds > LINK_SECONDS.most) throw new InvalidArgumentError('give 5m to 30d.');
  return seconds;
}
