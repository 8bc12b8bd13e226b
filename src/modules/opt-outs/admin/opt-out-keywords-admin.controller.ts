import { Body, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { AdminController } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { OptOutsService } from '../opt-outs.service.js';
import { KeywordsListResponse, SetKeywordsRequest } from './opt-out-keywords-admin.dto.js';

const Language = (): MethodDecorator =>
  ApiParam({ name: 'language', description: 'Tag of the language, such as `de` or `pt-BR`.', example: 'de' });

@ApiTags('Workspaces')
@AdminController('workspaces/:workspace_id/opt-out-keywords')
export class OptOutKeywordsAdminController {
  constructor(private readonly optOuts: OptOutsService) {}

  /**
   * List opt-out keywords
   *
   * @remarks The words by which customers of the workspace opt out and in, by language. A message counts that has nothing
   * but such a word, whatever its case.
   */
  @Get()
  @RequireOperatorScope('workspaces:read')
  @ApiOkResponse({ type: KeywordsListResponse, description: 'All languages; there are no pages.' })
  async list(@WorkspaceParam() { id }: Workspace): Promise<KeywordsListResponse> {
    return KeywordsListResponse.of(await this.optOuts.keywords(id));
  }

  /**
   * Set opt-out keywords
   *
   * @remarks Replaces the words of one language. A word means one thing in all languages; case and punctuation around it do not count.
   */
  @Put(':language')
  @RequireOperatorScope('workspaces:write')
  @Language()
  @ApiOkResponse({ type: KeywordsListResponse, description: 'The words of all languages, as they are now.' })
  @ApiErrors('OPT_OUT_KEYWORDS_INVALID')
  async set(
    @WorkspaceParam() { id }: Workspace,
    @Param('language') language: string,
    @Body() { out, in: into }: SetKeywordsRequest,
  ): Promise<KeywordsListResponse> {
    return KeywordsListResponse.of(await this.optOuts.setKeywords(id, language, { out, in: into }));
  }

  /**
   * Remove opt-out keywords
   *
   * @remarks Takes the words of one language away. Customers who opted out by one of them stay opted out. Removing them again changes nothing.
   */
  @Delete(':language')
  @HttpCode(200)
  @RequireOperatorScope('workspaces:write')
  @Language()
  @ApiOkResponse({ type: KeywordsListResponse, description: 'The words of the other languages.' })
  async remove(
    @WorkspaceParam() { id }: Workspace,
    @Param('language') language: string,
  ): Promise<KeywordsListResponse> {
    return KeywordsListResponse.of(await this.optOuts.setKeywords(id, language, null));
  }
}
