import { applyDecorators, Body, Controller, Get, HttpCode, Param, type PipeTransform, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_TAG } from '../../common/example-ids.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { TAG } from '../message-state/tag.types.js';
import { RetryTagRequest, SingleTagResponse, TagActionResponse, TagResponse } from './dto/tags.dto.js';
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
const TagDocs = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'tag',
      description: 'The `tag` with which the messages were sent.',
      schema: { type: 'string', example: EXAMPLE_TAG },
    }),
    ApiErrors('TAG_NOT_FOUND'),
  );
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
    return { data: TagResponse.of(await this.tags.get({ organizationId: caller.organizationId, tag })) };
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
    const status = await this.tags.act({ organizationId, tag }, action, category ?? null);
    return { data: { tag, action, status } };
  }
}
