import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DestinationBox } from '../destination-secrets.js';
import type { ClaimedTurn } from '../destinations.types.js';
import { Sinks } from '../sinks/sinks.service.js';
import { type Sink, SinkError } from '../sinks/sink.js';

/** A connection without a turn for this long is closed. */
const IDLE_MS = 60_000;
const LOOK_EVERY_MS = 10_000;
/** Limit in one process; beyond it the least recently used one is closed. */
const MAX_OPEN = 500;

interface Open {
  sink: Sink;
  revision: number;
  usedAt: number;
}

/** The connections of this process, one per destination, kept between its turns. */
@Injectable()
export class OpenSinks implements OnApplicationShutdown {
  private readonly open = new Map<string, Open>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly sinks: Sinks,
    private readonly box: DestinationBox,
  ) {}

  get size(): number {
    return this.open.size;
  }

  /** The connection of a destination, opened if there is none for its settings. */
  async of(turn: ClaimedTurn): Promise<Sink> {
    const { id, organizationId, kind, settings, revision } = turn;
    const known = this.open.get(id);
    if (known !== undefined && known.revision === revision && known.sink.isOpen) {
      this.open.delete(id);
      this.open.set(id, { ...known, usedAt: performance.now() });
      return known.sink;
    }
    await this.close(id);
    const secrets = this.secretsOf(turn);
    const sink = await this.sinks.open({ id, organizationId, kind, settings, secrets });
    this.open.set(id, { sink, revision, usedAt: performance.now() });
    const [longest] = this.open.keys();
    if (this.open.size > MAX_OPEN && longest !== undefined) await this.close(longest);
    this.timer ??= setInterval(() => this.closeIdle(), LOOK_EVERY_MS).unref();
    return sink;
  }

  async close(id: string): Promise<void> {
    const known = this.open.get(id);
    this.open.delete(id);
    await known?.sink.close();
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await Promise.all([...this.open.keys()].map((id) => this.close(id)));
  }

  private closeIdle(): void {
    for (const [id, { usedAt }] of this.open) if (performance.now() - usedAt > IDLE_MS) void this.close(id);
  }

  private secretsOf({ id, organizationId, secrets }: ClaimedTurn) {
    try {
      return this.box.open(organizationId, id, secrets);
    } catch {
      throw new SinkError('secret_unreadable');
    }
  }
}
