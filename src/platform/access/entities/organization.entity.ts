import { Column, Entity, PrimaryColumn } from 'typeorm';

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

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
