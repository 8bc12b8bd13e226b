import type { Command } from 'commander';
import type { EventsResponse } from '../../modules/webhook/events/events.dto.js';
import { EVENT_TYPES } from '../../modules/webhook/webhook.types.js';
import type { ApiClient } from '../api/client.js';
import { wholeNumber, wordsOf } from '../arguments.js';
import { paint } from '../output.js';
import { apiAction, liveApiAction } from '../runner.js';
import { lineOf } from './webhook.command.js';

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
  const list = events
    .command('list')
    .description('print one page of events, oldest first, and the cursor of the next one')
    .option('--after <cursor>', 'behind this one, or now; default: from the oldest that is kept')
    .option(...TYPES)
    .option('--limit <n>', 'how many at the most', wholeNumber(1, PAGE), 100);
  apiAction<{ after?: string; types?: string[]; limit: number }>(list, async ({ api }, { after, types, limit }) => {
    const page = await pageOf(api, after, types, limit);
    const lines = page.data.map((event) => lineOf(event, new Date(event.created_at)));
    lines.push(paint.faint(`${page.done ? 'no more for now' : 'there is more'}; next: ${page.next}`));
    return { data: page, text: lines.join('\n') };
  });

  const tail = events
    .command('tail')
    .description('print events as they come, each once, in order')
    .option('--after <cursor>', 'first what follows this one; default: only what comes from now on', 'now')
    .option(...TYPES)
    .option('--interval <ms>', 'milliseconds between two polls', wholeNumber(100, 60_000), 1_000);
  liveApiAction<{ after: string; types?: string[]; interval: number }>(tail, async (live, { api }, options) =>
    live.untilEnded(async () => {
      const { types, interval } = options;
      for (let after = options.after; ;) {
        const page = await pageOf(api, after, types, PAGE);
        if (after === 'now') live.print(paint.faint(`following ${api.url}; Ctrl-C ends it`));
        for (const event of page.data) live.say(lineOf(event, new Date(event.created_at)), event);
        if (page.done || page.next === after) await live.pause(interval);
        after = page.next;
      }
    }),
  );
}

function pageOf(api: ApiClient, after: string | undefined, types: string[] | undefined, limit: number) {
  return api.get<EventsResponse>('/events', { after, types: types?.join(','), limit });
}
