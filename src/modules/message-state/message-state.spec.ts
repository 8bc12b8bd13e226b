import fc from 'fast-check';
import {
  legalMoves,
  STATE_EVENTS,
  nextStatus,
  OUTBOUND_STATUSES,
  queueTakes,
  statesThatTake,
} from './message-state.types.js';

const event = fc.constantFrom(...STATE_EVENTS);
const status = fc.constantFrom(...OUTBOUND_STATUSES);
const isRetry = (name: string): boolean => name.startsWith('retry');
/** A message that waits has no attempt in its row: none of these can happen to it. */
const needsOwnAttempt = (name: string): boolean => /^(outcome|own)_/.test(name);

describe('the transition table', () => {
  it('has exactly the moves of the contract', () => {
    const moves = legalMoves().map((move) => `${move.from} --${move.on}--> ${move.to}`);
    expect(moves).toMatchSnapshot();
  });

  it('never leaves read, and leaves delivered for read only', () => {
    fc.assert(
      fc.property(event, (on) => {
        expect(nextStatus('read', on)).toBeNull();
        expect([null, 'read']).toContain(nextStatus('delivered', on));
      }),
    );
  });

  it('takes delivered and read of any attempt as proof, in every state before it', () => {
    for (const from of OUTBOUND_STATUSES.filter((name) => name !== 'delivered' && name !== 'read')) {
      for (const who of from === 'queued' ? (['other'] as const) : (['own', 'other'] as const)) {
        expect(nextStatus(from, `${who}_delivered`)).toBe('delivered');
        expect(nextStatus(from, `${who}_read`)).toBe('read');
      }
    }
  });

  it('has no move of a waiting message by what only an attempt in its row can bring', () => {
    const moves = legalMoves().filter(({ from, on }) => from === 'queued' && needsOwnAttempt(on));
    expect(moves).toEqual([]);
  });

  it('never queues again what may have been sent, but by a confirmed retry or certain knowledge', () => {
    for (const move of legalMoves().filter((candidate) => candidate.to === 'queued')) {
      expect(['outcome_deferred', 'retry', 'retry_confirmed']).toContain(move.on);
    }
    expect(nextStatus('outcome_unknown', 'retry')).toBeNull();
    expect(statesThatTake('lease_expired')).toEqual(['processing']);
  });

  it('ends every random sequence without a retry in the highest evidence', () => {
    const rank = { delivered: 1, read: 2 } as Record<string, number>;
    fc.assert(
      fc.property(
        status,
        fc.array(
          event.filter((on) => !isRetry(on)),
          { maxLength: 30 },
        ),
        (start, events) => {
          let current = start;
          let proof = rank[start] ?? 0;
          for (const on of events) {
            if (current === 'queued' && needsOwnAttempt(on)) continue;
            current = nextStatus(current, on) ?? current;
            if (on.endsWith('_delivered')) proof = Math.max(proof, 1);
            if (on.endsWith('_read')) proof = Math.max(proof, 2);
            expect(rank[current] ?? 0).toBe(proof);
          }
        },
      ),
    );
  });

  it('is not moved by the same event twice, but by claims and deferrals', () => {
    fc.assert(
      fc.property(status, event, (from, on) => {
        const once = nextStatus(from, on);
        fc.pre(once !== null);
        expect(nextStatus(once, on)).toBeNull();
      }),
    );
  });

  it('gives each event its condition on the queue', () => {
    const conditions = STATE_EVENTS.map((on) => `${on}: ${queueTakes(on)}`);
    expect(conditions).toMatchSnapshot();
  });
});
