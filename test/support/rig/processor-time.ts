import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Of /proc/<pid>/stat; every Linux that Node runs on has 100 ticks a second. */
const MS_PER_TICK = 10;

/**
 * Milliseconds of processor time that a process has used, its ended children included; 0 where the system does not
 * report it (only Linux does) or the process is gone.
 */
export function processorMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // `pid (name) S ppid ...`: the name may hold anything; utime, stime, cutime and cstime are fields 14 to 17.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  } catch {
    return 0;
  }
}

/** The same of all PostgreSQL processes whose working folder is `cluster`. */
export function clusterProcessorMs(cluster: string): number {
  return pids()
    .filter((pid) => cwdOf(pid) === cluster)
    .reduce((sum, pid) => sum + processorMs(pid), 0);
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function cwdOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
