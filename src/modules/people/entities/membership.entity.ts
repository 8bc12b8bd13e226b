import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkspaceRole } from '../../../infrastructure/http/roles.js';

export type MembershipSource = 'group' | 'invitation';

/** What a person may do in a workspace. */
@Entity('membership')
export class MembershipEntity {
  @PrimaryColumn('uuid')
  organizationId!: string;

  @PrimaryColumn('uuid')
  personId!: string;

  /** By a group of the issuer, or by an invitation. */
  @PrimaryColumn('text')
  source!: MembershipSource;

  @Column('text')
  role!: WorkspaceRole;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
