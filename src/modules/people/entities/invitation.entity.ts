import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkspaceRole } from '../../../infrastructure/http/roles.js';

/** A role for the first person who signs in with a verified address. */
@Entity('invitation')
export class InvitationEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  /** As `addressOf` has it. */
  @Column('text')
  email!: string;

  @Column('text')
  role!: WorkspaceRole;

  @Column({ type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  acceptedAt!: Date | null;

  /** The person. */
  @Column('uuid', { nullable: true })
  acceptedBy!: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
