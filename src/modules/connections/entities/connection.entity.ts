import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ConnectionStatus } from '../connections.types.js';

@Entity('connection')
export class ConnectionEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId!: string;

  @Column('text', { name: 'phone_number_id' })
  phoneNumberId!: string;

  @Column('text', { name: 'waba_id' })
  wabaId!: string;

  /** Digits without `+`. */
  @Column('text', { name: 'phone_number' })
  phoneNumber!: string;

  @Column('text', { name: 'verified_name', nullable: true })
  verifiedName!: string | null;

  @Column('text')
  status!: ConnectionStatus;

  @Column('text', { name: 'quality_rating', nullable: true })
  qualityRating!: string | null;

  @Column('text', { name: 'messaging_limit', nullable: true })
  messagingLimit!: string | null;

  @Column('integer', { name: 'throughput_per_second', default: 80 })
  throughputPerSecond!: number;

  @Column('text', { nullable: true })
  timezone!: string | null;

  /** Sealed by SecretBox; never selected unless asked for. */
  @Column('bytea', { name: 'token_ciphertext', select: false })
  tokenCiphertext!: Buffer;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'updated_at', precision: 3, insert: false })
  updatedAt!: Date;
}
