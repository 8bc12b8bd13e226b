import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable, Logger, type NestMiddleware, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { NextFunction, Response } from 'express';
import { commonErrors } from '../../common/common.errors.js';
import type { AppError } from '../../common/app-error.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { Metrics } from '../operations/metrics/metrics.js';
import type { HeraldRequest } from './herald-request.js';

const LOOK_MS = 50;
const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;
/** Refused callers return spread over this time, not all at once. */
const MAX_WAIT_SECONDS = 3;

/** Never refused: monitoring is most needed under overload. */
const WATCHERS = /^\/(health|metrics)(\/|\?|$)/;
const NOTIFICATIONS = '/platform/';

/**
 * Rejects requests before authentication while this process can't keep up, so that admitted ones are answered in time:
 * first reads, then writes, then WhatsApp's notifications (which it repeats), and never health and metrics.
 */
@Injectable()
export class Overload implements NestMiddleware<HeraldRequest, Response>, OnModuleInit, OnModuleDestroy {
  /** 0 while nothing is refused; a usual request checks only this. */
  private shedding: Shedding = SHEDDING.none;
  private readonly logger = new Logger(Overload.name);
  private readonly pressure: Pressure;
  private readonly delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private timer: NodeJS.Timeout | undefined;

  constructor(
    config: Config,
    private readonly database: Database,
    private readonly counters: Counters,
    private readonly metrics: Metrics,
  ) {
    const { overloadLoopDelayMs: loopDelayMs, overloadPoolWaiting: poolWaiting } = config.limits;
    this.pressure = new Pressure({ loopDelayMs, poolWaiting });
  }

  onModuleInit(): void {
    this.metrics.add({
      name: 'overload_shedding',
      help: 'What this process currently refuses: 0 nothing, 1 reads, 2 writes too, 3 notifications too.',
      collect: () => Promise.resolve([{ value: this.shedding }]),
    });
    this.delays.enable();
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.delays.disable();
  }

  /** @throws SERVICE_UNAVAILABLE (503). */
  use(req: HeraldRequest, _res: Response, next: NextFunction): void {
    if (this.shedding === SHEDDING.none) return next();
    const refusal = this.refusal(req.method, req.url);
    if (refusal !== null) throw refusal;
    next();
  }

  private refusal(method: string, url: string): AppError | null {
    const kind = kindOf(method, url);
    if (kind === null || this.shedding < SHEDDING[kind]) return null;
    this.counters.increment(`requests_shed_${kind}`);
    const retryAfterSeconds = 1 + Math.floor(Math.random() * MAX_WAIT_SECONDS);
    return commonErrors.SERVICE_UNAVAILABLE({ retryAfterSeconds });
  }

  private look(): void {
    const mean = this.delays.mean / NANOSECONDS_PER_MS;
    this.delays.reset();
    const poolWaiting = this.database.pool.waitingCount;
    const before = this.shedding;
    // The histogram counts from one of its own ticks to the next, even without delay.
    this.shedding = this.pressure.note({ loopDelayMs: mean - RESOLUTION_MS, poolWaiting });
    if (before !== SHEDDING.none || this.shedding === SHEDDING.none) return;
    this.counters.increment('overloads');
    this.logger.warn(
      `overloaded, requests are refused: event loop ${Math.round(mean)} ms late, ${poolWaiting} statements wait for a database connection`,
    );
  }
}

function kindOf(method: string, url: string): Exclude<keyof typeof SHEDDING, 'none'> | null {
  if (WATCHERS.test(url)) return null;
  if (url.startsWith(NOTIFICATIONS)) return 'notifications';
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'reads' : 'writes';
}

/** How much is refused: nothing; reads; also writes; also WhatsApp's notifications. */
export const SHEDDING = { none: 0, reads: 1, writes: 2, notifications: 3 } as const;
export type Shedding = (typeof SHEDDING)[keyof typeof SHEDDING];

/** The measured values, and the limits above which reads are refused; a limit of 0: never. */
export interface Look {
  /** Mean delay of the event loop since the last measurement, in milliseconds. */
  loopDelayMs: number;
  /** Statements that wait for a connection now. */
  poolWaiting: number;
}

/** Writes are refused from twice the limit on, notifications from four times it. */
const WRITES_AT = 2;
const NOTIFICATIONS_AT = 4;
/** The weight of one measurement in the moving mean: about six determine it. */
const PART = 0.15;
/** One measurement counts as this many limits at most, so that a single stall (0.9 limits) refuses no request. */
const MOST = 6;

/**
 * Decides what to refuse from a series of samples. The loop delay is a mean over several samples, as a single stall is
 * no overload. A queue for connections counts at once, as it already is a mean.
 */
export class Pressure {
  private delays = 0;

  constructor(private readonly limits: Look) {}

  note({ loopDelayMs, poolWaiting }: Look): Shedding {
    this.delays += PART * (Math.min(shareOf(loopDelayMs, this.limits.loopDelayMs), MOST) - this.delays);
    const share = Math.max(this.delays, shareOf(poolWaiting, this.limits.poolWaiting));
    if (share >= NOTIFICATIONS_AT) return SHEDDING.notifications;
    if (share >= WRITES_AT) return SHEDDING.writes;
    return share >= 1 ? SHEDDING.reads : SHEDDING.none;
  }
}

function shareOf(value: number, limit: number): number {
  return limit === 0 || Number.isNaN(value) ? 0 : value / limit;
}
