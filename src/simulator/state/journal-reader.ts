import { readFileSync } from 'node:fs';
import type { TakenMessage } from '../messages/taken-message.js';
import type { InboundFact } from './inbound-register.js';
import { parseDone, parseMessage, parseQueued, type QueuedNotification } from './journal-line.js';
import type { SegmentFiles } from './segment-files.js';

/** What a former run left behind. */
export interface Recovered {
  messages: TakenMessage[];
  /** Not acknowledged yet, in the order in which they were queued. */
  queued: QueuedNotification[];
  inbound: InboundFact[];
  lastSequence: number;
}

/** Puts the journal's lines together again. A torn last line (the process was killed while writing) is passed over. */
export class JournalReader {
  private readonly messages = new Map<number, TakenMessage>();
  private readonly queued = new Map<number, QueuedNotification>();
  private readonly inbound = new Map<string, InboundFact>();
  private lastSequence = 0;

  read(files: SegmentFiles): Recovered {
    for (const number of files.numbers()) {
      const text = readFileSync(files.path(number), 'utf8');
      for (let from = 0; from < text.length;) {
        const end = text.indexOf('\n', from);
        if (end === -1) break;
        this.take(text.slice(from, end));
        from = end + 1;
      }
    }
    return {
      messages: [...this.messages.values()],
      queued: [...this.queued.values()],
      inbound: [...this.inbound.values()],
      lastSequence: this.lastSequence,
    };
  }

  private take(line: string): void {
    try {
      this.apply(line);
    } catch {
      // Only a line that a kill cut in two can fail here, and what it said was never acknowledged to anybody.
    }
  }

  private apply(line: string): void {
    if (line.startsWith('m\t')) {
      const message = parseMessage(line);
      this.seen(message.sequence);
      if (!this.messages.has(message.sequence)) this.messages.set(message.sequence, message);
    } else if (line.startsWith('d\t')) {
      for (const [sequence, bits] of parseDone(line)) {
        const message = this.messages.get(sequence);
        if (message !== undefined) message.doneSteps |= bits;
      }
    } else if (line.startsWith('q\t')) {
      const item = parseQueued(line);
      this.seen(item.sequence);
      this.queued.set(item.sequence, item);
    } else if (line.startsWith('x\t')) {
      this.queued.delete(Number(line.slice(2)));
    } else if (line.startsWith('i\t')) {
      const [id, phoneNumberId, party, writtenAt] = line.slice(2).split('\t') as [string, string, string, string];
      this.inbound.set(id, { id, phoneNumberId, party, writtenAt: Number(writtenAt) });
    } else if (line.startsWith('r\t')) {
      this.messages.clear();
      this.queued.clear();
      this.inbound.clear();
      this.seen(Number(line.slice(2)));
    }
  }

  private seen(sequence: number): void {
    this.lastSequence = Math.max(this.lastSequence, sequence);
  }
}
