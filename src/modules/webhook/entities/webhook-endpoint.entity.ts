import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import type { DisabledReason, WebhookEvent } from '../webhook.types.js';

/** Where a workspace's events go. What deliveries learn of its health belongs to the statements of dispatch. */
@Entity('webhook_endpoint')
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  /** Canonical, as `TargetChecker` gave it. */
  @Column('text')
  url!: string;

  @Column('text', { array: true })
  events!: WebhookEvent[];

  /** Of the numbers whose events it gets; empty: of all. */
  @Column('uuid', { array: true, default: [] })
  connectionIds!: string[];

  /** Of its own headers, in the order in which they were given. */
  @Column('text', { array: true, default: [] })
  headerNames!: string[];

  /** Sealed by SecretBox; null: it has none. */
  @Column('bytea', { nullable: true, select: false })
  headersCiphertext!: Buffer | null;

  @Column('boolean')
  active!: boolean;

  /** Counts the changes of the settings. */
  @Column({ type: 'integer', insert: false })
  revision!: number;

  /** Since when it takes no events: paused, disabled or deleted. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  inactiveSince!: Date | null;

  @Column('text', { nullable: true })
  disabledReason!: DisabledReason | null;

  /** First failed attempt after the last success. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  failingSince!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true, select: false })
  lastFailureAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true, insert: false })
  deletedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false })
  updatedAt!: Date;

  @OneToMany(() => WebhookSecretEntity, (secret) => secret.endpoint)
  secrets!: Relation<WebhookSecretEntity>[];
}

/** One of an endpoint's signing secrets. */
@Entity('webhook_secret')
export class WebhookSecretEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('uuid')
  endpointId!: string;

  /** Sealed by SecretBox. */
  @Column('bytea', { select: false })
  ciphertext!: Buffer;

  /** Its last characters. */
  @Column('text')
  hint!: string;

  /** Until when it signs once it was replaced; null: it is the current one. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @ManyToOne(() => WebhookEndpointEntity, (endpoint) => endpoint.secrets)
  @JoinColumn({ name: 'endpoint_id' })
  endpoint!: Relation<WebhookEndpointEntity>;
}
