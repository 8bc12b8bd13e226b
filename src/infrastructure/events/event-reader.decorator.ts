import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { HeraldRequest } from '../http/herald-request.js';
import type { Reader } from './read-events.js';

/** Passes a route that reads events the means by which its request waits. */
export const EventReader = createParamDecorator((_data: unknown, context: ExecutionContext): Reader => {
  const http = context.switchToHttp();
  const { waitOutside = (wait) => wait(), confirm } = http.getRequest<HeraldRequest>();
  if (confirm === undefined) throw new Error('a route that anybody may call can not wait for events');
  const gone = new AbortController();
  http.getResponse<Response>().once('close', () => gone.abort());
  return { waitOutside, confirm, gone: gone.signal };
});
