import { migrations } from '../../../migrations/all.js';
import type { Database } from '../database/database.js';
import { ReadinessCheck, type ReadinessPart } from './readiness.js';

const PING_TIMEOUT_MS = 500;

/** The database answers within 500 ms. */
export class DatabaseCheck extends ReadinessCheck {
  readonly name = 'database';

  constructor(private readonly database: Database) {
    super();
  }

  async check(): Promise<ReadinessPart> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), PING_TIMEOUT_MS);
    });
    try {
      const answer = await Promise.race([this.database.query('select 1'), late]);
      if (answer === 'late') return { ok: false, detail: `no answer within ${PING_TIMEOUT_MS} ms` };
      return { ok: true, detail: `${Math.round(performance.now() - startedAt)} ms` };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Every migration that this build brings has run; asked until it is so, then never again. */
export class MigrationsCheck extends ReadinessCheck {
  readonly name = 'migrations';
  private applied = false;

  constructor(private readonly database: Database) {
    super();
  }

  async check(): Promise<ReadinessPart> {
    if (this.applied) return { ok: true };
    const rows = await this.database.query<{ name: string }>('select name from schema_migration');
    const known = new Set(rows.map((row) => row.name));
    const missing = migrations.map((migration) => migration.name).filter((name) => !known.has(name));
    this.applied = missing.length === 0;
    return this.applied ? { ok: true } : { ok: false, detail: `missing: ${missing.join(', ')}` };
  }
}
