import { cpus } from 'node:os';
import { pause } from './wait.js';

/** Share (0 to 1) of all cores that was in use during one second: by others, where we only wait. */
export async function machineBusy(): Promise<number> {
  const before = times();
  await pause(1_000);
  const after = times();
  return (after.busy - before.busy) / (after.all - before.all);
}

function times(): { busy: number; all: number } {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { busy: all - idle, all };
}
