import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** 0: the connection ended without an answer. */
  status: number;
  body: string;
}

/** Parts of a form written by hand, as no library would. */
export function formBody(boundary: string, parts: readonly { headers: string; data: Uint8Array | string }[]): Buffer {
  const pieces = parts.flatMap(({ headers, data }) => [
    Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
    Buffer.from(data),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

export interface RawRequest {
  baseUrl: string;
  key: string;
  contentType: string;
  body: Uint8Array;
  /** Default: that of the body. */
  contentLength?: number;
  /** Close the connection after so many bytes of the body. */
  cutAfter?: number;
  /** Further header lines. */
  headers?: readonly string[];
}

/** Writes a request byte for byte, and reads what comes back until the connection ends or an answer is there. */
export function rawUpload(request: RawRequest): Promise<RawAnswer> {
  const { baseUrl, key, contentType, body, contentLength = body.length, cutAfter, headers = [] } = request;
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(port), hostname);
    let received = '';
    const finish = (): void => {
      socket.destroy();
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
      resolve({ status, body: received.slice(received.indexOf('\r\n\r\n') + 4) });
    };
    socket.setTimeout(10_000, finish);
    socket.on('error', finish).on('close', finish);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const length = /content-length: (\d+)/i.exec(received)?.[1];
      const headEnd = received.indexOf('\r\n\r\n');
      if (length !== undefined && headEnd > 0 && received.length >= headEnd + 4 + Number(length)) finish();
    });
    const lines = [
      'POST /api/v1/media HTTP/1.1',
      `Host: ${hostname}`,
      `Authorization: Bearer ${key}`,
      `Content-Type: ${contentType}`,
      ...(contentLength < 0 ? [] : [`Content-Length: ${contentLength}`]),
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    if (cutAfter === undefined) socket.write(body);
    else socket.write(body.subarray(0, cutAfter), () => setTimeout(() => socket.destroy(), 20));
  });
}
