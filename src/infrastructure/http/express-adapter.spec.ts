import { Controller, Get, type INestApplication, Module, Req, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express, { type Express, type Request } from 'express';
import { Agent, createServer, get, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { get as getSecurely } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TestAuthority } from '../../../test/support/certificates.js';
import { expressConstructors, FixedPrototypeAdapter } from './express-adapter.js';

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
