import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A workspace: the owner of keys, numbers and messages. */
@Entity('organization')
export class OrganizationEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  /** Null: never paid. */
  @Column({ type: 'timestamptz', name: 'api_paid_until', nullable: true })
  apiPaidUntil!: Date | null;

  /** Null: the service's default. */
  @Column('integer', { name: 'rate_per_second', nullable: true })
  ratePerSecond!: number | null;

  /** Null: the service's default. */
  @Column('integer', { name: 'rate_burst', nullable: true })
  rateBurst!: number | null;

  /** Of its stored files; null: the service's default. The driver reads a bigint as text. */
  @Column('bigint', {
    name: 'storage_limit_bytes',
    nullable: true,
    transformer: { to: (value) => value, from: (text: string | null) => (text === null ? null : Number(text)) },
  })
  storageLimitBytes!: number | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
