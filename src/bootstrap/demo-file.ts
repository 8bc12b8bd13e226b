import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import { makeFolder } from '../common/folders.js';
import { DEMO_RECEIVERS_FILE } from '../modules/webhook/webhook.types.js';

/** Content of `DATA_DIR/demo.json`: the demo workspace, for new users and tests. */
export interface DemoFile {
  base_url: string;
  /** With `/api/v1`. */
  api_url: string;
  docs_url: string;
  /** The only place that stores the plain key. */
  api_key: string;
  /** Key of a sandbox project: its codes are not sent but returned. */
  otp_sandbox_key: string;
  /** Key of a project with packages for DE and US. */
  otp_live_key: string;
  /** Key of the admin API; null where other machines can reach this service. */
  operator_key: string | null;
  organization_id: string;
  connection_id: string;
  phone_number_id: string;
  second_connection_id: string;
  second_phone_number_id: string;
  simulator_url: string | null;
  /** Contacts with an open window on the first connection, and what the simulator does with a message to each. */
  recipients: DemoRecipient[];
}

export interface DemoRecipient {
  to: string;
  outcome: string;
}

/** The file of an earlier start, or of the running service; empty where it is missing or unreadable. */
export function readDemoFile(dataDir: string): Partial<DemoFile> {
  try {
    const content: unknown = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
    return typeof content === 'object' && content !== null ? content : {};
  } catch {
    return {};
  }
}

/** The address of the simulator that the service of this data folder started; null where there is none. */
export function runningSimulator(dataDir: string): string | null {
  return readDemoFile(dataDir).simulator_url ?? null;
}

/** Writes `DATA_DIR/demo.json`, and `demo.sh`, which the commands in the guides load. */
export function writeDemoFiles(dataDir: string, demo: DemoFile): void {
  writePrivateFile(dataDir, 'demo.json', `${JSON.stringify(demo, null, 2)}\n`);
  writePrivateFile(dataDir, 'demo.sh', demoShell(demo));
}

/** Limit of entries; older ones, left by killed commands, are removed. */
const MAX_RECEIVERS = 20;

/**
 * Lets the demo workspace of this folder, if there is one, point its webhook to a receiver on this machine, until the
 * returned function is called.
 */
export function announceReceiver(dataDir: string, url: string): () => void {
  if (readDemoFile(dataDir).organization_id === undefined) return () => undefined;
  const others = (): string[] => {
    try {
      const urls: unknown = JSON.parse(readFileSync(join(dataDir, DEMO_RECEIVERS_FILE), 'utf8'));
      return Array.isArray(urls) ? urls.filter((each): each is string => typeof each === 'string' && each !== url) : [];
    } catch {
      return [];
    }
  };
  const write = (urls: readonly string[]): void =>
    writePrivateFile(dataDir, DEMO_RECEIVERS_FILE, `${JSON.stringify(urls)}\n`);
  write([...others(), url].slice(-MAX_RECEIVERS));
  return () => write(others());
}

/** Replaces a file atomically, readable by its owner only: a reader never sees half of it. */
function writePrivateFile(dataDir: string, name: string, text: string): void {
  makeFolder(dataDir);
  const path = join(dataDir, name);
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

/**
 * Prints JSON with indentation, or the one field that its arguments name. For an `error` instead of the field the exit
 * code is 1.
 */
const JSON_FUNCTION = `json() {
  node -e '
    let value = JSON.parse(require("fs").readFileSync(0, "utf8") || "null");
    const path = process.argv.slice(1);
    if (path.length > 0 && value?.error) {
      console.error(value.error.code + ": " + value.error.message);
      process.exit(1);
    }
    for (const name of path) value = value?.[name];
    if (value === undefined) {
      console.error("the answer has no " + path.join("."));
      process.exit(1);
    }
    console.log(typeof value === "string" ? value : JSON.stringify(value, null, 2));
  ' "$@"
}`;

/** Variables and two functions, for any POSIX shell. */
function demoShell(demo: DemoFile): string {
  const bearer = (key: string): string => `Authorization: Bearer ${key}`;
  const variables = {
    BASE: `${demo.base_url}/api/v1`,
    AUTH: bearer(demo.api_key),
    JSON: 'Content-Type: application/json',
    CONNECTION: demo.connection_id,
    TEMPLATES: `${demo.base_url}/api/v1/connections/${demo.connection_id}/templates`,
    OTP: bearer(demo.otp_sandbox_key),
    OTP_LIVE: bearer(demo.otp_live_key),
    ...(demo.operator_key === null
      ? {}
      : { ADMIN: `${demo.base_url}/api/admin/v1`, OPERATOR: bearer(demo.operator_key) }),
    PHONE_NUMBER_ID: demo.phone_number_id,
    ...(demo.simulator_url === null ? {} : { SIMULATOR: `${demo.simulator_url}/_simulator` }),
  };
  const exported = {
    HERALD_URL: demo.base_url,
    HERALD_API_KEY: demo.api_key,
    HERALD_OTP_KEY: demo.otp_sandbox_key,
    ...(demo.operator_key === null ? {} : { HERALD_OPERATOR_KEY: demo.operator_key }),
  };
  return [
    '# What the commands in README.md and docs/ use. Herald writes it at each start; read it into a shell with',
    '#   . .data/demo.sh',
    ...Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`),
    // Exported for programs: the code samples of /docs read them, and the command line.
    ...Object.entries(exported).map(([name, value]) => `export ${name}=${quoted(value)}`),
    "uuid() { node -p 'crypto.randomUUID()'; }",
    JSON_FUNCTION,
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * What a new user needs: the next command to paste, and where everything else is. Every printed command works
 * unchanged.
 */
export function welcome(demo: DemoFile, dataDir: string): string {
  const folder = shown(dataDir);
  // The other terminal does not have this one's settings.
  const herald = folder === './.data' ? 'npx herald' : `DATA_DIR=${quoted(folder)} npx herald`;
  const to = demo.recipients[0]?.to ?? '';
  const text = { body: 'Hello from Herald' };
  const body = JSON.stringify({ connection_id: demo.connection_id, to, type: 'text', text });
  return [
    '',
    `  Herald is ready. Open it in a browser:  ${demo.base_url}/console`,
    '',
    '  In another terminal, in this folder, send a message and watch it arrive:',
    '',
    `    ${herald} message send --to ${to} --text "Your table is ready." --watch`,
    '',
    '  The same as a call of the API:',
    '',
    `    curl -sS ${demo.base_url}/api/v1/messages \\`,
    `      -H 'Authorization: Bearer ${demo.api_key}' \\`,
    `      -H 'Idempotency-Key: ${randomUUID()}' \\`,
    `      -H 'Content-Type: application/json' \\`,
    `      -d '${body}'`,
    '',
    `  Browse and try the API:      ${demo.docs_url}  (its key: the one above)`,
    `  See everything at work:      ${herald} demo`,
    '  Go through it by yourself:   docs/quick-start.md',
    `  Keys, ids, numbers to try:   ${folder}/demo.json`,
    '',
    '  Ctrl-C stops Herald.',
    '',
    '',
  ].join('\n');
}

/** The short form, relative if the folder is below the current one. */
function shown(dataDir: string): string {
  const path = relative(process.cwd(), dataDir);
  return path.startsWith('..') || isAbsolute(path) ? resolve(dataDir) : `./${path}`;
}
