import type { HeraldRequest } from './herald-request.js';

const DRAIN_LIMIT_BYTES = 1_024 * 1_024;
const DRAIN_TIMEOUT_MS = 2_000;
const LOOK_MS = 100;

/**
 * Lets a caller that was answered early finish what it is sending, so that it gets to read its answer: a connection
 * that is closed on unread bytes is reset, and the answer may be lost with it. Who goes on for more than 1 MiB or 2 s, or
 * what the route allows, is cut off.
 */
export function drainUnreadBody(req: HeraldRequest): void {
  const { socket } = req;
  if (req.complete || req.bodyTaken === true || socket.destroyed) return;
  const readBefore = socket.bytesRead;
  const startedAt = performance.now();
  const { bytes: limitBytes, ms: limitMs } = req.drainUpTo ?? { bytes: DRAIN_LIMIT_BYTES, ms: DRAIN_TIMEOUT_MS };
  const timer = setInterval(() => {
    if (req.complete || socket.destroyed) {
      clearInterval(timer);
    } else if (socket.bytesRead - readBefore > limitBytes || performance.now() - startedAt > limitMs) {
      clearInterval(timer);
      socket.destroy();
    }
  }, LOOK_MS);
  timer.unref();
}
