import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_MEDIA_ID } from '../../../common/example-ids.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { MEDIA_DIRECTIONS, MEDIA_STATUSES, MEDIA_TYPES } from '../media.types.js';
import type { ListedMedia, MediaDirection, MediaStatus, MediaType } from '../media.types.js';

const EXAMPLE_SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** A file of the workspace. */
export class MediaResponse {
  /** Used as `media.id` when sending. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_MEDIA_ID })
  id!: string;

  /** The number that it was uploaded for, or that received it. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id!: string;

  /** What it can be sent as. */
  @ApiProperty({ enum: MEDIA_TYPES, example: 'document' })
  type!: MediaType;

  /** The MIME type, detected from the content. */
  @ApiProperty({ example: 'application/pdf' })
  mime_type!: string;

  /** Null while an inbound file is not fetched yet. */
  @ApiProperty({ type: 'integer', example: 48213 })
  size_bytes!: number | null;

  /** SHA-256 of the bytes in hex. */
  @ApiProperty({ example: EXAMPLE_SHA256 })
  sha256!: string | null;

  /** As its sender named it, without folders and invisible characters; at most 240 characters. */
  @ApiProperty({ example: 'invoice-2026-11.pdf' })
  filename!: string | null;

  /** It is a voice message. */
  @ApiProperty({ example: false })
  voice!: boolean;

  /** `outbound`: uploaded here; `inbound`: sent by a customer. */
  @ApiProperty({ enum: MEDIA_DIRECTIONS, example: 'outbound' })
  direction!: MediaDirection;

  /** `pending`: Herald is fetching it from the platform; `failed`: it will not come. */
  @ApiProperty({ enum: MEDIA_STATUSES, example: 'stored' })
  status!: MediaStatus;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:00:00.125Z' })
  created_at!: string;

  /** When Herald deletes it by itself, as it is set up now; null: it stays until you delete it. */
  @ApiProperty({ format: 'date-time', example: null })
  expires_at!: string | null;

  static of(media: ListedMedia): MediaResponse {
    return {
      id: media.id,
      connection_id: media.connectionId,
      type: media.type,
      mime_type: media.mimeType,
      size_bytes: media.sizeBytes,
      sha256: media.sha256,
      filename: media.filename,
      voice: media.voice,
      direction: media.direction,
      status: media.status,
      created_at: media.createdAt.toISOString(),
      expires_at: media.expiresAt?.toISOString() ?? null,
    };
  }
}

export class SingleMediaResponse {
  data!: MediaResponse;
}

export class MediaListResponse {
  data!: MediaResponse[];

  pagination!: PaginationResponse;
}

export class MediaLinkData {
  /** Answers with the bytes, without a key, to GET and HEAD, with single ranges. */
  @ApiProperty({
    format: 'uri',
    example: `https://herald.example/media/${EXAMPLE_MEDIA_ID}/content?organization=01936f6c-1a2b-7c3d-8e4f-5a6b7c8d9e0f&expires=1795248900&key=1&signature=5Zb1yWmV0bQ3k8nJc7tX2aLr9fHd4eSg6iKpMoNqRwA`,
  })
  url!: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:15:00.000Z' })
  expires_at!: string;
}

export class MediaLinkResponse {
  data!: MediaLinkData;
}
