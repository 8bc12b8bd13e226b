import type { BenchContext, Claim } from '../bench-context.js';
import { atMost, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import { seedJournal } from '../../test/support/rig/seed-journal.js';
import { Stage } from '../../test/support/rig/stage.js';

const NUMBERS = 10;
const YEAR_SECONDS = 365 * 86_400;
const LIMIT_MS = { year: 1_000, month: 100 } as const;

interface Question {
  interval: 'day' | 'month';
  timezone?: string;
  group_by?: 'category' | 'connection' | 'country';
  days?: number;
}

const QUESTIONS: Readonly<Record<string, Question>> = {
  'by day': { interval: 'day' },
  'by day, Europe/Berlin': { interval: 'day', timezone: 'Europe/Berlin' },
  'by day, Asia/Kolkata': { interval: 'day', timezone: 'Asia/Kolkata' },
  'by day, America/Los_Angeles': { interval: 'day', timezone: 'America/Los_Angeles' },
  'by month, Europe/Berlin': { interval: 'month', timezone: 'Europe/Berlin' },
  'by day and category': { interval: 'day', group_by: 'category' },
  'by month and number': { interval: 'month', group_by: 'connection' },
  'by day and number': { interval: 'day', group_by: 'connection' },
  'by day and number, Europe/Berlin': { interval: 'day', group_by: 'connection', timezone: 'Europe/Berlin' },
  'by month and country': { interval: 'month', group_by: 'country' },
  'a month of it by day': { interval: 'day', days: 30 },
  'a month of it by day and number, Asia/Kolkata': {
    interval: 'day',
    group_by: 'connection',
    timezone: 'Asia/Kolkata',
    days: 30,
  },
};

/** A year of ten numbers: how long it takes to count it, and to answer. */
export const usageClaim: Claim = {
  name: 'usage',
  measure: (context) =>
    context.scope.within(async (scope) => {
      const count = context.quick ? 200_000 : 1_000_000;
      const stage = await Stage.set(scope, await context.postgres(), 'usage', {});
      const workspace = await stage.workspace(NUMBERS, 80);
      const { pool } = stage.database;
      await seedJournal(pool, workspace.connections, count, YEAR_SECONDS / count);
      await pool.query(PRICED);
      const service = await stage.herald('api,worker');
      const startedAt = performance.now();
      await counted(context, pool);
      const seconds = (performance.now() - startedAt) / 1_000;
      await pool.query('vacuum analyze usage');
      const year = `a year of ${count} messages and ${NUMBERS} numbers`;
      const findings: Finding[] = [
        atMost(1_000, { claim: `usage: ${year} counted for the first time`, value: seconds, unit: 's' }),
      ];
      for (const [name, { days = 365, ...question }] of Object.entries(QUESTIONS)) {
        const since = new Date(Date.now() - days * 86_400_000 + 3_600_000).toISOString();
        const query = new URLSearchParams({ ...question, since }).toString();
        const ms: number[] = [];
        for (let turn = -3; turn < 15; turn++) {
          const asked = performance.now();
          const response = await fetch(`${service.url}/api/v1/usage?${query}`, {
            headers: { authorization: `Bearer ${workspace.apiKey}` },
          });
          const text = await response.text();
          if (response.status !== 200) throw new Error(`GET /usage?${query}: ${response.status}: ${text}`);
          if (turn >= 0) ms.push(performance.now() - asked);
        }
        context.say(`usage, ${name}: ${median(ms).toFixed(1)} ms`);
        const limit = LIMIT_MS[days > 31 ? 'year' : 'month'];
        findings.push(atMost(limit, { claim: `GET /usage of ${year}, ${name}`, value: median(ms), unit: 'ms' }));
      }
      return findings;
    }),
};

async function counted(context: BenchContext, pool: Stage['database']['pool']): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ due: number; counted: number }>(
      `select count(*) filter (where counted_at is null)::integer as due, count(counted_at)::integer as counted from usage_due`,
    );
    const [{ due, counted: done } = { due: 0, counted: 0 }] = rows;
    if (due === 0 && done > 0) return;
    context.say(`usage: ${due} quarters of an hour are to be counted`);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

const PRICED = `
update message_state set billable = attempt_number = 1 and event_count = 1 and status <> 'failed' and h % 3 <> 0,
  pricing_category = (array['service', 'utility', 'marketing'])[1 + h % 3],
  pricing_type = case when h % 3 = 0 then 'free_customer_service' else 'regular' end,
  failure_category = case when status = 'failed' then (array['unknown', 'expired'])[1 + h % 2] end
from (select message_id as id, abs(hashtext(message_id::text)) as h from message_state) as p
where message_id = p.id and status <> 'outcome_unknown'`;
