import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ConnectionStatus, StatusReason } from '../connection-status.js';
import type { MarketingRoute } from '../marketing-route.js';

/** A WhatsApp number of a workspace. */
@Entity('connection')
export class ConnectionEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  /** The platform's id of the number; inbound notifications are routed by it. */
  @Column('text')
  phoneNumberId!: string;

  @Column('text')
  wabaId!: string;

  /** Digits without `+`. */
  @Column('text')
  phoneNumber!: string;

  @Column('text', { nullable: true })
  verifiedName!: string | null;

  @Column('text')
  status!: ConnectionStatus;

  @Column('text', { nullable: true })
  qualityRating!: string | null;

  @Column('text', { nullable: true })
  messagingLimit!: string | null;

  /** Messages a second that the platform takes from this number. */
  @Column('integer', { default: 80 })
  throughputPerSecond!: number;

  @Column('text', { default: 'auto' })
  marketingRoute!: MarketingRoute;

  /** Whether the account may use the endpoint of marketing messages, in the platform's words: `ONBOARDED`, `ELIGIBLE` ... */
  @Column('text', { nullable: true })
  marketingStatus!: string | null;

  @Column('text', { nullable: true })
  timezone!: string | null;

  /** Sealed by SecretBox; never selected unless asked for. */
  @Column('bytea', { select: false })
  tokenCiphertext!: Buffer;

  /** Why it can't send, where it can't. */
  @Column('text', { nullable: true })
  statusReason!: StatusReason | null;

  /** Grows with each new token. */
  @Column('integer', { default: 1 })
  tokenVersion!: number;

  /** The pace was chosen by the operator; the platform's answers don't change it. */
  @Column('boolean', { default: false })
  throughputFixed!: boolean;

  @Column('timestamptz', { nullable: true })
  restrictedUntil!: Date | null;

  /** Since when the platform refuses what it charges for. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  paymentMissingAt!: Date | null;

  /** The first service message beyond the free ones, of the last month that had one. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  serviceChargedSince!: Date | null;

  /** When the platform last described the number. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  factsAt!: Date | null;

  /** When the platform is asked next. */
  @Column('timestamptz', { select: false })
  factsDueAt!: Date;

  /** When its profile was last changed through Herald: the platform keeps the rest of it. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true, select: false })
  profileUpdatedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false })
  updatedAt!: Date;
}
