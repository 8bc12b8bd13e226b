import type { IncomingMessage } from 'node:http';

/** Beyond it a sender that was refused is cut off instead of being heard out. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Reads and drops the rest of a request, so that its sender is ready for the answer. */
export function letRunOff(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed || request.readableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) request.destroy();
    });
    request.once('end', resolve);
    request.once('close', resolve);
    request.resume();
  });
}
