import { Processor } from '@nestjs/bullmq';
import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../../../common/describe-error.js';
import { retry } from '../../../common/retry.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import type { Claim, ClaimRequest, LanePace } from '../../../infrastructure/queue/lane-grant.js';
import type { QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { EventJournal } from '../../webhook/events/event-journal.service.js';
import { type ClaimedTurn, DESTINATION_LANE, type TurnOutcome } from '../destinations.types.js';
import { connectionWord, SinkError } from '../sinks/sink.js';
import { OpenSinks } from './open-sinks.js';
import { LEASE_MS, TurnsRepository } from './turns.repository.js';
import { writePage } from './write-page.js';

export const DESTINATIONS_QUEUE = 'destinations';

/** Limit of destinations that this process writes to at the same time. Each holds one page of events. */
const MAX_IN_FLIGHT = 200;
const PAGE = 100;
const PAGE_BYTES = 512 * 1_024;
/** Measured from the claim; with the time for its outcome it is below the lease. */
const TURN_MS = 15_000;
const RECORD_FOR_MS = 10_000;
/** Wait after a turn whose events could not be read. */
const AGAIN_MS = 1_000;
/** No pace: a destination has one turn at a time. */
const PACE: LanePace = { ratePerSecond: 1_000_000, burstSeconds: 1 };

/** Waits after the first, second ... failed turn in a row; then the last one repeats. */
export const BACK_OFF_MS: readonly number[] = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000];
const SPREAD = 0.2;

/** @param tries failed turns in a row, including this one: 1 or more. */
export function backOffMs(tries: number, random = Math.random()): number {
  const base = BACK_OFF_MS[Math.min(tries, BACK_OFF_MS.length) - 1] ?? 0;
  return Math.round(base * (1 - SPREAD + 2 * SPREAD * random));
}

/** SQL, for a row of `event_destination`: how many seconds its `due_at` may be ahead. */
const MOST_AHEAD = `case when attempt_id is not null then ${LEASE_MS / 1_000} else ${(300 * (1 + SPREAD)).toFixed(0)} end`;

/**
 * The work of a turn: reads a page after the destination's cursor, writes it, and moves the cursor. See
 * DestinationsProcessor.
 */
@Injectable()
export class DestinationTurns implements QueueKind<ClaimedTurn> {
  readonly name = DESTINATIONS_QUEUE;
  readonly maxPerLane = 1;
  private readonly logger = new Logger('Destinations');
  private stopping = false;

  constructor(
    private readonly turns: TurnsRepository,
    private readonly sinks: OpenSinks,
    private readonly journal: EventJournal,
    private readonly counters: Counters,
  ) {}

  pace(): Promise<LanePace> {
    return Promise.resolve(PACE);
  }

  claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<Claim<ClaimedTurn>[]> {
    return this.turns.claim(requests, withinMs);
  }

  async work(turn: ClaimedTurn): Promise<number | null> {
    try {
      const outcome = this.stopping ? null : await this.writeUnlessUnread(turn);
      const releaseMs = this.stopping ? 0 : AGAIN_MS;
      await retry(() => (outcome === null ? this.turns.release(turn, releaseMs) : this.turns.record(turn, outcome)), {
        forMs: RECORD_FOR_MS,
        onFailure: () => this.counters.increment('destination_record_failed'),
      });
      if (outcome === null) return releaseMs;
      return outcome.error === null ? null : outcome.delayMs;
    } catch (error) {
      this.logger.error(`destination ${turn.id}: a turn is done again after its lease: ${describeError(error)}`);
      return LEASE_MS;
    }
  }

  /** Pages being written continue to their next acknowledgement; the rest is written after the next start. */
  stop(): void {
    this.stopping = true;
  }

  /** Null where its events cannot be read: nothing is written, and the turn is given back. */
  private async writeUnlessUnread(turn: ClaimedTurn): Promise<TurnOutcome | null> {
    try {
      return await this.write(turn);
    } catch (error) {
      this.logger.warn(`destination ${turn.id}: its events could not be read: ${describeError(error)}`);
      return null;
    }
  }

  private async write(turn: ClaimedTurn): Promise<TurnOutcome> {
    const { organizationId, cursor: after, events, connectionIds, tries, kind } = turn;
    const reader = { organizationId, after, events, connectionIds };
    const page = await this.journal.read(reader, PAGE, PAGE_BYTES);
    const done: TurnOutcome = { cursor: page.end, writtenAhead: [], written: 0, lost: 0, error: null, delayMs: 0 };
    if (page.events.length === 0) return done;
    const outgoing = page.events.map((event) => ({ ...event, organizationId }));
    try {
      const sink = await this.sinks.of(turn);
      const { error, ...result } = await writePage(sink, outgoing, {
        writtenBefore: new Set(turn.writtenAhead),
        notAfter: turn.claimedAt + TURN_MS,
        isStopping: () => this.stopping,
      });
      this.counters.incrementBy('destination_events_written', { kind }, result.written);
      if (result.lost > 0) this.logger.warn(`destination ${turn.id}: ${result.lost} events are too large for it`);
      if (error === null) return { ...done, ...result, cursor: page.end };
      if (error.word === 'stopping') return { ...done, ...result };
      return this.failed(turn, { ...done, ...result, tries: result.written > 0 ? 1 : tries + 1 }, error.word);
    } catch (error) {
      const word = error instanceof SinkError ? error.word : connectionWord(error);
      const { writtenAhead } = turn;
      return this.failed(turn, { ...done, cursor: null, writtenAhead, tries: tries + 1 }, word);
    }
  }

  private failed(
    { id, kind }: ClaimedTurn,
    { tries, ...outcome }: TurnOutcome & { tries: number },
    error: string,
  ): TurnOutcome {
    this.counters.incrementBy('destination_failures', { kind });
    if (tries === 1) this.logger.warn(`destination ${id} fails: ${error}`);
    return { ...outcome, error, delayMs: backOffMs(tries) };
  }
}

/**
 * The queue of destinations: one lane each, so that none waits for another. The work of a turn is in DestinationTurns.
 * The steps:
 *
 * 1. An event is a row of the log, `webhook_event`. Within a second the sweep finds destinations with events after
 *    their cursor, and wakes their lanes; a lane that has just written is polled more often.
 * 2. A claim gives the destination a turn with a lease of 30 s.
 * 3. The turn reads a page of events after the cursor and writes them, one after the other within each conversation. It
 *    waits for each acknowledgement, at most 15 s in all.
 * 4. The cursor moves to the first event without an acknowledgement; acknowledged events after it are remembered. After
 *    a failure the next turn waits, longer with each failure in a row, at most five minutes.
 *
 * If the process dies in 2 to 4, the lease runs out and the page is written again: the same events, under the same ids.
 */
@Processor(DESTINATIONS_QUEUE, QUEUE_WORKER_OPTIONS)
export class DestinationsProcessor extends QueueProcessor<ClaimedTurn> {
  constructor(turns: TurnsRepository, work: DestinationTurns, parts: QueueParts) {
    super(
      {
        kind: work,
        maxInFlight: MAX_IN_FLIGHT,
        dueLanes: turns.dueDestinations,
        waitsFor: [{ table: 'event_destination', column: 'due_at', where: 'active', mostAhead: MOST_AHEAD }],
        leftAtStop: (count) =>
          `${count} destinations were being written to when Herald stopped; they go on at the start`,
      },
      parts,
    );
  }

  /** A destination may be due: it was made, changed or resumed. */
  wakeDestination(id: string): void {
    this.wake(`${DESTINATION_LANE}${id}`);
  }
}
