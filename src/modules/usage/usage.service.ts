import { setImmediate as turn } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { databaseClock, systemClock } from '../../common/clock.js';
import { Database } from '../../infrastructure/database/database.js';
import { Config } from '../../infrastructure/config/config.js';
import { Metrics, type Sample } from '../../infrastructure/operations/metrics/metrics.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { inBatches, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { Audit } from '../audit/audit.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { Erasure } from '../workspaces/erasure/erasure.service.js';
import { CountingRepository, KEPT_DAYS, type KeptDays, SLOT_OF } from './counting.repository.js';
import { bucketsOf, TimeZone } from './periods.js';
import { Prices, readRates } from './rates.js';
import { usageErrors } from './usage.errors.js';
import { MAX_BILLED, MAX_ROWS, type BilledRow, type SummedRow, UsageRepository } from './usage.repository.js';
import {
  CODE_MEASURES,
  type CodeFigures,
  type CodeRow,
  DELIVERY_BOUNDS,
  type Group,
  type Measure,
  MEASURES,
  type Rate,
  type UsageAnswer,
  type UsageFigures,
  type UsageQuestion,
} from './usage.types.js';

const LARGEST = 50;
/** Rows summed in one turn of the event loop: a few milliseconds of work. */
const ROWS_A_TURN = 500;

const UNKNOWN = 'unknown';

/** Billable messages without a price. */
interface Unpriced {
  category: string;
  countries: string[];
  messages: number;
}

/** Messages sent and received, their delivery, and their cost; counted in the background per quarter of an hour. */
@Injectable()
export class UsageService implements OnModuleInit {
  private largestWere: Sample[] = [];
  private largestUntil = -Infinity;

  constructor(
    private readonly repository: UsageRepository,
    private readonly counting: CountingRepository,
    private readonly connections: ConnectionsService,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    private readonly retention: Retention,
    private readonly erasure: Erasure,
    private readonly metrics: Metrics,
    private readonly audit: Audit,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const { counting } = this;
    this.sweeps.add({
      name: 'usage',
      everyMs: 5_000,
      waitsFor: [{ table: 'usage_due', column: 'at', where: 'at is not null' }],
      hasWork: `not exists (select from usage_due where start = ${SLOT_OF('now()')} and at is not null)
        or exists (select from usage_due where at <= now()) or exists (select from usage_due where at is null)`,
      run: (signal) => this.countAll(signal),
    });
    this.retention.add({ name: 'usage', days: KEPT_DAYS, clear: (before, limit) => counting.remove(before, limit) });
    this.retention.holdWith((before) => counting.countedBefore(before));
    this.erasure.add({
      name: 'usage',
      turn: 'first',
      batch: async (subject, _cursor, erase) => {
        if (erase) await counting.countBeforeErasure(subject, this.keptDays);
        return { found: {}, cursor: null };
      },
    });
    this.metrics.add({
      name: 'usage_messages',
      help: 'Messages of this UTC month, by state that they reached, of the 50 largest workspaces; workspace="other": of all others.',
      labelNames: ['workspace', 'state'],
      collect: () => this.largest(),
    });
    this.metrics.add({
      name: 'usage_age_seconds',
      help: 'Age of the figures of GET /usage; 0: nothing was counted yet.',
      collect: async () => {
        const asOf = await counting.asOf();
        return [{ value: asOf === null ? 0 : Math.max(0, (databaseClock.now() - asOf.getTime()) / 1_000) }];
      },
    });
  }

  /**
   * Rows by time, the oldest first, and their sum.
   *
   * @throws CONNECTION_NOT_FOUND (404) where the connection is not the workspace's, USAGE_TOO_LARGE (422).
   */
  async messages(question: UsageQuestion): Promise<UsageAnswer> {
    const [rates, asOf] = await Promise.all([this.repository.rates(), this.counting.asOf()]);
    return { ...(await this.figures(question, rates)), asOf };
  }

