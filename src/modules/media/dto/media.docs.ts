import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID } from '../../../common/example-ids.js';
import { ApiErrors } from '../../../infrastructure/http/api-errors.decorator.js';
import { FORMATS } from '../sniff/formats.js';
import { MEDIA_TYPES } from '../media.types.js';
import { MediaLinkResponse, MediaListResponse, SingleMediaResponse } from './media.response.js';

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

export const UploadMediaDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Upload a file',
      description: [
        'Stores a file for sending: pass its `id` as `media.id` of a message, as often as you like. What it is, is told',
        'from its bytes, never from its name; `type`, where given, must agree.',
        '',
        limitsTable(),
        '',
        'A voice message (`voice=true`) is Ogg with Opus, mono.',
      ].join('\n'),
    }),
    ApiConsumes('multipart/form-data'),
    ApiBody({
      required: true,
      schema: {
        type: 'object',
        required: ['connection_id', 'file'],
        properties: {
          connection_id: {
            type: 'string',
            format: 'uuid',
            description: 'The number that will send it.',
            example: EXAMPLE_CONNECTION_ID,
          },
          file: { type: 'string', format: 'binary', description: 'The bytes, as a part with a file name.' },
          type: {
            type: 'string',
            enum: [...MEDIA_TYPES],
            description: 'What it is to be sent as. Without it: what its bytes say.',
          },
          voice: {
            type: 'string',
            enum: ['false', 'true'],
            default: 'false',
            example: 'false',
            description: 'It is a voice message.',
          },
        },
      },
    }),
    ApiCreatedResponse({ type: SingleMediaResponse, description: 'Stored.' }),
    ApiErrors(
      'MEDIA_TOO_LARGE',
      'MEDIA_STORAGE_FULL',
      'MEDIA_TYPE_NOT_SUPPORTED',
      'CONNECTION_NOT_FOUND',
      'UPLOAD_LIMIT_REACHED',
    ),
  );

export const ListMediaDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List media files',
      description: [
        "The workspace's files, uploaded and received, newest first. For the next page pass `next_before` and",
        '`next_before_id` of the answer as `before` and `before_id`; both are null on the last page.',
      ].join('\n'),
    }),
    ApiOkResponse({ type: MediaListResponse, description: 'One page.' }),
    ApiErrors('CONNECTION_NOT_FOUND'),
  );

export const MediaLinkDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Get a temporary link to a file',
      description: [
        'The link works without a key for 15 minutes, for whoever has it. It answers with the bytes as an attachment, to',
        'GET and HEAD, and to a `Range` of bytes. A file that a customer sent has none (404) until Herald has fetched it,',
        'mostly seconds after the message.',
      ].join('\n'),
    }),
    ApiOkResponse({ type: MediaLinkResponse, description: 'The link.' }),
    ApiErrors('MEDIA_NOT_FOUND'),
  );

export const DeleteMediaDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Delete a file',
      description: [
        'Deletes the bytes here, and at the platform where they are there too; links to it end. A queued message that',
        'needs the file fails with `media_error`.',
      ].join('\n'),
    }),
    ApiNoContentResponse({ description: 'Deleted.' }),
    ApiErrors('MEDIA_NOT_FOUND'),
  );
