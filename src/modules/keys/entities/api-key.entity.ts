import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Scope } from '../../../infrastructure/http/scopes.js';

/** A key; its secret part is kept as a hash only. */
@Entity('api_key')
export class ApiKeyEntity {
  /** The public part of the key's text. */
  @PrimaryColumn('text')
  id!: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId!: string;

  @Column('text')
  name!: string;

  /** SHA-256 of the secret part. */
  @Column('bytea', { name: 'secret_hash', select: false })
  secretHash!: Buffer;

  @Column('text', { array: true })
  scopes!: Scope[];

  /** The OTP project that the key belongs to, and to nothing else of the workspace. */
  @Column('uuid', { name: 'otp_project_id', nullable: true })
  otpProjectId!: string | null;

  @Column({ type: 'timestamptz', name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  /** At most a minute old. */
  @Column({ type: 'timestamptz', name: 'last_used_at', nullable: true, insert: false })
  lastUsedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
