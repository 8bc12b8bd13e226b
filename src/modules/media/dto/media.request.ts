import { ApiOperation, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, IsIn, IsOptional, Matches } from 'class-validator';
import { invalidField } from '../../../common/common.errors.js';
import { EXAMPLE_CONNECTION_ID } from '../../../common/example-ids.js';
import { UUID_PATTERN } from '../../../common/ids.js';
import { cursorOf, isUuidText, PeriodQuery, periodOf } from '../../../infrastructure/http/page.query.js';
import { RequestValidationPipe } from '../../../infrastructure/http/validation.pipe.js';
import { propertiesOf } from '../../../infrastructure/http/validation-details.js';
import {
  LINK_DISPOSITIONS,
  type LinkDisposition,
  MEDIA_DIRECTIONS,
  MEDIA_TYPES,
  type MediaDirection,
  type MediaFilter,
  type MediaType,
} from '../media.types.js';
import { FORMATS } from '../sniff/formats.js';

/** The form of POST /media. */
export class UploadMediaRequest {
  /** The number that will send it. */
  @ApiProperty({ format: 'uuid', required: true, example: EXAMPLE_CONNECTION_ID })
  @IsOptional()
  @Matches(UUID_PATTERN, { message: 'connection_id must be a UUID.' })
  connection_id?: string;

  /** The bytes, as a part with a file name. */
  @ApiProperty({ type: 'string', format: 'binary' })
  // For the description only: a property without a rule would be refused.
  @Allow()
  file!: never;

  /** What it is to be sent as. Without it: what its bytes say. */
  @ApiPropertyOptional({ enum: MEDIA_TYPES })
  @IsOptional()
  @IsIn(MEDIA_TYPES, { message: `type must be one of ${MEDIA_TYPES.join(', ')}.` })
  type?: MediaType;

  /** It is a voice message. */
  @ApiPropertyOptional({ type: 'string', enum: ['false', 'true'], default: 'false', example: 'false' })
  @IsOptional()
  @IsIn([true, false])
  voice?: boolean;
}

const FIELDS = [...propertiesOf(UploadMediaRequest)].filter((name) => name !== 'file');
const VALIDATION = new RequestValidationPipe();

/**
 * Reads the fields that have come so far; which of them are required is known at the end of the form.
 *
 * @throws INVALID_REQUEST (400) naming each invalid one.
 */
export async function readFields(form: Readonly<Record<string, unknown>>): Promise<UploadMediaRequest> {
  for (const name of Object.keys(form)) {
    if (name === 'file') throw invalidField('file', 'type', 'file must be sent as a file, with a file name.');
    if (FIELDS.includes(name)) continue;
    const message = `This field is not known here; allowed: file, ${FIELDS.join(', ')}.`;
    throw invalidField(name.slice(0, 64), 'unknown_field', message);
  }
  const metadata = { type: 'query', metatype: UploadMediaRequest } as const;
  const fields = (await VALIDATION.transform(form, metadata)) as UploadMediaRequest;
  fields.connection_id = fields.connection_id?.toLowerCase();
  return fields;
}

const LIMITS = Object.values(FORMATS);

/** The table of what is taken, made from what is enforced. */
function limitsTable(): string {
  const rows = new Map<string, string[]>();
  for (const { type, mimeType, limitBytes } of LIMITS) {
    const row = `${type}|${limitBytes}`;
    rows.set(row, [...(rows.get(row) ?? []), `\`${mimeType}\``]);
  }
  const lines = [...rows].map(([row, types]) => {
    const [type = '', limit = ''] = row.split('|');
    const label = Number(limit) === FORMATS.animatedSticker.limitBytes ? `${type} (animated)` : type;
    return `| ${label} | ${types.join(', ')} | ${size(Number(limit))} |`;
  });
  return ['| Type | Formats | At most |', '|---|---|---|', ...lines].join('\n');
}

function size(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`;
}

/** Beside the comment of the route, which cannot hold what is computed. */
export const UploadMediaDocs = (): MethodDecorator =>
  ApiOperation({
    summary: 'Upload a file',
    description: [
      'Stores a file for sending: pass its `id` as `media.id` of a message, as often as you like. Its type is detected',
      'from its bytes, never from its name; `type`, where given, must agree.',
      '',
      limitsTable(),
      '',
      'A voice message (`voice=true`) is Ogg with Opus, mono.',
    ].join('\n'),
  });

/** The query of GET /media. */
export class ListMediaQuery extends PeriodQuery {
  /** Only files of this number: an id from GET /connections. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @isUuidText('connection_id')
  connection_id?: string;

  /** Only files of this type. */
  @ApiPropertyOptional({ enum: MEDIA_TYPES })
  @IsOptional()
  @IsIn(MEDIA_TYPES)
  type?: MediaType;

  /** `outbound`: uploaded here; `inbound`: sent by customers. */
  @ApiPropertyOptional({ enum: MEDIA_DIRECTIONS })
  @IsOptional()
  @IsIn(MEDIA_DIRECTIONS)
  direction?: MediaDirection;
}

export class MediaLinkQuery {
  /**
   * `attachment`: a browser saves the file. `inline`: it shows an image, audio, video or PDF, also in a page of another origin;
   * other files stay attachments.
   */
  @ApiPropertyOptional({ enum: LINK_DISPOSITIONS, default: 'attachment' })
  @IsOptional()
  @IsIn(LINK_DISPOSITIONS)
  disposition?: LinkDisposition;
}

export function filterOf(query: ListMediaQuery): MediaFilter {
  return {
    limit: query.limit,
    ...cursorOf(query),
    ...periodOf(query),
    connectionId: query.connection_id?.toLowerCase() ?? null,
    type: query.type ?? null,
    direction: query.direction ?? null,
  };
}
