import {
  All,
  Body,
  type CanActivate,
  Controller,
  Delete,
  type ExecutionContext,
  Get,
  Headers,
  HttpCode,
  Injectable,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { commonErrors, idempotencyErrors } from '../../common/common.errors.js';
import { isUuid } from '../../common/ids.js';
import { isObject } from '../../common/json.js';
import { BodyAs } from '../../infrastructure/http/body.guard.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { RequireKey, RequireScope } from '../../infrastructure/http/route-policy.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import type { Query as GraphQuery } from './dto/graph.query.js';
import type { MediaNode, NumberNode, Page, SentMessage, Success } from './dto/graph.response.js';
import { GraphErrorFilter } from './graph-error.filter.js';
import { GraphService } from './graph.service.js';

/** Any version of the Cloud API: what is served here is the same in all of them. */
@Injectable()
export class GraphVersionGuard implements CanActivate {
  /** @throws ROUTE_NOT_FOUND (404). */
  canActivate(context: ExecutionContext): true {
    const { version } = context.switchToHttp().getRequest<Request>().params;
    if (typeof version === 'string' && /^v\d{1,2}\.\d$/.test(version)) return true;
    throw commonErrors.ROUTE_NOT_FOUND();
  }
}

/**
 * As much of WhatsApp's Cloud API as its clients need to send through Herald: docs/cloud-api-clients.md. Not part of the API
 * description, since the platform describes it, and since its paths and errors have another form.
 */
@Controller('graph/:version')
@ApiExcludeController()
@UseGuards(GraphVersionGuard)
@UseFilters(GraphErrorFilter)
export class GraphController {
  constructor(private readonly graph: GraphService) {}

  @Post(':id/messages')
  @HttpCode(200)
  @RequireScope('messages:write')
  async post(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Headers('idempotency-key') key: string | undefined,
    // As the platform does, parameters that mean nothing here are taken.
    @Query() _query: GraphQuery,
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SentMessage | Success> {
    if (isObject(body) && typeof body.status === 'string') {
      await this.graph.markRead(caller, id, body);
      return { success: true };
    }
    if (key !== undefined && !isUuid(key)) throw idempotencyErrors.IDEMPOTENCY_KEY_INVALID(undefined);
    const { answer, replayed } = await this.graph.send(caller, id, body, key ?? null);
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return answer;
  }

  @Post(':id/media')
  @HttpCode(200)
  @RequireScope('media:write')
  @BodyAs({ stream: true })
  async upload(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: GraphQuery,
    @Req() req: HeraldRequest,
    @Res({ passthrough: true }) res: Response,
  ): Promise<{ id: string }> {
    return { id: (await this.graph.upload(caller, id, query, req, res)).id };
  }

  /** A number or a file: which scope it needs, the id says. */
  @Get(':id')
  @RequireKey()
  async get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: GraphQuery,
  ): Promise<MediaNode | NumberNode> {
    return this.graph.node(caller, id, query);
  }

  @Delete(':id')
  @HttpCode(200)
  @RequireScope('media:write')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string, @Query() query: GraphQuery): Promise<Success> {
    await this.graph.deleteFile(caller, id, query);
    return { success: true };
  }

  @Get(':id/phone_numbers')
  @RequireScope('connections:read')
  async phoneNumbers(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: GraphQuery,
  ): Promise<Page<NumberNode>> {
    return this.graph.numbers(caller, id, query);
  }

  @Get(':id/message_templates')
  @RequireScope('templates:read')
  async messageTemplates(
    @CurrentCaller() caller: Caller,
    @Param('version') version: string,
    @Param('id') id: string,
    @Query() query: GraphQuery,
  ): Promise<Page<object>> {
    return this.graph.templatesOf(caller, version, id, query);
  }

  /** What is not served here, in the shape of the platform too. @throws ROUTE_NOT_FOUND (404). */
  @All('*path')
  @RequireKey()
  @BodyAs({ stream: true })
  others(@Query() _query: GraphQuery): never {
    throw commonErrors.ROUTE_NOT_FOUND();
  }
}
