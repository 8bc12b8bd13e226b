import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { EXAMPLE_CONNECTION_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { RateLimiter } from '../../infrastructure/rates/rate-limiter.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { CreateTemplateBody, EditTemplateBody, PreviewTemplateBody } from './dto/templates.docs.js';
import { cursorOf, GetTemplateQuery, ListTemplatesQuery, placeOf } from './dto/templates.request.js';
import {
  DeletedTemplateResponse,
  PreviewResponse,
  SingleTemplateResponse,
  TemplateListResponse,
  type TemplateResponse,
  TemplateVersionsResponse,
} from './dto/templates.response.js';
import type { TemplateEntity } from './entities/template.entity.js';
import { variablesOf } from './form/components.js';
import { headerMediaOf } from './form/send-parameters.js';
import { CREATE_BODY, EDIT_BODY, PREVIEW_BODY, type PreviewInput } from './template-input.js';
import { TemplateWriter } from './template-writer.js';
import { TemplatesService } from './templates.service.js';
import type { TemplateCategory, TemplateDraft, TemplateEdit } from './templates.types.js';

const ConnectionId = (): ParameterDecorator =>
  UuidParam('id', { description: 'Connection ID, from GET /connections.', example: EXAMPLE_CONNECTION_ID });

const ApiName = (example = 'order_update'): MethodDecorator =>
  ApiParam({ name: 'name', description: "The template's name.", schema: { type: 'string', example } });

/** Of a list: about ten milliseconds of the process. */
const TEMPLATES_A_TOKEN = 250;
const tokensOf = (templates: number): number => Math.max(1, Math.ceil(templates / TEMPLATES_A_TOKEN));

/** Reads ask the platform only where there is no mirror yet; writes always do. */
/** Where a header's sample is one of our files. */
const SAMPLE_CODES = ['META_APP_ID_MISSING', 'MEDIA_NOT_FOUND', 'MEDIA_TYPE_MISMATCH'];
const PLATFORM_CODES = ['PLATFORM_REJECTED', 'PLATFORM_UNAVAILABLE', 'PLATFORM_TIMEOUT'];

@ApiTags('Templates')
@Controller('connections/:id/templates')
export class TemplatesController {
  constructor(
    private readonly templates: TemplatesService,
    private readonly writer: TemplateWriter,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * List templates and their moderation statuses
   *
   * @remarks All templates of the connection's account, by name and language; the numbers of one account share them.
   * Compared with the platform when the last comparison is older than a minute; changes that the platform reports show
   * at once. While the platform is down, the list shows what was known last (`synced_at`).
   *
   * The parameters are an addition of this service. Without them the whole list comes: the platform allows an account
   * 6,000 templates at the most, counted by language. Each 250 count as one request.
   */
  @Get()
  @RequireScope('templates:read')
  @ApiOkResponse({ type: TemplateListResponse, description: 'The templates.' })
  @ApiErrors('CONNECTION_NOT_FOUND', ...PLATFORM_CODES)
  async list(
    @CurrentCaller() { organizationId, apiKeyId, rateLimits }: Caller,
    @ConnectionId() id: string,
    @Query() query: ListTemplatesQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TemplateListResponse> {
    const { status, name, limit } = query;
    const category = query.category?.toUpperCase() as TemplateCategory | undefined;
    const filter = { status, category, name, language: query.language?.replaceAll('-', '_') };
    const after = placeOf(query);
    const most = Math.min(limit, await this.templates.count(organizationId, id));
    const found = await this.limiter.spendingOf(apiKeyId, rateLimits, response).upTo(
      tokensOf(most),
      () => this.templates.list(organizationId, id, filter, { after, limit }),
      ({ versions }) => Math.min(tokensOf(versions.length), tokensOf(most)),
    );
    return {
      data: found.versions.map((template) => responseOf(template, id, found.syncedAt)),
      pagination: { next_after: found.next === null ? null : cursorOf(found.next) },
    };
  }

  /**
   * Create a template
   *
   * @remarks Hands a template to the platform for review; send it once its status is `approved`. It is made either of
   * `body` with one example for each variable, or of `components` in the platform's own format. One request makes one
   * language; a further one with the same name adds another.
   *
   * A header with a picture, a film or a document, the template's own or a card's, shows a sample to the review: give
   * `example: {media_object_id}`, a file from `POST /media`, or `example: {header_handle}`, which the platform gives for an
   * upload of your own. Herald uploads the file for the app that its operator has named.
   *
   * Where the platform gives no clear answer (502, 504) the template may still exist: read it before you repeat
   * the request.
   */
  @Post()
  @HttpCode(201)
  @RequireScope('templates:write')
  @CreateTemplateBody()
  @ApiCreatedResponse({ type: SingleTemplateResponse, description: 'Handed to the review.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'CONNECTION_NOT_READY', ...SAMPLE_CODES, ...PLATFORM_CODES)
  async create(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Body({ schema: CREATE_BODY }) input: TemplateDraft,
  ): Promise<SingleTemplateResponse> {
    const { template, syncedAt } = await this.writer.create(organizationId, id, input);
    return { data: responseOf(template, id, syncedAt) };
  }

  /**
   * Preview a template with its variables filled
   *
   * @remarks Renders the template as its reader will see it, and sends nothing. `missing` names the variables that got
   * no value, `unused` the values that no variable takes. A value that a send refuses, such as an empty one or one with a line
   * break, is 422 as there. Give the `components` that you will send, or `parameters` with the values of header and body alone.
   */
  @Post('preview')
  @HttpCode(200)
  @RequireScope('templates:read')
  @PreviewTemplateBody()
  @ApiOkResponse({ type: PreviewResponse, description: 'The rendered template.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'TEMPLATE_PARAMETERS_MISMATCH', ...PLATFORM_CODES)
  async preview(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Body({ schema: PREVIEW_BODY }) input: PreviewInput,
  ): Promise<PreviewResponse> {
    return { data: await this.templates.preview(organizationId, id, input) };
  }

  /**
   * Read one template
   *
   * @remarks All languages of a template, or with `language` that one only.
   *
   * Only an `approved` template can be sent.
   */
  @Get(':name')
  @RequireScope('templates:read')
  @ApiName()
  @ApiOkResponse({ type: TemplateVersionsResponse, description: 'The template.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', ...PLATFORM_CODES)
  async get(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Param('name') name: string,
    @Query() { language }: GetTemplateQuery,
  ): Promise<TemplateVersionsResponse> {
    const { versions, syncedAt } = await this.templates.get(organizationId, id, name, language ?? null);
    return { data: { name, versions: versions.map((version) => responseOf(version, id, syncedAt)) } };
  }

  /**
   * Change the components of a template
   *
   * @remarks Replaces all components of one language; the platform reviews them again, and until then the template
   * cannot be sent. An approved template can be changed once in 24 hours and ten times in 30 days. Samples of headers are
   * given as for a new template.
   */
  @Patch(':name')
  @RequireScope('templates:write')
  @ApiName()
  @EditTemplateBody()
  @ApiOkResponse({ type: SingleTemplateResponse, description: 'Handed to the review.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'CONNECTION_NOT_READY', ...SAMPLE_CODES, ...PLATFORM_CODES)
  async edit(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Param('name') name: string,
    @Body({ schema: EDIT_BODY }) input: TemplateEdit,
  ): Promise<SingleTemplateResponse> {
    const { template, syncedAt } = await this.writer.edit(organizationId, id, name, input);
    return { data: responseOf(template, id, syncedAt) };
  }

  /**
   * Delete a template
   *
   * @remarks Deletes all languages of a template. The name is gone here at once, even while the platform still lists it;
   * the platform refuses a new template with the name of an approved one for 30 days. The example is the one that the
   * first example of POST makes.
   */
  @Delete(':name')
  @RequireScope('templates:write')
  @ApiName('order_shipped')
  @ApiOkResponse({ type: DeletedTemplateResponse, description: 'Deleted.' })
  @ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'CONNECTION_NOT_READY', ...PLATFORM_CODES)
  async remove(
    @CurrentCaller() { organizationId }: Caller,
    @ConnectionId() id: string,
    @Param('name') name: string,
  ): Promise<DeletedTemplateResponse> {
    return { data: { name, deleted_languages: await this.writer.remove(organizationId, id, name) } };
  }
}

function responseOf(template: TemplateEntity, connectionId: string, syncedAt: Date | null): TemplateResponse {
  const type = headerMediaOf(template.components);
  return {
    id: template.id,
    connection_id: connectionId,
    name: template.name,
    language: template.language,
    category: template.category,
    announced_category: template.announcedCategory,
    announced_for: template.announcedFor?.toISOString() ?? null,
    status: template.status,
    platform_status: template.platformStatus,
    rejected_reason: template.rejectedReason,
    quality: template.quality,
    parameter_format: template.parameterFormat,
    message_send_ttl_seconds: template.messageSendTtlSeconds,
    components: template.components,
    header_media: type === null ? null : { type },
    variables: variablesOf(template),
    created_at: template.createdAt.toISOString(),
    updated_at: template.updatedAt.toISOString(),
    synced_at: syncedAt?.toISOString() ?? null,
  };
}
