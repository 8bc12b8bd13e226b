import type { TakenMessage } from './taken-message.js';

export interface MessageFilter {
  /** A number in any spelling, or a user id: matches the number addressed and the platform's own. */
  to?: string;
  /** `biz_opaque_callback_data`, exactly. */
  callback?: string;
  /** Default 1,000. */
  limit?: number;
  /** Only what was taken after this message: its id, or a cursor of a former page. */
  after?: string;
}

/** A taken message in the words of the control calls. */
export interface MessageView {
  id: string;
  to: string;
  wa_id: string | null;
  callback: string | null;
  type: string;
  body: unknown;
  taken_at: string;
  phone_number_id: string;
}

export interface MessagePage {
  messages: TakenMessage[];
  /** To be given as `after`; null when the page is empty. */
  cursor: string | null;
  hasMore: boolean;
}

/** Messages in the order in which they were taken, the oldest forgotten beyond `keep`. */
export class MessageLog {
  private messages: TakenMessage[] = [];
  private taken = 0;

  constructor(private readonly keep: number) {}

  add(message: TakenMessage): void {
    this.taken++;
    this.messages.push(message);
    // In steps of an eighth: dropping one by one would copy the whole list for every message.
    if (this.messages.length > this.keep + Math.max(16, this.keep >> 3))
      this.messages = this.messages.slice(-this.keep);
  }

  /** How many were taken since the last reset, the forgotten ones too. */
  get count(): number {
    return this.taken;
  }

  clear(): void {
    this.messages = [];
    this.taken = 0;
  }

  /** All that is remembered, oldest first, in the shape of the control call. */
  list(filter: MessageFilter = {}): MessageView[] {
    return this.page(filter).messages.map(viewOf);
  }

  page(filter: MessageFilter): MessagePage {
    const { to, callback, after, limit = 1000 } = filter;
    const digits = to?.replaceAll(/[^\d]/g, '');
    const found: TakenMessage[] = [];
    let hasMore = false;
    for (let i = this.startAfter(after); i < this.messages.length; i++) {
      const message = this.messages[i] as TakenMessage;
      if (callback !== undefined && message.callback !== callback) continue;
      if (to !== undefined && message.to !== to && message.to !== digits && message.waId !== digits) continue;
      if (found.length === limit) {
        hasMore = true;
        break;
      }
      found.push(message);
    }
    const last = found.at(-1);
    return { messages: found, cursor: last === undefined ? null : String(last.sequence), hasMore };
  }

  private startAfter(after: string | undefined): number {
    if (after === undefined) return 0;
    if (!/^\d+$/.test(after)) return this.messages.findLastIndex((message) => message.id === after) + 1;
    const sequence = Number(after);
    let low = 0;
    let high = this.messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.messages[middle] as TakenMessage).sequence <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function viewOf(message: TakenMessage): MessageView {
  return { ...head(message), body: JSON.parse(message.rawBody) as unknown };
}

/** As JSON text, without parsing the body only to write it out again. */
export function messageJson(message: TakenMessage): string {
  return `${JSON.stringify(head(message)).slice(0, -1)},"body":${message.rawBody}}`;
}

function head(message: TakenMessage): Omit<MessageView, 'body'> {
  return {
    id: message.id,
    to: message.to,
    wa_id: message.waId,
    callback: message.callback,
    type: message.type,
    taken_at: new Date(message.takenAt).toISOString(),
    phone_number_id: message.phoneNumberId,
  };
}
