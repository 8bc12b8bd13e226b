import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { LeftOut } from '../support/rig/fault-result.js';
import { ROOT } from '../support/rig/paths.js';
import { hasPrometheus } from '../support/rig/prometheus.js';
import { Scope } from '../support/rig/scope.js';
import { closeOnSignal, progress } from '../support/rig/session.js';
import { pause, waitFor } from '../support/rig/wait.js';
import { FAULTS, type Fault } from './faults.js';
import { install, type Installation, type Parts } from './installation.js';

/** The installation without a fault. */
const CONTROL = 'no-fault';

const USAGE = `npm run test:alerts -- [--quick] [--at-once <n>] [--write] [fault ...]
  --quick    only ${FAULTS.filter(({ quick }) => quick === true)
    .map(({ name }) => name)
    .join(', ')}, after a shorter time without a fault
  --at-once  how many installations run side by side (3)
  --write    the table in docs/appendix/alerts.md is written; only of all faults
  fault      ${CONTROL}, ${FAULTS.map(({ name }) => name).join(', ')}; without any all of them
`;

/** A fault that takes longer to be noticed is missed. */
const NOTICED_MS = 120_000;
/** All is well for so long before each fault, and no alert may fire. */
const WELL_MS = { whole: 60_000, quick: 15_000 };
/** The same of the installation without a fault. */
const CONTROL_MS = 240_000;
const UP_MS = 60_000;
const LOOK_MS = 500;
/** The signal's handler has the last word. */
const INTERRUPTED = 130;

const PAGE = join(ROOT, 'docs/appendix/alerts.md');
const BEGIN = '<!-- which alert fires: written by npm run test:alerts -- --write -->';
const END = '<!-- end of which alert fires -->';

interface Row {
  what: string;
  /** The alert that fired first of those that were expected, or why none did. */
  alert: string;
  seconds: number | null;
  /** Others that fired by then. */
  besides: string[];
  ok: boolean;
}

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      'at-once': { type: 'string', default: '3' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const { quick, write } = values;
  const named = FAULTS.filter(({ name }) => positionals.includes(name));
  const atOnce = Number(values['at-once']);
  const withControl = positionals.includes(CONTROL);
  if (values.help === true || named.length + Number(withControl) < positionals.length || !(atOnce >= 1)) {
    process.stdout.write(USAGE);
    return values.help === true ? 0 : 2;
  }
  if (!(await hasPrometheus())) {
    process.stdout.write('left out: prometheus is not installed\n');
    return 0;
  }
  const whole = positionals.length === 0 && !quick;
  const chosen = positionals.length > 0 ? named : FAULTS.filter((fault) => whole || fault.quick === true);
  const scope = new Scope();
  closeOnSignal(scope);
  const tasks = chosen.map((fault) => () => tryFault(scope, fault, quick ? WELL_MS.quick : WELL_MS.whole));
  if (whole || withControl) tasks.unshift(() => control(scope));
  const rows: Row[] = [];
  try {
    const order = tasks.map((task, index) => ({ task, index }));
    const worker = async (): Promise<void> => {
      for (let next = order.shift(); next !== undefined && !scope.isClosed; next = order.shift())
        rows[next.index] = await next.task();
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  } finally {
    await scope.close();
  }
  if (rows.filter(Boolean).length < tasks.length) return INTERRUPTED;
  process.stdout.write(`\n${table(rows)}\n`);
  if (write && whole) await writeTable(rows);
  return rows.every(({ ok }) => ok) ? 0 : 1;
}

async function tryFault(outer: Scope, fault: Fault, wellMs: number): Promise<Row> {
  const row = (alert: string, seconds: number | null, besides: string[], ok: boolean): Row => {
    progress(
      `${fault.name}: ${alert}${seconds === null ? '' : ` after ${seconds} s`}; besides: ${besides.join(', ') || 'none'}`,
    );
    return { what: fault.what, alert, seconds, besides, ok };
  };
  try {
    return await outer.within(async (scope) => {
      const installation = await started(scope, fault.name, fault.parts ?? {});
      const early = await watch(installation, wellMs, (firing) => firing.length > 0);
      if (early.length > 0) return row('fired without a fault', null, early, false);
      const begunAt = performance.now();
      await fault.begin(installation);
      const isNoticed = (firing: string[]) => fault.alerts.some((name) => firing.includes(name));
      const firing = await watch(installation, NOTICED_MS - (performance.now() - begunAt), isNoticed);
      const seconds = Math.round((performance.now() - begunAt) / 1_000);
      const alert = fault.alerts.find((name) => firing.includes(name));
      const besides = firing.filter((name) => name !== alert);
      return row(alert ?? 'none in two minutes', alert === undefined ? null : seconds, besides, alert !== undefined);
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return row(
      error instanceof LeftOut ? `left out: ${message}` : `broke off: ${message}`,
      null,
      [],
      error instanceof LeftOut,
    );
  }
}

async function control(outer: Scope): Promise<Row> {
  const row = await outer.within(async (scope) => {
    const installation = await started(scope, 'control', { redis: true, s3: true, pgbouncer: true, caddy: true });
    const firing = await watch(installation, CONTROL_MS, (names) => names.length > 0);
    const alert = firing.length === 0 ? `none in ${CONTROL_MS / 60_000} minutes` : 'fired without a fault';
    return { what: 'No fault, with traffic', alert, seconds: null, besides: firing, ok: firing.length === 0 };
  });
  progress(`no fault: ${row.alert} ${row.besides.join(', ')}`);
  return row;
}

/** An installation of which everything was scraped. */
async function started(scope: Scope, name: string, parts: Parts): Promise<Installation> {
  const installation = await install(scope, parts);
  const processes = 1 + installation.workers.length + (parts.caddy === true ? 1 : 0);
  const all = async () => ((await installation.prometheus.up()) === processes ? true : null);
  await waitFor('Prometheus to scrape all', all, { timeoutMs: UP_MS });
  progress(`${name}: all is up`);
  return installation;
}

/** Looks which alerts fire until these are enough or the time is over; returns those of the last look. */
async function watch(
  { prometheus }: Installation,
  forMs: number,
  enough: (firing: string[]) => boolean,
): Promise<string[]> {
  const until = performance.now() + forMs;
  for (;;) {
    const firing = await prometheus.firing();
    if (enough(firing) || performance.now() > until) return firing;
    await pause(LOOK_MS);
  }
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ what, alert, seconds, besides }) => [
    what,
    seconds === null ? alert : `\`${alert}\``,
    seconds === null ? '' : `${seconds} s`,
    besides.map((name) => `\`${name}\``).join(', '),
  ]);
  return [['Fault', 'Alert', 'After', 'Others by then'], ['---', '---', '---', '---'], ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

async function writeTable(rows: readonly Row[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the page has no place for the table, from ${BEGIN} to ${END}`);
  const text = `${page.slice(0, begin + BEGIN.length)}\n\n${table(rows)}\n\n${page.slice(end)}`;
  await writeFile(PAGE, await format(text, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
}

// All is written and stopped: what is left of connections to killed processes must not hold this one.
process.exit(await run());
