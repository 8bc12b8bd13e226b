import type { StatusMode } from '../http/faults.js';
import { allSteps, stepsOf, type TakenMessage } from '../messages/message-log.js';

/** Statuses due within the same slice share a request. */
const SLICE_MS = 10;

/** Remembers when each message's next status is due. */
export class StatusSchedule {
  private readonly slices = new Map<number, TakenMessage[]>();
  private held: TakenMessage[] = [];
  private mode: StatusMode = 'on';

  /**
   * @param onDue called when a step is due @param onDropped called when all remaining steps are dropped, because
   * statuses are off
   * @param onDropped all remaining steps are given up, because statuses are off
   */
  constructor(
    private readonly gapMs: number,
    private readonly onDue: (message: TakenMessage, step: number) => void,
    private readonly onDropped: (message: TakenMessage) => void,
  ) {}

  /** Schedules the first unfinished step; past ones are due at once. */
  add(message: TakenMessage): void {
    const step = nextStep(message);
    if (step === null) return;
    const due = message.takenAt + (stepsOf(message.plan)[step]?.gaps ?? 0) * this.gapMs;
    this.put(message, due);
  }

  setMode(mode: StatusMode): void {
    this.mode = mode;
    if (mode === 'hold') return;
    for (const message of this.held.splice(0)) this.put(message, 0);
  }

  clear(): void {
    this.slices.clear();
    this.held = [];
  }

  private put(message: TakenMessage, dueMs: number): void {
    const now = Date.now();
    const slice = Math.ceil(Math.max(dueMs, now + 1) / SLICE_MS);
    const waiting = this.slices.get(slice);
    if (waiting !== undefined) {
      waiting.push(message);
      return;
    }
    const messages = [message];
    this.slices.set(slice, messages);
    const act = () => {
      // A slice that was cleared meanwhile is gone, or a new one.
      if (this.slices.get(slice) !== messages) return;
      this.slices.delete(slice);
      for (const each of messages) this.act(each);
    };
    setTimeout(act, slice * SLICE_MS - now).unref();
  }

  private act(message: TakenMessage): void {
    const step = nextStep(message);
    if (this.mode === 'hold') this.held.push(message);
    else if (this.mode === 'off') this.onDropped(message);
    else if (step !== null) {
      message.postedSteps |= 1 << step;
      this.onDue(message, step);
      this.add(message);
    }
  }
}

/** Lowest step that is neither acknowledged nor in flight. */
function nextStep(message: TakenMessage): number | null {
  const open = allSteps(message.plan) & ~(message.doneSteps | message.postedSteps);
  return open === 0 ? null : 31 - Math.clz32(open & -open);
}
