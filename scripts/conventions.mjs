// What neither the compiler nor the generator can know, one line each, saying what to do: `npm run conventions`.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './lib/root.mjs';

const MODULES = 'src/modules';

/** Tables that belong to no workspace, with the reason why they may. */
const TABLES_OF_ALL = {
  organization: 'the workspace itself',
  lane: 'names its sender by key',
  platform_notification: 'as it came; its workspace is found later',
  notification_queue: 'ids of notifications',
  heartbeat: 'of processes',
  database_identity: 'one row for all',
  retention_cursor: 'of the sweeps',
  message_content: 'goes with its message',
  platform_message: 'goes with its message',
  operator_key: 'of operators: for all workspaces, or for some',
  person: 'who signs in: memberships belong to workspaces',
  person_session: 'of a person, for all workspaces of theirs',
  person_grant: 'of a session of a person',
  otp_sender: "the service's own number",
  usage_due: 'of the sweep, which counts all workspaces',
  usage_rate: "the operator's prices, for all",
};

/**
 * Who may ask the clock of the host, with the reason. All others ask `databaseClock` of src/common/clock.ts, or for a
 * duration the monotonic one: a host whose clock is wrong must delete, end, refuse and number nothing by it. No module may.
 */
const HOST_CLOCK = {
  'src/bootstrap/run-herald.ts': 'the time of a log line, before there is a database',
  'src/cli/api/message.ts': 'the time of a line that it prints',
  'src/cli/commands/demo.command.ts': 'the day that a made-up menu names',
  'src/cli/commands/simulate.command.ts': 'it plays the platform',
  'src/cli/commands/tail.command.ts': 'the time of a line that it prints',
  'src/cli/commands/webhook.command.ts': 'it plays a receiver, and prints lines',
  'src/common/clock.ts': 'it compares the two, and has no other before the first answer',
  'src/common/deadline.ts': 'beside the monotonic clock, which stands still while the machine is suspended',
  'src/infrastructure/storage/s3-bucket.ts': "with the offset of the store's clock, whose times it compares",
};

const findings = [];
const report = (place, text) => findings.push(`${place}: ${text}`);

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const under = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith(ending))
    .sort();

function checkModules() {
  const app = read('src/app.module.ts');
  const arrows = read('.dependency-cruiser.cjs');
  for (const { name } of readdirSync(join(ROOT, MODULES), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )) {
    const place = `${MODULES}/${name}`;
    const file = `${place}/${name}.module.ts`;
    if (!existsSync(join(ROOT, file))) {
      report(place, `there is no ${name}.module.ts; npx nest g resource ${name} makes one`);
      continue;
    }
    const className = /export class (\w+Module)\b/.exec(read(file))?.[1] ?? 'its class';
    if (!new RegExp(`^ {4}${className},$`, 'm').test(app)) {
      report(place, `${className} is not in src/app.module.ts: add it to the imports`);
    }
    if (!new RegExp(`^ {2}'?${name}'?: \\[`, 'm').test(arrows)) {
      report(
        place,
        `no line in MODULES of .dependency-cruiser.cjs: add "${name}: []" with the modules that it may use`,
      );
    }
  }
}

const METHODS = /^ {2}@(Get|Post|Put|Patch|Delete)\((?:'([^']*)')?\)/;

/** Every route: its method, its path, its place, and the decorators above the method. */
function routesOf(path) {
  const lines = read(path).split('\n');
  const prefix = /^@(?:Admin)?Controller\((?:'([^']*)'|\{[^}]*path: '([^']*)')?/m.exec(lines.join('\n'));
  const base = prefix?.[1] ?? prefix?.[2] ?? '';
  const isPublic = lines.some((line) => line.startsWith('@Public('));
  const routes = [];
  for (const [index, line] of lines.entries()) {
    const match = METHODS.exec(line);
    if (match === null) continue;
    const end = lines.findIndex((each, at) => at > index && /^ {2}(async )?\w+\(/.test(each));
    // Decorators stand above and below that of the method, down from the comment or the method before.
    let start = index;
    while (start > 0 && /^ {2}@|^ {4}|^ {2}\)/.test(lines[start - 1]) && !/^ {2}\}/.test(lines[start - 1])) start--;
    routes.push({
      place: `${path}:${index + 1}`,
      method: match[1].toUpperCase(),
      path: `/${[base, match[2] ?? ''].filter(Boolean).join('/')}`,
      decorators: lines.slice(start, end).join('\n'),
      isPublic,
    });
  }
  return routes;
}

function checkRoutes() {
  const scopes = new Set(
    [...read('src/infrastructure/http/scopes.ts').matchAll(/^ {2}'([\w-]+:[\w-]+)',$/gm)].map((match) => match[1]),
  );
  const described = ['src/infrastructure/http/openapi.ts', 'src/infrastructure/http/openapi-admin.ts'];
  const tags = described.map((path) => read(path)).join('');
  const tests = under('test', '.e2e-spec.ts').map((path) => read(path));
  for (const file of under(MODULES, '.controller.ts')) {
    const content = read(file);
    for (const route of routesOf(file)) checkRoute(route, scopes, tests);
    for (const [, tag] of content.matchAll(/@ApiTags\('([^']+)'\)/g)) {
      if (!new RegExp(`\\[\\s*'${tag}',`).test(tags))
        report(
          file,
          `the tag ${tag} is not in the tags of src/infrastructure/http/openapi.ts, or openapi-admin.ts: say there what it is`,
        );
    }
  }
}

