import type { Command } from 'commander';
import type { OtpMode, OtpProject, OtpSender } from '../../modules/otp/otp.types.js';
import { type Answer, facts, listed, snakeCased, table } from '../output.js';
import { countryCode, countryList, decimalId, nameText, otpMode, secretArgument, wholeNumber } from '../arguments.js';
import { serviceAction, UsageError } from '../runner.js';

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
  serviceAction<ProjectOptions>(
    project
      .command('create')
      .description('make a project; then make keys of it: herald key create --otp-project <id>')
      .requiredOption('--workspace <id>', 'the workspace')
      .requiredOption('--mode <mode>', 'sandbox (sends nothing, answers with the code) or live', otpMode)
      .option('--name <name>', 'its name in lists', nameText, 'OTP project')
      .option('--language <code>', 'language of the template that carries the codes; default en_US')
      .option('--countries <list>', 'countries to which it may send, such as DE,US; default any', countryList),
    async (services, options) => {
      const { id: organizationId } = await services.workspaces.getById(options.workspace);
      const made = await services.otpProjects.create({
        organizationId,
        name: options.name,
        mode: options.mode,
        templateLanguage: options.language,
        allowedCountries: options.countries,
      });
      return {
        data: snakeCased(made),
        text: facts({ Project: made.id, Name: made.name, Mode: made.mode, Countries: countriesText(made) }),
      };
    },
  );
  serviceAction<{ workspace: string }>(
    project.command('list').description('list the projects').requiredOption('--workspace <id>', 'the workspace'),
    async (services, { workspace }) => {
      const { id } = await services.workspaces.getById(workspace);
      const projects = await services.otpProjects.list(id);
      return listed(
        projects,
        snakeCased,
        {
          ID: 'id',
          NAME: 'name',
          MODE: 'mode',
          LANGUAGE: 'templateLanguage',
          COUNTRIES: countriesText,
          CREATED: 'createdAt',
        },
        'This workspace has no OTP projects.',
      );
    },
  );
}

function addPackageCommands(packages: Command): void {
  serviceAction<{ project: string; country: string; limit: number }>(
    packages
      .command('grant')
      .description('set how many codes a project may send to a country in each calendar month (UTC); 0 ends it')
      .requiredOption('--project <id>', 'the OTP project')
      .requiredOption('--country <code>', 'ISO 3166 alpha-2, such as DE', countryCode)
      .requiredOption(
        '--limit <n>',
        'codes a month; applies to the current month at once',
        wholeNumber(0, 1_000_000_000),
      ),
    async (services, { project, country, limit }) => {
      const granted = await services.otpProjects.getById(project);
      await services.otpProjects.grant(granted, country, limit);
      const { id } = granted;
      return {
        data: { project_id: id, country, monthly_limit: limit },
        text: facts({ Project: id, Country: country, 'Codes a month': String(limit) }),
      };
    },
  );
  serviceAction<{ project: string }>(
    packages
      .command('list')
      .description('list packages, and the codes sent in each month')
      .requiredOption('--project <id>', 'the OTP project'),
    async (services, { project }) => {
      const { id, organizationId } = await services.otpProjects.getById(project);
      const service = services.otpPackages;
      const allowances = await service.allowances(organizationId, id);
      const months = await service.list(organizationId, id);
      return {
        data: {
          allowances: allowances.map(snakeCased),
          months: months.map(({ month, country, monthlyLimit, reserved, used }) =>
            snakeCased({ month, country, monthlyLimit, reserved, used }),
          ),
        },
        text: [
          table(
            allowances,
            { COUNTRY: 'country', 'CODES A MONTH': 'monthlyLimit' },
            'This project has no packages: herald otp-package grant',
          ),
          table(
            months,
            { MONTH: 'month', COUNTRY: 'country', LIMIT: 'monthlyLimit', USED: 'used', RESERVED: 'reserved' },
            'It has sent nothing yet.',
          ),
        ].join('\n\n'),
      };
    },
  );
}

function addSenderCommands(sender: Command): void {
  serviceAction<SenderOptions>(
    sender
      .command('set')
      .description('check a number and its template with the platform, and send the codes from it')
      .requiredOption('--phone-number-id <id>', "the platform's id of the number", decimalId)
      .option('--waba-id <id>', 'id of its WhatsApp Business Account', decimalId)
      .requiredOption('--template <name>', 'an approved template of the category AUTHENTICATION')
      .requiredOption('--token <token>', 'access token, or - to read it from standard input')
      .option('--throughput <n>', 'messages a second; without it as the platform says', wholeNumber(1, 10_000))
      .option('--no-verify', 'set it unseen'),
    async (services, options) => {
      const token = await secretArgument(options.token);
      const { phoneNumberId, wabaId, template: templateName } = options;
      const number = { phoneNumberId, templateName, token, throughputPerSecond: options.throughput };
      if (!options.verify) return senderAnswer(await services.otpSender.set({ ...number, phoneNumber: null }));
      if (wabaId === undefined) throw new UsageError('name the account with --waba-id, or set --no-verify');
      const { languages, ...set } = await services.otpSender.connect({ ...number, wabaId });
      return senderAnswer(set, languages);
    },
  );
  serviceAction(sender.command('show').description('show the number'), async (services) => {
    const set = await services.otpSender.find();
    if (set === null) throw new Error('no number is set: herald otp-sender set');
    return senderAnswer(set);
  });
}

function senderAnswer(sender: OtpSender, languages?: string[]): Answer {
  return {
    data: {
      phone_number_id: sender.phoneNumberId,
      phone_number: sender.phoneNumber,
      template: sender.templateName,
      languages,
      throughput_per_second: sender.throughputPerSecond,
      status: sender.status,
    },
    text: facts({
      Number: sender.phoneNumber ?? sender.phoneNumberId,
      Template: sender.templateName,
      Languages: languages?.join(', '),
      Status: sender.status,
    }),
  };
}

function countriesText({ allowedCountries }: OtpProject): string {
  return allowedCountries === null ? 'any' : allowedCountries.join(',');
}
