import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A workspace: the owner of keys, numbers and messages. */
@Entity('organization')
export class OrganizationEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  /** The operator's own id of the customer, found by it; null: none. */
  @Column('text', { name: 'external_id', nullable: true })
  externalId!: string | null;

  /** Since when a worker deletes it; null: it stays. */
  @Column({ type: 'timestamptz', name: 'deletion_requested_at', precision: 3, nullable: true })
  deletionRequestedAt!: Date | null;

  /** Null: never paid. */
  @Column('timestamptz', { nullable: true })
  apiPaidUntil!: Date | null;

  /** Null: the service's default. */
  @Column('integer', { nullable: true })
  ratePerSecond!: number | null;

  /** Null: the service's default. */
  @Column('integer', { nullable: true })
  rateBurst!: number | null;

  /** Of its stored files; null: the service's default. The driver reads a bigint as text. */
  @Column('bigint', {
    nullable: true,
    transformer: { to: (value) => value, from: (text: string | null) => (text === null ? null : Number(text)) },
  })
  storageLimitBytes!: number | null;

  /** Messages that are accepted in a day; null: any number. */
  @Column('integer', { nullable: true })
  messagesPerDay!: number | null;

  /** What its messages of a month may cost, a decimal in the currency of the operator's prices; null: any amount. */
  @Column('numeric', { precision: 15, scale: 6, nullable: true })
  spendPerMonth!: string | null;

  /** Marketing templates to one recipient in a week; null: any number. */
  @Column('integer', { nullable: true })
  marketingPerRecipientPerWeek!: number | null;

  /** IANA name: where its days, weeks and months begin. */
  @Column('text', { default: 'UTC' })
  timeZone!: string;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
