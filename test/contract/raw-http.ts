import { connect } from 'node:net';

export interface RawAnswer {
  /** Of the first answer; 0 where none came. */
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  text: string;
  /** The server closed the connection before the time was up. */
  isClosed: boolean;
}

/**
 * Sends bytes that no HTTP client would, and reads whatever comes until the server closes, the time is up, or what has
 * come is enough.
 */
export function rawRequest(
  port: number,
  text: string,
  timeoutMs = 20_000,
  isEnough: (received: string) => boolean = () => false,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let isClosed = true;
    const giveUp = (): void => {
      isClosed = false;
      socket.destroy();
    };
    const timer = setTimeout(giveUp, timeoutMs);
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(text, 'latin1'));
    socket.on('data', (chunk) => {
      received += String(chunk);
      if (isEnough(received)) giveUp();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answerOf(received, isClosed));
    });
  });
}

/** A request of these lines, with Host and `Connection: close`. */
export function request(first: string, headers: readonly string[] = [], body = ''): string {
  return `${[first, 'Host: herald.test', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`;
}

function answerOf(text: string, isClosed: boolean): RawAnswer {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s, 2);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1] ?? 0), headers, body, text, isClosed };
}
