import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OperatorScope } from '../../../infrastructure/http/scopes.js';

/** A key of the admin API; its secret part is kept as a hash only. */
@Entity('operator_key')
export class OperatorKeyEntity {
  /** The public part of the key's text. */
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  name!: string;

  /** SHA-256 of the secret part. */
  @Column('bytea', { name: 'secret_hash', select: false })
  secretHash!: Buffer;

  @Column('text', { array: true })
  scopes!: OperatorScope[];

  /** Null: all of them, and what concerns the whole installation. */
  @Column('uuid', { name: 'workspace_ids', array: true, nullable: true })
  workspaceIds!: string[] | null;

  @Column({ type: 'timestamptz', name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;

  /** Written at most once a minute, so the real last use may be up to a minute later. Null: never used. */
  @Column({ type: 'timestamptz', name: 'last_used_at', nullable: true, insert: false })
  lastUsedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
