import { createHash } from 'node:crypto';
import type { RunStatement } from './partitions.js';

/** What cannot run in a transaction, or must not hold one open: it runs by itself, may fail midway, and can run again. */
export interface BesideTraffic {
  /** What it does, as SQL: a part of the checksum, and shown before it runs. */
  readonly text: string;
  /**
   * @param run runs one statement, in a transaction of its own.
   * @param withLocks as `run`, for a statement that must not wait long for a lock: it is tried again.
   */
  readonly work: (run: RunStatement, withLocks: RunStatement) => Promise<void>;
}

/** Way up of a migration: statements of SQL, and what runs beside the traffic, in their order. */
export type Up = readonly (string | BesideTraffic)[];

/** Statements that run in one transaction, or what runs by itself. */
export type Step = readonly string[] | BesideTraffic;

/**
 * A migration that is SQL each way. What it does is noted in the database with its name, so that a build knows whether
 * the migration that ran there is its own.
 */
export abstract class SqlMigration {
  abstract readonly name: string;
  protected abstract readonly upSql: string | Up;
  protected abstract readonly downSql: string | readonly string[];

  /** Of the statements, whatever their comments and line breaks are. */
  get checksum(): string {
    return checksumOf(this.statements.map(textOf));
  }

  /** Of both ways: once a release has the migration, this does not change any more. */
  get frozenChecksum(): string {
    return checksumOf([this.checksum, ...this.down]);
  }

  /** Way up: statements that follow each other are one step. How many were done is noted with each. */
  get steps(): readonly Step[] {
    const steps: (string[] | BesideTraffic)[] = [];
    for (const statement of this.statements) {
      const last = steps.at(-1);
      if (typeof statement !== 'string') steps.push(statement);
      else if (Array.isArray(last)) last.push(statement);
      else steps.push([statement]);
    }
    return steps.length === 0 ? [[]] : steps;
  }

  /** Way back, in one transaction; also from a way up that ended midway. */
  get down(): readonly string[] {
    return [this.downSql].flat();
  }

  /** Runs at the end of the first step, in its transaction. */
  afterFirstStep(_run: RunStatement): Promise<void> {
    return Promise.resolve();
  }

  private get statements(): (string | BesideTraffic)[] {
    return [this.upSql].flat();
  }
}

export const textOf = (statement: string | BesideTraffic): string =>
  typeof statement === 'string' ? statement : statement.text;

function checksumOf(texts: readonly string[]): string {
  const bare = texts
    .join(';\n')
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return createHash('sha256').update(bare).digest('hex');
}

/**
 * An index on a table in use: `indexConcurrently('label_name', 'label (organization_id, lower(name))')`. It reads the table twice and
 * waits for the transactions that are open, but blocks none. One that a failed try left behind is dropped first.
 */
export function indexConcurrently(name: string, on: string, { unique = false } = {}): BesideTraffic {
  const text = `create ${unique ? 'unique ' : ''}index concurrently ${name} on ${on}`;
  return {
    text,
    work: async (run) => {
      const found = (await run('select indisvalid as valid from pg_index where indexrelid = to_regclass($1)', [
        name,
      ])) as { valid: boolean }[];
      if (found[0]?.valid === true) return;
      if (found.length > 0) await run(`drop index concurrently ${name}`);
      await run(text);
    },
  };
}

export interface Backfill {
  table: string;
  /** As in `update table set …`; may name columns of the row. */
  set: string;
  /** Which rows still need it: a second run finds those that were missed, and no other. */
  where: string;
  /** A unique column with an index, by which the table is walked. Default: id. */
  key?: string;
  /** Rows that are looked at in one transaction. */
  size?: number;
}

/** Fills rows of a table in use, some at a time: a transaction holds locks of few rows and for milliseconds. */
export function inBatches({ table, set, where, key = 'id', size = 1_000 }: Backfill): BesideTraffic {
  const batch = (after: string): string => `
    with batch as (select ${key} as key from ${table} ${after} order by ${key} limit ${size}),
      filled as (update ${table} set ${set} where ${key} in (select key from batch) and (${where}))
    select key::text as key from batch order by batch.key desc limit 1`;
  return {
    text: `update ${table} set ${set} where ${where} -- in batches of ${size}`,
    work: async (_run, withLocks) => {
      for (let last: string | undefined; ;) {
        const rows = await (last === undefined ? withLocks(batch('')) : withLocks(batch(`where ${key} > $1`), [last]));
        last = (rows as { key: string }[])[0]?.key;
        if (last === undefined) return;
      }
    },
  };
}
