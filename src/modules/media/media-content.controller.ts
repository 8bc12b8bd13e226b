import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../infrastructure/access/public.decorator.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { ContentService } from './link/content.service.js';

/** What temporary links lead to: outside the API, without a key. */
@ApiExcludeController()
@Controller('media')
export class MediaContentController {
  constructor(private readonly content: ContentService) {}

  /** HEAD comes here too: Express takes it for a GET, and Node leaves out the body. */
  @Get(':id/content')
  @Public()
  async read(@Param('id') id: string, @Req() req: HeraldRequest, @Res() res: Response): Promise<void> {
    await this.content.serve(id, req, res);
  }
}
