import { Controller, Delete, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { EXAMPLE_MEDIA_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../../infrastructure/access/caller.js';
import { RequireScope } from '../../infrastructure/access/require-scope.decorator.js';
import { BodyAs } from '../../infrastructure/http/body-as.decorator.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { filterOf, ListMediaQuery } from './dto/list-media.query.js';
import { DeleteMediaDocs, ListMediaDocs, MediaLinkDocs, UploadMediaDocs } from './dto/media.docs.js';
import { MediaLinkResponse, MediaListResponse, MediaResponse, type SingleMediaResponse } from './dto/media.response.js';
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
  ) {}

  @Post()
  @HttpCode(201)
  @RequireScope('media:write')
  @BodyAs('stream')
  @UploadMediaDocs()
  async upload(
    @CurrentCaller() caller: Caller,
    @Req() req: HeraldRequest,
    @Res({ passthrough: true }) res: Response,
  ): Promise<SingleMediaResponse> {
    return { data: MediaResponse.of(await this.uploads.upload(caller, req, res)) };
  }

  @Get()
  @RequireScope('media:read')
  @ListMediaDocs()
  async list(@CurrentCaller() caller: Caller, @Query() query: ListMediaQuery): Promise<MediaListResponse> {
    return MediaListResponse.of(await this.media.list(caller.organizationId, filterOf(query)));
  }

  @Get(':id/url')
  @RequireScope('media:read')
  @MediaLinkDocs()
  async link(@CurrentCaller() caller: Caller, @MediaId() id: string): Promise<MediaLinkResponse> {
    return MediaLinkResponse.of(await this.media.link(caller.organizationId, id));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('media:write')
  @DeleteMediaDocs()
  async delete(@CurrentCaller() caller: Caller, @MediaId() id: string): Promise<void> {
    await this.media.delete(caller.organizationId, id);
  }
}
