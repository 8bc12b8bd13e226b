import { type Command, Option } from 'commander';
import type {
  PreviewData,
  PreviewResponse,
  TemplateListResponse,
  TemplateResponse,
} from '../../modules/templates/dto/templates.response.js';
import { TEMPLATE_STATUSES } from '../../modules/templates/templates.types.js';
import type { Target, Wire } from '../api/client.js';
import { connectionOf } from '../api/message.js';
import { collected } from '../arguments.js';
import { facts, oneLine, paint, paintStatus, table } from '../output.js';
import { apiAction } from '../runner.js';

const CONNECTION_OPTION = ['--connection <id>', 'a number of the account; default the only one'] as const;

/** `template list|preview`. */
export function addTemplateCommands(program: Command): void {
  const template = program.command('template').description('message templates, over the API with a key');
  apiAction<{ connection?: string; status?: string }>(
    template
      .command('list')
      .description('list the templates of the account and the state of their review')
      .addOption(new Option('--status <status>', 'only in this state').choices(TEMPLATE_STATUSES))
      .option(...CONNECTION_OPTION),
    async (target, { connection, status }) => {
      const list = await target.api.get<TemplateListResponse>(await pathOf(target, connection), { status });
      return { data: list, text: table(list.data, COLUMNS, 'No templates.') };
    },
  );
  apiAction<{ connection?: string; language?: string; param?: string[] }>(
    template
      .command('preview')
      .description('show a template with its variables filled; nothing is sent')
      .argument('<name>', "the template's name")
      .option('--param <value>', 'value of the next variable of the body; repeat it for each', collected)
      .option('--language <code>', 'such as en_US; default: an approved one goes first')
      .option(...CONNECTION_OPTION),
    async (target, { connection, language, param }, name) => {
      const body = { template_name: name, language, parameters: param && { body: param } };
      const { data } = await target.api.post<PreviewResponse>(`${await pathOf(target, connection)}/preview`, body);
      return { data, text: previewText(data) };
    },
  );
}

async function pathOf(target: Target, connection: string | undefined): Promise<string> {
  return `/connections/${encodeURIComponent(await connectionOf(target, connection))}/templates`;
}

const COLUMNS = {
  NAME: 'name',
  LANGUAGE: 'language',
  STATUS: ({ status }: Wire<TemplateResponse>) => paintStatus(status),
  CATEGORY: 'category',
  VARIABLES: ({ variables }: Wire<TemplateResponse>) => String(variables.length),
  BODY: ({ components }: Wire<TemplateResponse>) => oneLine(bodyOf(components), 60),
} as const;

function bodyOf(components: TemplateResponse['components']): string {
  const text = components.find(({ type }) => type.toUpperCase() === 'BODY')?.text;
  return typeof text === 'string' ? text : '';
}

function previewText({ name, language, header, body, footer, buttons, missing, unused }: PreviewData): string {
  const listOf = (texts: string[], mark = (text: string) => text): string | undefined =>
    texts.length === 0 ? undefined : mark(texts.join(', '));
  return facts({
    Template: `${name} (${language})`,
    Header: header === null ? undefined : (header.text ?? header.format),
    Body: body ?? undefined,
    Footer: footer ?? undefined,
    Buttons: listOf(buttons.map(({ text }) => text)),
    Missing: listOf(missing, paint.doubtful),
    Unused: listOf(unused, paint.doubtful),
  });
}
