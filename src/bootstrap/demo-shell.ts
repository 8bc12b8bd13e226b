import { type DemoFile, writePrivateFile } from './demo-file.js';

/** Prints JSON with indents, or the one field that its arguments lead to; an error instead of a field ends with 1. */
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

/** Writes `DATA_DIR/demo.sh`, which the guides' commands begin with. */
export function writeDemoShell(dataDir: string, demo: DemoFile): void {
  writePrivateFile(dataDir, 'demo.sh', demoShell(demo));
}

/** Variables and two functions, for any POSIX shell. */
export function demoShell(demo: DemoFile): string {
  const bearer = (key: string): string => `Authorization: Bearer ${key}`;
  const variables = {
    BASE: `${demo.base_url}/api/v1`,
    AUTH: bearer(demo.api_key),
    JSON: 'Content-Type: application/json',
    CONNECTION: demo.connection_id,
    TEMPLATES: `${demo.base_url}/api/v1/connections/${demo.connection_id}/templates`,
    OTP: bearer(demo.otp_sandbox_key),
    OTP_LIVE: bearer(demo.otp_live_key),
    PHONE_NUMBER_ID: demo.phone_number_id,
    ...(demo.simulator_url === null ? {} : { SIMULATOR: `${demo.simulator_url}/_simulator` }),
  };
  return [
    '# What the commands in README.md and docs/ use. Herald writes it at each start; read it into a shell with',
    '#   . .data/demo.sh',
    ...Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`),
    "uuid() { node -p 'crypto.randomUUID()'; }",
    JSON_FUNCTION,
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
