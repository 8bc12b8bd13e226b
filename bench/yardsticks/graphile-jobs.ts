import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import type { JobDriver } from './job-order.js';

const quiet = new Logger(() => () => undefined);

export const graphileJobs: JobDriver = async (order, messageIds, send, added) => {
  const pgPool = new pg.Pool({ connectionString: order.databaseUrl, max: 20 });
  const utils = await makeWorkerUtils({ pgPool, logger: quiet });
  await utils.migrate();
  await pgPool.query(
    `select graphile_worker.add_jobs(array(
       select json_populate_record(null::graphile_worker.job_spec,
         json_build_object('identifier', 'send', 'payload', json_build_object('messageId', id), 'max_attempts', 1))
       from unnest($1::uuid[]) as id))`,
    [messageIds],
  );
  await pgPool.query('analyze');
  added();
  await run({
    pgPool,
    logger: quiet,
    concurrency: order.concurrency,
    noHandleSignals: true,
    taskList: { send: (payload) => send((payload as { messageId: string }).messageId) },
  });
};
