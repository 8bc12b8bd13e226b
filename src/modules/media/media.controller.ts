import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiExcludeEndpoint,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { EXAMPLE_MEDIA_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { Public, RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { BodyAs } from '../../infrastructure/http/body.guard.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { filterOf, ListMediaQuery, MediaLinkQuery, UploadMediaDocs, UploadMediaRequest } from './dto/media.request.js';
import { MediaLinkResponse, MediaListResponse, MediaResponse, SingleMediaResponse } from './dto/media.response.js';
import { ContentService } from './link/content.service.js';
import { MediaService } from './media.service.js';
import { UploadService } from './upload/upload.service.js';

const MediaId = (): ParameterDecorator =>
  UuidParam('id', { description: 'Media ID, from POST /media or GET /media.', example: EXAMPLE_MEDIA_ID });

@ApiTags('Media')
@Controller('media')
export class MediaController {
  constructor(
    private readonly media: MediaService,
    private readonly uploads: UploadService,
    private readonly contents: ContentService,
  ) {}

  @Post()
  @HttpCode(201)
  @RequireScope('media:write')
  @BodyAs({ stream: true })
  @UploadMediaDocs()
  @ApiConsumes('multipart/form-data')
  @ApiBody({ required: true, type: UploadMediaRequest })
  @ApiCreatedResponse({ type: SingleMediaResponse, description: 'Stored.' })
  @ApiErrors(
    'MEDIA_TOO_LARGE',
    'MEDIA_STORAGE_FULL',
    'MEDIA_TYPE_NOT_SUPPORTED',
    'CONNECTION_NOT_FOUND',
    'UPLOAD_LIMIT_REACHED',
  )
  async upload(
    @CurrentCaller() caller: Caller,
    @Req() req: HeraldRequest,
    @Res({ passthrough: true }) res: Response,
  ): Promise<SingleMediaResponse> {
    return { data: MediaResponse.of(await this.uploads.upload(caller, req, res)) };
  }

  /**
   * List media files
   *
   * @remarks The workspace's files, uploaded and received, newest first. For the next page pass `next_before` and
   * `next_before_id` of the answer as `before` and `before_id`; both are null on the last page.
   */
  @Get()
  @RequireScope('media:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: MediaListResponse, description: 'One page.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async list(@CurrentCaller() caller: Caller, @Query() query: ListMediaQuery): Promise<MediaListResponse> {
    const { media, pagination } = await this.media.list(caller.organizationId, filterOf(query));
    return { data: media.map((one) => MediaResponse.of(one)), pagination };
  }

  /**
   * Read what is known of a file
   *
   * @remarks `status` is `pending` while Herald fetches a file that a customer sent, mostly for seconds after the
   * message.
   */
  @Get(':id')
  @RequireScope('media:read')
  @ApiOkResponse({ type: SingleMediaResponse, description: 'The file.' })
  @ApiErrors('MEDIA_NOT_FOUND')
  async get(@CurrentCaller() caller: Caller, @MediaId() id: string): Promise<SingleMediaResponse> {
    return { data: MediaResponse.of(await this.media.get(caller.organizationId, id)) };
  }

  /**
   * Get a temporary link to a file
   *
   * @remarks The link works without a key for 15 minutes, for every client that has it. It answers with the bytes, to GET and
   * HEAD, and to a `Range` of bytes: as an attachment, or with `disposition=inline` as what a browser shows. A file that a customer sent has none (409) until Herald has
   * fetched it, mostly seconds after the message, and never (404) where it could not be fetched.
   */
  @Get(':id/url')
  @RequireScope('media:read')
  @ApiOkResponse({ type: MediaLinkResponse, description: 'The link.' })
  @ApiErrors('MEDIA_NOT_FOUND', 'MEDIA_PENDING')
  async link(
    @CurrentCaller() caller: Caller,
    @MediaId() id: string,
    @Query() { disposition }: MediaLinkQuery,
  ): Promise<MediaLinkResponse> {
    const { url, expiresAt } = await this.media.link(caller.organizationId, id, disposition);
    return { data: { url, expires_at: expiresAt.toISOString() } };
  }

  /**
   * Delete a file
   *
   * @remarks Deletes the bytes here, and at the platform where they are there too; links to it end. A queued message that
   * needs the file fails with `media_error`.
   */
  @Delete(':id')
  @HttpCode(204)
  @RequireScope('media:write')
  @ApiNoContentResponse({ description: 'Deleted.' })
  @ApiErrors('MEDIA_NOT_FOUND')
  async delete(@CurrentCaller() caller: Caller, @MediaId() id: string): Promise<void> {
    await this.media.delete(caller.organizationId, id);
  }

  /**
   * What temporary links lead to: outside the API, without a key. HEAD comes here too: Express takes it for a GET, and
   * Node leaves out the body.
   */
  @Get(':id/content')
  @Public()
  @ApiExcludeEndpoint()
  async content(@Param('id') id: string, @Req() req: HeraldRequest, @Res() res: Response): Promise<void> {
    await this.contents.serve(id, req, res);
  }
}
