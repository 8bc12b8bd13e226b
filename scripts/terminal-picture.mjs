// Draws docs/pictures/terminal.svg from a real run: `node scripts/terminal-picture.mjs`. It starts Herald on its own data
// and free ports, runs the README's first commands, and draws what they printed. Ids and keys are of that run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.mjs';
import { startDemoHerald } from './lib/demo-herald.mjs';
import { ROOT } from './lib/root.mjs';

const PICTURE = join(ROOT, 'docs/pictures/terminal.svg');
/** What is run in the second terminal, as one types it and as it is run here. */
const COMMANDS = [
  ['message', 'send', '--to', '+15550001234', '--text', 'Your table is ready.', '--watch'],
  ['message', 'send', '--to', '+15550100002', '--text', 'Are you there?', '--watch'],
];
const COMMAND_WITHIN_MS = 120_000;

const CHARACTER_PX = 7.85;
const LINE_PX = 19;
const COLUMNS = 104;
const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);
const COLOURS = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};

await buildIfStale();
const folder = mkdtempSync(join(tmpdir(), 'herald-picture-'));
const dataDir = join(folder, '.data');
const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, FORCE_COLOR: '1' };
const herald = await startDemoHerald(dataDir);
try {
  const lines = [];
  for (const words of COMMANDS) {
    lines.push(`${ESCAPE}[90m$${ESCAPE}[0m ${ESCAPE}[1mnpx herald ${words.map(typed).join(' ')}${ESCAPE}[0m`);
    lines.push(...(await outputOf(words)), '');
  }
  writeFileSync(PICTURE, drawn(lines.slice(0, -1)));
  process.stdout.write(`wrote ${PICTURE}\n`);
} finally {
  await herald.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** An argument as one types it. */
function typed(word) {
  return /^[\w+-]+$/.test(word) ? word : `"${word}"`;
}

async function outputOf(words) {
  const child = spawn(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), ...words], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_WITHIN_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await once(child, 'close');
  if (child.exitCode === null || output === '') throw new Error(`${words.join(' ')} said nothing, or took too long`);
  return output.trimEnd().split('\n');
}

function drawn(lines) {
  const width = Math.round(COLUMNS * CHARACTER_PX + 32);
  const height = lines.length * LINE_PX + 58;
  const texts = lines.map(
    (line, index) => `  <text x="16" y="${52 + index * LINE_PX}" xml:space="preserve">${spans(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title"`,
    '  font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#e6edf3">',
    '  <title id="title">A terminal: a message is sent and goes from queued to read; another one fails</title>',
    `  <rect width="${width}" height="${height}" rx="10" fill="#0d1117" stroke="#30363d"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) => `  <circle cx="${20 + index * 18}" cy="18" r="5.5" fill="${fill}"/>`,
    ),
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}

/** Text with the terminal's colours as SVG, cut off where the terminal ends. */
function spans(line) {
  let style = '';
  let width = COLUMNS;
  return line
    .split(COLOUR)
    .map((part) => {
      const codes = part.startsWith(`${ESCAPE}[`) ? part.slice(2, -1) : undefined;
      if (codes === undefined) {
        const text = part.length <= width ? part : `${part.slice(0, Math.max(0, width - 1))}…`;
        const shown = width > 0 && text !== '' ? `<tspan${style}>${escaped(text)}</tspan>` : '';
        width -= part.length;
        return shown;
      }
      for (const code of codes.split(';').map(Number)) style = styleAfter(code, style);
      return '';
    })
    .join('');
}

function styleAfter(code, style) {
  if (code === 0) return '';
  if (code === 1) return `${style} font-weight="700"`;
  if (code === 2) return ` fill="${COLOURS[90]}"`;
  if (code === 22) return style.replace(' font-weight="700"', '').replace(` fill="${COLOURS[90]}"`, '');
  if (code === 39) return style.replace(/ fill="[^"]*"/, '');
  const fill = COLOURS[code] ?? COLOURS[code - 60];
  return fill === undefined ? style : `${style.replace(/ fill="[^"]*"/, '')} fill="${fill}"`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
