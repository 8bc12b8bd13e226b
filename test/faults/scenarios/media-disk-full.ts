import { readdirSync, rmSync } from 'node:fs';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { SmallDisk } from '../../support/rig/small-disk.js';
import { Stage } from '../../support/rig/stage.js';
import { waitFor } from '../../support/rig/wait.js';
import type { SeededWorkspace } from '../../support/rig/workspace.js';
import { forEachOf } from '../caller.js';
import type { FaultContext, Scenario } from '../scenario.js';

const DISK_MIB = 48;
const FILE_BYTES = 5 * 1_048_576;
const LEFT_BYTES = 3 * FILE_BYTES;
const AT_ONCE = 8;
const SWEPT_MS = 20_000;

/** The disk of the files runs full in the middle of uploads. */
export const mediaDiskFull: Scenario = {
  name: 'media-disk-full',
  goal: 'G22: full disk under uploads; each is stored or answered 503 SERVICE_UNAVAILABLE, 0 temporary files left, goes on when space is free again',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

interface Answer {
  status: number;
  code: string | null;
}

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [rounds, uploads] = context.quick ? [2, 16] : [10, 32];
  const disk = await SmallDisk.mount(scope, 'media-disk', DISK_MIB);
  const stage = await Stage.set(scope, context.postgres, 'disk', {
    // Without a reserve, so that writes themselves meet the end of the disk.
    settings: { MEDIA_DIR: `${disk.folder}/media`, MEDIA_MIN_FREE_MIB: '0' },
  });
  const workspace = await stage.workspace();
  const api = await stage.herald('api');
  const violations: string[] = [];
  let stored = 0;
  let refused = 0;
  let attempted = 0;
  let recoveredMs = 0;
  for (let round = 1; round <= rounds; round++) {
    disk.fill(LEFT_BYTES);
    await forEachOf(uploads, AT_ONCE, async () => {
      attempted++;
      const answer = await upload(api.url, workspace, FILE_BYTES);
      if (answer.status === 201) stored++;
      else if (answer.status === 503 && answer.code === 'SERVICE_UNAVAILABLE') refused++;
      else violations.push(`an upload was answered ${answer.status} ${answer.code}`);
    });
    await checkFiles(stage, `${disk.folder}/media`, violations);
    disk.empty();
    const from = performance.now();
    attempted++;
    const after = await upload(api.url, workspace, FILE_BYTES);
    recoveredMs = Math.max(recoveredMs, performance.now() - from);
    if (after.status !== 201)
      violations.push(`with free space again an upload was answered ${after.status} ${after.code}`);
    else stored++;
    await stage.database.pool.query('delete from media_object');
    emptyMedia(`${disk.folder}/media`);
    context.say(`round ${round} of ${rounds}: ${stored} stored, ${refused} refused`);
  }
  if (refused === 0) violations.push('no upload met a full disk: nothing was shown');
  const response = await fetch(`${api.url}/health/live`);
  if (!response.ok) violations.push('the api does not live any more');
  return {
    faults: rounds,
    attempted,
    acknowledged: stored,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    recovered_ms: recoveredMs,
    violations,
    notes: { refused_503: refused, file_mib: FILE_BYTES / 1_048_576 },
  };
}

async function upload(apiUrl: string, workspace: SeededWorkspace, bytes: number): Promise<Answer> {
  const form = new FormData();
  form.set('connection_id', workspace.connections[0].id);
  const content = Buffer.alloc(bytes, ' ');
  content.write('%PDF-1.7\n');
  content.write('\n%%EOF\n', bytes - 7);
  form.set('file', new Blob([new Uint8Array(content)], { type: 'application/pdf' }), 'menu.pdf');
  try {
    const response = await fetch(`${apiUrl}/api/v1/media`, {
      method: 'POST',
      signal: AbortSignal.timeout(60_000),
      headers: { authorization: `Bearer ${workspace.apiKey}` },
      body: form,
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    return { status: response.status, code: error?.code ?? null };
  } catch (error) {
    return { status: 0, code: error instanceof Error ? error.message : String(error) };
  }
}

/** What lies on the disk is what the database knows, and nothing else. */
async function checkFiles(stage: Stage, folder: string, violations: string[]): Promise<void> {
  const { rows } = await stage.database.pool.query<{ many: number }>(
    'select count(*)::integer as many from media_object',
  );
  const known = rows[0]?.many ?? 0;
  await waitFor('temporary files to go', () => (filesIn(folder).length === known ? true : null), {
    timeoutMs: SWEPT_MS,
  }).catch(() => violations.push(`${filesIn(folder).length} files lie on the disk, the database knows ${known}`));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}

function emptyMedia(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(`${folder}/${name}`, { recursive: true, force: true });
}
