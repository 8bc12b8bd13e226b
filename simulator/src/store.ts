import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { MessageLog, TakenMessage } from './messages/message-log.js';

const FILE = 'state.jsonl';
/** The file is rewritten at every start, after every reset, and when it has grown by so much. */
const REWRITE_AFTER_BYTES = 256 * 1024 * 1024;
const CHUNK_CHARACTERS = 1024 * 1024;
/** Where the sequence goes on when it is unknown: far beyond what any run has counted to. */
const UNKNOWN_SEQUENCE = 1_000_000_000;

/** One line of the file. */
type Entry =
  | ['set', table: string, key: string, value: unknown]
  | ['delete', table: string, key: string]
  | ['clear', table: string]
  | ['message', TakenMessage]
  | ['done', steps: [sequence: number, bits: number][]]
  | ['sequence', number];

/** A named part of the state: a map whose changes are recorded. Values are plain JSON; replace them, never mutate. */
export class Table<T> extends Map<string, T> {
  constructor(
    readonly name: string,
    private readonly record: (entry: Entry) => void,
  ) {
    super();
  }

  override set(key: string, value: T): this {
    super.set(key, value);
    this.record(['set', this.name, key, value]);
    return this;
  }

  override delete(key: string): boolean {
    const existed = super.delete(key);
    if (existed) this.record(['delete', this.name, key]);
    return existed;
  }

  override clear(): void {
    if (this.size > 0) this.record(['clear', this.name]);
    super.clear();
  }
}

/**
 * Everything that outlives the process, in one file of JSON lines: a snapshot, and after it each change. Lines of one
 * turn of the event loop go out in one write, and {@link whenWritten} holds an answer back until its lines are out, so
 * `kill -9` after an answer loses nothing. No fsync: a power cut may cost the last seconds.
 */
export class Store {
  /** The last number behind an id. */
  sequence = 0;
  private readonly tables = new Map<string, Table<unknown>>();
  private readonly path: string | null;
  private descriptor: number | null = null;
  private lines = '';
  private grownBytes = 0;
  private waiting: (() => void)[] = [];

  /** @param dataDir null keeps everything in memory */
  constructor(
    private readonly dataDir: string | null,
    private readonly messages: MessageLog,
    private readonly log: (line: string) => void,
    private readonly rewriteAfterBytes = REWRITE_AFTER_BYTES,
  ) {
    this.path = dataDir === null ? null : join(dataDir, FILE);
    this.read();
  }

  table<T>(name: string): Table<T> {
    let table = this.tables.get(name);
    if (table === undefined) this.tables.set(name, (table = new Table(name, (entry) => this.record(entry))));
    return table as Table<T>;
  }

  /** Writes the snapshot, and every change from now on. */
  open(): void {
    if (this.dataDir === null) return;
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 });
    this.rewrite();
    for (const name of readdirSync(this.dataDir)) {
      if (/^(?:state\.json|journal-\d+\.log)(?:\.new)?$/.test(name)) rmSync(join(this.dataDir, name));
    }
  }

  record(entry: Entry): void {
    if (this.descriptor === null) return;
    if (this.lines === '') setImmediate(() => this.write());
    this.lines += lineOf(entry);
  }

  /** Calls back once everything recorded so far is written: at once where nothing waits. */
  whenWritten(callback: () => void): void {
    if (this.lines === '') callback();
    else this.waiting.push(callback);
  }

  /** Replaces the file by one that holds the present state, complete or not at all. */
  rewrite(): void {
    if (this.path === null) return;
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = openSync(`${this.path}.new`, 'w', 0o600);
    let chunk = '';
    for (const entry of this.snapshot()) {
      chunk += lineOf(entry);
      if (chunk.length < CHUNK_CHARACTERS) continue;
      writeAll(this.descriptor, chunk);
      chunk = '';
    }
    writeAll(this.descriptor, chunk);
    renameSync(`${this.path}.new`, this.path);
    this.lines = '';
    this.grownBytes = 0;
    this.release();
  }

  close(): void {
    this.write();
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }

  private *snapshot(): Generator<Entry> {
    yield ['sequence', this.sequence];
    for (const table of this.tables.values()) {
      for (const [key, value] of table) yield ['set', table.name, key, value];
    }
    for (const message of this.messages.all()) yield ['message', message];
  }

  private write(): void {
    if (this.lines !== '' && this.descriptor !== null) {
      this.grownBytes += writeAll(this.descriptor, this.lines);
      this.lines = '';
      if (this.grownBytes > this.rewriteAfterBytes) this.rewrite();
    }
    this.release();
  }

  private release(): void {
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    for (const callback of waiting) callback();
  }

  private read(): void {
    if (this.path === null || this.dataDir === null) return;
    if (existsSync(this.path)) this.readLines(readFileSync(this.path));
    else this.readFormerVersion(join(this.dataDir, 'state.json'));
  }

  /** A last line that a kill cut in two is passed over: what it says was never answered. */
  private readLines(bytes: Buffer): void {
    for (let from = 0, end = 0; (end = bytes.indexOf(10, from)) !== -1; from = end + 1) {
      this.apply(JSON.parse(bytes.toString('utf8', from, end)) as Entry);
    }
  }

  /** Earlier versions kept tables in `state.json`, and messages in a journal, which is not carried over. */
  private readFormerVersion(file: string): void {
    if (!existsSync(file)) return;
    const stored = JSON.parse(readFileSync(file, 'utf8')) as { collections: Record<string, Record<string, unknown>> };
    for (const [name, entries] of Object.entries(stored.collections)) {
      for (const [key, value] of Object.entries(entries)) this.table(name).set(key, value);
    }
    this.sequence = UNKNOWN_SEQUENCE;
    this.log('simulator: templates, numbers, profiles and files of an earlier version are kept, messages are not');
  }

  private apply(entry: Entry): void {
    switch (entry[0]) {
      case 'set':
        this.table(entry[1]).set(entry[2], entry[3]);
        return;
      case 'delete':
        this.table(entry[1]).delete(entry[2]);
        return;
      case 'clear':
        this.table(entry[1]).clear();
        return;
      case 'message':
        this.messages.add({ ...entry[1], postedSteps: 0 });
        this.sequence = Math.max(this.sequence, entry[1].sequence);
        return;
      case 'done':
        for (const [sequence, bits] of entry[1]) {
          const message = this.messages.bySequence(sequence);
          if (message !== undefined) message.doneSteps |= bits;
        }
        return;
      case 'sequence':
        this.sequence = Math.max(this.sequence, entry[1]);
    }
  }
}

function lineOf(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Hands the text to the operating system: it survives the process, not a power cut. */
function writeAll(descriptor: number, text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  writeFileSync(descriptor, bytes);
  return bytes.length;
}
