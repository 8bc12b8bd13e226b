import type pg from 'pg';
import { FIRST_ID, newId } from '../../src/common/ids.js';
import { DUE as DUE_LANES, CLAIM, claimParams } from '../../src/modules/sending/claim/claim.repository.js';
import { EXPIRE_LEASES, EXPIRE_QUEUED } from '../../src/modules/sending/sweeps/sending-sweeps.repository.js';
import {
  CLAIM as CLAIM_SCHEDULED,
  DUE as DUE_SCHEDULED,
  scheduleLaneOf,
} from '../../src/modules/messages/schedule/schedule.repository.js';
import { grantParams } from '../../src/infrastructure/queue/lane-grant.js';
import { inTurn, type Claim } from '../bench-context.js';
import { atMostTimes, type Finding } from '../finding.js';
import { createDatabase, type BenchDatabase } from '../../test/support/rig/database.js';
import { median } from '../../test/support/rig/figures.js';
import { seedQueued, seedScheduled } from '../../test/support/rig/seed-messages.js';
import { Workspaces, type SeededConnection } from '../../test/support/rig/workspace.js';

const NUMBERS = 20;
const QUEUED_EACH = 500;
/** Times of single statements are noisy; what matters would be a hundred times as much. */
const MAX_TIMES = 1.5;
/** Against less nothing is compared. */
const MIN_MS = 0.05;

interface Place extends BenchDatabase {
  connections: readonly SeededConnection[];
}

type Statement = (place: Place, turn: number) => { text: string; values: unknown[] };

/** What a worker asks again and again while messages are due, and what it asks of the schedule. */
const STATEMENTS: Readonly<Record<string, Statement>> = {
  'a claim of 64': ({ connections }, turn) => {
    const laneKey = connections[turn % NUMBERS]?.id ?? '';
    const pace = { ratePerSecond: 100_000, burstSeconds: 1 };
    const request = { laneKey, owner: FIRST_ID, limit: 64, pace, knowsPace: true };
    return {
      text: CLAIM.text,
      values: claimParams([request], [newId()], 20_000),
    };
  },
  'the sweep for due lanes': () => ({ text: DUE_LANES, values: [2_000, FIRST_ID] }),
  'the sweep for leases': () => ({ text: EXPIRE_LEASES, values: [1_000, null] }),
  'the sweep for what waited too long': () => ({ text: EXPIRE_QUEUED.asc, values: [1_000, null] }),
  'whether a scheduled message is due': () => ({ text: DUE_SCHEDULED, values: [2_000, FIRST_ID] }),
  'the sweep for scheduled messages that are due': ({ connections }, turn) => {
    const id = connections[turn % NUMBERS]?.id ?? '';
    const pace = { ratePerSecond: 1_000, burstSeconds: 1 };
    const request = { laneKey: scheduleLaneOf(id), owner: FIRST_ID, limit: 1, pace, knowsPace: true };
    return { text: CLAIM_SCHEDULED, values: [...grantParams([request]), id, 100] };
  },
};

/** What is scheduled costs nothing until it is due: each statement without it, and with many. */
export const scheduledClaim: Claim = {
  name: 'scheduled',
  measure: (context) =>
    context.scope.within(async (scope) => {
      const many = context.quick ? 100_000 : 1_000_000;
      const { url } = await context.postgres();
      const [none, beside] = [await filled(scope, url, many), await filled(scope, url, many)];
      // The same journal, and nothing is scheduled in it.
      await none.pool.query('delete from message_queue where held_until is not null');
      const findings: Finding[] = [];
      for (const [name, statement] of Object.entries(STATEMENTS)) {
        const times = await inTurn(context.quick ? 40 : 200, {
          none: () => timed(none, statement(none, turns++)),
          many: () => timed(beside, statement(beside, turns++)),
        });
        const ms = (runs: Run[]): number => median(runs.map((run) => run.ms));
        const pages = (runs: Run[]): number => median(runs.map((run) => run.pages));
        context.say(
          `${name}: ${ms(times.none).toFixed(3)} and ${ms(times.many).toFixed(3)} ms, ${pages(times.none)} and ${pages(times.many)} pages`,
        );
        findings.push(
          atMostTimes(
            MAX_TIMES,
            {
              claim: `${name}, ${many} messages scheduled`,
              value: ms(times.many),
              unit: 'ms',
              notes: { pages: pages(times.many), pages_without: pages(times.none) },
            },
            { name: 'none scheduled', value: Math.max(ms(times.none), MIN_MS) },
          ),
        );
      }
      return findings;
    }),
};

async function filled(scope: Parameters<typeof createDatabase>[0], url: string, scheduled: number): Promise<Place> {
  const database = await createDatabase(scope, url, 'scheduled');
  const { connections } = await new Workspaces(database.pool).create(NUMBERS);
  for (const connection of connections) {
    await database.pool.query('insert into lane (key) values ($1)', [connection.id]);
    await seedScheduled(database.pool, connection, { count: scheduled / NUMBERS });
    await seedQueued(database.pool, connection, { count: QUEUED_EACH });
  }
  await database.pool.query('vacuum analyze');
  return { ...database, connections };
}

interface Run {
  ms: number;
  /** Of the shared buffers, in the cache or not. */
  pages: number;
}

interface Explained {
  'Execution Time': number;
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
}

let turns = 0;

/** Executes a statement and takes back what it did. */
export async function timed({ pool }: BenchDatabase, { text, values }: ReturnType<Statement>): Promise<Run> {
  const client: pg.PoolClient = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ 'QUERY PLAN': [Explained] }>(
      `explain (analyze, buffers, timing off, format json) ${text}`,
      values,
    );
    const [found] = rows[0]?.['QUERY PLAN'] ?? [];
    if (found === undefined) throw new Error('the plan says nothing');
    const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read } = found.Plan;
    return { ms: found['Execution Time'], pages: hit + read };
  } finally {
    await client.query('rollback');
    client.release();
  }
}
