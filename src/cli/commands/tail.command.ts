import { type Command, InvalidArgumentError } from 'commander';
import { phoneDigits, wholeNumber } from '../arguments.js';
import { JournalTail, type TailEvent } from '../api/journal-tail.js';
import { shortId } from '../api/message.js';
import { KEY_OPTION, type TargetOptions, targetOf, URL_OPTION } from '../api/target.js';
import { clock } from '../clock-text.js';
import { guide } from '../help.js';
import { doesLive } from '../runner.js';
import { padded, paint, paintStatus } from '../style.js';
import { oneLine } from '../one-line.js';

interface TailOptions extends TargetOptions {
  direction?: string;
  status?: string[];
  contact?: string;
  connection?: string;
  interval: number;
}

/** `tail`. */
export function addTailCommand(program: Command): void {
  const command = program
    .command('tail')
    .description('print what happens in a workspace as it happens: messages in and out, changes of status')
    .option('--direction <direction>', 'only inbound or outbound', direction)
    .option('--status <list>', 'only these statuses, separated by commas', (text) => text.split(',').filter(Boolean))
    .option('--contact <number>', 'only from or to this number', phoneDigits)
    .option('--connection <id>', 'only of this number of ours')
    .option('--interval <ms>', 'milliseconds between two looks', wholeNumber(100, 60_000), 500)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      ['herald tail', 'until Ctrl-C'],
      ['herald tail --direction inbound --json | jq -r .message.body', 'what customers write, for another program'],
      ['herald tail --status failed,outcome_unknown', 'only what went wrong'],
    ],
    notes: [
      'Needs a key with messages:read, nothing else: it reads the journal again and again. So a state that lasts for',
      'less than --interval may not be shown, and of messages older than the newest hundred ten are looked at each time.',
      'To miss nothing, set a webhook.',
    ].join('\n'),
    failure: 'the service does not answer or refuses the key; Ctrl-C ends it with 0',
  });
  doesLive<TailOptions>(command, async (live, options) => {
    const { api } = await targetOf(options, live.signal);
    const tail = new JournalTail(api);
    try {
      await tail.look();
      live.tell(paint.faint(`following ${api.url}; Ctrl-C ends it`));
      for (;;) {
        await live.pause(options.interval);
        for (const event of await tail.look()) if (isWanted(event, options)) live.say(lineOf(event), event);
        if (tail.isBehind) live.tell(paint.doubtful('… more came than one look shows; GET /messages has them all'));
      }
    } catch (error) {
      // To be ended is how it is meant to end.
      if (live.signal.aborted) return null;
      throw error;
    }
  });
}

function isWanted({ message }: TailEvent, options: TailOptions): boolean {
  const { direction: wanted, status, contact, connection } = options;
  return (
    (wanted === undefined || message.direction === wanted) &&
    (status === undefined || status.includes(message.status)) &&
    (contact === undefined || message.from === contact || message.to === contact) &&
    (connection === undefined || message.connection_id === connection)
  );
}

function lineOf({ event, at, message, previous_status: previous }: TailEvent): string {
  const inbound = message.direction === 'inbound';
  const contact = (inbound ? message.from : (message.to ?? message.recipient)) ?? 'unknown';
  const status = previous === null ? paintStatus(message.status) : `${previous} → ${paintStatus(message.status)}`;
  const why = message.failure_category === null ? '' : paint.bad(message.failure_category);
  const what = event === 'message' ? `${paint.faint(message.type)} ${oneLine(message.body ?? '')}` : why;
  return [
    paint.faint(clock(new Date(at))),
    inbound ? paint.name('in ') : 'out',
    padded(contact, 14),
    paint.faint(shortId(message.id)),
    padded(status, event === 'message' ? 10 : 24),
    what,
  ]
    .join('  ')
    .trimEnd();
}

function direction(text: string): string {
  if (text === 'inbound' || text === 'outbound') return text;
  throw new InvalidArgumentError('give inbound or outbound.');
}
