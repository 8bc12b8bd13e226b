import { FIRST_ID, lowestIdSince } from '../../src/common/ids.js';
import { batchSql } from '../../src/infrastructure/database/batch-place.js';
import { REMOVE } from '../../src/modules/messages/maintenance/messages-maintenance.repository.js';
import { inTurn, type BenchContext } from '../bench-context.js';
import { atMostTimes, type Finding } from '../finding.js';
import { runLoad } from '../load/run-load.js';
import type { BenchDatabase } from '../../test/support/rig/database.js';
import { median } from '../../test/support/rig/figures.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import type { BenchPostgres } from '../../test/support/rig/postgres.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { waitFor } from '../../test/support/rig/wait.js';
import type { SeededWorkspace } from '../../test/support/rig/workspace.js';
import { timed } from './scheduled.js';

/** Processes of one installation with a journal, whose platform reports every status. */
export interface Grown {
  database: BenchDatabase;
  workspace: SeededWorkspace;
  /** Has the roles api and worker. */
  process: HeraldProcess;
  /** Messages in its journal. */
  count: number;
}

const MAX_TIMES = 1.2;
const RECIPIENTS = 100;
/** None of the journal: what waits there for a recipient would hold up all that follows. */
const FIRST_RECIPIENT = 9_000_000;
const CONNECTIONS = 32;
const READ_MS = 120_000;
/** As the retention removes them at once. */
const BATCH = 1_000;

/** What new messages, and the removal of old contents, cost beside a long journal, against the same beside a short one. */
export async function journalWrites(context: BenchContext, scope: Scope, small: Grown, big: Grown): Promise<Finding[]> {
  const postgres = await context.postgres();
  for (const grown of [small, big]) await makeReady(grown);
  const load = (grown: Grown, ms: number) => () => lifeOf(scope, postgres, grown, ms);
  // Compiles what is hot, and fills the caches.
  for (const grown of [small, big]) await load(grown, 4_000)();
  const lives = await inTurn(context.quick ? 5 : 9, { small: load(small, 2_000), big: load(big, 2_000) });
  const removals = await inTurn(context.quick ? 20 : 60, {
    small: () => removal(small),
    big: () => removal(big),
  });
  const compared = (claim: string, unit: string, value: number, yardstick: number): Finding => {
    context.say(`${claim}: ${yardstick.toPrecision(3)} and ${value.toPrecision(3)} ${unit}`);
    return atMostTimes(
      MAX_TIMES,
      { claim: `${claim} in ${big.count} rows`, value, unit },
      { name: `in ${small.count} rows`, value: yardstick },
    );
  };
  return [
    compared(
      'accept, claim, outcome and statuses: PostgreSQL, a message',
      'µs',
      median(lives.big),
      median(lives.small),
    ),
    compared(`contents of ${BATCH} old messages are removed`, 'ms', median(removals.big), median(removals.small)),
  ];
}

/** The recipients' windows are open, and what waits in the journal does so for all of the run. */
async function makeReady({ database: { pool }, workspace }: Grown): Promise<void> {
  for (const connection of workspace.connections) {
    await seedConversations(pool, connection, RECIPIENTS, FIRST_RECIPIENT);
  }
  await pool.query('update message_queue set queued_at = now()');
  await pool.query('vacuum analyze conversation, message_queue');
}

/** Sends for so long at full speed; microseconds of PostgreSQL's processor time a message, until all are `read`. */
async function lifeOf(scope: Scope, postgres: BenchPostgres, grown: Grown, durationMs: number): Promise<number> {
  const from = lowestIdSince(new Date());
  const before = postgres.processorMs();
  const { workspace, process, database } = grown;
  const bodies = Array.from({ length: RECIPIENTS }, (_, n) =>
    JSON.stringify({
      connection_id: workspace.connections[n % workspace.connections.length]?.id,
      to: `+${recipientNumber(FIRST_RECIPIENT + n)}`,
      type: 'text',
      text: { body: 'Hello, your order 4711 is on its way.' },
    }),
  );
  const headers = { Authorization: `Bearer ${workspace.apiKey}` };
  const url = `${process.url}/api/v1/messages`;
  const { answered } = await runLoad(scope, {
    url,
    headers,
    bodies,
    connections: CONNECTIONS,
    warmUpMs: 0,
    durationMs,
  });
  const waiting = async (): Promise<true | null> => {
    const { rowCount } = await database.pool.query(
      `(select 1 from message_queue where message_id >= $1 limit 1) union all
       (select 1 from message_state where message_id >= $1 and status <> 'read' limit 1)`,
      [from],
    );
    return rowCount === 0 ? true : null;
  };
  await waitFor('all messages to be read', waiting, { timeoutMs: READ_MS, everyMs: 250 });
  return ((postgres.processorMs() - before) * 1_000) / answered;
}

async function removal({ database }: Grown): Promise<number> {
  const now = new Date();
  const values = [FIRST_ID, BATCH, lowestIdSince(now), now];
  return (await timed(database, { text: batchSql(REMOVE.contents), values })).ms;
}
