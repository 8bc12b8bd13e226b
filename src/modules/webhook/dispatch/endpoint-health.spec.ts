import fc from 'fast-check';
import { FAILING_DISABLES_AFTER_MS, healthAfter, type Health } from './endpoint-health.js';
import { retryDelayMs } from './webhook.processor.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 10, 21);
const WELL: Health = { failingSince: null, lastFailureAt: null, disabledReason: null };
const FAILED = { succeeded: false, httpStatus: 500 };
const SUCCEEDED = { succeeded: true, httpStatus: 200 };

interface Lived {
  health: Health;
  /** When it was disabled, from its start. */
  disabledAfterMs: number | null;
  attempts: { event: number; at: number }[];
}

/**
 * Lets an endpoint live in virtual time: events come in, each is tried by the schedule, and the endpoint answers as it
 * pleases. Ends when it is disabled, or after `days`.
 */
function live(options: { days: number; eventEveryMs: number; answer: (at: number) => typeof FAILED }): Lived {
  let health = WELL;
  const attempts: Lived['attempts'] = [];
  const due: { at: number; event: number; tries: number }[] = [];
  for (let at = 0; at < options.days * DAY; at += options.eventEveryMs) due.push({ at, event: due.length, tries: 0 });
  // The next one stands last.
  due.reverse();
  for (;;) {
    const turn = due.pop();
    if (turn === undefined || turn.at >= options.days * DAY) return { health, disabledAfterMs: null, attempts };
    attempts.push({ event: turn.event, at: turn.at });
    const attempt = options.answer(turn.at);
    health = healthAfter(health, attempt, START + turn.at);
    if (health.disabledReason !== null) return { health, disabledAfterMs: turn.at, attempts };
    if (attempt.succeeded) continue;
    const delayMs = retryDelayMs(turn.tries + 1, Math.random(), null);
    if (delayMs === null) continue;
    const retry = { at: turn.at + delayMs, event: turn.event, tries: turn.tries + 1 };
    due.splice(due.findLastIndex(({ at }) => at >= retry.at) + 1, 0, retry);
  }
}

describe('a thousand endpoints in virtual time', () => {
  it('that always fail try each event ten times on schedule, and are disabled after five days', () => {
    for (let n = 0; n < 400; n++) {
      const { health, disabledAfterMs, attempts } = live({
        days: 8,
        eventEveryMs: (1 + (n % 24)) * HOUR,
        answer: () => FAILED,
      });
      expect(health.disabledReason).toBe('failing');
      expect(disabledAfterMs).toBeGreaterThanOrEqual(FAILING_DISABLES_AFTER_MS);
      expect(disabledAfterMs).toBeLessThan(FAILING_DISABLES_AFTER_MS + DAY);
      const first = attempts.filter(({ event }) => event === 0).map(({ at }) => at);
      expect(first).toHaveLength(10);
      const planned = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];
      planned.forEach((seconds, index) => {
        const waited = ((first[index + 1] ?? 0) - (first[index] ?? 0)) / 1_000;
        expect(waited).toBeGreaterThanOrEqual(seconds * 0.799);
        expect(waited).toBeLessThanOrEqual(seconds * 1.201);
      });
    }
  });

  it('that succeed now and then are never disabled', () => {
    for (let n = 0; n < 300; n++) {
      // One success in four and a half days, at a time of its own.
      const period = 4.5 * DAY;
      const phase = (n / 300) * period;
      let succeeded = -1;
      const answer = (at: number): typeof FAILED => {
        const round = Math.floor((at + phase) / period);
        if (round === succeeded) return FAILED;
        succeeded = round;
        return SUCCEEDED;
      };
      expect(live({ days: 60, eventEveryMs: 8 * HOUR, answer }).disabledAfterMs).toBeNull();
    }
  });

  it('that fail one attempt in three at random are never disabled', () => {
    for (let n = 0; n < 100; n++) {
      const answer = () => (Math.random() < 0.34 ? FAILED : SUCCEEDED);
      expect(live({ days: 30, eventEveryMs: 2 * HOUR, answer }).disabledAfterMs).toBeNull();
    }
  });

  it('that answer 410 are disabled by that attempt, whatever came before', () => {
    for (let n = 0; n < 100; n++) {
      const goneAt = (n / 100) * 4 * DAY;
      const answer = (at: number) => (at < goneAt ? FAILED : { succeeded: false, httpStatus: 410 });
      const { health, disabledAfterMs, attempts } = live({ days: 5, eventEveryMs: HOUR, answer });
      expect(health.disabledReason).toBe('gone');
      expect(attempts.filter(({ at }) => at >= goneAt)).toHaveLength(1);
      expect(disabledAfterMs).toBeGreaterThanOrEqual(goneAt);
    }
  });

  it('that hear of nothing for days are not disabled for two failures far apart', () => {
    for (let n = 0; n < 100; n++) {
      const quietMs = (2.1 + n / 20) * DAY;
      let health = healthAfter(WELL, FAILED, START);
      health = healthAfter(health, FAILED, START + quietMs);
      expect(health).toEqual({ failingSince: START + quietMs, lastFailureAt: START + quietMs, disabledReason: null });
    }
  });
});

describe('healthAfter', () => {
  it('writes nothing down where nothing is new', () => {
    expect(healthAfter(WELL, SUCCEEDED, START)).toBe(WELL);
    const failing = healthAfter(WELL, FAILED, START);
    expect(healthAfter(failing, FAILED, START + 59_000)).toBe(failing);
    expect(healthAfter(failing, FAILED, START + 60_000)).not.toBe(failing);
    const disabled: Health = { ...failing, disabledReason: 'gone' };
    expect(healthAfter(disabled, SUCCEEDED, START + DAY)).toBe(disabled);
  });

  it('disables only after five whole days of failures without a success or a long silence', () => {
    const outcome = fc.record({ afterMs: fc.integer({ min: 0, max: 60 * HOUR }), succeeded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 60 }), (outcomes) => {
        let health = WELL;
        let now = START;
        let failingFrom: number | null = null;
        for (const { afterMs, succeeded } of outcomes) {
          now += afterMs;
          failingFrom = succeeded ? null : (failingFrom ?? now);
          health = healthAfter(health, succeeded ? SUCCEEDED : FAILED, now);
          if (health.disabledReason === null) continue;
          expect(succeeded).toBe(false);
          expect(now - (failingFrom ?? now)).toBeGreaterThanOrEqual(FAILING_DISABLES_AFTER_MS);
          return;
        }
      }),
    );
  });
});
