import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OtpMode } from '../../keys/caller.decorator.js';

/** An application of a workspace that sends codes. Its counts of guesses belong to the statements of challenges. */
@Entity('otp_project')
export class OtpProjectEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId!: string;

  @Column('text')
  name!: string;

  @Column('text')
  mode!: OtpMode;

  /** Language of the template that carries the codes. */
  @Column('text', { name: 'template_language' })
  templateLanguage!: string;

  /** ISO 3166 alpha-2; null: any country. */
  @Column('text', { name: 'allowed_countries', array: true, nullable: true })
  allowedCountries!: string[] | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;
}

/** The service's own number, which sends the codes of every project: one row or none. */
@Entity('otp_sender')
export class OtpSenderEntity {
  @PrimaryColumn('boolean', { select: false })
  id!: true;

  @Column('text', { name: 'phone_number_id' })
  phoneNumberId!: string;

  /** Digits; null where the platform did not report it. */
  @Column('text', { name: 'phone_number', nullable: true })
  phoneNumber!: string | null;

  /** An AUTHENTICATION template. */
  @Column('text', { name: 'template_name' })
  templateName!: string;

  /** Numbers from which codes were sent before: the platform still reports about these. */
  @Column('text', { name: 'former_number_ids', array: true })
  formerNumberIds!: string[];

  @Column('integer', { name: 'throughput_per_second' })
  throughputPerSecond!: number;

  @Column('text')
  status!: 'connected' | 'disconnected';

  @Column('integer', { name: 'token_version' })
  tokenVersion!: number;

  /** Sealed by SecretBox. */
  @Column('bytea', { name: 'token_ciphertext' })
  tokenCiphertext!: Buffer;

  @Column({ type: 'timestamptz', name: 'updated_at', precision: 3, select: false })
  updatedAt!: Date;
}
