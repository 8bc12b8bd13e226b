import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WebhookEvent } from '../../webhook/webhook.types.js';
import type { DestinationKind, DestinationSettings } from '../destinations.types.js';

/** A broker or queue of a workspace. Its place in the journal, and what turns learn of it, belong to the statements of the runner. */
@Entity('event_destination')
export class EventDestinationEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('text')
  name!: string;

  @Column('text')
  kind!: DestinationKind;

  @Column('jsonb')
  settings!: DestinationSettings;

  /** In the order in which the API lists them. */
  @Column('text', { array: true, default: [] })
  secretNames!: string[];

  /** Sealed by SecretBox; null: it has none. */
  @Column('bytea', { nullable: true, select: false })
  secretsCiphertext!: Buffer | null;

  @Column('text', { array: true })
  events!: WebhookEvent[];

  /** Of the numbers whose events it gets; empty: of all. */
  @Column('uuid', { array: true, default: [] })
  connectionIds!: string[];

  @Column('boolean')
  active!: boolean;

  /** Counts the changes of what a connection depends on. */
  @Column({ type: 'integer', insert: false })
  revision!: number;

  @Column({ type: 'uuid', array: true, insert: false })
  writtenAhead!: string[];

  @Column({ type: 'uuid', nullable: true, insert: false })
  attemptId!: string | null;

  @Column({ type: 'timestamptz', insert: false })
  dueAt!: Date;

  @Column({ type: 'integer', insert: false })
  tries!: number;

  /** First failed turn after the last success. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true, insert: false })
  failingSince!: Date | null;

  @Column({ type: 'text', nullable: true, insert: false })
  lastError!: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true, insert: false })
  lastErrorAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true, insert: false })
  lastWrittenAt!: Date | null;

  /** As text. */
  @Column({ type: 'bigint', insert: false })
  written!: string;

  /** As text. */
  @Column({ type: 'bigint', insert: false })
  lost!: string;

  @Column({ type: 'timestamptz', precision: 3, nullable: true, insert: false })
  lostAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false })
  updatedAt!: Date;
}