function checkRoute({ place, method, path, decorators, isPublic }, scopes, tests) {
  const scope = /@Require(?:Operator)?Scope\('([^']+)'/.exec(decorators)?.[1];
  if (
    scope === undefined &&
    !isPublic &&
    !/@(Public|RequireKey|RequireSession|RequireOperatorKey)\(/.test(decorators)
  ) {
    report(
      place,
      `${method} ${path} has neither @RequireScope('...'), @RequireOperatorScope('...'), @RequireKey(), @RequireSession() nor @Public(): say who may call it`,
    );
  }
  if (scope !== undefined && !scopes.has(scope)) {
    report(place, `the scope ${scope} is not in src/infrastructure/http/scopes.ts: add it there`);
  }
  if (scope === undefined || isTested(method, path, tests)) return;
  const folder = path.split('/')[1];
  report(place, `no operation test calls ${method} ${path}: write one in test/${folder}`);
}

/** A test that names the path, and the method in one of the ways in which tests call. */
function isTested(method, path, tests) {
  const [, ...parts] = path.split('/');
  const last = parts.findLastIndex((part) => !part.startsWith(':'));
  // Tests build paths from variables, so that the last fixed part is what can be looked for.
  const pattern = new RegExp(`/${parts[last]}${last < parts.length - 1 ? '/' : '(?![\\w-])'}`);
  const call = new RegExp(`\\.${method.toLowerCase()}\\(|['"\`]${method}\\b`);
  return tests.some((content) => pattern.test(content) && call.test(content));
}

function checkTables() {
  const all = read('migrations/all.ts');
  const others = new Set(Object.keys(TABLES_OF_ALL));
  for (const path of under('migrations', '.ts')) {
    const name = path.slice('migrations/'.length);
    if (!['all.ts', 'released.ts'].includes(name) && !all.includes(`'./${name.replace(/\.ts$/, '.js')}'`)) {
      report(path, 'is not in migrations/all.ts, so it never runs: add it at the end');
    }
    for (const [, table, columns] of read(path).matchAll(
      /create table (?:if not exists )?(\w+) \(([\s\S]*?)\n {2}\)/g,
    )) {
      if (/^\s*organization_id\b/m.test(columns) || others.has(table)) continue;
      report(
        path,
        `the table ${table} has no organization_id: add it, or name the table in TABLES_OF_ALL of scripts/conventions.mjs with the reason`,
      );
    }
  }
}

function checkErrors() {
  const page = read('docs/errors.md');
  for (const path of under('src', '.errors.ts')) {
    for (const [, code] of read(path).matchAll(/^ {2}([A-Z][A-Z0-9_]+): error\b/gm)) {
      if (!new RegExp(`\\b${code}\\b`).test(page)) report(path, `${code} is not in docs/errors.md: npm run generate`);
    }
  }
}

/** A feature is in as few files as possible, and each file has a limit. */
const MAX_LINES = 500;

function checkLengths() {
  for (const path of under('src', '.ts').filter((each) => !each.endsWith('.spec.ts'))) {
    const lines = read(path).split('\n').length - 1;
    if (lines > MAX_LINES) report(path, `${lines} lines; at most ${MAX_LINES}: take out what has a name of its own`);
  }
}

function checkClocks() {
  const asks = under('src', '.ts').filter(
    (path) => !path.endsWith('.spec.ts') && /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/.test(read(path)),
  );
  for (const path of asks.filter((each) => each.startsWith(`${MODULES}/`) || !(each in HOST_CLOCK))) {
    report(
      path,
      'asks the clock of the host: take databaseClock of src/common/clock.ts, or performance.now() for a duration',
    );
  }
  for (const path of Object.keys(HOST_CLOCK).filter((each) => !asks.includes(each))) {
    report(path, 'asks no clock of the host any more: remove it from HOST_CLOCK in scripts/conventions.mjs');
  }
}

const WORDS_PAGE = 'CONTRIBUTING.md';
/** The user that PostgreSQL runs as, where Herald is root. */
const NAMES_OF_OTHERS = /\bNOBODY\b|[`'@/=]nobody\b|\bnobody@|--user nobody/g;

/** Code, comments and documents use one word for a thing: the table under "Words" says which, and which not. */
function checkWords() {
  const [, table = ''] = /\n## Words\n([\s\S]*?)\n## /.exec(read(WORDS_PAGE)) ?? [];
  const rows = [...table.matchAll(/^\| (?!Write|---)(.+?) +\| (.+?) +\|$/gm)];
  const words = rows.flatMap(([, write, not]) =>
    not.split(', ').map((word) => ({ write, word, pattern: new RegExp(`\\b${word}\\b`, 'i') })),
  );
  if (words.length === 0) report(WORDS_PAGE, 'has no table under "## Words"');
  const places = [
    ...['src', 'simulator/src', 'migrations'].flatMap((folder) => under(folder, '.ts')),
    ...[...under('console', '.ts'), ...under('console', '.tsx')].filter((path) => !path.includes('node_modules')),
    ...under('docs', '.md'),
  ].filter((path) => !path.endsWith('.spec.ts'));
  for (const path of places) {
    const text = read(path).replaceAll(NAMES_OF_OTHERS, '');
    for (const { write, word, pattern } of words) {
      if (pattern.test(text)) report(path, `says "${word}": write ${write} (${WORDS_PAGE}, Words)`);
    }
  }
}

for (const check of [checkWords, checkModules, checkClocks, checkRoutes, checkTables, checkErrors, checkLengths])
  check();
process.stdout.write(findings.map((finding) => `${finding}\n`).join(''));
if (findings.length > 0) process.exitCode = 1;
