import { indexConcurrently, SqlMigration, type Up } from '../src/infrastructure/database/sql-migration.js';

/** Whom a notification names, for an erasure. */
export class NotifiedPerson1795966000000 extends SqlMigration {
  readonly name = 'NotifiedPerson1795966000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

/** For names of a thousand notifications in a range. */
const BLOOM = 'int4_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.005)';

const UP: Up = [
  // Hashes of the number and the user id of the one person whom it names (personOf in notified-person.ts). Both null: it names several, it is not
  // known whom, or a process of release 0.2 stored it. No row is read or written.
  'alter table platform_notification add column number_hash integer, add column user_hash integer',
  // For an erasure now and then, which reads the ranges of pages that may name the person: it costs a notification a hundredth of its log,
  // where an entry each would cost it two fifths. What came in the last minute is in no range yet, and is read.
  indexConcurrently(
    'platform_notification_person',
    `platform_notification using brin (number_hash ${BLOOM}, user_hash ${BLOOM})
     with (pages_per_range = 64, autosummarize = on)`,
  ),
  indexConcurrently(
    'platform_notification_unnamed',
    'platform_notification (id) where number_hash is null and user_hash is null',
  ),
];

const DOWN: readonly string[] = [
  'drop index if exists platform_notification_unnamed',
  'drop index if exists platform_notification_person',
  'alter table platform_notification drop column number_hash, drop column user_hash',
];
