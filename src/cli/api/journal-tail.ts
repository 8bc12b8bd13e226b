import type {
  JournalResponse,
  MessageListItem,
  SingleMessageResponse,
} from '../../modules/messages/dto/message.response.js';
import type { ApiClient } from './client.js';
import { isOver } from './message.js';

/** What is new of the journal. */
export interface TailEvent {
  event: 'message' | 'status';
  /** When it was noticed, for a new message when it was made. */
  at: string;
  message: MessageListItem;
  previous_status: string | null;
}

const PAGE = 100;
/** Of one look: a burst of more is counted, not shown. */
const MAX_PAGES = 5;
/** Older messages whose next status is awaited, and how many of them one look asks for. */
const MAX_OPEN = 500;
const OPEN_PER_LOOK = 10;
const MAX_KNOWN = 5_000;

/**
 * Follows a workspace's journal with nothing but `messages:read`: each look reads the newest page (and further ones
 * up to the newest message that is known), compares statuses, and asks for some of the older messages that can still
 * change. A state that lasts for less than a look may be passed over.
 */
export class JournalTail {
  /** The last status of each message, the oldest first. */
  private readonly known = new Map<string, string>();
  private readonly open = new Set<string>();
  private isFirst = true;
  /** Messages came too fast for the last look. */
  isBehind = false;

  constructor(private readonly api: ApiClient) {}

  /** What happened since the last look, oldest first. The first one only learns what is there. */
  async look(): Promise<TailEvent[]> {
    const page = await this.newMessages();
    const events = page.toReversed().flatMap((message) => this.compare(message));
    const listed = new Set(page.map((message) => message.id));
    for (const id of [...this.open].filter((each) => !listed.has(each)).slice(0, OPEN_PER_LOOK)) {
      // The next look asks for others.
      this.open.delete(id);
      this.open.add(id);
      const { data } = await this.api.get<SingleMessageResponse>(`/messages/${id}`);
      events.push(...this.compare(data));
    }
    if (this.isFirst) events.length = 0;
    this.isFirst = false;
    this.forgetOldest();
    return events;
  }

  private async newMessages(): Promise<MessageListItem[]> {
    const found: MessageListItem[] = [];
    let cursor: Record<string, string> = {};
    this.isBehind = false;
    for (let pages = 0; ; pages++) {
      if (pages === MAX_PAGES) {
        this.isBehind = true;
        return found;
      }
      const { data, pagination } = await this.api.get<JournalResponse>('/messages', {
        limit: PAGE,
        ...cursor,
      });
      found.push(...data);
      const reachesKnown = data.some((message) => this.known.has(message.id));
      if (this.isFirst || reachesKnown || pagination.next_before === null || pagination.next_before_id === null) {
        return found;
      }
      cursor = { before: pagination.next_before, before_id: pagination.next_before_id };
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
