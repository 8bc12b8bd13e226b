import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Request, Response } from 'express';

/**
 * Nest's Express adapter whose server makes requests and responses with Express's prototypes from the start.
 *
 * Express calls `Object.setPrototypeOf` on each request and response. That discards the object's inline caches, which
 * costs about 100 µs of processor time per request on Node 20. If the prototype is already in place, the call changes
 * nothing. `docs/adr/0023-http-pipeline.md` has the figures; without Node 20 this file can go.
 */
export class FixedPrototypeAdapter extends ExpressAdapter {
  override initHttpServer(options?: NestApplicationOptions): void {
    // With options that change the server itself, Nest's adapter creates it, without the gain.
    if (options?.httpsOptions || options?.return503OnClosing || options?.forceCloseConnections) {
      super.initHttpServer(options);
      return;
    }
    const express = this.getInstance<Express>();
    this.httpServer = createServer(expressConstructors(express), express);
  }
}

/** Subclasses of `node:http` classes that include Express's additions. */
export function expressConstructors(express: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  express.request = ExpressRequest.prototype as Request;
  express.response = ExpressResponse.prototype as unknown as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
