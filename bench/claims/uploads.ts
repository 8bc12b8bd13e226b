import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { Stage } from '../../test/support/rig/stage.js';
import { uploadText } from '../../test/support/rig/upload.js';
import { pause } from '../../test/support/rig/wait.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';

const MIB = 1_048_576;
/** As large as a file may be. */
const MAX_MIB = 32;
const AT_ONCE = 50;
const ONE_LIMIT_MIB = 8;
const ALL_LIMIT_MIB = 64;
const SAMPLE_MS = 20;

/** How much an api process grows while files come in: they go to the disk and not into memory. */
export const uploadsClaim: Claim = {
  name: 'uploads',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  // Fifty of the largest are 1.6 GiB: in the short form each is a quarter as long, which asks for as many buffers.
  const manyMib = context.quick ? MAX_MIB / 4 : MAX_MIB;
  const stage = await Stage.set(scope, await context.postgres(), 'uploads');
  // One workspace may have 24 uploads at once.
  const workspaces = [await stage.workspace(), await stage.workspace(), await stage.workspace()] as const;
  const [workspace] = workspaces;
  const api = await stage.herald('api');
  // The first uploads pay for what every process pays once: code, pools, connections.
  for (let seed = 0; seed < 3; seed++) await upload(api, workspace, seed, MAX_MIB);
  // The heap of a young process grows by some MiB whenever it likes, so one upload alone proves little.
  const each: number[] = [];
  for (let seed = 10; seed < 15; seed++) {
    each.push(await grownMib(api, () => upload(api, workspace, seed, MAX_MIB)));
    await pause(100);
  }
  const many = await grownMib(api, () =>
    Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        upload(api, workspaces[n % workspaces.length] ?? workspace, 100 + n, manyMib),
      ),
    ),
  );
  context.say(
    `one adds ${each.map((mib) => mib.toFixed(1)).join(', ')} MiB; ${AT_ONCE} at once ${many.toFixed(1)} MiB`,
  );
  return [
    atMost(ONE_LIMIT_MIB, {
      claim: `memory of the api while one file of ${MAX_MIB} MiB is uploaded`,
      value: median(each),
      unit: 'MiB',
      notes: { runs: each.map((mib) => mib.toFixed(1)).join(', ') },
    }),
    atMost(ALL_LIMIT_MIB, {
      claim: `memory of the api while ${AT_ONCE} files of ${manyMib} MiB are uploaded at once`,
      value: many,
      unit: 'MiB',
    }),
  ];
}

/** MiB that the process takes more than before, at most, while `work` goes on. */
async function grownMib(api: HeraldProcess, work: () => Promise<unknown>): Promise<number> {
  const resident = (): number => (api.child.residentBytes() ?? Number.NaN) / MIB;
  const before = resident();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, resident())), SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return most - before;
}

async function upload(api: HeraldProcess, workspace: SeededWorkspace, seed: number, mib: number): Promise<void> {
  const connectionId = workspace.connections[0].id;
  const { status, text } = await uploadText(
    { baseUrl: api.url, apiKey: workspace.apiKey, connectionId },
    seed,
    mib * MIB,
  );
  if (status !== 201) throw new Error(`the upload was answered ${status}: ${text}`);
}
