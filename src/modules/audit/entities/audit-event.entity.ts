import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An administrative change. The database refuses to change it. */
@Entity('audit_event')
export class AuditEventEntity {
  @PrimaryColumn('bigint', { generated: 'identity' })
  id!: string;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  occurredAt!: Date;

  /** The workspace; null for what concerns the whole service. */
  @Column('uuid', { nullable: true })
  organizationId!: string | null;

  @Column('text')
  action!: string;

  /** Id of what was changed. */
  @Column('text', { nullable: true })
  target!: string | null;

  @Column('text')
  actorKind!: 'key' | 'operator' | 'operator_key' | 'person' | 'setup_link' | 'service';

  /** Id of the key or operator key, or the operator's account on the machine. */
  @Column('text', { nullable: true })
  actor!: string | null;

  /** The caller's address, or the operator's machine. */
  @Column('text', { nullable: true })
  address!: string | null;

  @Column('jsonb', { nullable: true })
  details!: Record<string, unknown> | null;
}
