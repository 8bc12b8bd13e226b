import { COUNTERS, helpOf, LABELLED } from './counter-help.js';

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
