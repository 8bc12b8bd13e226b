import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What `DATA_DIR/demo.json` tells a newcomer, and a test, about the demo workspace. */
export interface DemoFile {
  base_url: string;
  docs_url: string;
  /** The only place where the plain key is kept. */
  api_key: string;
  /** Key of a project whose codes are not sent but answered. */
  otp_sandbox_key: string;
  /** Key of a project with packages for DE and US. */
  otp_live_key: string;
  organization_id: string;
  connection_id: string;
  phone_number_id: string;
  second_connection_id: string;
  second_phone_number_id: string;
  simulator_url: string | null;
  /** Numbers with an open window on the first connection, and what the simulator does with a message to each. */
  recipients: DemoRecipient[];
}

export interface DemoRecipient {
  to: string;
  outcome: string;
}

/** What an earlier start wrote, or the running one; empty where the file is lost or unreadable. */
export function readDemoFile(dataDir: string): Partial<DemoFile> {
  try {
    const content: unknown = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
    return typeof content === 'object' && content !== null ? content : {};
  } catch {
    return {};
  }
}

/** A key of an earlier start; null where the file is lost or unreadable. */
export function readDemoKey(
  dataDir: string,
  name: 'api_key' | 'otp_sandbox_key' | 'otp_live_key' = 'api_key',
): string | null {
  const key: unknown = readDemoFile(dataDir)[name];
  return typeof key === 'string' ? key : null;
}

export function writeDemoFile(dataDir: string, content: DemoFile): void {
  writePrivateFile(dataDir, 'demo.json', `${JSON.stringify(content, null, 2)}\n`);
}

/** Writes a file anew, readable by its owner only. Replaced as a whole: a reader never meets half of it. */
export function writePrivateFile(dataDir: string, name: string, text: string): void {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, name);
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}
