import type { Socket } from 'node:net';
import { commonErrors } from '../../../common/common.errors.js';

const LOOK_MS = 1_000;
const GRACE_MS = 30_000;
/** A line slower than this (0.3 Mbit/s) can't upload; 32 MiB then take 14 minutes. */
const LEAST_BYTES_PER_MS = (40 * 1_024) / 1_000;

/**
 * Ends uploads that come too slowly, or no more: whoever dribbles holds a place that others want. The mean rate counts, so
 * a pause is forgiven to who was quick before, but none that is longer than the time of grace.
 *
 * @param tooSlow called once, with the error for the caller
 * @returns what stops the watch
 */
export function watchPace(socket: Socket, tooSlow: (error: Error) => void, graceMs = GRACE_MS): () => void {
  const startedAt = performance.now();
  const readBefore = socket.bytesRead;
  let read = readBefore;
  let readAt = startedAt;
  const timer = setInterval(
    () => {
      const now = performance.now();
      if (socket.bytesRead > read) {
        read = socket.bytesRead;
        readAt = now;
      }
      const allowedMs = graceMs + (read - readBefore) / LEAST_BYTES_PER_MS;
      if (now - startedAt <= allowedMs && now - readAt <= graceMs) return;
      clearInterval(timer);
      const message = 'The upload came too slowly; send at least 40 KiB a second.';
      tooSlow(commonErrors.INVALID_REQUEST({ details: [{ field: '', rule: 'timeout', message }] }));
    },
    Math.min(LOOK_MS, graceMs),
  );
  return () => clearInterval(timer);
}
