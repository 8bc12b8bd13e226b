import { type Command, InvalidArgumentError, Option } from 'commander';
import { isReturnUrl, LINK_SECONDS, LOCALE, SIGNUP_KINDS, type SignupKind } from '../../modules/setup/setup.types.js';
import { durationSeconds } from '../arguments.js';
import { rowsOf, type Schemas } from '../operator.js';
import { facts, table } from '../output.js';
import { operatorAction } from '../runner.js';

interface CreateOptions {
  workspace: string;
  signup?: SignupKind;
  returnUrl?: string;
  expiresIn: number;
  locale: string;
}

/** The newest links: a workspace has few, and the admin API has pages. */
const LISTED = 100;

/** `setup-link create|list|revoke`. */
export function addSetupLinkCommands(program: Command): void {
  const link = program.command('setup-link').description('pages on which a business connects its number itself');
  operatorAction<CreateOptions>(
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
    async ({ admin }, { workspace, signup, returnUrl: url, expiresIn, locale: language }) => {
      const body = { signup, return_url: url, expires_in: expiresIn, locale: language };
      const data = await admin.setupLinks.create(workspace, body);
      const text = facts({ Link: data.url ?? undefined, Id: data.id, Signup: data.signup, Expires: data.expires_at });
      return { data, text: `${text}\nSend the link to the business now: it is not shown again.` };
    },
  );
  operatorAction<{ workspace: string }>(
    link
      .command('list')
      .description(`list the newest ${LISTED} setup links of a workspace`)
      .requiredOption('--workspace <id>', 'the workspace'),
    async ({ admin }, { workspace }) => {
      const data = await rowsOf(admin.setupLinks.list(workspace, { limit: LISTED }), LISTED);
      const columns = { ID: 'id', SIGNUP: 'signup', STATUS: 'status', STEP: stepOf, EXPIRES: 'expires_at' } as const;
      return { data, text: table(data, columns, 'This workspace has no setup links.') };
    },
  );
  operatorAction<{ workspace: string }>(
    link
      .command('revoke')
      .description('end a setup link that is not used yet')
      .argument('<id>', 'its id, as in the list')
      .requiredOption('--workspace <id>', 'its workspace'),
    async ({ admin }, { workspace }, id) => {
      const data = await admin.setupLinks.revoke(workspace, id);
      return { data, text: `Revoked ${data.id}.` };
    },
  );
}

/** The progress: the failed step, otherwise the last one that is done. */
function stepOf({ steps }: Schemas['SetupLinkResponse']): string {
  const failed = steps.find(({ state }) => state === 'failed');
  if (failed !== undefined) return `${failed.name}: ${failed.problem?.code ?? 'failed'}`;
  return steps.findLast(({ state }) => state === 'done')?.name ?? '';
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
