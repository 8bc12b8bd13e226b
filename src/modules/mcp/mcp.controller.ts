import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response as HttpResponse } from 'express';
import { RequireKey } from '../../infrastructure/http/route-policy.js';
import type { AuthenticatedRequest } from '../keys/caller.decorator.js';
import { McpService } from './mcp.service.js';

/** The endpoint of the Model Context Protocol: Streamable HTTP without sessions, so GET and DELETE are 405. */
@Controller('mcp')
@ApiExcludeController()
export class McpController {
  constructor(private readonly mcp: McpService) {}

  /**
   * Answers one message of a client.
   *
   * @throws {404} ROUTE_NOT_FOUND where MCP is off; {403} MCP_ORIGIN_REFUSED for a page of another site, or another name of this host.
   */
  @Post()
  @RequireKey()
  async post(@Req() req: AuthenticatedRequest, @Body() body: unknown, @Res() res: HttpResponse): Promise<void> {
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    const answer = await this.mcp.answer(req, body, gone.signal);
    res.status(answer.status);
    for (const [name, value] of answer.headers) if (name !== 'connection') res.setHeader(name, value);
    if (answer.body === null) res.end();
    // A client that has disconnected needs no answer.
    else await pipeline(Readable.fromWeb(answer.body as never), res).catch(() => undefined);
  }
}
