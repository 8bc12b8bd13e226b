import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import { ReadinessCheck, type ReadinessPart } from './readiness.js';

const OLDEST_MS = 30_000;
const START_GRACE_MS = 30_000;

interface Beat {
  name: string;
  ageMs: number;
}

/**
 * The sweeps of the fleet are alive: a sweep that died in silence is how mail gets lost. Looks at the rows
 * `sweep:<name>` of `heartbeat`, by the database's clock, so any process can tell, worker or not. A sweep that runs
 * seldom says so with `expect`.
 */
export class Heartbeats extends ReadinessCheck {
  readonly name = 'sweeps';
  private readonly oldestMs = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly startedAt = performance.now(),
  ) {
    super();
  }

  /** A sweep that runs every `everyMs` may be silent for three rounds, 30 seconds at least. */
  expect(sweep: string, everyMs: number): void {
    this.oldestMs.set(sweep, Math.max(OLDEST_MS, everyMs * 3));
  }

  async check(): Promise<ReadinessPart> {
    const beats = await this.database.query<Beat>(
      `select substr(name, 7) as name, (extract(epoch from clock_timestamp() - beat_at) * 1000)::float8 as "ageMs"
       from heartbeat where name like 'sweep:%' order by name`,
    );
    const runningMs = performance.now() - this.startedAt;
    const starting = runningMs < START_GRACE_MS;
    // After a long stop every row is old: a sweep that runs seldom has as long as between two rounds for its first.
    const silent = beats.filter((beat) => {
      const oldestMs = this.oldestMs.get(beat.name) ?? OLDEST_MS;
      return beat.ageMs > oldestMs && runningMs > oldestMs;
    });
    if (silent.length > 0 && !starting) {
      const list = silent.map(({ name, ageMs }) => `${name} ${Math.round(ageMs / 1_000)} s`);
      return { ok: false, detail: `silent for too long: ${list.join(', ')}` };
    }
    if (beats.length > 0) return { ok: true, detail: `${beats.length} sweeps` };
    const works = this.config.process.roles.includes('worker');
    if (works && !starting) return { ok: false, detail: 'no sweep has run yet' };
    return { ok: true, detail: 'none yet' };
  }
}
