import { performance } from 'node:perf_hooks';
import { asCurl, type Answer, type Call, type Caller } from './caller.js';

/** What one request may cost at most, for every caller. */
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_BUSY_MS = 100;
const MAX_MEMORY_BYTES = 50 * 1_024 * 1_024;
/** Other work of the process counts too, so the cheapest of several tries is what the request costs. */
const TRIES = 8;
/** What `reference` takes on a quiet machine. */
const REFERENCE_MS = 6;
const REFERENCE = JSON.stringify(Array.from({ length: 40_000 }, (_, index) => ({ type: 'BODY', index })));

interface Cost {
  answerBytes: number;
  busyMs: number;
  memoryBytes: number;
}

/** Sends requests one by one to a server of this process and names those that cost too much. */
export class CostMeter {
  readonly tooDear: string[] = [];
  /** The greatest costs, and what took longest, for the log. */
  private readonly most: Cost = { answerBytes: 0, busyMs: 0, memoryBytes: 0 };
  private longest = 'nothing';
  /** How many times as long as on a quiet machine the processor takes for the same work just now. */
  private slowness = 1;

  constructor(private readonly caller: Caller) {}

  async measure(what: string, call: Call): Promise<Answer> {
    let { answer, cost } = await this.once(call);
    for (let tries = 1; tries < TRIES && isTooDear(cost); tries++) {
      this.slowness = Math.max(1, reference() / REFERENCE_MS);
      const again = await this.once(call);
      answer = again.answer;
      cost = cheaper(cost, again.cost);
    }
    this.note(what, cost);
    if (isTooDear(cost)) this.tooDear.push(`${what}: ${textOf(cost)}: ${asCurl(shortened(call))}`);
    return answer;
  }

  private async once(call: Call): Promise<{ answer: Answer; cost: Cost }> {
    const cpuBefore = process.cpuUsage();
    const loopBefore = performance.eventLoopUtilization();
    const memoryBefore = memory();
    const answer = await this.caller.send(call);
    const memoryBytes = memory() - memoryBefore;
    const { user, system } = process.cpuUsage(cpuBefore);
    const { active } = performance.eventLoopUtilization(loopBefore);
    // The time in which the loop was held is no longer than either, whatever else the machine does.
    const busyMs = Math.min((user + system) / 1_000, active) / this.slowness;
    const isError = answer.status >= 400;
    return { answer, cost: { answerBytes: isError ? Buffer.byteLength(answer.text) : 0, busyMs, memoryBytes } };
  }

  /** What the dearest requests cost. */
  summary(): string {
    return `at most ${textOf(this.most)} (${this.longest})`;
  }

  private note(what: string, { answerBytes, busyMs, memoryBytes }: Cost): void {
    if (busyMs > this.most.busyMs) this.longest = what;
    this.most.answerBytes = Math.max(this.most.answerBytes, answerBytes);
    this.most.busyMs = Math.max(this.most.busyMs, busyMs);
    this.most.memoryBytes = Math.max(this.most.memoryBytes, memoryBytes);
  }
}

/** Milliseconds of processor time for a fixed piece of work, the median of five. */
function reference(): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    JSON.parse(REFERENCE);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return times.sort((a, b) => a - b)[2] ?? REFERENCE_MS;
}

function textOf({ answerBytes, busyMs, memoryBytes }: Cost): string {
  return `${answerBytes} bytes of error, ${Math.round(busyMs)} ms busy, ${Math.round(memoryBytes / 1_048_576)} MiB`;
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function isTooDear({ answerBytes, busyMs, memoryBytes }: Cost): boolean {
  return answerBytes > MAX_ANSWER_BYTES || busyMs > MAX_BUSY_MS || memoryBytes > MAX_MEMORY_BYTES;
}

function cheaper(a: Cost, b: Cost): Cost {
  return {
    answerBytes: Math.min(a.answerBytes, b.answerBytes),
    busyMs: Math.min(a.busyMs, b.busyMs),
    memoryBytes: Math.min(a.memoryBytes, b.memoryBytes),
  };
}

function shortened(call: Call): Call {
  return { ...call, target: call.target.slice(0, 300), body: call.body?.subarray(0, 200) };
}
