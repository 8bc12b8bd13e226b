import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../../infrastructure/access/caller.js';
import { RequireScope } from '../../infrastructure/access/require-scope.decorator.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { cursorOf, GetTemplateQuery, ListTemplatesQuery } from './dto/list-templates.query.js';
import { PreviewData, type PreviewResponse } from './dto/preview.response.js';
import {
  TemplateResponse,
  type DeletedTemplateResponse,
  type SingleTemplateResponse,
  type TemplateListResponse,
  type TemplateVersionsResponse,
} from './dto/template.response.js';
import {
  CreateTemplateDocs,
  DeleteTemplateDocs,
  EditTemplateDocs,
  GetTemplateDocs,
  ListTemplatesDocs,
  PreviewTemplateDocs,
} from './dto/templates.docs.js';
import { readCreateInput, readEditInput, readPreviewInput } from './template-input.js';
import { TemplateWriter } from './template-writer.js';
import { TemplatesService } from './templates.service.js';

const ConnectionId = (): ParameterDecorator =>
  UuidParam('id', { description: 'Connection ID, from GET /connections.', example: EXAMPLE_CONNECTION_ID });

@ApiTags('Templates')
@Controller('connections/:id/templates')
export class TemplatesController {
  constructor(
    private readonly templates: TemplatesService,
    private readonly writer: TemplateWriter,
  ) {}

  @Get()
  @RequireScope('templates:read')
  @ListTemplatesDocs()
  async list(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Query() query: ListTemplatesQuery,
  ): Promise<TemplateListResponse> {
    const page = { after: ListTemplatesQuery.placeOf(query), limit: query.limit };
    const found = await this.templates.list(organizationId, id, ListTemplatesQuery.filterOf(query), page);
    return {
      data: found.templates.map((template) => TemplateResponse.of(template, id, found.syncedAt)),
      pagination: { next_after: found.next === null ? null : cursorOf(found.next) },
    };
  }

  @Post()
  @HttpCode(201)
  @RequireScope('templates:write')
  @CreateTemplateDocs()
  async create(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Body() body: unknown,
  ): Promise<SingleTemplateResponse> {
    const { template, syncedAt } = await this.writer.create(organizationId, id, readCreateInput(body));
    return { data: TemplateResponse.of(template, id, syncedAt) };
  }

  @Post('preview')
  @HttpCode(200)
  @RequireScope('templates:read')
  @PreviewTemplateDocs()
  async preview(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Body() body: unknown,
  ): Promise<PreviewResponse> {
    return { data: PreviewData.of(await this.templates.preview(organizationId, id, readPreviewInput(body))) };
  }

  @Get(':name')
  @RequireScope('templates:read')
  @GetTemplateDocs()
  async get(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Param('name') name: string,
    @Query() query: GetTemplateQuery,
  ): Promise<TemplateVersionsResponse> {
    const found = await this.templates.get(organizationId, id, name, query.language ?? null);
    return {
      data: {
        name: found.name,
        versions: found.versions.map((version) => TemplateResponse.of(version, id, found.syncedAt)),
      },
    };
  }

  @Patch(':name')
  @RequireScope('templates:write')
  @EditTemplateDocs()
  async edit(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Param('name') name: string,
    @Body() body: unknown,
  ): Promise<SingleTemplateResponse> {
    const { template, syncedAt } = await this.writer.edit(organizationId, id, name, readEditInput(body));
    return { data: TemplateResponse.of(template, id, syncedAt) };
  }

  @Delete(':name')
  @RequireScope('templates:write')
  @DeleteTemplateDocs()
  async remove(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Param('name') name: string,
  ): Promise<DeletedTemplateResponse> {
    return { data: { name, deleted_languages: await this.writer.remove(organizationId, id, name) } };
  }
}
