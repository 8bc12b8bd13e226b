import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { MediaDirection, MediaObject, MediaStatus, MediaType } from '../media.types.js';

/** A file and where its bytes are stored. The columns of its fetch belong to the statements of FetchRepository. */
@Entity('media_object')
export class MediaObjectEntity implements MediaObject {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'organization_id' })
  organizationId!: string;

  @Column('uuid', { name: 'connection_id' })
  connectionId!: string;

  @Column('text')
  direction!: MediaDirection;

  @Column('text')
  type!: MediaType;

  @Column('text', { name: 'mime_type' })
  mimeType!: string;

  /** The driver returns a bigint as text. */
  @Column('bigint', {
    name: 'size_bytes',
    nullable: true,
    transformer: {
      to: (value: unknown) => value,
      from: (text: string | null) => (text === null ? null : Number(text)),
    },
  })
  sizeBytes!: number | null;

  @Column('text', { nullable: true })
  sha256!: string | null;

  @Column('text', { nullable: true })
  filename!: string | null;

  @Column('boolean')
  voice!: boolean;

  @Column('text')
  status!: MediaStatus;

  /** Null while there are no bytes. */
  @Column('uuid', { name: 'storage_key', nullable: true })
  storageKey!: string | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;
}
