import { Worker } from 'node:worker_threads';

export interface Sending {
  url: string;
  /** Headers of the request; those of the body are added. */
  headers: Record<string, string>;
  mib: number;
  /** `form`: a `FormData`, whose length is known; `stream`: a form in chunks; `json`: a text in JSON. */
  as: 'form' | 'stream' | 'json';
  connectionId: string;
  times: number;
  /** The client does nothing for so long after its first 4 MiB. A stream only. */
  busyMs?: number;
}

/**
 * Sends with `fetch` in a thread of its own, as a client that shares no event loop with the server: in one with it the
 * client would read each answer before the server does anything else.
 *
 * @returns for each request its status and code, or why there is none
 */
export function sendByFetch(sending: Sending): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(CLIENT, { eval: true, workerData: sending });
    worker.once('message', resolve).once('error', reject);
  });
}

const CLIENT = String.raw`
const { parentPort, workerData } = require('node:worker_threads');
const { url, headers, mib, as, connectionId, times, busyMs = 0 } = workerData;
const MIB = Buffer.alloc(1024 * 1024, 'a text without an end ');
const HEAD = '--x\r\nContent-Disposition: form-data; name="connection_id"\r\n\r\n' + connectionId +
  '\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n';

function* pieces() {
  yield Buffer.from(HEAD);
  for (let sent = 0; sent < mib; sent++) {
    if (sent === 4) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs);
    yield MIB;
  }
  yield Buffer.from('\r\n--x--\r\n');
}

function body() {
  if (as === 'json') {
    return { body: JSON.stringify({ text: 'x'.repeat(mib * MIB.length) }), type: 'application/json' };
  }
  if (as === 'stream') return { body: ReadableStream.from(pieces()), type: 'multipart/form-data; boundary=x', duplex: 'half' };
  const form = new FormData();
  form.append('connection_id', connectionId);
  form.append('file', new Blob(Array(mib).fill(MIB), { type: 'text/plain' }), 'a.txt');
  return { body: form };
}

async function send() {
  const { type, ...init } = body();
  try {
    const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...(type && { 'content-type': type }) }, ...init });
    return answer.status + ' ' + (await answer.json()).error.code;
  } catch (error) {
    return error.message + ': ' + error.cause?.message;
  }
}

(async () => {
  const outcomes = [];
  for (let done = 0; done < times; done++) outcomes.push(await send());
  parentPort.postMessage(outcomes);
})();
`;
