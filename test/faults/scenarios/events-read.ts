import type { FaultReport } from '../../support/rig/fault-result.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';

const LANES = 6;
const RECIPIENTS = 10;
const PROGRESS_MS = 90_000;
const END_MS = 180_000;
const REQUEST_MS = 15_000;
/** Pages are small, and every third one is lost by the reader: faults fall into the reading. */
const PAGE = 20;

interface ReadEvent {
  id: string;
  cursor: string;
  data: { message_id?: string; message?: { id: string }; sequence?: number; status?: string };
}

/** kill -9 of the worker and of PostgreSQL in turn, while a program polls GET /events and is started anew again and again. */
export const eventsRead: Scenario = {
  name: 'events-read',
  goal: 'kill -9 of the worker and of PostgreSQL while events are read; each event given once, 0 missed, 0 given that are not stored',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [rounds, most] = context.quick ? [2, 1_000] : [8, 6_000];
  const postgres = await BenchPostgres.start(scope);
  const stage = await FaultStage.set({ ...context, postgres }, scope, {
    lanes: LANES,
    messagesPerSecond: 20,
    recipients: RECIPIENTS,
    latencyMs: 30,
  });
  const reader = new Reader(stage.api.url, stage.workspace.apiKey);
  await waitFor('the first answer', async () => ((await reader.read()) ? true : null), { timeoutMs: PROGRESS_MS });
  const traffic = new Traffic(stage, { callers: 3, least: 200, most, recipients: RECIPIENTS, betweenMs: 20 });
  const reading = reader.poll();
  const late: string[] = [];
  const violations: string[] = [];
  let restartedAt = performance.now();
  for (let round = 1; round <= rounds; round++) {
    for (const fault of ['worker', 'postgres'] as const) {
      const before = reader.seen.length;
      const more = () => (reader.seen.length > before + PAGE ? true : null);
      await waitFor('events to be read', more, { timeoutMs: PROGRESS_MS, everyMs: 10 }).catch(() => {
        late.push(`nothing was read before fault ${round} of ${fault}: it showed nothing`);
      });
      await pause(randomBetween(0, 500));
      if (fault === 'worker') {
        await stage.worker.child.kill();
        stage.worker.revive();
        // A program that finds no database as it starts ends, and there is no supervisor here.
        await stage.worker.ready();
      } else {
        await postgres.crash();
        await pause(randomBetween(0, 500));
        await postgres.restart();
        if (!stage.worker.child.isRunning) throw new Error(`the worker ended: ${stage.worker.child.tail}`);
      }
      restartedAt = performance.now();
      context.say(`${fault} killed, round ${round} of ${rounds}: ${reader.seen.length} events read so far`);
    }
  }
  const sentAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(restartedAt, sentAt));
  // What the platform still reports makes events, too.
  const judgement = await stage.judge(traffic.acknowledged);
  if (judgement.violations.length > 0) violations.push(...judgement.violations);
  const inOrder = async (): Promise<{ id: string }[]> => {
    const { rows } = await stage.stage.database.pool.query<{ id: string }>(
      'select id from webhook_event where organization_id = $1 order by transaction_id, id',
      [stage.workspace.organizationId],
    );
    return rows;
  };
  const rows = await inOrder();
  await waitFor('the last event', () => (reader.seen.length >= rows.length ? true : null), {
    timeoutMs: END_MS,
  }).catch(() => undefined);
  reader.stop();
  await reading;
  const stored = new Set((await inOrder()).map(({ id }) => id));
  const seen = new Set(reader.seen.map(({ id }) => id));
  const missed = rows.filter(({ id }) => !seen.has(id)).length;
  const repeated = reader.seen.length - seen.size;
  const unstored = [...seen].filter((id) => !stored.has(id)).length;
  if (missed > 0) violations.push(`${missed} events were never given`);
  if (repeated > 0) violations.push(`${repeated} events were given again to a reader that had stored their cursor`);
  if (unstored > 0) violations.push(`${unstored} events were given that are not stored`);
  if (missed + repeated + unstored === 0 && rows.some(({ id }, place) => reader.seen[place]?.id !== id)) {
    violations.push('events were not given in the order of their transactions');
  }
  const gaps = gapsOf(reader.seen);
  if (gaps.length > 0)
    violations.push(`the events of ${gaps.length} messages have gaps: ${gaps.slice(0, 3).join('; ')}`);
  if (reader.refused > 0) violations.push(`${reader.refused} cursors of its own were refused to the reader`);
  return {
    faults: 2 * rounds,
    attempted: rows.length,
    acknowledged: seen.size,
    lost: missed,
    duplicated: repeated,
    unknown: 0,
    recovered_ms: Math.round(recoveredMs),
    violations,
    late,
    notes: { pages: reader.pages, pages_without_answer: reader.failed, restarts_of_the_reader: reader.restarts },
  };
}

/** Messages whose events do not count from 1 on without a gap, with what was read of each. */
function gapsOf(events: readonly ReadEvent[]): string[] {
  const byMessage = new Map<string, ReadEvent['data'][]>();
  for (const { data } of events) {
    const id = data.message_id ?? data.message?.id;
    if (id === undefined) continue;
    byMessage.set(id, [...(byMessage.get(id) ?? []), data]);
  }
  return [...byMessage].flatMap(([id, datas]) => {
    const sequences = new Set(datas.map(({ sequence = 0 }) => sequence));
    if (sequences.size === Math.max(...sequences)) return [];
    return [`${id} ${datas.map(({ sequence, status }) => `${sequence} ${status}`).join(', ')}`];
  });
}

/** A program that keeps what it has read together with the place, and loses every third page before it has kept it. */
class Reader {
  readonly seen: ReadEvent[] = [];
  pages = 0;
  failed = 0;
  refused = 0;
  restarts = 0;
  private after: string | null = null;
  private stopped = false;

  constructor(
    private readonly url: string,
    private readonly apiKey: string,
  ) {}

  async poll(): Promise<void> {
    while (!this.stopped) {
      const moved = await this.read();
      await pause(moved === true ? randomBetween(0, 20) : 100);
    }
  }

  stop(): void {
    this.stopped = true;
  }

  /** One page; null: no answer, false: nothing new. */
  async read(): Promise<boolean | null> {
    const query = new URLSearchParams({ limit: String(PAGE), ...(this.after !== null && { after: this.after }) });
    const response = await fetch(`${this.url}/api/v1/events?${query.toString()}`, {
      headers: { authorization: `Bearer ${this.apiKey}` },
      signal: AbortSignal.timeout(REQUEST_MS),
    }).catch(() => null);
    const body = (await response?.json().catch(() => null)) as { data: ReadEvent[]; next: string } | null | undefined;
    if (response?.status !== 200 || body === null || body === undefined) {
      this.failed++;
      if (response?.status === 410 || response?.status === 400) this.refused++;
      return null;
    }
    this.pages++;
    if (body.data.length > 0 && this.pages % 3 === 0) {
      this.restarts++;
      return true;
    }
    this.seen.push(...body.data);
    this.after = body.next;
    return body.data.length > 0;
  }
}
