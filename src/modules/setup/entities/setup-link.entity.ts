import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SetupSteps, SignupKind } from '../setup.types.js';

/** A link by which a business connects its number. */
@Entity('setup_link')
export class SetupLinkEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  /** SHA-256 of the link's token. */
  @Column('bytea', { select: false })
  tokenHash!: Buffer;

  @Column('text')
  signup!: SignupKind;

  @Column('text')
  locale!: string;

  @Column('text', { nullable: true })
  returnUrl!: string | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  /** When the page asked for it first. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  openedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  completedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;

  /** How each step went that was tried. */
  @Column('jsonb', { default: {} })
  steps!: SetupSteps;

  /** The platform's id of the number, once it is known. */
  @Column('text', { nullable: true })
  phoneNumberId!: string | null;

  @Column('text', { nullable: true })
  wabaId!: string | null;

  /** Sealed by SecretBox: the access token of the account, until the connection has it. */
  @Column('bytea', { nullable: true, select: false })
  accessTokenCiphertext!: Buffer | null;

  /** SHA-256 of what the page got that completed the link. */
  @Column('bytea', { nullable: true, select: false })
  continuationHash!: Buffer | null;

  @Column('uuid', { nullable: true })
  connectionId!: string | null;

  /** A step is under way until then at the most. */
  @Column('timestamptz', { nullable: true })
  busyUntil!: Date | null;
}