  /**
   * Like `messages`, with prices that were read before.
   *
   * @throws CONNECTION_NOT_FOUND (404), USAGE_TOO_LARGE (422).
   */
  async figures(question: UsageQuestion, rates: readonly Rate[]): Promise<Omit<UsageAnswer, 'asOf'>> {
    const { organizationId, groupBy, filter } = question;
    if (filter.connection !== undefined) await this.connections.getById(organizationId, filter.connection);
    const buckets = bucketsOf(question, new TimeZone(question.timezone));
    const asked = { organizationId, buckets, until: question.until, groupBy, filter };
    const summed = await this.repository.summed(asked);
    const { billed, prices } = await this.costs(asked, rates, question);
    if (summed.length > MAX_ROWS || billed.length > MAX_BILLED) throw usageErrors.USAGE_TOO_LARGE();
    const totals = new Sum();
    const sums = new Map<string, { bucket: number; groups: Partial<Record<Group, string | null>>; sum: Sum }>();
    const sumOf = (row: SummedRow | BilledRow): Sum => {
      const groups = Object.fromEntries(groupBy.map((group) => [group, row[group] ?? null]));
      const key = JSON.stringify([row.bucket, ...Object.values(groups)]);
      const known = sums.get(key) ?? { bucket: row.bucket, groups, sum: new Sum() };
      sums.set(key, known);
      return known.sum;
    };
    let [counts, turns] = [0, 0];
    // Yields to other requests between the rows of a large answer.
    const pass = async (): Promise<void> => {
      if (++turns % ROWS_A_TURN === 0) await turn();
    };
    for (const row of summed) {
      await pass();
      counts += row.counts;
      totals.add(row);
      sumOf(row).add(row);
    }
    for (const row of billed) {
      await pass();
      const cost = prices.costOf(row);
      totals.addCost(row, cost);
      sumOf(row).addCost(row, cost);
    }
    const rows = [...sums.entries()]
      .sort(([keyA, a], [keyB, b]) => a.bucket - b.bucket || (keyA < keyB ? -1 : 1))
      .map(([, { bucket, groups, sum }]) => ({
        start: buckets[bucket]?.label ?? '',
        groups,
        ...sum.figures(prices.currency),
      }));
    return { rows, totals: totals.figures(prices.currency), counts };
  }

  /** Figures of an OTP project's codes, by country. @throws USAGE_TOO_LARGE (422). */
  async codes(
    projectId: string,
    question: Omit<UsageQuestion, 'groupBy' | 'filter'>,
  ): Promise<{ rows: CodeRow[]; totals: CodeFigures; asOf: Date | null }> {
    const buckets = bucketsOf(question, new TimeZone(question.timezone));
    const [found, asOf] = await Promise.all([
      this.repository.codes(projectId, { ...question, buckets }),
      this.counting.asOf(),
    ]);
    if (found.length > MAX_ROWS) throw usageErrors.USAGE_TOO_LARGE();
    const rows = found.map(({ bucket, ...row }) => ({ start: buckets[bucket]?.label ?? '', ...row }));
    const totals = Object.fromEntries(
      CODE_MEASURES.map((measure) => [measure, rows.reduce((sum, row) => sum + row[measure], 0)]),
    ) as CodeFigures;
    return { rows, totals, asOf };
  }

  rates(): Promise<Rate[]> {
    return this.repository.rates();
  }

  /**
   * Replaces all prices by those of a file. Returns their number, and recently billed messages that no price covers.
   *
   * @throws RATES_INVALID (422), RATES_IN_USE (409).
   */
  async setRates(text: string): Promise<{ prices: number; unpriced: Unpriced[] }> {
    const rates = readRates(text);
    await this.database.transaction(async () => {
      if (!(await this.repository.replaceRates(rates))) throw usageErrors.RATES_IN_USE();
      await this.audit.record({ action: 'usage_rates.set', organizationId: null, details: { prices: rates.length } });
    });
    const [known, lately] = [new Prices(rates, []), await this.repository.lately()];
    const unpriced = new Map<string, { countries: Set<string>; messages: number }>();
    for (const row of lately.filter((each) => known.costOf(each) === null)) {
      const category = row.billedCategory ?? UNKNOWN;
      const { countries, messages } = unpriced.get(category) ?? { countries: new Set(), messages: 0 };
      unpriced.set(category, { countries: countries.add(row.country ?? UNKNOWN), messages: messages + row.messages });
    }
    return {
      prices: rates.length,
      unpriced: [...unpriced]
        .map(([category, { countries, messages }]) => ({ category, countries: [...countries].sort(), messages }))
        .sort((a, b) => b.messages - a.messages),
    };
  }

