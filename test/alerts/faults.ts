import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { newKey } from '../../src/modules/keys/api-key-format.js';
import type { HeraldProcess } from '../support/rig/herald.js';
import { pause } from '../support/rig/wait.js';
import type { Installation, Parts } from './installation.js';

/** One thing that goes wrong, and the alerts that say so. */
export interface Fault {
  /** As `npm run test:alerts -- <name>` takes it. */
  name: string;
  /** In the table. */
  what: string;
  /** The first of these that fires counts. */
  alerts: readonly string[];
  parts?: Parts;
  /** Part of `--quick`. */
  quick?: boolean;
  begin(installation: Installation): Promise<void> | void;
}

const LEFT_BYTES = 2 * 1_048_576;

const readOnly = async ({ stage }: Installation): Promise<void> => {
  const { pool } = stage.database;
  await pool.query('alter system set default_transaction_read_only = on');
  await pool.query('select pg_reload_conf()');
};

const hold = ({ child }: { child: { signal(signal: NodeJS.Signals): void } }): void => child.signal('SIGSTOP');

const CRASHES = 5;
const BETWEEN_CRASHES_MS = 12_000;

/** Killed, and started again by its supervisor, until that is noticed. */
async function crash(herald: HeraldProcess, { prometheus }: Installation): Promise<void> {
  for (let n = 0; n < CRASHES && (await prometheus.firing()).length === 0; n++) {
    await herald.child.kill();
    herald.revive();
    await herald.ready();
    await pause(BETWEEN_CRASHES_MS);
  }
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'postgres-down',
    what: 'PostgreSQL is down',
    alerts: ['HeraldNotReady'],
    quick: true,
    begin: ({ postgres }) => postgres.crash(),
  },
  {
    name: 'postgres-full',
    what: "PostgreSQL's disk is full",
    alerts: ['HeraldRequestsFail', 'HeraldNotReady'],
    parts: { smallDisk: true },
    begin: ({ disk }) => disk?.fill(LEFT_BYTES),
  },
  {
    name: 'postgres-read-only',
    what: 'PostgreSQL is read-only',
    alerts: ['HeraldNotReady'],
    quick: true,
    begin: readOnly,
  },
  {
    name: 'redis-down',
    what: 'Redis is down',
    alerts: ['HeraldQueueUnreachable'],
    parts: { redis: true },
    begin: ({ redis }) => redis?.kill(),
  },
  {
    name: 'pgbouncer-down',
    what: 'PgBouncer is down',
    alerts: ['HeraldNotReady'],
    parts: { pgbouncer: true },
    begin: ({ pgbouncer }) => pgbouncer?.kill(),
  },
  {
    name: 's3-down',
    what: 'S3 refuses everything',
    alerts: ['HeraldStorageAway'],
    parts: { s3: true },
    begin: ({ s3 }) => {
      if (s3 !== null) s3.fault = () => ({ status: 503, code: 'ServiceUnavailable' });
    },
  },
  {
    name: 'media-folder-gone',
    what: 'The media folder is gone',
    alerts: ['HeraldStorageAway'],
    parts: { mediaFolder: true },
    begin: ({ mediaFolder }) => {
      if (mediaFolder === null) return;
      renameSync(mediaFolder, `${mediaFolder}-before`);
      // Nothing else keeps a process that runs as root from making the folder again.
      writeFileSync(mediaFolder, '');
    },
  },
  {
    name: 'whatsapp-hangs',
    what: 'WhatsApp takes connections and does not answer',
    alerts: ['HeraldPlatformAway'],
    begin: ({ stage }) => hold(stage.simulator),
  },
  {
    name: 'whatsapp-down',
    what: 'WhatsApp refuses connections',
    alerts: ['HeraldPlatformAway'],
    begin: ({ stage }) => stage.simulator.child.kill(),
  },
  {
    name: 'workers-gone',
    what: 'All workers are gone',
    alerts: ['HeraldDown'],
    quick: true,
    begin: async ({ workers }) => void (await Promise.all(workers.map(({ child }) => child.kill()))),
  },
  {
    name: 'worker-hangs',
    what: 'One of two workers hangs',
    alerts: ['HeraldDown'],
    begin: ({ workers }) => workers.slice(0, 1).forEach(hold),
  },
  {
    name: 'worker-crashes',
    what: 'A worker crashes again and again',
    alerts: ['HeraldRestarts'],
    begin: (installation) => crash(installation.workers[0], installation),
  },
  {
    name: 'api-crashes',
    what: 'An api crashes again and again',
    alerts: ['HeraldRestarts'],
    begin: (installation) => crash(installation.api, installation),
  },
  {
    name: 'api-gone',
    what: 'No api is left behind Caddy',
    alerts: ['HeraldProxyAnswers'],
    parts: { caddy: true },
    begin: ({ api }) => api.child.kill(),
  },
  {
    name: 'webhook-fails',
    what: 'A webhook endpoint answers 500',
    alerts: ['HeraldEndpointFails'],
    begin: ({ receiver }) => {
      receiver.answer = () => ({ status: 500 });
    },
  },
  {
    name: 'clock-wrong',
    what: "The clock of a worker's host is set a year ahead",
    alerts: ['HeraldClockWrong'],
    parts: { clock: true },
    begin: ({ clock }) => clock?.set('+365d'),
  },
  {
    name: 'key-ends',
    what: 'An API key ends in three days',
    alerts: ['HeraldKeysEnd'],
    begin: async ({ stage, workspace }) => {
      const key = newKey('live');
      const hash = createHash('sha256').update(key.secret).digest();
      await stage.database.pool.query(
        `insert into api_key (id, organization_id, name, secret_hash, scopes, created_at, expires_at)
         values ($1, $2, 'Ends soon', $3, '{}', now() - interval '90 days', now() + interval '3 days')`,
        [key.id, workspace.organizationId, hash],
      );
    },
  },
];
