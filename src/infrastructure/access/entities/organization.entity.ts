import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The driver reads a bigint as text. */
function bytesOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** A workspace: whoever owns keys, numbers and messages. */
@Entity('organization')
export class OrganizationEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column({ type: 'timestamptz', name: 'api_paid_until', nullable: true })
  apiPaidUntil!: Date | null;

  /** Null: the service's default. */
  @Column('integer', { name: 'rate_per_second', nullable: true })
  ratePerSecond!: number | null;

  /** Null: the service's default. */
  @Column('integer', { name: 'rate_burst', nullable: true })
  rateBurst!: number | null;

  /** Null: the service's default. */
  @Column('bigint', {
    name: 'storage_limit_bytes',
    nullable: true,
    transformer: { to: (value) => value, from: bytesOf },
  })
  storageLimitBytes!: number | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
