import {
  applyDecorators,
  Body,
  Controller,
  Get,
  HttpCode,
  Param,
  type PipeTransform,
  Post,
  Put,
  Query,
} from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { invalidField } from '../../common/common.errors.js';
import { EXAMPLE_TAG } from '../../common/example-ids.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { cursorOf, PageQuery } from '../../infrastructure/http/page.query.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { TAG, TAG_MEANING } from '../message-state/tag.types.js';
import {
  planOf,
  PutTagRequest,
  RetryTagRequest,
  SingleTagResponse,
  TagActionResponse,
  TagListItem,
  TagListResponse,
  TagResponse,
} from './dto/tags.dto.js';
import { tagsErrors } from './tags.errors.js';
import { TagsService } from './tags.service.js';
import type { TagAction } from './tags.types.js';

/** What can be no tag is none of a message. */
const pipe: PipeTransform<string, string> = {
  transform(text) {
    if (!TAG.test(text)) throw tagsErrors.TAG_NOT_FOUND();
    return text;
  },
};
const TagParam = (): ParameterDecorator => Param('tag', pipe);
const newPipe: PipeTransform<string, string> = {
  transform(text) {
    if (!TAG.test(text)) throw invalidField('tag', 'format', `tag must be ${TAG_MEANING}.`);
    return text;
  },
};
const NewTagParam = (): ParameterDecorator => Param('tag', newPipe);
const described = (description: string): MethodDecorator =>
  ApiParam({ name: 'tag', description, schema: { type: 'string', example: EXAMPLE_TAG } });
const TagDocs = (): MethodDecorator =>
  applyDecorators(described('The `tag` with which the messages were sent.'), ApiErrors('TAG_NOT_FOUND'));
const PutDocs = (): MethodDecorator =>
  applyDecorators(described('The `tag` with which messages are sent.'), ApiErrors('TAG_STARTED', 'TAG_LIMIT_REACHED'));
const ActionDocs = (): MethodDecorator =>
  applyDecorators(
    TagDocs(),
    ApiAcceptedResponse({ type: TagActionResponse, description: 'Taken; GET /tags/{tag} shows how far it is.' }),
  );

@ApiTags('Tags')
@Controller('tags')
export class TagsController {
  constructor(private readonly tags: TagsService) {}

  /**
   * List groups of messages
   *
   * @remarks Every tag that a message was sent with, or that PUT /tags/{tag} made, newest first, with its counts. For the next page
   * pass `next_before` and `next_before_id` of the answer as `before` and `before_id`; both are null on the last page.
   */
  @Get()
  @RequireScope('messages:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: TagListResponse, description: 'One page.' })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<TagListResponse> {
    const { tags, next } = await this.tags.list(caller.organizationId, cursorOf(query), query.limit);
    return {
      data: tags.map((tag) => TagListItem.of(tag)),
      pagination: { next_before: next?.createdAt.toISOString() ?? null, next_before_id: next?.id ?? null },
    };
  }

  /**
   * Read how far a group of messages is
   *
   * @remarks Counts the messages that were sent with this `tag`, by status, and the failed ones by category. One message
   * each: GET /messages?tag=.
   */
  @Get(':tag')
  @RequireScope('messages:read')
  @ApiOkResponse({ type: SingleTagResponse, description: 'Where its messages stand.' })
  @TagDocs()
  async get(@CurrentCaller() caller: Caller, @TagParam() tag: string): Promise<SingleTagResponse> {
    const found = await this.tags.get({ organizationId: caller.organizationId, tag });
    return { data: TagResponse.of(found.tag, found.estimatedEndAt) };
  }

  /**
   * Make a group of messages before its first one, or change it
   *
   * @remarks With `paused` the messages that you send with this tag wait until you have looked at them: POST /tags/{tag}/resume
   * starts them. With `start_at` they go at that time, or at their `send_at` where that is later. Until then no `ttl_seconds` runs.
   *
   * What the body leaves out stays as it is, so a PUT can be repeated. A tag that got its first message without a PUT has started.
   */
  @Put(':tag')
  @RequireScope('messages:write')
  @ApiOkResponse({ type: SingleTagResponse, description: 'The tag as it is now.' })
  @PutDocs()
  async put(
    @CurrentCaller() caller: Caller,
    @NewTagParam() tag: string,
    @Body() request: PutTagRequest,
  ): Promise<SingleTagResponse> {
    const made = await this.tags.put({ organizationId: caller.organizationId, tag }, planOf(request));
    return { data: TagResponse.of(made.tag, made.estimatedEndAt) };
  }

  /**
   * Pause a group of messages
   *
   * @remarks Nothing more with this `tag` is taken for sending, nor what you send with it from now on. Other messages keep
   * order and pace. The times to live go on.
   */
  @Post(':tag/pause')
  @HttpCode(202)
  @RequireScope('messages:write')
  @ActionDocs()
  pause(@CurrentCaller() caller: Caller, @TagParam() tag: string): Promise<TagActionResponse> {
    return this.act(caller, tag, 'pause');
  }

  /**
   * Resume a paused group of messages
   *
   * @remarks In the old order, behind what waits by now. What has expired meanwhile fails.
   */
  @Post(':tag/resume')
  @HttpCode(202)
  @RequireScope('messages:write')
  @ActionDocs()
  resume(@CurrentCaller() caller: Caller, @TagParam() tag: string): Promise<TagActionResponse> {
    return this.act(caller, tag, 'resume');
  }

  /**
   * Cancel what waits of a group of messages
   *
   * @remarks Everything with this `tag` that waits, also paused or scheduled, fails with `canceled`. A pause ends with it.
   */
  @Post(':tag/cancel')
  @HttpCode(202)
  @RequireScope('messages:write')
  @ActionDocs()
  cancel(@CurrentCaller() caller: Caller, @TagParam() tag: string): Promise<TagActionResponse> {
    return this.act(caller, tag, 'cancel');
  }

  /**
   * Retry the failed messages of a group
   *
   * @remarks As POST /messages/{id}/retry for each that has failed until now; never those whose outcome is unknown.
   */
  @Post(':tag/retry')
  @HttpCode(202)
  @RequireScope('messages:write')
  @ActionDocs()
  @ApiBody({
    required: false,
    type: RetryTagRequest,
  })
  retry(
    @CurrentCaller() caller: Caller,
    @TagParam() tag: string,
    @Body() request: RetryTagRequest,
  ): Promise<TagActionResponse> {
    return this.act(caller, tag, 'retry', request.category);
  }

  private async act(caller: Caller, tag: string, action: TagAction, category?: string): Promise<TagActionResponse> {
    const { organizationId } = caller;
    const done = await this.tags.act({ organizationId, tag }, action, category ?? null);
    return { data: { tag, action, status: done.tag.status, messages: done.messages } };
  }
}
