import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OtpMode } from '../../keys/caller.decorator.js';

/** An application of a workspace that sends codes. Its counts of guesses belong to the statements of challenges. */
@Entity('otp_project')
export class OtpProjectEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('text')
  name!: string;

  @Column('text')
  mode!: OtpMode;

  /** Language of the template that carries the codes. */
  @Column('text')
  templateLanguage!: string;

  /** ISO 3166 alpha-2; null: any country. */
  @Column('text', { array: true, nullable: true })
  allowedCountries!: string[] | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}

/** The service's own number, which sends the codes of every project: one row or none. */
@Entity('otp_sender')
export class OtpSenderEntity {
  @PrimaryColumn('boolean', { select: false })
  id!: true;

  @Column('text')
  phoneNumberId!: string;

  /** Digits; null where the platform did not report it. */
  @Column('text', { nullable: true })
  phoneNumber!: string | null;

  /** An AUTHENTICATION template. */
  @Column('text')
  templateName!: string;

  /** Numbers from which codes were sent before: the platform still reports about these. */
  @Column('text', { array: true })
  formerNumberIds!: string[];

  @Column('integer')
  throughputPerSecond!: number;

  @Column('text')
  status!: 'connected' | 'disconnected';

  @Column('integer')
  tokenVersion!: number;

  /** Sealed by SecretBox. */
  @Column('bytea')
  tokenCiphertext!: Buffer;

  @Column({ type: 'timestamptz', precision: 3, select: false })
  updatedAt!: Date;
}
