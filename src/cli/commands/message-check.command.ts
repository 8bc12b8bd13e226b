import type { Command } from 'commander';
import { KEY_OPTION, targetOf, URL_OPTION } from '../api/client.js';
import type { Single } from '../api/message.js';
import { addBodyOptions, type BodyOptions, bodyOf } from '../api/message-body.js';
import { durationSeconds, timeAhead } from '../arguments.js';
import { facts, paint } from '../output.js';
import { action, guide } from '../runner.js';

interface Notice {
  code: string;
  message: string;
}

interface Checked {
  sendable: boolean;
  problems: Notice[];
  warnings: Notice[];
  rendered: {
    header: { format: string; text: string | null } | null;
    body: string | null;
    footer: string | null;
    buttons: { text: string; url?: string }[];
  };
  window: { open: boolean; closes_at: string | null };
  queue: { ahead: number; estimated_send_at: string | null };
}

/** `message check`. */
export function addCheckCommand(message: Command): void {
  const command = addBodyOptions(
    message.command('check').description('say what would become of a message; nothing is sent'),
    'the text',
  )
    .option('--connection <id>', 'the number to send from; default the only one')
    .option('--reply-to <id>', 'the message that it answers')
    .option(
      '--send-at <time>',
      'as if it were sent later: a time with its zone, or one from now, such as 2h',
      timeAhead,
    )
    .option('--ttl <duration>', 'how long it may wait from then on, such as 1h', durationSeconds)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      'herald message check --to +15550001234 --text "Your table is ready."',
      ['herald message check --to +15550004444 --template order_update --param Ana --param 4711', 'with its values'],
    ],
    notes: 'With --json as POST /messages/check answers it. All of it is true at this moment; it promises nothing.',
    failure: 'the message would be refused; the problems say why',
  });
  action<BodyOptions>(command, async (options) => {
    const target = await targetOf(options);
    const { data } = await target.api.post<Single<Checked>>('/messages/check', await bodyOf(target, options));
    return { data, text: textOf(data), failed: !data.sendable };
  });
}

function textOf({ sendable, problems, warnings, rendered, window, queue }: Checked): string {
  const lines = (notices: readonly Notice[], mark: (text: string) => string): string[] =>
    notices.map(({ code, message }) => `${mark(code)}  ${message}`);
  const until = window.closes_at === null ? '' : ` ${window.open ? 'until' : 'since'} ${window.closes_at}`;
  const leaves = queue.estimated_send_at === null ? 'not known when it leaves' : `leaves at ${queue.estimated_send_at}`;
  return [
    sendable ? paint.good('would be taken') : paint.bad('would be refused'),
    ...lines(problems, paint.bad),
    ...lines(warnings, paint.doubtful),
    facts({ window: `${window.open ? 'open' : 'closed'}${until}`, queue: `${queue.ahead} ahead, ${leaves}` }),
    ...shownLines(rendered),
  ].join('\n');
}

function shownLines({ header, body, footer, buttons }: Checked['rendered']): string[] {
  const parts = [
    header === null ? null : paint.heading(header.text ?? `[${header.format.toLowerCase()}]`),
    body,
    footer === null ? null : paint.faint(footer),
    ...buttons.map(({ text, url }) => `[ ${text} ]${url === undefined ? '' : ` ${url}`}`),
  ].filter((part) => part !== null);
  return parts.length === 0 ? [] : ['', ...parts];
}
