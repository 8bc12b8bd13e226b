import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Scope } from '../../../infrastructure/http/scopes.js';

/** An API key. Of the secret part only a hash is stored. */
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

  /** The OTP project to which the key is restricted; null for a key of the whole workspace. */
  @Column('uuid', { nullable: true })
  otpProjectId!: string | null;

  @Column('timestamptz', { nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  /** Written at most once a minute, so the real last use may be up to a minute later. Null: never used. */
  @Column({ type: 'timestamptz', nullable: true, insert: false })
  lastUsedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
