import { createServer, ServerResponse, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { flatHeaderResponse } from './flat-headers.js';

/** The head of the answer as it goes over the wire, and what the handler was told. */
async function answerOf(constructor: typeof ServerResponse, handle: (res: ServerResponse) => unknown) {
  let told: unknown;
  const listener: RequestListener = (_req, res) => {
    res.sendDate = false;
    try {
      told = handle(res);
    } catch (error) {
      told = (error as NodeJS.ErrnoException).code;
    }
    if (!res.writableEnded) res.end('{}');
  };
  const server = createServer({ ServerResponse: constructor }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return { told, status: response.status, headers: [...response.headers], body: await response.text() };
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
    const { told } = await answerOf(flatHeaderResponse(), (res) => {
      const dictionary = Object.getOwnPropertySymbols(res).find((symbol) => String(symbol).includes('kOutHeaders'));
      res.setHeader('X-One', 'a').end('{}');
      return dictionary === undefined ? 'unknown' : (res as unknown as Record<symbol, unknown>)[dictionary];
    });
    expect(told).toBeNull();
  });
});
