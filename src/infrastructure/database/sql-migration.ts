import { createHash } from 'node:crypto';
import type { RunStatement } from './partitions.js';

/**
 * A step that cannot run in a transaction, or must not keep one open. It runs alone, may be interrupted, and can be
 * repeated.
 */
export interface BesideTraffic {
  /** The SQL of the step: a part of the checksum, and shown before it runs. */
  readonly text: string;
  /**
   * @param run runs one statement, in a transaction of its own.
   * @param withLocks like `run`, for a statement that must not wait long for a lock: it is repeated.
   */
  readonly work: (run: RunStatement, withLocks: RunStatement) => Promise<void>;
}

/** The way up of a migration: SQL statements, and steps beside the traffic, in order. */
export type Up = readonly (string | BesideTraffic)[];

/** Statements that run in one transaction, or a step that runs alone. */
export type Step = readonly string[] | BesideTraffic;

/**
 * A migration with SQL for both directions. Its checksum is stored in the database with its name, so that a build can
 * tell whether its own migration ran there.
 */
export abstract class SqlMigration {
  abstract readonly name: string;
  protected abstract readonly upSql: string | Up;
  protected abstract readonly downSql: string | readonly string[];

  /** The checksum of the way up, independent of comments and line breaks. */
  get checksum(): string {
    return checksumOf(this.statements.map(textOf));
  }

  /** The checksum of both directions: it must not change once a release has the migration. */
  get frozenChecksum(): string {
    return checksumOf([this.checksum, ...this.down]);
  }

  /** Way up: consecutive statements form one step. The database stores how many steps are done. */
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

  /** Way back, in one transaction; also after an interrupted way up. */
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
 * An index on a table in use: `indexConcurrently('label_name', 'label (organization_id, lower(name))')`. It reads the
 * table twice and waits for the transactions that are open, but blocks none. An invalid index from a failed run is
 * dropped first.
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
  /** Which rows still need it, so that a repeated run changes only rows that were missed. */
  where: string;
  /** A unique column with an index, in whose order the table is walked. Default: id. */
  key?: string;
  /** Rows per transaction. */
  size?: number;
}

/** Fills rows of a table in use in batches: a transaction locks few rows, for milliseconds. */
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
