import type { Command } from 'commander';
import { type ApiMessageDetail, type ApiTimeline, type Single, STATE_FIELDS } from '../api/message.js';
import { KEY_OPTION, type TargetOptions, URL_OPTION, targetOf } from '../api/client.js';
import { facts, oneLine, padded, paint, paintStatus } from '../output.js';
import { action, guide } from '../runner.js';

/** `message show|explain`: one message, and what happened to it. */
export function addHistoryCommands(message: Command): void {
  addShow(message);
  addExplain(message);
}

function addShow(message: Command): void {
  const command = message
    .command('show')
    .description('print one message: its state and times, and while it waits why and until when')
    .argument('<id>', "the message's id")
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message show 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e'],
    notes: 'With --json as GET /messages/{id} answers it. What happened to it in words: herald message explain <id>.',
    failure: 'there is no such message',
  });
  action<TargetOptions>(command, async (options, id = '') => {
    const { api } = await targetOf(options);
    const { data } = await api.get<Single<ApiMessageDetail>>(`/messages/${encodeURIComponent(id)}`);
    return { data, text: detailText(data) };
  });
}

function detailText(message: ApiMessageDetail): string {
  const { direction, error, waiting } = message;
  const times = STATE_FIELDS.flatMap(([, field]) => {
    const at = message[field];
    return at === null ? [] : [[field.replace(/_at$/, ' at').replace(/^./, (c) => c.toUpperCase()), at]];
  });
  return facts({
    Message: message.id,
    Status: paintStatus(message.status),
    ...(waiting !== undefined && { Waits: waitingText(message, waiting) }),
    ...(message.expires_at !== undefined && { 'Expires at': message.expires_at }),
    ...(message.failure_category !== null && {
      Failure: paint.bad([message.failure_category, error?.code, error?.message].filter(Boolean).join(', ')),
    }),
    [direction === 'inbound' ? 'From' : 'To']:
      (direction === 'inbound' ? message.from : (message.to ?? message.recipient)) ?? '-',
    Type: message.type,
    Body: oneLine(message.body ?? ''),
    Attempts: String(message.attempt_count),
    'Created at': message.created_at,
    ...Object.fromEntries(times),
  });
}

function waitingText(
  { estimated_send_at: estimated }: ApiMessageDetail,
  { reason, until, ahead }: NonNullable<ApiMessageDetail['waiting']>,
): string {
  return [
    paint.doubtful(reason),
    until === null ? '' : `until ${until}`,
    ahead === 0 ? '' : `${ahead} ahead`,
    estimated === null || estimated === undefined ? 'when it leaves is not known' : `leaves at about ${estimated}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function addExplain(message: Command): void {
  const command = message
    .command('explain')
    .description('print what happened to a message and why, who can do something about it, and whether to retry')
    .argument('<id>', "the message's id")
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: ['herald message explain 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e'],
    notes: 'With --json as GET /messages/{id}/timeline answers it.',
    failure: 'there is no such message',
  });
  action<TargetOptions>(command, async (options, id = '') => {
    const { api } = await targetOf(options);
    const timeline = await api.get<ApiTimeline>(`/messages/${encodeURIComponent(id)}/timeline`);
    return { data: timeline, text: timelineText(id, timeline) };
  });
}

const RESPONSIBLE: Readonly<Record<string, string>> = {
  you: 'you',
  recipient: 'the recipient',
  operator: 'the operator of Herald',
  whatsapp: 'WhatsApp',
};

function timelineText(id: string, { data, explanation, not_kept: notKept }: ApiTimeline): string {
  const { summary, responsible, retry } = explanation;
  const advice = retry.not_before === null ? 'advised' : `advised, not before ${retry.not_before}`;
  const lines = [
    paint.heading(summary),
    ...(responsible === null ? [] : [`Who can do something about it: ${RESPONSIBLE[responsible] ?? responsible}`]),
    ...(retry.advised ? [`A retry is ${advice}: herald message retry ${id}`] : []),
    '',
    ...data.flatMap(({ at, event, source, summary: text, delivery_ids: deliveries = [] }) => [
      [paint.faint(at), padded(paintStatus(event), 16), padded(source, 8), text].join('  '),
      ...(deliveries.length === 0
        ? []
        : [paint.faint(`${' '.repeat(26)}webhook deliveries: ${deliveries.join(', ')}`)]),
    ]),
    ...(notKept.length === 0 ? [] : ['', ...notKept.map((text) => paint.faint(`Not kept: ${text}`))]),
  ];
  return lines.join('\n');
}
