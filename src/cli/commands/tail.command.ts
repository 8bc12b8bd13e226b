import { type Command, Option } from 'commander';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import type { MessageListItem } from '../../../clients/typescript/src/resources.js';
import { contactOf, DIRECTIONS, isOver, STATES } from '../api/message.js';
import { phoneDigits, wholeNumber, wordsOf } from '../arguments.js';
import { clock, oneLine, padded, paint, paintStatus } from '../output.js';
import { liveApiAction } from '../runner.js';

/** A change in the journal. */
interface TailEvent {
  event: 'message' | 'status';
  /** When the change was noticed; for a new message, when it was created. */
  at: string;
  message: MessageListItem;
  previous_status: string | null;
}

const PAGE = 100;
/** Limit of pages per poll: more new messages are counted, not shown. */
const MAX_PAGES = 5;
/** Limit of older messages whose next status is awaited, and how many of them one poll reads. */
const MAX_OPEN = 500;
const OPEN_PER_LOOK = 10;
const MAX_KNOWN = 5_000;

/**
 * Follows a workspace's journal with only `messages:read`. Each poll reads the newest page (and further ones down to
 * the newest known message), compares statuses, and reads some of the older messages that can still change. A state
 * shorter than the polling interval may be missed.
 */
export class JournalTail {
  /** The last status of each message, the oldest first. */
  private readonly known = new Map<string, string>();
  private readonly open = new Set<string>();
  private isFirst = true;
  /** Messages came faster than the last poll could read. */
  isBehind = false;

  constructor(private readonly api: Pick<HeraldClient, 'messages'>) {}

  /** Changes since the last poll, oldest first. The first poll only records the present state. */
  async look(): Promise<TailEvent[]> {
    const page = await this.newMessages();
    const events = page.toReversed().flatMap((message) => this.compare(message));
    const listed = new Set(page.map((message) => message.id));
    for (const id of [...this.open].filter((each) => !listed.has(each)).slice(0, OPEN_PER_LOOK)) {
      // The next poll reads others.
      this.open.delete(id);
      this.open.add(id);
      events.push(...this.compare(await this.api.messages.get(id)));
    }
    if (this.isFirst) events.length = 0;
    this.isFirst = false;
    this.forgetOldest();
    return events;
  }

  private async newMessages(): Promise<MessageListItem[]> {
    const found: MessageListItem[] = [];
    const list = this.api.messages.list({ limit: PAGE });
    let cursor: string | null = null;
    this.isBehind = false;
    for (let pages = 0; ; pages++) {
      if (pages === MAX_PAGES) {
        this.isBehind = true;
        return found;
      }
      const { items, next } = await list.page(cursor);
      found.push(...items);
      if (this.isFirst || next === null || items.some((message) => this.known.has(message.id))) return found;
      cursor = next;
    }
  }

  private compare(message: MessageListItem): TailEvent[] {
    const previous = this.known.get(message.id);
    this.known.set(message.id, message.status);
    if (isOver(message)) this.open.delete(message.id);
    else this.open.add(message.id);
    if (previous === undefined) {
      return [{ event: 'message', at: message.created_at, message, previous_status: null }];
    }
    if (previous === message.status) return [];
    return [{ event: 'status', at: new Date().toISOString(), message, previous_status: previous }];
  }

  private forgetOldest(): void {
    for (const id of this.known.keys()) {
      if (this.known.size <= MAX_KNOWN) break;
      this.known.delete(id);
    }
    for (const id of this.open) {
      if (this.open.size <= MAX_OPEN) break;
      this.open.delete(id);
    }
  }
}

interface TailOptions {
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
    .addOption(new Option('--direction <direction>', 'only in this direction').choices(DIRECTIONS))
    .option('--status <list>', `only these, separated by commas: ${STATES.join(', ')}`, wordsOf(STATES))
    .option('--contact <number>', 'only from or to this number', phoneDigits)
    .option('--connection <id>', 'only of this connection')
    .option('--interval <ms>', 'milliseconds between two polls', wholeNumber(100, 60_000), 500);
  liveApiAction<TailOptions>(command, async (live, { api, url }, options) => {
    const tail = new JournalTail(api);
    return live.untilEnded(async () => {
      await tail.look();
      live.print(paint.faint(`following ${url}; Ctrl-C ends it`));
      for (;;) {
        await live.pause(options.interval);
        for (const event of await tail.look()) if (isWanted(event, options)) live.say(lineOf(event), event);
        if (tail.isBehind)
          live.print(paint.doubtful('… more messages came than one poll shows; GET /messages has them all'));
      }
    });
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
  const status = previous === null ? paintStatus(message.status) : `${previous} → ${paintStatus(message.status)}`;
  const why = message.failure_category === null ? '' : paint.bad(message.failure_category);
  return [
    paint.faint(clock(new Date(at))),
    message.direction === 'inbound' ? paint.name('in ') : 'out',
    padded(contactOf(message) ?? 'unknown', 14),
    // Enough of the id to tell the messages on one screen apart.
    paint.faint(message.id.slice(-8)),
    padded(status, event === 'message' ? 10 : 24),
    event === 'message' ? `${paint.faint(message.type)} ${oneLine(message.body ?? '')}` : why,
  ]
    .join('  ')
    .trimEnd();
}
