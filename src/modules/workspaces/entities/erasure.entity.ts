import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OpenErasure } from '../erasure/erasure.types.js';

/** An erasure that has begun and not ended. */
@Entity('erasure')
export class ErasureEntity implements OpenErasure {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('text', { array: true })
  numbers!: readonly string[];

  @Column('text', { array: true })
  userIds!: readonly string[];

  @Column('uuid', { array: true })
  conversationIds!: readonly string[];

  /** When a worker goes on with it. */
  @Column('timestamptz', { select: false })
  dueAt!: Date;
}
