import { mkdirSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A named table of the state: a map whose changes are saved. Values must be plain JSON; replace them, never mutate. */
export interface Collection<T> {
  get(key: string): T | undefined;
  has(key: string): boolean;
  values(): T[];
  readonly size: number;
  set(key: string, value: T): void;
  delete(key: string): boolean;
  clear(): void;
}

class SavedMap<T> implements Collection<T> {
  constructor(
    private readonly entries: Map<string, T>,
    private readonly changed: () => void,
  ) {}

  get(key: string): T | undefined {
    return this.entries.get(key);
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  values(): T[] {
    return [...this.entries.values()];
  }

  get size(): number {
    return this.entries.size;
  }

  set(key: string, value: T): void {
    this.entries.set(key, value);
    this.changed();
  }

  delete(key: string): boolean {
    const existed = this.entries.delete(key);
    if (existed) this.changed();
    return existed;
  }

  clear(): void {
    if (this.entries.size === 0) return;
    this.entries.clear();
    this.changed();
  }
}

/**
 * What changes seldom and must outlive the process (numbers, templates, people): one JSON file, replaced as a whole.
 * The server waits for {@link flush} before it answers a write, so an acknowledged change survives `kill -9`.
 */
export class StateStore {
  private readonly file: string | null;
  private readonly tables = new Map<string, Map<string, unknown>>();
  private revision = 0;
  private saved = 0;
  private saving: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  /** @param dataDir made when it does not exist; null keeps the state in memory */
  constructor(
    dataDir: string | null,
    private readonly log: (line: string) => void,
    private readonly debounceMs = 50,
  ) {
    this.file = dataDir === null ? null : join(dataDir, 'state.json');
    if (dataDir !== null) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  }

  /** Reads the file; false when there is none yet. Throws where it is there and can't be read as JSON. */
  load(): boolean {
    if (this.file === null) return false;
    let text: string;
    try {
      text = readFileSync(this.file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    const stored = JSON.parse(text) as { collections: Record<string, Record<string, unknown>> };
    for (const [name, entries] of Object.entries(stored.collections)) {
      const table = this.table(name);
      for (const [key, value] of Object.entries(entries)) table.set(key, value);
    }
    return true;
  }

  collection<T>(name: string): Collection<T> {
    return new SavedMap(this.table(name) as Map<string, T>, () => this.changed());
  }

  get dirty(): boolean {
    return this.file !== null && this.saved !== this.revision;
  }

  /** Resolves once everything changed so far is in the file. Callers at the same time share one write. */
  async flush(): Promise<void> {
    while (this.dirty) {
      this.saving ??= this.save().finally(() => {
        this.saving = null;
      });
      await this.saving;
    }
  }

  private changed(): void {
    this.revision++;
    if (this.file === null || this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.flush().catch((error: unknown) => this.log(`simulator: state was not saved: ${String(error)}`));
    }, this.debounceMs);
    this.timer.unref();
  }

  private async save(): Promise<void> {
    const file = this.file;
    if (file === null) return;
    const revision = this.revision;
    const collections = Object.fromEntries(
      [...this.tables].map(([name, entries]) => [name, Object.fromEntries(entries)] as const),
    );
    await writeFile(`${file}.new`, JSON.stringify({ version: 1, collections }, null, 1), { mode: 0o600 });
    await rename(`${file}.new`, file);
    this.saved = revision;
  }

  private table(name: string): Map<string, unknown> {
    let table = this.tables.get(name);
    if (table === undefined) {
      table = new Map();
      this.tables.set(name, table);
    }
    return table;
  }
}
