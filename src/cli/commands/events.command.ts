import type { Command } from 'commander';
import { EVENT_TYPES } from '../../modules/webhook/webhook.types.js';
import { type ApiClient, KEY_OPTION, type TargetOptions, targetOf, URL_OPTION } from '../api/client.js';
import { wholeNumber, wordsOf } from '../arguments.js';
import { paint } from '../output.js';
import { action, guide, liveAction } from '../runner.js';
import { lineOf } from './webhook.command.js';

interface ApiEvent {
  id: string;
  type: string;
  created_at: string;
  cursor: string;
  data: Record<string, unknown>;
}

interface ApiEvents {
  data: ApiEvent[];
  next: string;
  done: boolean;
}

interface EventOptions extends TargetOptions {
  after?: string;
  types?: string[];
}

const PAGE = 250;
const TYPES = [
  '--types <list>',
  `only these, separated by commas: ${EVENT_TYPES.join(', ')}`,
  wordsOf(EVENT_TYPES),
] as const;

/** `events list|tail`. */
export function addEventsCommands(program: Command): void {
  const events = program
    .command('events')
    .description('what happened in the workspace, in order, over the API with a key');
  addList(events);
  addTail(events);
}

function addList(events: Command): void {
  const command = events
    .command('list')
    .description('print one page of events, oldest first, and the cursor of the next one')
    .option('--after <cursor>', 'behind this one, or now; default: from the oldest that is kept')
    .option(...TYPES)
    .option('--limit <n>', 'how many at the most', wholeNumber(1, PAGE), 100)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      'herald events list',
      ['herald events list --after <cursor>', 'what follows a delivery, or the page before'],
      ['herald events list --types message.received --json | jq .data', 'for another program'],
    ],
    notes:
      'Needs a key with webhooks:read. Events are recorded from the first webhook of the workspace on, or from the first\ncall of this. With --json as GET /events answers it.',
    failure: 'the cursor is older than what is kept: begin without --after',
  });
  action<EventOptions & { limit: number }>(command, async ({ after, types, limit, ...options }) => {
    const { api } = await targetOf(options);
    const page = await pageOf(api, { after, types, limit });
    const lines = page.data.map((event) => lineOf(event, new Date(event.created_at)));
    lines.push(paint.faint(`${page.done ? 'no more for now' : 'there is more'}; next: ${page.next}`));
    return { data: page, text: lines.join('\n') };
  });
}

function addTail(events: Command): void {
  const command = events
    .command('tail')
    .description('print events as they come, each once, in order')
    .option('--after <cursor>', 'first what follows this one; default: only what comes from now on', 'now')
    .option(...TYPES)
    .option('--interval <ms>', 'milliseconds between two polls', wholeNumber(100, 60_000), 1_000)
    .option(...URL_OPTION)
    .option(...KEY_OPTION);
  guide(command, {
    examples: [
      ['herald events tail', 'until Ctrl-C'],
      ['herald events tail --after <cursor> --json >> events.jsonl', 'go on where the last line of the file ends'],
    ],
    notes: [
      'Needs a key with webhooks:read. With --json each line is an event with its cursor: to go on later without',
      'a gap, pass the cursor of the last line as --after.',
    ].join('\n'),
    failure: 'the service does not answer, or refuses the key or the cursor; Ctrl-C ends it with 0',
  });
  liveAction<EventOptions & { after: string; interval: number }>(command, async (live, options) => {
    const { types, interval } = options;
    const { api } = await targetOf(options, live.signal);
    try {
      for (let after = options.after; ;) {
        const page = await pageOf(api, { after, types, limit: PAGE });
        if (after === 'now') live.print(paint.faint(`following ${api.url}; Ctrl-C ends it`));
        for (const event of page.data) live.say(lineOf(event, new Date(event.created_at)), event);
        if (page.done || page.next === after) await live.pause(interval);
        after = page.next;
      }
    } catch (error) {
      // To be ended is how it is meant to end.
      if (live.signal.aborted) return null;
      throw error;
    }
  });
}

function pageOf(api: ApiClient, { after, types, limit }: { after?: string; types?: string[]; limit: number }) {
  return api.get<ApiEvents>('/events', { after, types: types?.join(','), limit: String(limit) });
}
