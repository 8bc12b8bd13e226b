import pg from 'pg';
import PgBoss from 'pg-boss';
import { complain, runAdapter, type BenchJob } from './adapter.js';

const QUEUE = 'job';
/** The least that it polls in. */
const POLL_SECONDS = 0.5;
/** Jobs that one fetch takes, so that workers that look twice a second keep up with the rate. */
const BATCH = 16;

await runAdapter({
  system: 'pg-boss',
  version: '10',
  eventTables: ['pgboss.job'],
  async open({ databaseUrl, workers }, work) {
    const boss = new PgBoss({ connectionString: databaseUrl, max: 20, schedule: false });
    boss.on('error', complain);
    await boss.start();
    await boss.createQueue(QUEUE);
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    pool.on('error', complain);
    const options = { batchSize: BATCH, pollingIntervalSeconds: POLL_SECONDS };
    for (let i = 0; i < workers; i++) {
      await boss.work<BenchJob>(QUEUE, options, async (jobs) => {
        await Promise.all(jobs.map(({ data }) => work(data)));
      });
    }
    return {
      enqueue: (jobs) => boss.insert(jobs.map((data) => ({ name: QUEUE, data }))),
      async depth() {
        const { rows } = await pool.query<{ depth: number }>(
          `select count(*)::integer as depth from pgboss.job where name = $1 and state = 'created'`,
          [QUEUE],
        );
        return rows[0]?.depth ?? 0;
      },
      async stop() {
        await boss.stop({ graceful: false, wait: true });
        await pool.end();
      },
    };
  },
});
