import type { Finding } from './finding.js';
import { readable } from './report.js';

const WIDTH = 960;
const LEFT = 24;
const BAR_LEFT = 560;
const BAR_WIDTH = 376;
const ROW = 46;
const TOP = 92;
/** The axis goes from an eighth of what a goal asks to thirty-two times as much. */
const MIN_POWER = -3;
const MAX_POWER = 5;

/** The findings as bars on one axis, each by how many times better than its goal it is; readable on light and on dark. */
export function pictureOf(findings: readonly Finding[], caption: string): string {
  const judged = findings.filter((finding) => finding.margin !== null || !finding.reached);
  const height = TOP + judged.length * ROW + 28;
  const zero = xOf(1);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">`,
    '<title id="title">Each claim of the bench beside its goal</title>',
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<text class="head" x="${LEFT}" y="34">Each claim beside its goal</text>`,
    `<text class="small" x="${LEFT}" y="56">${escaped(caption)}</text>`,
    ...axis(height),
    ...judged.flatMap((finding, n) => rowOf(finding, TOP + n * ROW)),
    `<line class="goal" x1="${zero}" y1="${TOP - 14}" x2="${zero}" y2="${height - 22}"/>`,
    '</svg>',
    '',
  ].join('\n');
}

const STYLE =
  `text{font:14px system-ui,sans-serif;fill:#1f2328}.head{font-size:18px;font-weight:600}.small{font-size:12px;fill:#59636e}` +
  `.paper{fill:#fff}.grid{stroke:#d1d9e0}.goal{stroke:#1f2328;stroke-width:2}.good{fill:#2da44e}.bad{fill:#d4761a}` +
  `@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.small{fill:#9198a1}.paper{fill:#0d1117}.grid{stroke:#3d444d}` +
  `.goal{stroke:#f0f6fc}.good{fill:#3fb950}.bad{fill:#e3883a}}`;

function axis(height: number): string[] {
  const lines: string[] = [];
  for (let power = MIN_POWER; power <= MAX_POWER; power += 1) {
    const x = xOf(2 ** power);
    const label = power === 0 ? 'the goal' : power < 0 ? `1/${2 ** -power}` : `${2 ** power} ×`;
    lines.push(`<line class="grid" x1="${x}" y1="${TOP - 14}" x2="${x}" y2="${height - 22}"/>`);
    lines.push(`<text class="small" x="${x}" y="${TOP - 20}" text-anchor="middle">${label}</text>`);
  }
  return lines;
}

function rowOf(finding: Finding, y: number): string[] {
  const { claim, value, unit, yardstick, ratio, goal, reached } = finding;
  const zero = xOf(1);
  // A figure that is not there has the shortest bar of those that missed.
  const end = xOf(Number.isFinite(finding.margin) ? (finding.margin ?? 1) : 2 ** MIN_POWER);
  const left = Math.min(zero, end);
  const against = yardstick.name === 'the limit' ? '' : ` = ${ratio.toFixed(2)} × ${yardstick.name}`;
  return [
    `<text x="${LEFT}" y="${y + 14}">${escaped(shortened(claim, 74))}</text>`,
    `<text class="small" x="${LEFT}" y="${y + 31}">${escaped(shortened(`${readable(value)} ${unit}${against}; goal ${goal}`, 96))}</text>`,
    `<rect class="${reached ? 'good' : 'bad'}" x="${left}" y="${y + 4}" width="${round(Math.max(2, Math.abs(end - zero)))}" height="22" rx="2"/>`,
  ];
}

function xOf(margin: number): number {
  const power = Math.min(MAX_POWER, Math.max(MIN_POWER, Math.log2(margin)));
  return round(BAR_LEFT + ((power - MIN_POWER) / (MAX_POWER - MIN_POWER)) * BAR_WIDTH);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
