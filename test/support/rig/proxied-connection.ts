import type { Socket } from 'node:net';
import { Signal } from '../../../src/common/signal.js';
import type { ProxyFault, Verdict } from './tcp-proxy.js';
import { pause } from './wait.js';

interface Surroundings {
  fault: () => ProxyFault;
  inspect: (bytes: Buffer) => Verdict;
  gone: () => void;
}

type Direction = 'to_target' | 'to_client';

/** Bytes of one direction that may wait before the sender is made to. */
const MAX_WAITING = 1_048_576;
/** A slow connection gets its bytes in pieces of this long. */
const PIECE_MS = 20;
const LOOK_AGAIN_MS = 1_000;

/** One connection through the proxy: a client's socket and the one to the target, null where it has none. */
export class ProxiedConnection {
  private readonly changed = new Signal();
  private ended = false;
  private loseAnswer = false;
  private onAnswer: (() => void) | null = null;
  /** Of the answers; null while nothing is truncated. */
  private bytesLeft: number | null = null;

  constructor(
    private readonly client: Socket,
    private target: Socket | null,
    private readonly around: Surroundings,
  ) {
    this.client.on('error', () => this.cut());
    this.client.on('close', () => this.cut());
    if (target === null) {
      this.client.resume();
      return;
    }
    this.join(this.client, target, 'to_target');
    this.join(target, this.client, 'to_client');
    target.on('error', () => this.targetFailed(target));
    target.on('close', () => this.targetFailed(target));
  }

  faultChanged(): void {
    const fault = this.around.fault();
    this.bytesLeft = fault.kind === 'truncate' ? (this.bytesLeft ?? fault.bytes) : null;
    if (fault.kind === 'half_open' && this.target !== null) {
      const { target } = this;
      this.target = null;
      target.resetAndDestroy();
    }
    this.changed.notify();
  }

  cut(): void {
    if (!this.end()) return;
    // At once, whatever the other side still has to say: `end()` alone would wait for its answer.
    for (const socket of [this.client, this.target]) socket?.end(() => socket.destroy());
    setTimeout(() => [this.client, this.target].forEach((socket) => socket?.destroy()), 100).unref();
  }

  reset(): void {
    if (!this.end()) return;
    this.client.resetAndDestroy();
    this.target?.resetAndDestroy();
  }

  private end(): boolean {
    if (this.ended) return false;
    this.ended = true;
    this.around.gone();
    this.changed.notify();
    return true;
  }

  /** The target closed, or can't be reached; what half-open made of it is none of the client's business. */
  private targetFailed(target: Socket): void {
    if (this.target === target) this.cut();
  }

  private join(from: Socket, to: Socket, direction: Direction): void {
    let waiting = 0;
    let chain = Promise.resolve();
    from.on('data', (bytes: Buffer) => {
      const arrivedAt = performance.now();
      waiting += bytes.length;
      if (waiting > MAX_WAITING) from.pause();
      chain = chain.then(async () => {
        await this.pass(bytes, to, direction, arrivedAt);
        waiting -= bytes.length;
        if (waiting <= MAX_WAITING && from.isPaused()) from.resume();
      });
    });
    from.on('end', () => {
      chain = chain.then(async () => {
        await this.whileBlackHole();
        if (this.target !== null && !this.ended) to.end();
      });
    });
  }

  private async pass(bytes: Buffer, to: Socket, direction: Direction, arrivedAt: number): Promise<void> {
    if (direction === 'to_target' && this.verdict(bytes) === 'cut') {
      this.cut();
      return;
    }
    if (direction === 'to_client' && this.loseAnswer) {
      this.cut();
      return;
    }
    if (direction === 'to_client' && this.onAnswer !== null) {
      this.onAnswer();
      this.onAnswer = null;
    }
    const fault = this.around.fault();
    if (fault.kind === 'delay') await pause(Math.max(0, arrivedAt + fault.ms - performance.now()));
    if (fault.kind === 'slow') await this.dribble(bytes, to, fault.bytesPerSecond);
    else {
      await this.whileBlackHole();
      this.write(bytes, to, direction);
    }
  }

  private verdict(bytes: Buffer): Verdict {
    const verdict = this.around.inspect(bytes);
    if (verdict === 'lose_answer') this.loseAnswer = true;
    if (typeof verdict === 'function') this.onAnswer = verdict;
    return verdict;
  }

  private write(bytes: Buffer, to: Socket, direction: Direction): void {
    if (this.ended || this.target === null || !to.writable) return;
    if (direction === 'to_target' || this.bytesLeft === null) {
      to.write(bytes);
      return;
    }
    const some = bytes.subarray(0, this.bytesLeft);
    this.bytesLeft -= some.length;
    if (this.bytesLeft > 0) {
      to.write(some);
      return;
    }
    // Reset only once the last bytes are out, which a reset would else take along.
    to.write(some, () => this.reset());
  }

  private async dribble(bytes: Buffer, to: Socket, bytesPerSecond: number): Promise<void> {
    const piece = Math.max(1, Math.ceil((bytesPerSecond * PIECE_MS) / 1_000));
    for (let at = 0; at < bytes.length && !this.ended; at += piece) {
      const some = bytes.subarray(at, at + piece);
      if (!this.ended && this.target !== null && to.writable) to.write(some);
      if (this.around.fault().kind === 'slow') await pause((some.length / bytesPerSecond) * 1_000);
      await this.whileBlackHole();
    }
  }

  private async whileBlackHole(): Promise<void> {
    while (this.around.fault().kind === 'black_hole' && !this.ended) await this.changed.wait(LOOK_AGAIN_MS);
  }
}
