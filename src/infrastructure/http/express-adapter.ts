import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';

/**
 * Nest's Express adapter whose server makes requests and responses with Express's prototypes from the start.
 *
 * Express calls `Object.setPrototypeOf` on each request and response. An object whose prototype was exchanged loses its
 * inline caches, which costs about 100 µs of processor time a request on Node 20. With the prototype in place already
 * the call changes nothing. See ADR 23.
 */
export class FixedPrototypeAdapter extends ExpressAdapter {
  /** Takes the requests before Express does, and hands on to it what it leaves. */
  beforeExpress: RequestListener | null = null;

  override initHttpServer(options?: NestApplicationOptions): void {
    const express = this.getInstance<Express>();
    const constructors = expressConstructors(express);
    const listener: RequestListener = (req, res) => (this.beforeExpress ?? express)(req, res);
    this.httpServer = options?.httpsOptions
      ? createSecureServer({ ...options.httpsOptions, ...constructors }, listener)
      : createServer(constructors, listener);
    if (options?.return503OnClosing) this.refuseWhileClosing(express);
    // Private in Nest's types; its `close` ends the connections that were tracked.
    if (options?.forceCloseConnections) this['trackOpenConnections']();
  }

  private refuseWhileClosing(express: Express): void {
    express.use((_req: Request, res: Response, next: NextFunction) => {
      if (this['isShuttingDown']) res.set('Connection', 'close').status(503).send('Service Unavailable');
      else next();
    });
  }
}

/** Classes of `node:http` between whose instances and base stands what Express adds. */
export function expressConstructors(express: Express) {
  class ExpressRequest extends IncomingMessage {}
  const ExpressResponse = flatHeaderResponse();
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  express.request = ExpressRequest.prototype as Request;
  express.response = ExpressResponse.prototype as unknown as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

export interface FlatHeaders {
  /** Adds headers that are valid, none of which is there yet, without looking at them: names and values in turn. */
  addHeaders(list: readonly string[]): void;
}

type HeaderValue = number | string | readonly string[];

/** Characters that no header's value may have. */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Makes a class of responses that gather their headers in one flat list, which Node's `writeHead` writes as it is. Node's
 * own way, a dictionary by name, costs a tenth of a small answer. What the list does not serve (values that are
 * lists, removing a header, asking for all) moves everything into that dictionary, and Node goes on as usual.
 *
 * A new class for each call, because the caller sets its prototype.
 */
export function flatHeaderResponse(): typeof ServerResponse {
  class FlatHeaderResponse<R extends IncomingMessage = IncomingMessage>
    extends ServerResponse<R>
    implements FlatHeaders
  {
    /** Names and values in turn; null: moved into Node's dictionary. */
    private flat: string[] | null = [];

    override setHeader(name: string, value: HeaderValue): this {
      const { flat } = this;
      // Node's own method refuses what is no header.
      if (flat === null || typeof value === 'object' || this.headersSent || !isValid(name, value)) {
        this.move();
        return super.setHeader(name, value);
      }
      const at = placeOf(flat, name);
      if (at < 0) flat.push(name, String(value));
      else flat[at + 1] = String(value);
      return this;
    }

    addHeaders(list: readonly string[]): void {
      if (this.flat !== null) this.flat.push(...list);
      else for (let at = 0; at < list.length; at += 2) super.setHeader(list[at] as string, list[at + 1] as string);
    }

    override getHeader(name: string): OutgoingHttpHeader | undefined {
      if (this.flat === null) return super.getHeader(name);
      const at = placeOf(this.flat, name);
      return at < 0 ? undefined : this.flat[at + 1];
    }

    override hasHeader(name: string): boolean {
      return this.flat === null ? super.hasHeader(name) : placeOf(this.flat, name) >= 0;
    }

    override removeHeader(name: string): void {
      this.move();
      super.removeHeader(name);
    }

    override appendHeader(name: string, value: string | readonly string[]): this {
      this.move();
      return super.appendHeader(name, value);
    }

    override getHeaders(): OutgoingHttpHeaders {
      this.move();
      return super.getHeaders();
    }

    override getHeaderNames(): string[] {
      this.move();
      return super.getHeaderNames();
    }

    override writeHead(status: number, ...given: unknown[]): this {
      if (this.flat !== null && given.length === 0 && !this.headersSent) return super.writeHead(status, this.flat);
      this.move();
      return super.writeHead(status, ...(given as []));
    }

    private move(): void {
      const { flat } = this;
      if (flat === null || this.headersSent) return;
      this.flat = null;
      for (let at = 0; at < flat.length; at += 2) super.setHeader(flat[at] as string, flat[at + 1] as string);
    }
  }
  return FlatHeaderResponse;
}

function isValid(name: string, value: string | number): boolean {
  return typeof name === 'string' && /^[\w-]+$/.test(name) && (typeof value === 'number' || isText(value));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !FORBIDDEN.test(value);
}

/** -1 where it is not there. The same name is nearly always the same text. */
function placeOf(flat: readonly string[], name: string): number {
  for (let at = 0; at < flat.length; at += 2) {
    const other = flat[at] as string;
    if (other === name) return at;
    if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return at;
  }
  return -1;
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * Takes the place of Express's `res.json`, which works out an ETag, a charset and freshness that no answer of ours has a
 * use for: `Cache-Control: no-store` is on all of them.
 */
export function sendJson(this: Response, body?: unknown): Response {
  this.setHeader('Content-Type', 'application/json; charset=utf-8');
  const text = JSON.stringify(body);
  // Node states the length of what it writes, and to HEAD it writes nothing.
  if (this.req.method === 'HEAD') this.setHeader('Content-Length', Buffer.byteLength(text));
  // Node writes Latin-1 with less work than UTF-8; of ASCII both make the same bytes.
  this.end(text, ASCII.test(text) ? 'latin1' : 'utf8');
  return this;
}
