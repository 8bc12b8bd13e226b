import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The platform's copy of one of our files, for one number. */
@Entity('media_platform_id')
export class MediaPlatformIdEntity {
  @PrimaryColumn('uuid')
  mediaObjectId!: string;

  @PrimaryColumn('uuid')
  connectionId!: string;

  @Column('uuid')
  organizationId!: string;

  /** Empty while a process uploads the file. */
  @Column('text')
  platformMediaId!: string;

  /** Until when the copy, or the announcement of an upload, is good. */
  @Column('timestamptz')
  expiresAt!: Date;
}
