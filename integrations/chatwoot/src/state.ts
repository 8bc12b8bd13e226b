import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

export interface AgentFile {
  url: string;
  name: string;
}

/** An answer of an agent that Chatwoot was told is taken: it is kept until Herald has it, or the agent knows why not. */
export interface Answer {
  /** Of Chatwoot's message. */
  id: number;
  conversation: number;
  /** Herald's conversation, or null where an agent began it in Chatwoot. */
  heraldConversation: string | null;
  phone: string | null;
  content: string;
  files: AgentFile[];
  replyTo: string | null;
  /** 0, and one more with each Retry of the agent. */
  attempt: number;
  /** Whether Chatwoot must confirm first that the agent pressed Retry. */
  isRetry: boolean;
  acceptedAt: number;
  /** What is sent to Herald, stored before the first try: a repeat has the same key and must have the same body. */
  requests: object[] | null;
  /** Why it is not sent; Chatwoot may not have been told yet. */
  failure: string | null;
}

interface Kept {
  /** When the folder was first used, in milliseconds. */
  since: number;
  cursor: string | null;
  answers: Map<number, Answer>;
  /** Ids of the newest answers that are through, for callbacks that come again. */
  done: Set<number>;
  /** Answers that Chatwoot shows as failed: only these may be retried. */
  failed: Map<number, Failure>;
}

export interface Failure {
  attempt: number;
  /** Of the messages that the answer became, from 1. */
  part: number;
}

type Line =
  | { since: number }
  | { cursor: string }
  | { answer: Answer }
  | { done: number }
  | { failed: { id: number; failure: Failure | null } };

const FILE = 'state.jsonl';
const MOST_DONE = 5_000;
const MOST_FAILED = 5_000;
const LINES_BEFORE_COMPACTION = 5_000;

/** What a restart must find, in one file of lines: appended, and written anew when it is long. One process at a time. */
export class State {
  private lines = 0;
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly dataDir: string,
    private file: FileHandle,
    private readonly kept: Kept,
  ) {}

  static async open(dataDir: string): Promise<State> {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const kept: Kept = { since: Date.now(), cursor: null, answers: new Map(), done: new Set(), failed: new Map() };
    const path = join(dataDir, FILE);
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    // Behind the last line end is what a killed process did not finish: no caller was told that it is stored.
    for (const line of lines.slice(0, -1)) apply(kept, JSON.parse(line) as Line);
    return new State(dataDir, await compacted(dataDir, kept), kept);
  }

  get since(): number {
    return this.kept.since;
  }

  get cursor(): string | null {
    return this.kept.cursor;
  }

  /** Oldest first. */
  get answers(): Iterable<Answer> {
    return this.kept.answers.values();
  }

  get waiting(): number {
    return this.kept.answers.size;
  }

  isKnown(id: number): boolean {
    return this.kept.answers.has(id) || this.kept.done.has(id);
  }

  isPending(id: number): boolean {
    return this.kept.answers.has(id);
  }

  /** Null where Chatwoot does not show it as failed. */
  failureOf(id: number): Failure | null {
    return this.kept.failed.get(id) ?? null;
  }

  /** Not flushed to the disk: an older place only means that events are read again. */
  moveTo(cursor: string): Promise<void> {
    return this.append({ cursor }, false);
  }

  /** Resolves once it is on the disk. */
  keep(answer: Answer): Promise<void> {
    return this.append({ answer }, true);
  }

  remove(id: number): Promise<void> {
    return this.append({ done: id }, true);
  }

  /** @param failure null: it is not shown as failed any more */
  markFailed(id: number, failure: Failure | null): Promise<void> {
    return this.append({ failed: { id, failure } }, true);
  }

  async close(): Promise<void> {
    await this.last.catch(() => undefined);
    await this.file.close();
  }

  private append(line: Line, isFlushed: boolean): Promise<void> {
    const written = this.last.then(async () => {
      await this.file.appendFile(`${JSON.stringify(line)}\n`);
      if (isFlushed) await this.file.datasync();
      apply(this.kept, line);
      if (++this.lines < LINES_BEFORE_COMPACTION) return;
      const before = this.file;
      this.file = await compacted(this.dataDir, this.kept);
      this.lines = 0;
      await before.close();
    });
    this.last = written.catch(() => undefined);
    return written;
  }
}

function apply(kept: Kept, line: Line): void {
  if ('since' in line) kept.since = line.since;
  else if ('cursor' in line) kept.cursor = line.cursor;
  else if ('answer' in line) kept.answers.set(line.answer.id, line.answer);
  else if ('done' in line) {
    kept.answers.delete(line.done);
    kept.done.add(line.done);
    trim(kept.done, MOST_DONE);
  } else {
    const { id, failure } = line.failed;
    kept.failed.delete(id);
    if (failure !== null) kept.failed.set(id, failure);
    trim(kept.failed, MOST_FAILED);
  }
}

function trim(kept: Set<number> | Map<number, unknown>, most: number): void {
  for (const id of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(id);
  }
}

/** Writes what counts into a new file, which takes the place of the old one whole. */
async function compacted(dataDir: string, { since, cursor, answers, done, failed }: Kept): Promise<FileHandle> {
  const lines: Line[] = [
    { since },
    ...(cursor === null ? [] : [{ cursor }]),
    ...[...done].map((id) => ({ done: id })),
    ...[...failed].map(([id, failure]) => ({ failed: { id, failure } })),
    ...[...answers.values()].map((answer) => ({ answer })),
  ];
  const path = join(dataDir, FILE);
  const file = await open(`${path}.new`, 'w', 0o600);
  await file.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await file.sync();
  await rename(`${path}.new`, path);
  return file;
}