  private get keptDays(): KeptDays {
    return { contents: this.config.retention.messageContentDays, codes: this.config.retention.otpDays };
  }

  /** Reads a month of all workspaces, so it runs at most a tenth of the time. */
  private async largest(): Promise<Sample[]> {
    const startedAt = systemClock.monotonic();
    if (startedAt < this.largestUntil) return this.largestWere;
    const found = await this.repository.largest(LARGEST);
    const endedAt = systemClock.monotonic();
    this.largestUntil = endedAt + 10 * (endedAt - startedAt);
    this.largestWere = found.flatMap(({ workspace, ...counts }) =>
      MEASURES.map((state) => ({ labels: { workspace, state }, value: counts[state] })),
    );
    return this.largestWere;
  }

  private async countAll(signal: AbortSignal): Promise<number> {
    await this.counting.addSlots();
    return inBatches(signal, 1, async () => ((await this.counting.countDue(this.keptDays)) ? 1 : 0));
  }

  private async costs(
    asked: Parameters<UsageRepository['billed']>[0],
    rates: readonly Rate[],
    { organizationId, since, until }: UsageQuestion,
  ): Promise<{ billed: BilledRow[]; prices: Prices }> {
    if (rates.length === 0) return { billed: [], prices: new Prices([], []) };
    const isTiered = rates.some(({ tierFrom }) => tierFrom > 1);
    const [billed, volumes] = await Promise.all([
      this.repository.billed(asked),
      isTiered ? this.repository.volumes(organizationId, since, until) : [],
    ]);
    return { billed, prices: new Prices(rates, volumes) };
  }
}

/** Accumulates the figures of one row of an answer. */
class Sum {
  private readonly counts = Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as Record<Measure, number>;
  private readonly failures: Record<string, number> = {};
  private readonly billable: Record<string, number> = {};
  private readonly free: Record<string, number> = {};
  private readonly delivery: number[] = [];
  private readonly unpriced: Record<string, number> = {};
  private millionths = 0n;

  add(row: SummedRow): void {
    for (const measure of MEASURES) this.counts[measure] += row[measure];
    for (const [billable, pricingType, billedCategory, failureCategory, submitted, failed] of row.kinds) {
      if (failureCategory !== null) addTo(this.failures, failureCategory, failed);
      if (billable === true) addTo(this.billable, billedCategory ?? UNKNOWN, submitted);
      if (billable === false) addTo(this.free, pricingType ?? UNKNOWN, submitted);
    }
    for (const [index, count] of row.delivery.entries()) this.delivery[index] = (this.delivery[index] ?? 0) + count;
  }

  addCost({ billedCategory, messages }: BilledRow, millionths: bigint | null): void {
    if (millionths === null) addTo(this.unpriced, billedCategory ?? UNKNOWN, messages);
    else this.millionths += millionths;
  }

  figures(currency: string | null): UsageFigures {
    const { counts, failures, billable, free, delivery, millionths } = this;
    // Without any prices, messages were not checked for one.
    const unpriced = currency === null ? { ...billable } : this.unpriced;
    const cost_of_priced = currency === null ? null : Prices.costText(currency, millionths);
    const cost = Object.keys(unpriced).length === 0 ? cost_of_priced : null;
    const [p50, p95] = [percentile(delivery, 0.5), percentile(delivery, 0.95)];
    const delivery_ms = p50 === null || p95 === null ? null : { p50, p95 };
    return { ...counts, failures, billable, free, delivery_ms, cost, cost_of_priced, unpriced };
  }
}

function addTo(map: Record<string, number>, key: string, count: number): void {
  if (count > 0) map[key] = (map[key] ?? 0) + count;
}

/** Interpolated from the histogram, evenly within a class; null: nothing was delivered. */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [index, count] of counts.entries()) {
    if (left > count || count === 0) {
      left -= count;
      continue;
    }
    const from = index === 0 ? 0 : (DELIVERY_BOUNDS[index - 1] ?? 0);
    const to = DELIVERY_BOUNDS[index] ?? from;
    return Math.round(from + ((to - from) * left) / count);
  }
  return DELIVERY_BOUNDS.at(-1) ?? null;
}
