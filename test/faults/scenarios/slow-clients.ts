import { connect } from 'node:net';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import { Stage } from '../../support/rig/stage.js';
import { pause } from '../../support/rig/wait.js';
import { HttpCaller, Violations } from '../http-caller.js';
import type { FaultContext, Scenario } from '../scenario.js';

const CLOSED_WITHIN_MS = 10_000;
/** Of a client that takes none of its answers. */
const STALLED_WITHIN_MS = 72_000;
/** Answers of some 100 KB each: more than the systems of both ends hold. */
const UNREAD_ANSWERS = 200;
/** For this machine, on which the sockets themselves are read late. */
const LENIENCE_MS = 2_000;
const DRIBBLE_MS = 500;
const OTHERS = 8;
const OTHERS_PAUSE_MS = 10;
const SLOWER_MOST = 2;
/** Below this no client is affected, whatever the ratio. */
const QUICK_MS = 100;

interface Kind {
  name: string;
  /** Share of all slow sockets. */
  part: number;
  /** Sent at once; then one byte after the other. */
  head: (key: string) => string;
  /** Reads nothing of what it is answered. */
  silent?: boolean;
}

const KINDS: readonly Kind[] = [
  { name: 'silent', part: 0.1, head: () => '' },
  {
    name: 'no reading',
    part: 0.01,
    head: () => 'GET /docs/errors HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(UNREAD_ANSWERS),
    silent: true,
  },
  { name: 'slow headers', part: 0.54, head: () => 'GET /api/v1/messages HTTP/1.1\r\nHost: x\r\nX-Slow: ' },
  {
    name: 'slow body',
    part: 0.25,
    head: (key) =>
      `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      'Idempotency-Key: 0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{',
  },
  {
    name: 'slow notification',
    part: 0.1,
    head: () =>
      `POST /platform/whatsapp/webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n',
  },
];

/** Sockets that send one byte each half second, in headers, bodies and not at all, and some that never read. */
export const slowClients: Scenario = {
  name: 'slow-clients',
  longOnly: true,
  goal: "G25: slow headers, slow bodies, silence; closed within 10 s, who never reads within 72 s, others' p99 at most doubled, 0 failures of others",
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [sockets, ms] = context.quick ? [300, 12_000] : [1_500, 60_000];
  const stage = await Stage.set(scope, context.postgres, 'slow');
  const { apiKey } = await stage.workspace(1);
  const api = await stage.herald('api', { settings: { CONNECTIONS_PER_ADDRESS: '0' } });
  const caller = new HttpCaller(scope, api.url, OTHERS);
  const violations = new Violations();
  await others(caller, apiKey, 1_000, violations); // warm
  const before = await others(caller, apiKey, 3_000, violations);

  const until = performance.now() + ms;
  const livesMs: number[] = [];
  const slow = Promise.all(
    KINDS.flatMap((kind) =>
      Array.from({ length: Math.round(sockets * kind.part) }, async () => {
        while (performance.now() < until) {
          const mostMs = kind.silent === true ? STALLED_WITHIN_MS : CLOSED_WITHIN_MS;
          const lifeMs = await dribble(api.port, kind, apiKey, violations);
          livesMs.push(lifeMs);
          if (lifeMs > mostMs + LENIENCE_MS) violations.late(`${kind.name} was open for more than ${mostMs / 1_000} s`);
        }
      }),
    ),
  );
  const beside = await others(caller, apiKey, ms, violations);
  await slow;
  const [was, is] = [percentile(before, 0.99), percentile(beside, 0.99)];
  if (is > Math.max(was * SLOWER_MOST, QUICK_MS)) {
    violations.late(`others' p99 went from ${was.toFixed(1)} to ${is.toFixed(1)} ms`);
  }
  if (!api.child.isRunning) violations.add('the process ended');
  return {
    faults: livesMs.length,
    attempted: before.length + beside.length,
    acknowledged: before.length + beside.length,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    recovered_ms: null,
    violations: violations.list(),
    late: violations.lateOnes,
    notes: {
      slow_sockets_at_once: sockets,
      longest_open_ms: Math.round(Math.max(...livesMs)),
      others_p99_ms_before: Math.round(was),
      others_p99_ms_beside: Math.round(is),
    },
  };
}

/** Ordinary callers; returns how long each answer took. */
async function others(caller: HttpCaller, apiKey: string, ms: number, violations: Violations): Promise<number[]> {
  const until = performance.now() + ms;
  const took: number[] = [];
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      const headers = { authorization: `Bearer ${apiKey}` };
      const answer = await caller.call({ path: '/api/v1/messages?limit=10', headers });
      if (answer.status === 200) took.push(answer.ms);
      else violations.add(`others are answered ${answer.status}: ${answer.text.slice(0, 80)}`);
      await pause(OTHERS_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: OTHERS }, one));
  return took;
}

/** Resolves with the milliseconds until the server closed the connection. */
function dribble(port: number, { head: headOf, silent }: Kind, key: string, violations: Violations): Promise<number> {
  return new Promise((resolve) => {
    const head = headOf(key);
    const startedAt = performance.now();
    const socket = connect(port, '127.0.0.1');
    const timer = setInterval(() => {
      if (head !== '' && socket.writable) socket.write('x');
      if (performance.now() - startedAt > 2 * STALLED_WITHIN_MS) socket.destroy();
    }, DRIBBLE_MS);
    socket.on('connect', () => socket.write(head));
    if (silent === true) {
      socket.pause();
    } else {
      socket.on('data', (bytes: Buffer) => {
        if (bytes.toString('latin1').startsWith('HTTP/1.1 5')) violations.add('a slow client is answered 5xx');
      });
    }
    socket.on('error', () => undefined); // reset by the server: closed as well
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearInterval(timer);
      resolve(performance.now() - startedAt);
    });
  });
}
