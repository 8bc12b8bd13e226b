import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

export const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;
/** What a file is to the platform; it decides about formats and limits. */
export type MediaType = (typeof MEDIA_TYPES)[number];

export const MEDIA_DIRECTIONS = ['outbound', 'inbound'] as const;
export type MediaDirection = (typeof MEDIA_DIRECTIONS)[number];

export const MEDIA_STATUSES = ['stored', 'pending', 'failed'] as const;
/** Pending: a customer's file that is not fetched yet. Failed: it can't be fetched any more. */
export type MediaStatus = (typeof MEDIA_STATUSES)[number];

/** A file and where its bytes are stored. The columns of its fetch belong to the statements of FetchRepository. */
@Entity('media_object')
export class MediaObjectEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('uuid')
  connectionId!: string;

  @Column('text')
  direction!: MediaDirection;

  @Column('text')
  type!: MediaType;

  /** As the platform spells it, such as `audio/ogg; codecs=opus`. Of an inbound file: as the platform said. */
  @Column('text')
  mimeType!: string;

  /** The driver returns a bigint as text. */
  @Column('bigint', {
    nullable: true,
    transformer: {
      to: (value: unknown) => value,
      from: (text: string | null) => (text === null ? null : Number(text)),
    },
  })
  sizeBytes!: number | null;

  /** Lower-case hex. Of a pending file: as the platform announced it. */
  @Column('text', { nullable: true })
  sha256!: string | null;

  /** The sender's name of the file: data, never a path. */
  @Column('text', { nullable: true })
  filename!: string | null;

  /** To be shown as a voice message. */
  @Column('boolean')
  voice!: boolean;

  @Column('text')
  status!: MediaStatus;

  /** Null while there are no bytes. */
  @Column('uuid', { nullable: true })
  storageKey!: string | null;

  @CreateDateColumn({ type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
