import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ConnectionStatus, StatusReason } from '../connections.types.js';

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

  /** Why it can't send, where it can't. */
  @Column('text', { name: 'status_reason', nullable: true })
  statusReason!: StatusReason | null;

  @Column('integer', { name: 'token_version', default: 1 })
  tokenVersion!: number;

  @Column('boolean', { name: 'throughput_fixed', default: false })
  throughputFixed!: boolean;

  @Column({ type: 'timestamptz', name: 'restricted_until', nullable: true })
  restrictedUntil!: Date | null;

  /** When the platform last described the number. */
  @Column({ type: 'timestamptz', name: 'facts_at', precision: 3, nullable: true })
  factsAt!: Date | null;

  /** When the profile was last changed through Herald. */
  @Column({ type: 'timestamptz', name: 'profile_updated_at', precision: 3, nullable: true })
  profileUpdatedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'updated_at', precision: 3, insert: false })
  updatedAt!: Date;
}
