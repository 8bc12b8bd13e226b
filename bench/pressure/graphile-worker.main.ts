import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { complain, runAdapter, type BenchJob } from './adapter.js';

const quiet = new Logger(() => () => undefined);

await runAdapter({
  system: 'graphile-worker',
  version: '0.16',
  eventTables: ['graphile_worker._private_jobs'],
  async open({ databaseUrl, workers }, work) {
    const pgPool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
    pgPool.on('error', complain);
    const utils = await makeWorkerUtils({ pgPool, logger: quiet });
    await utils.migrate();
    const runner = await run({
      pgPool,
      logger: quiet,
      concurrency: workers,
      noHandleSignals: true,
      taskList: { job: (payload) => work(payload as BenchJob) },
    });
    runner.promise.catch(complain);
    return {
      async enqueue(jobs) {
        await pgPool.query(
          `select graphile_worker.add_jobs(array(
             select json_populate_record(null::graphile_worker.job_spec, json_build_object('identifier', 'job', 'payload', payload))
             from json_array_elements($1::json) as payload))`,
          [JSON.stringify(jobs)],
        );
      },
      async depth() {
        const { rows } = await pgPool.query<{ depth: number }>(
          'select count(*)::integer as depth from graphile_worker._private_jobs where locked_at is null',
        );
        return rows[0]?.depth ?? 0;
      },
      async stop() {
        await runner.stop();
        await utils.release();
        await pgPool.end();
      },
    };
  },
});
