import type { Command } from 'commander';
import type { OtpMode } from '../../modules/otp/otp.types.js';
import { type Answer, facts, table } from '../output.js';
import { countryCode, countryList, decimalId, nameText, otpMode, secretArgument, wholeNumber } from '../arguments.js';
import { onServer, type Schemas } from '../operator.js';
import { operatorAction, UsageError } from '../runner.js';
import { WORKSPACE_OPTION, workspaceOfProject } from './key.command.js';

type Sender = Schemas['OtpSenderData'];

interface ProjectOptions {
  workspace: string;
  name: string;
  mode: OtpMode;
  language?: string;
  countries?: string[];
}

interface SenderOptions {
  phoneNumberId: string;
  wabaId?: string;
  template: string;
  token: string;
  throughput?: number;
  verify: boolean;
}

/** `otp-project create|list`, `otp-package grant|list`, `otp-sender set|show`. */
export function addOtpCommands(program: Command): void {
  addProjectCommands(program.command('otp-project').description('applications that send one-time codes'));
  addPackageCommands(program.command('otp-package').description('codes a month that a live project may send'));
  addSenderCommands(program.command('otp-sender').description("the service's own number, which sends the codes"));
}

function addProjectCommands(project: Command): void {
  operatorAction<ProjectOptions>(
    project
      .command('create')
      .description('make a project; then make keys of it: herald key create --otp-project <id>')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--mode <mode>', 'sandbox (sends nothing, answers with the code) or live', otpMode)
      .option('--name <name>', 'its name in lists', nameText, 'OTP project')
      .option('--language <code>', 'language of the template that carries the codes; default en_US')
      .option('--countries <list>', 'countries to which it may send, such as DE,US; default any', countryList),
    async ({ admin }, { workspace, name, mode, language, countries }) => {
      const body = { name, mode, template_language: language, allowed_countries: countries };
      const data = await admin.otpProjects.create(workspace, body);
      return {
        data,
        text: facts({ Project: data.id, Name: data.name, Mode: data.mode, Countries: countriesText(data) }),
      };
    },
  );
  operatorAction<{ workspace: string }>(
    project.command('list').description('list the projects').requiredOption('--workspace <id>', 'the workspace'),
    async ({ admin }, { workspace }) => {
      const data = await admin.otpProjects.list(workspace);
      const columns = {
        ID: 'id',
        NAME: 'name',
        MODE: 'mode',
        LANGUAGE: 'template_language',
        COUNTRIES: countriesText,
        CREATED: 'created_at',
      } as const;
      return { data, text: table(data, columns, 'This workspace has no OTP projects.') };
    },
  );
}

function addPackageCommands(packages: Command): void {
  operatorAction<{ workspace?: string; project: string; country: string; limit: number }>(
    packages
      .command('grant')
      .description('set how many codes a project may send to a country in each calendar month (UTC); 0 ends it')
      .requiredOption('--project <id>', 'the OTP project')
      .option(...WORKSPACE_OPTION)
      .requiredOption('--country <code>', 'ISO 3166 alpha-2, such as DE', countryCode)
      .requiredOption(
        '--limit <n>',
        'codes a month; applies to the current month at once',
        wholeNumber(0, 1_000_000_000),
      ),
    async (operator, { workspace, project: id, country, limit }) => {
      const of = workspace ?? (await workspaceOfProject(operator, id));
      await operator.admin.otpProjects.setPackage(of, id, country, { monthly_limit: limit });
      return {
        data: { project_id: id, country, monthly_limit: limit },
        text: facts({ Project: id, Country: country, 'Codes a month': String(limit) }),
      };
    },
  );
  operatorAction<{ workspace?: string; project: string }>(
    packages
      .command('list')
      .description('list packages, and the codes sent in each month')
      .requiredOption('--project <id>', 'the OTP project')
      .option(...WORKSPACE_OPTION),
    async (operator, { workspace, project: id }) => {
      const of = workspace ?? (await workspaceOfProject(operator, id));
      const data = await operator.admin.otpProjects.listPackages(of, id);
      return {
        data,
        text: [
          table(
            data.allowances,
            { COUNTRY: 'country', 'CODES A MONTH': 'monthly_limit' },
            'This project has no packages: herald otp-package grant',
          ),
          table(
            data.months,
            { MONTH: 'month', COUNTRY: 'country', LIMIT: 'monthly_limit', USED: 'used', RESERVED: 'reserved' },
            'It has sent nothing yet.',
          ),
        ].join('\n\n'),
      };
    },
  );
}

function addSenderCommands(sender: Command): void {
  operatorAction<SenderOptions>(
    sender
      .command('set')
      .description('check a number and its template with the platform, and send the codes from it')
      .requiredOption('--phone-number-id <id>', "the platform's id of the number", decimalId)
      .option('--waba-id <id>', 'id of its WhatsApp Business Account', decimalId)
      .requiredOption('--template <name>', 'an approved template of the category AUTHENTICATION')
      .requiredOption('--token <token>', 'access token, or - to read it from standard input')
      .option('--throughput <n>', 'messages a second; without it as the platform says', wholeNumber(1, 10_000))
      .option('--no-verify', 'set it unseen'),
    async (operator, { phoneNumberId, wabaId, template, throughput, verify, ...options }) => {
      const { otpSender } = operator.admin;
      if (verify && wabaId === undefined) {
        throw new UsageError('name the account with --waba-id, or set --no-verify');
      }
      const token = await secretArgument(options.token);
      if (wabaId !== undefined && verify) {
        const number = { phone_number_id: phoneNumberId, waba_id: wabaId, template, token };
        return senderAnswer(await otpSender.set({ ...number, throughput_per_second: throughput }));
      }
      const services = onServer(operator, '--no-verify', 'the admin API sets no number that it has not checked');
      const number = { phoneNumberId, templateName: template, token, phoneNumber: null };
      await services.otpSender.set({ ...number, throughputPerSecond: throughput });
      return senderAnswer(await otpSender.get());
    },
  );
  operatorAction(sender.command('show').description('show the number'), async ({ admin }) =>
    senderAnswer(await admin.otpSender.get()),
  );
}

function senderAnswer(data: Sender): Answer {
  const text = facts({
    Number: data.phone_number ?? data.phone_number_id,
    Template: data.template,
    Languages: data.languages?.join(', '),
    Status: data.status,
  });
  return { data, text };
}

function countriesText({ allowed_countries: countries }: Schemas['OtpProjectResponse']): string {
  return countries === null ? 'any' : countries.join(',');
}
