import { released } from '../../../migrations/released.js';
import { type Migrations, type RanMigration, schemaStateOf, timeOf } from './schema-state.js';
import type { SqlMigration } from './sql-migration.js';

/**
 * The migrations that make one migration of the list the last that a database has: `down` is reverted first, then `up`
 * runs.
 */
export interface MigrationPlan {
  /** The migrations to revert, newest first. */
  down: SqlMigration[];
  /** The migrations to run, oldest first. */
  up: SqlMigration[];
}

/** For each release, oldest release first: its version, and the newest migration in it. */
export const lastOfReleases: ReadonlyMap<string, string> = new Map(
  Object.entries(released).map(([version, of]) => [
    version,
    Object.keys(of).reduce((last, name) => (timeOf(name) > timeOf(last) ? name : last)),
  ]),
);

/** The version of the release in which this migration came; null where no release has the migration yet. */
export function releaseOf(migration: string): string | null {
  return Object.entries(released).find(([, of]) => migration in of)?.[0] ?? null;
}

/** The last migration of the first release: no release works on an earlier schema. */
export const oldestPlace = (): string => [...lastOfReleases.values()][0] ?? '';

/**
 * The name of a migration that is given by its name, by its file, or by a release, which stands for its last migration.
 *
 * @throws Error where there is no such migration; its text lists the releases and points to `herald migrate --status`.
 */
export function migrationNamed(given: string, list: Migrations): string {
  const ofRelease = lastOfReleases.get(given.replace(/^v/, ''));
  const time = /(?<!\d)\d{13}(?!\d)/.exec(given)?.[0];
  const found = list.find(
    ({ name }) => name === (ofRelease ?? given) || (time !== undefined && timeOf(name) === Number(time)),
  );
  if (found !== undefined) return found.name;
  throw new Error(
    `there is no migration ${given}: give its name as \`herald migrate --status\` has it, or a release (${[...lastOfReleases.keys()].join(', ')})`,
  );
}

/** The last but one of the migrations that ran; null where fewer than two ran. */
export function placeBefore(ran: readonly RanMigration[], list: Migrations): string | null {
  const names = new Set(ran.map(({ name }) => name));
  return list.filter(({ name }) => names.has(name)).at(-2)?.name ?? null;
}

/**
 * The plan that brings a database from the migrations that ran to another last migration.
 *
 * @param to the last migration that the database is to have; null: no migration.
 */
export function planTo(to: string | null, ran: readonly RanMigration[], list: Migrations): MigrationPlan {
  const end = list.findIndex(({ name }) => name === to);
  const has = new Set(ran.map(({ name }) => name));
  const missing = new Set(schemaStateOf(ran, list).missing);
  const made = list.map((Migration) => new Migration());
  return {
    down: made.filter(({ name }, at) => at > end && has.has(name)).toReversed(),
    up: made.filter(({ name }, at) => at <= end && missing.has(name)),
  };
}

/** Tables and columns that the `down` statements drop. */
export function droppedBy({ down }: SqlMigration): { table: string; column: string | null }[] {
  const dropped: { table: string; column: string | null }[] = [];
  for (const statement of down.join(';\n').split(';')) {
    const table = /\bdrop table (?:if exists )?(\w+)/i.exec(statement)?.[1];
    if (table !== undefined) dropped.push({ table, column: null });
    const altered = /\balter table (?:if exists )?(?:only )?(\w+)/i.exec(statement)?.[1];
    if (altered === undefined) continue;
    for (const [, column = ''] of statement.matchAll(/\bdrop column (?:if exists )?(\w+)/gi)) {
      dropped.push({ table: altered, column });
    }
  }
  return dropped;
}
