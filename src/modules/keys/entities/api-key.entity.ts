import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Scope } from '../../../infrastructure/http/scopes.js';

/** A key; its secret part is kept as a hash only. */
@Entity('api_key')
export class ApiKeyEntity {
  /** The public part of the key's text. */
  @PrimaryColumn('text')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('text')
  name!: string;

  /** SHA-256 of the secret part. */
  @Column('bytea', { select: false })
  secretHash!: Buffer;

  @Column('text', { array: true })
  scopes!: Scope[];

  /** The OTP project that the key belongs to, and to nothing else of the workspace. */
  @Column('uuid', { nullable: true })
  otpProjectId!: string | null;

  @Column('timestamptz', { nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  /** At most a minute old. */
  @Column({ type: 'timestamptz', nullable: true, insert: false })
  lastUsedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
