// Draws states and the moves between them as SVG.

/**
 * @typedef {object} StatePicture
 * @property {string} title
 * @property {number} width in pixels, as all measures
 * @property {number} height
 * @property {{at: string, label: string}[]} starts where lines from outside enter: the start
 * @property {{name: string, kind: 'way' | 'good' | 'doubt' | 'bad', x: number, y: number}[]} states by their centres; under
 *   way, good, doubtful, or over without success
 * @property {{from: string, to: string, label: string, bend?: number, at?: number}[]} moves `bend`: how far the line's middle
 *   stands to the right of the straight way; `at`: where along the line the label stands, default 0.5
 * @property {string[]} notes sentences below the picture
 */

const BOX_HEIGHT = 34;
/** Widths of a letter in the two sizes, on the wide side. */
const LETTER = 8.8;
const SMALL_LETTER = 6.4;
const NOTE_HEIGHT = 20;

const STYLE = `
.ground{fill:#fff}.line{fill:none;stroke:#57606a;stroke-width:1.4}.tip{fill:#57606a}
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f;text-anchor:middle}
.state{font-weight:600}.label{font-size:12px;fill:#57606a}.note{font-size:12px;text-anchor:start;fill:#57606a}
rect.way{fill:#ddf4ff;stroke:#0969da}rect.good{fill:#dafbe1;stroke:#1a7f37}rect.doubt{fill:#fff8c5;stroke:#9a6700}rect.bad{fill:#ffebe9;stroke:#cf222e}
@media (prefers-color-scheme: dark){.ground{fill:#0d1117}.line{stroke:#9198a1}.tip{fill:#9198a1}text{fill:#f0f6fc}.label{fill:#c0c7d0}.note{fill:#c0c7d0}
rect.way{fill:#0c2d6b;stroke:#58a6ff}rect.good{fill:#033a16;stroke:#3fb950}rect.doubt{fill:#3b2300;stroke:#d29922}rect.bad{fill:#490202;stroke:#f85149}}`;

/** An SVG of states and the ways between them: one file, no script, readable on light and on dark ground. */
export function drawStates({ title, width, height, starts, states, moves, notes }) {
  const byName = new Map(states.map((state) => [state.name, state]));
  const find = (name) => {
    const state = byName.get(name);
    if (state === undefined) throw new Error(`the picture "${title}" has no state ${name}`);
    return state;
  };
  const whole = height + notes.length * NOTE_HEIGHT + (notes.length > 0 ? 12 : 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" width="${width}" height="${whole}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="ground" width="${width}" height="${whole}" rx="8"/>`,
    ...starts.map(({ at, label }) => startOf(find(at), label)),
    ...moves.map(({ from, to, bend = 0 }) => lineOf(find(from), find(to), bend)),
    ...states.map((state) => boxOf(state)),
    // Last, so that no line crosses them out.
    ...moves.map(({ from, to, label, bend = 0, at = 0.5 }) => labelOf(pointOn(find(from), find(to), bend, at), label)),
    ...notes.map(
      (note, index) => `<text class="note" x="14" y="${height + 16 + index * NOTE_HEIGHT}">${escaped(note)}</text>`,
    ),
    '</svg>',
    '',
  ].join('\n');
}

function boxOf({ name, kind, x, y }) {
  const width = widthOf(name);
  const box = `<rect class="${kind}" x="${round(x - width / 2)}" y="${y - BOX_HEIGHT / 2}" width="${round(width)}" height="${BOX_HEIGHT}" rx="9"/>`;
  return `${box}<text class="state" x="${x}" y="${y + 5}">${escaped(name)}</text>`;
}

function startOf({ x, y }, label) {
  const top = y - BOX_HEIGHT / 2;
  const line = `<path class="line" d="M${x} ${top - 20}L${x} ${top - 1}" marker-end="url(#tip)"/>`;
  return `${line}${labelOf([x, top - 30], label)}`;
}

function lineOf(from, to, bend) {
  const control = controlOf(from, to, bend);
  const [x1, y1] = edgeOf(from, control);
  const [x2, y2] = edgeOf(to, control);
  return `<path class="line" d="M${round(x1)} ${round(y1)}Q${round(control[0])} ${round(control[1])} ${round(x2)} ${round(y2)}" marker-end="url(#tip)"/>`;
}

function labelOf([x, y], label) {
  const width = label.length * SMALL_LETTER + 6;
  const ground = `<rect class="ground" x="${round(x - width / 2)}" y="${round(y - 9)}" width="${round(width)}" height="18"/>`;
  return `${ground}<text class="label" x="${round(x)}" y="${round(y + 4)}">${escaped(label)}</text>`;
}

/** The control point of the curve: the middle of the straight way, moved aside by twice the bend. */
function controlOf(from, to, bend) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  return [(from.x + to.x) / 2 - (dy / length) * bend * 2, (from.y + to.y) / 2 + (dx / length) * bend * 2];
}

/** The point of the curve between the two centres at `at`, from 0 to 1. */
function pointOn(from, to, bend, at) {
  const [cx, cy] = controlOf(from, to, bend);
  const [first, second, third] = [(1 - at) ** 2, 2 * at * (1 - at), at ** 2];
  return [first * from.x + second * cx + third * to.x, first * from.y + second * cy + third * to.y];
}

/** Where the way from a box's centre towards a point leaves the box. */
function edgeOf({ name, x, y }, [tx, ty]) {
  const [dx, dy] = [tx - x, ty - y];
  const scale = Math.min(
    dx === 0 ? Infinity : (widthOf(name) / 2 + 2) / Math.abs(dx),
    dy === 0 ? Infinity : (BOX_HEIGHT / 2 + 2) / Math.abs(dy),
  );
  return [x + dx * scale, y + dy * scale];
}

function widthOf(name) {
  return Math.max(86, name.length * LETTER + 18);
}

function round(value) {
  return Math.round(value * 10) / 10;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
