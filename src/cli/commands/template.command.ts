import { type Command, Option } from 'commander';
import { TEMPLATE_STATUSES } from '../../modules/templates/templates.types.js';
import { KEY_OPTION, type TargetOptions, targetOf, URL_OPTION } from '../api/client.js';
import { connectionOf, type Single } from '../api/message.js';
import { collected } from '../arguments.js';
import { facts, oneLine, paint, paintStatus, table } from '../output.js';
import { action, guide } from '../runner.js';

interface ApiTemplate {
  name: string;
  language: string;
  category: string;
  status: string;
  quality: string | null;
  body: string | null;
  variables: { name: string }[];
}

/** What a reader would see, part by part. */
interface Preview {
  name: string;
  language: string;
  header: { text?: string; format: string } | null;
  body: string | null;
  footer: string | null;
  buttons: { type: string; text: string }[];
  /** Variables without a value. */
  missing: string[];
  /** Values that no variable takes. */
  unused: string[];
}

interface ListOptions extends TargetOptions {
  connection?: string;
  status?: string;
}

interface PreviewOptions extends TargetOptions {
  connection?: string;
  language?: string;
  param?: string[];
}

const CONNECTION_OPTION = ['--connection <id>', 'a number of the account; default the only one'] as const;

/** `template list|preview`. */
export function addTemplateCommands(program: Command): void {
  const template = program.command('template').description('message templates, over the API with a key');
  addList(template);
  addPreview(template);
}

function addList(template: Command): void {
  const command = template
    .command('list')
    .description('list the templates of the account and the state of their review')
    .addOption(new Option('--status <status>', 'only in this state').choices(TEMPLATE_STATUSES))
    .option(...CONNECTION_OPTION)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald template list', 'herald template list --status approved --json'],
    notes: 'With --json as GET /connections/{id}/templates answers it.',
  });
  action<ListOptions>(command, async (options) => {
    const target = await targetOf(options);
    const connection = await connectionOf(target, options.connection);
    const list = await target.api.get<Single<ApiTemplate[]>>(
      `/connections/${encodeURIComponent(connection)}/templates`,
      {
        status: options.status,
      },
    );
    const rows = list.data.map((row) => [
      row.name,
      row.language,
      paintStatus(row.status),
      row.category,
      String(row.variables.length),
      oneLine(row.body ?? '', 60),
    ]);
    const columns = ['NAME', 'LANGUAGE', 'STATUS', 'CATEGORY', 'VARIABLES', 'BODY'];
    return { data: list, text: table(columns, rows, 'No templates.') };
  });
}

function addPreview(template: Command): void {
  const command = template
    .command('preview')
    .description('show a template with its variables filled; nothing is sent')
    .argument('<name>', "the template's name")
    .option('--param <value>', 'value of the next variable of the body; repeat it for each', collected)
    .option('--language <code>', 'such as en_US; default: an approved one goes first')
    .option(...CONNECTION_OPTION)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, { examples: ['herald template preview order_update --param Ana --param 4711'] });
  action<PreviewOptions>(command, async (options, name = '') => {
    const target = await targetOf(options);
    const connection = await connectionOf(target, options.connection);
    const body = {
      template_name: name,
      ...(options.language !== undefined && { language: options.language }),
      ...(options.param !== undefined && { parameters: { body: options.param } }),
    };
    const path = `/connections/${encodeURIComponent(connection)}/templates/preview`;
    const { data } = await target.api.post<Single<Preview>>(path, body);
    return { data, text: previewText(data) };
  });
}

function previewText({ name, language, header, body, footer, buttons, missing, unused }: Preview): string {
  const parts = {
    Template: `${name} (${language})`,
    Header: header === null ? undefined : (header.text ?? header.format),
    Body: body ?? undefined,
    Footer: footer ?? undefined,
    Buttons: buttons.length === 0 ? undefined : buttons.map(({ text }) => text).join(', '),
    Missing: missing.length === 0 ? undefined : paint.doubtful(missing.join(', ')),
    Unused: unused.length === 0 ? undefined : paint.doubtful(unused.join(', ')),
  };
  return facts(
    Object.fromEntries(Object.entries(parts).filter((pair): pair is [string, string] => pair[1] !== undefined)),
  );
}
