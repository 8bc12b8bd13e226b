import type { TakenMessage } from '../messages/taken-message.js';
import type { InboundFact } from './inbound-register.js';
import { doneLine, messageLine, queuedLine, type QueuedNotification } from './journal-line.js';
import { JournalReader, type Recovered } from './journal-reader.js';
import { SegmentFiles } from './segment-files.js';

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Below this, all files together are rewritten as one at start, so that many short runs leave no heap of files. */
const COMPACT_BELOW_BYTES = 32 * 1024 * 1024;
const NOTHING: Recovered = { messages: [], queued: [], inbound: [], lastSequence: 0 };

/**
 * What happens often and must outlive `kill -9`: an append-only log. Lines of one turn of the event loop go out in one
 * write, and {@link whenWritten} holds an answer back until its lines are out. No fsync: a power cut may cost the last
 * seconds, which is bearable for a stand-in.
 */
export class Journal {
  private readonly files: SegmentFiles | null;
  private readonly segments: { number: number; messages: number }[] = [];
  private lines = '';
  private messagesInLines = 0;
  private waiting: (() => void)[] = [];
  private scheduled = false;
  private bytes = 0;

  constructor(
    dataDir: string | null,
    private readonly keepMessages: number,
    private readonly segmentBytes = SEGMENT_BYTES,
  ) {
    this.files = dataDir === null ? null : new SegmentFiles(dataDir);
  }

  /** Reads what a former run wrote, and begins a new file. */
  open(): Recovered {
    if (this.files === null) return NOTHING;
    const recovered = new JournalReader().read(this.files);
    recovered.messages = recovered.messages.slice(-this.keepMessages);
    const old = this.files.numbers();
    const size = old.reduce((sum, number) => sum + (this.files?.size(number) ?? 0), 0);
    if (size < COMPACT_BELOW_BYTES) {
      const head = [
        `r\t${recovered.lastSequence}\n`,
        ...recovered.messages.map(messageLine),
        ...recovered.queued.map(queuedLine),
        ...recovered.inbound.map(inboundLine),
      ].join('');
      this.begin(head, recovered.messages.length);
      for (const number of old) this.files.remove(number);
    } else {
      // How many messages each file holds is not worth counting: all of them go when the new ones suffice.
      this.segments.push(...old.map((number) => ({ number, messages: 0 })));
      this.begin('', 0);
    }
    return recovered;
  }

  message(message: TakenMessage): void {
    this.messagesInLines++;
    this.append(messageLine(message));
  }

  done(steps: readonly (readonly [sequence: number, bits: number])[]): void {
    if (steps.length > 0) this.append(doneLine(steps));
  }

  queued(item: QueuedNotification): void {
    this.append(queuedLine(item));
  }

  acknowledged(item: QueuedNotification): void {
    this.append(`x\t${item.sequence}\n`);
  }

  inbound(fact: InboundFact): void {
    this.append(inboundLine(fact));
  }

  /** Forgets everything but the counter. */
  reset(lastSequence: number): void {
    if (this.files === null) return;
    this.lines = '';
    this.messagesInLines = 0;
    const old = this.segments.splice(0);
    this.begin(`r\t${lastSequence}\n`, 0);
    for (const { number } of old) this.files.remove(number);
    this.releaseWaiting();
  }

  /** Calls back once every line appended so far is written: at once where nothing waits. */
  whenWritten(callback: () => void): void {
    if (this.lines === '') callback();
    else this.waiting.push(callback);
  }

  close(): void {
    this.write();
    this.files?.close();
  }

  private append(line: string): void {
    if (this.files === null) return;
    this.lines += line;
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.write();
    });
  }

  private write(): void {
    if (this.lines !== '' && this.files !== null) {
      this.bytes += this.files.write(this.lines);
      const newest = this.segments.at(-1);
      if (newest !== undefined) newest.messages += this.messagesInLines;
      this.lines = '';
      this.messagesInLines = 0;
      if (this.bytes > this.segmentBytes) this.rotate();
    }
    this.releaseWaiting();
  }

  private rotate(): void {
    this.begin('', 0);
    let messages = this.segments.reduce((sum, segment) => sum + segment.messages, 0);
    while (this.segments.length > 1 && messages - (this.segments[0]?.messages ?? 0) >= this.keepMessages) {
      const oldest = this.segments.shift();
      if (oldest === undefined) break;
      messages -= oldest.messages;
      this.files?.remove(oldest.number);
    }
  }

  private begin(head: string, messages: number): void {
    const number = this.files?.begin(head) ?? 0;
    this.bytes = Buffer.byteLength(head);
    this.segments.push({ number, messages });
  }

  private releaseWaiting(): void {
    if (this.waiting.length === 0) return;
    const waiting = this.waiting;
    this.waiting = [];
    for (const callback of waiting) callback();
  }
}

function inboundLine(fact: InboundFact): string {
  return `i\t${fact.id}\t${fact.phoneNumberId}\t${fact.party}\t${fact.writtenAt}\n`;
}
