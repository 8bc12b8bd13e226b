import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { originOf } from '../../common/address-origin.js';

export interface ConnectionLimits {
  /** Connections that one address may have open at once; 0: any number. */
  perAddress: number;
  /** True for the address of a trusted proxy: its connections are those of many callers. */
  isProxy: (address: string) => boolean;
  /** Called for each connection that is refused. */
  onRefused: () => void;
  /** A connection that takes none of its answer for so long is cut. */
  stalledMs?: number;
}

interface Unread {
  /** What waits in this process and in the system's queue, as it was when it last changed. */
  buffered: number;
  queued: number;
  since: number;
}

// A system reports what was taken in steps of up to a megabyte, so a slow line needs its time.
const STALLED_MS = 60_000;
/** Looks in that time. */
const LOOKS = 6;

/**
 * Bounds the connections of one address, and cuts those whose client does not read: Node's own timeouts see to
 * requests that do not arrive, never to answers that nobody takes. Call it before the server listens.
 */
export function guardConnections(server: Server, limits: ConnectionLimits): void {
  const { perAddress, isProxy, onRefused, stalledMs = STALLED_MS } = limits;
  const open = new Map<Socket, Unread>();
  const byOrigin = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (perAddress > 0 && !isProxy(address)) {
      const origin = originOf(address);
      const count = byOrigin.get(origin) ?? 0;
      if (count >= perAddress) {
        onRefused();
        socket.destroy();
        return;
      }
      byOrigin.set(origin, count + 1);
      socket.once('close', () => {
        const left = (byOrigin.get(origin) ?? 1) - 1;
        if (left === 0) byOrigin.delete(origin);
        else byOrigin.set(origin, left);
      });
    }
    open.set(socket, { buffered: 0, queued: 0, since: 0 });
    socket.once('close', () => open.delete(socket));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, unread] of open) {
      if (hasStalled(socket, unread, now, stalledMs)) socket.destroy();
    }
  }, stalledMs / LOOKS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
}

function hasStalled(socket: Socket, unread: Unread, now: number, stalledMs: number): boolean {
  const buffered = socket.writableLength;
  const queued = queuedBytes(socket);
  if (buffered === 0 || buffered !== unread.buffered || queued !== unread.queued) {
    unread.buffered = buffered;
    unread.queued = queued;
    unread.since = now;
    return false;
  }
  return now - unread.since >= stalledMs;
}

/** Bytes of a write under way that the system has not taken: `writableLength` changes only once all of it is. */
function queuedBytes(socket: Socket): number {
  return (socket as unknown as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;
}
