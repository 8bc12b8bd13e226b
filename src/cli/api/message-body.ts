import type { Command } from 'commander';
import { collected, phoneDigits } from '../arguments.js';
import { UsageError } from '../runner.js';
import type { Target, TargetOptions } from './client.js';
import { checkReadable, connectionOf, uploadFile } from './message.js';

/** What a message says, and to whom. */
export interface BodyOptions extends TargetOptions {
  to?: string;
  recipient?: string;
  text?: string;
  template?: string;
  language: string;
  param?: string[];
  media?: string;
  connection?: string;
  replyTo?: string;
  clientMessageId?: string;
  sendAt?: Date;
  ttl?: number;
}

/** The options for whom it is and what it says, but for a file. */
export function addBodyOptions(command: Command, textHelp: string): Command {
  return command
    .option('--to <number>', 'recipient, with the country code', phoneDigits)
    .option('--recipient <user-id>', 'instead of --to: the user id of a contact who may hide the number')
    .option('--text <text>', textHelp)
    .option('--template <name>', 'an approved template instead, which needs no open window')
    .option('--language <code>', "the template's language", 'en_US')
    .option('--param <value>', "value of the template's next variable; repeat it for each", collected);
}

/** The body of POST /messages; a file is uploaded for it. */
export async function bodyOf(target: Target, options: BodyOptions): Promise<object> {
  const { to, recipient, text, template, media } = options;
  if (media !== undefined) await checkReadable(media);
  if ((to === undefined) === (recipient === undefined))
    throw new UsageError('give exactly one of --to and --recipient');
  if (template !== undefined && (text !== undefined || media !== undefined)) {
    throw new UsageError('give --template alone, or --text and --media');
  }
  if (template === undefined && options.param !== undefined) throw new UsageError('--param belongs to --template');
  const common = {
    connection_id: await connectionOf(target, options.connection),
    ...(to === undefined ? { recipient } : { to: `+${to}` }),
    ...(options.replyTo !== undefined && { reply_to_message_id: options.replyTo }),
    ...(options.clientMessageId !== undefined && { client_message_id: options.clientMessageId }),
    ...(options.sendAt !== undefined && { send_at: options.sendAt.toISOString() }),
    ...(options.ttl !== undefined && { ttl_seconds: options.ttl }),
  };
  if (template !== undefined) return { ...common, type: 'template', template: templateOf(template, options) };
  if (media === undefined) {
    if (text === undefined) throw new UsageError('nothing to send: give --text, --template or --media');
    return { ...common, type: 'text', text: { body: text } };
  }
  const { id, type } = await uploadFile(target.api, common.connection_id, media);
  return { ...common, type, media: { id, ...(text !== undefined && { caption: text }) } };
}

function templateOf(name: string, { language, param = [] }: BodyOptions): object {
  const parameters = param.map((text) => ({ type: 'text', text }));
  const components = parameters.length === 0 ? {} : { components: [{ type: 'body', parameters }] };
  return { name, language: { code: language }, ...components };
}
