import { Controller, Get, type INestApplication, Module, Req, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express, { type Express, type Request } from 'express';
import {
  Agent,
  createServer,
  get,
  IncomingMessage,
  type Server,
  ServerResponse,
  type RequestListener,
} from 'node:http';
import { once } from 'node:events';
import { get as getSecurely } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TestAuthority } from '../../../test/support/certificates.js';
import { expressConstructors, FixedPrototypeAdapter, flatHeaderResponse, sendJson } from './express-adapter.js';

@Controller()
class ThingsController {
  @Get('thing')
  thing(@Req() request: Request): object {
    return { ip: request.ip, isRequest: request instanceof IncomingMessage };
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

interface Seen {
  before: object;
  after: object;
}

/** The prototypes of a request and its response before Express takes them, and in a handler. */
async function prototypesSeen(app: Express, server: Server): Promise<{ request: Seen; response: Seen }> {
  let before: object[] = [];
  let after: object[] = [];
  server.prependListener('request', (req, res) => (before = [prototypeOf(req), prototypeOf(res)]));
  app.get('/', (req, res) => {
    after = [prototypeOf(req), prototypeOf(res)];
    res.json({});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const [requestBefore, responseBefore] = before as [object, object];
  const [requestAfter, responseAfter] = after as [object, object];
  return {
    request: { before: requestBefore, after: requestAfter },
    response: { before: responseBefore, after: responseAfter },
  };
}

function prototypeOf(value: object): object {
  return Object.getPrototypeOf(value) as object;
}

describe('Express as it is', () => {
  it('exchanges the prototypes of each request and response; where it no longer does, the adapter can go', async () => {
    const app = express();
    const { request, response } = await prototypesSeen(app, createServer(app));
    expect(request.before).toBe(IncomingMessage.prototype);
    expect(request.after).toBe(app.request);
    expect(response.before).toBe(ServerResponse.prototype);
    expect(response.after).toBe(app.response);
  });
});

describe('a server with the constructors of the adapter', () => {
  it('makes requests and responses whose prototypes Express leaves alone', async () => {
    const app = express();
    const { request, response } = await prototypesSeen(app, createServer(expressConstructors(app), app));
    expect(request.after).toBe(request.before);
    expect(response.after).toBe(response.before);
  });

  it('shows what is added to express.request and express.response later', async () => {
    const app = express();
    const server = createServer(expressConstructors(app), app);
    app.response.json = function json() {
      return this.end('replaced');
    };
    app.get('/', (_req, res) => void res.json({ given: true }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(await answer.text()).toBe('replaced');
    server.closeAllConnections();
    server.close();
  });
});

describe('FixedPrototypeAdapter', () => {
  let app: INestApplication | null = null;

  afterEach(async () => {
    await app?.close();
    app = null;
  });

  async function start(options: NestApplicationOptions): Promise<number> {
    app = await NestFactory.create(ThingsModule, new FixedPrototypeAdapter(), { logger: false, ...options });
    await app.listen(0, '127.0.0.1');
    return ((app.getHttpServer() as Server).address() as AddressInfo).port;
  }

  it('serves an application of Nest', async () => {
    const port = await start({});
    const answer = await fetch(`http://127.0.0.1:${port}/thing`);
    expect(await answer.json()).toEqual({ ip: '127.0.0.1', isRequest: true });
  });

  it('keeps httpsOptions', async () => {
    const authority = new TestAuthority();
    const { key, cert } = authority.issue({ names: ['localhost'] });
    const port = await start({ httpsOptions: { key, cert } });
    const status = await new Promise((resolve, reject) => {
      getSecurely(
        { port, host: '127.0.0.1', servername: 'localhost', path: '/thing', ca: authority.certificate },
        (res) => resolve(res.statusCode),
      ).on('error', reject);
    });
    expect(status).toBe(200);
  });

  it('keeps return503OnClosing', async () => {
    const port = await start({ return503OnClosing: true });
    (app as INestApplication).getHttpAdapter().beforeClose?.();
    const answer = await fetch(`http://127.0.0.1:${port}/thing`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('keeps forceCloseConnections: open connections end with the application', async () => {
    const port = await start({ forceCloseConnections: true });
    const agent = new Agent({ keepAlive: true });
    const socket = await new Promise<Socket>((resolve, reject) => {
      get({ port, host: '127.0.0.1', path: '/thing', agent }, (res) => {
        const { socket: used } = res;
        res.resume().once('end', () => resolve(used));
      }).on('error', reject);
    });
    await Promise.all([once(socket, 'close'), app?.close()]);
    expect(socket.destroyed).toBe(true);
    agent.destroy();
  });
});

/** The head of the answer as it goes over the wire, and what the handler returned. */
async function answerOf(constructor: typeof ServerResponse, handle: (res: ServerResponse) => unknown) {
  let result: unknown;
  const listener: RequestListener = (_req, res) => {
    res.sendDate = false;
    try {
      result = handle(res);
    } catch (error) {
      result = (error as NodeJS.ErrnoException).code;
    }
    if (!res.writableEnded) res.end('{}');
  };
  const server = createServer({ ServerResponse: constructor }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return { result, status: response.status, headers: [...response.headers], body: await response.text() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const HANDLERS: Record<string, (res: ServerResponse) => unknown> = {
  'headers one by one': (res) => res.setHeader('X-One', 'a').setHeader('X-Two', 2).hasHeader('x-one'),
  'the same name twice': (res) => res.setHeader('X-One', 'a').setHeader('x-one', 'b').getHeader('X-ONE'),
  'a header that is not there': (res) => [res.getHeader('X-One'), res.hasHeader('X-One')],
  'a header that is removed': (res) => {
    res.setHeader('X-One', 'a').setHeader('Content-Length', 99).removeHeader('Content-Length');
    return res.getHeaderNames();
  },
  'a list of values': (res) => res.setHeader('X-One', 'a').setHeader('Set-Cookie', ['a=1', 'b=2']).getHeaders(),
  'a value that is added': (res) => res.setHeader('Vary', 'Accept').appendHeader('Vary', 'Origin').getHeader('vary'),
  'many at once': (res) => res.setHeaders(new Map([['X-One', 'a']])).getHeader('x-one'),
  'writeHead with further headers': (res) => void res.setHeader('X-One', 'a').writeHead(202, { 'X-Two': 'b' }),
  'writeHead with a reason': (res) => void res.setHeader('X-One', 'a').writeHead(418, 'Teapot'),
  'an answer in pieces': (res) => {
    res.setHeader('X-One', 'a').write('{"a"');
    return [res.headersSent, res.getHeader('x-one'), res.hasHeader('X-Two')];
  },
  'a header after the head': (res) => {
    res.setHeader('X-One', 'a').flushHeaders();
    res.setHeader('X-Two', 'b');
  },
  'a line break in a value': (res) => res.setHeader('X-One', 'a\r\nX-Two: b'),
  'a name that is none': (res) => res.setHeader('X One', 'a'),
  'no value': (res) => res.setHeader('X-One', undefined as unknown as string),
};

describe('responses with flat headers', () => {
  it.each(Object.entries(HANDLERS))('answer as those of Node: %s', async (_name, handle) => {
    expect(await answerOf(flatHeaderResponse(), handle)).toEqual(await answerOf(ServerResponse, handle));
  });

  it('leave nothing to the dictionary of Node where headers are only set', async () => {
    const { result } = await answerOf(flatHeaderResponse(), (res) => {
      const dictionary = Object.getOwnPropertySymbols(res).find((symbol) => String(symbol).includes('kOutHeaders'));
      res.setHeader('X-One', 'a').end('{}');
      return dictionary === undefined ? 'unknown' : (res as unknown as Record<symbol, unknown>)[dictionary];
    });
    expect(result).toBeNull();
  });
});

describe('sendJson', () => {
  it.each(['plain', 'é', '\u0000\u007f\u0080', 'Grüße, 世界 🌍', '\ud83c'])(
    'answers %j as UTF-8 of the stated length',
    async (text) => {
      const app = express();
      app.response.json = sendJson;
      app.get('/', (_req, res) => void res.json({ text }));
      const server = createServer(app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
        const answer = await fetch(url);
        const bytes = Buffer.from(await answer.arrayBuffer());
        expect(bytes).toEqual(Buffer.from(JSON.stringify({ text }), 'utf8'));
        expect(answer.headers.get('content-length')).toBe(String(bytes.length));
        const head = await fetch(url, { method: 'HEAD' });
        expect([await head.text(), head.headers.get('content-length')]).toEqual(['', String(bytes.length)]);
      } finally {
        server.close();
      }
    },
  );
});
