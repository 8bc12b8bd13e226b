import { allSteps, stepsOf, type TakenMessage } from '../messages/message-log.js';
import type { StatusMode } from '../simulator.types.js';

/** Statuses due within the same slice go out together. */
const SLICE_MS = 10;

export interface StatusScheduleOptions {
  gapMs: number;
  /** A step is due. */
  onDue: (message: TakenMessage, step: number) => void;
  /** All remaining steps are given up, because statuses are off. */
  onDropped: (message: TakenMessage) => void;
}

/** Remembers which message's next status is due when. Holds one entry a message, whatever its plan's length. */
export class StatusSchedule {
  private readonly slices = new Map<number, TakenMessage[]>();
  private held: TakenMessage[] = [];
  private timer: NodeJS.Timeout | null = null;
  private mode: StatusMode = 'on';
  private last = 0;

  constructor(private readonly options: StatusScheduleOptions) {}

  /** Schedules the first step that is not done; past ones are due at once. */
  add(message: TakenMessage): void {
    const step = nextStep(message);
    if (step === null) return;
    const due = message.takenAt + (stepsOf(message.plan)[step]?.gaps ?? 0) * this.options.gapMs;
    this.put(message, due);
  }

  setMode(mode: StatusMode): void {
    this.mode = mode;
    if (mode === 'hold') return;
    const held = this.held;
    this.held = [];
    for (const message of held) this.put(message, 0);
  }

  clear(): void {
    this.slices.clear();
    this.held = [];
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private put(message: TakenMessage, dueMs: number): void {
    const slice = Math.max(Math.ceil(dueMs / SLICE_MS), this.last + 1);
    const waiting = this.slices.get(slice);
    if (waiting === undefined) this.slices.set(slice, [message]);
    else waiting.push(message);
    this.timer ??= setTimeout(() => this.tick(), SLICE_MS);
  }

  private tick(): void {
    this.timer = null;
    const now = Math.floor(Date.now() / SLICE_MS);
    const due = [...this.slices.keys()].filter((slice) => slice <= now).sort((a, b) => a - b);
    this.last = Math.max(this.last, now);
    for (const slice of due) {
      const messages = this.slices.get(slice) ?? [];
      this.slices.delete(slice);
      for (const message of messages) this.act(message);
    }
    if (this.slices.size > 0) this.timer ??= setTimeout(() => this.tick(), SLICE_MS);
  }

  private act(message: TakenMessage): void {
    if (this.mode === 'hold') {
      this.held.push(message);
      return;
    }
    if (this.mode === 'off') {
      this.options.onDropped(message);
      return;
    }
    const step = nextStep(message);
    if (step === null) return;
    message.postedSteps |= 1 << step;
    this.options.onDue(message, step);
    this.add(message);
  }
}

/** Lowest step neither acknowledged nor on its way. */
function nextStep(message: TakenMessage): number | null {
  const open = allSteps(message.plan) & ~(message.doneSteps | message.postedSteps);
  return open === 0 ? null : 31 - Math.clz32(open & -open);
}
