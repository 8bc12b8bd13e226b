import { Injectable } from '@nestjs/common';
import { COUNTERS, helpOf, LABELLED } from './counter-help.js';

/** Beyond this no new series begins: labels with outside values must not fill the memory. */
const MAX_SERIES = 2_000;

/** Counts of what happened in this process since its start. */
@Injectable()
export class Counters {
  private readonly counts = new Map<string, number>();

  /** Adds `by` (default 1) to the counter named in snake_case; it comes into being with its first use. */
  increment(name: string, by = 1): void {
    const known = this.counts.get(name);
    if (known === undefined && this.counts.size >= MAX_SERIES) return;
    this.counts.set(name, (known ?? 0) + by);
  }

  /** As `increment`, by labels whose values are few and our own. */
  incrementBy(name: string, labels: Readonly<Record<string, string>>, by = 1): void {
    let text = '';
    for (const label in labels) text += `${text === '' ? '' : ','}${label}="${labels[label]}"`;
    this.increment(`${name}{${text}}`, by);
  }

  /** Every counter by name, with its labels as Prometheus writes them, sorted. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Counts in the text format of Prometheus; what was not counted yet is 0. */
export function countersText(counts: Readonly<Record<string, number>>): string {
  const silent = Object.keys(COUNTERS).filter((name) => !LABELLED.has(name));
  const series = { ...Object.fromEntries(silent.map((name) => [name, 0])), ...counts };
  const lines: string[] = [];
  let last = '';
  for (const key of Object.keys(series).sort()) {
    const [name = '', labels = ''] = key.split(/(?=\{)/);
    if (name !== last) lines.push(`# HELP herald_${name}_total ${helpOf(name)}`, `# TYPE herald_${name}_total counter`);
    lines.push(`herald_${name}_total${labels} ${series[key]}`);
    last = name;
  }
  return `${lines.join('\n')}\n`;
}
