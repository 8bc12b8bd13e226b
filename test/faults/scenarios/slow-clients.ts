import { connect } from 'node:net';
import type { FaultReport } from '../../../bench/rig/fault-result.js';
import { percentile } from '../../../bench/rig/figures.js';
import { Stage } from '../../../bench/rig/stage.js';
import { pause } from '../../../bench/rig/wait.js';
import { HttpCaller, Violations } from '../http-caller.js';
import type { FaultContext, Scenario } from '../scenario.js';

const CLOSED_WITHIN_MS = 10_000;
/** For this machine, on which the sockets themselves are read late. */
const LENIENCE_MS = 2_000;
const DRIBBLE_MS = 500;
const OTHERS = 8;
const OTHERS_PAUSE_MS = 10;
const SLOWER_MOST = 2;
/** Below this nobody is hurt, whatever the ratio. */
const QUICK_MS = 100;

interface Kind {
  name: string;
  /** Share of all slow sockets. */
  part: number;
  /** Sent at once; then one byte after the other. */
  head: (key: string) => string;
}

const KINDS: readonly Kind[] = [
  { name: 'silent', part: 0.1, head: () => '' },
  { name: 'slow headers', part: 0.55, head: () => 'GET /api/v1/messages HTTP/1.1\r\nHost: x\r\nX-Slow: ' },
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

/** Sockets that send one byte each half second, in headers, bodies and not at all. */
export const slowClients: Scenario = {
  name: 'slow-clients',
  longOnly: true,
  goal: "G25: slow headers, slow bodies, silence; closed within 10 s, others' p99 at most doubled, 0 failures of others",
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [sockets, ms] = context.quick ? [300, 12_000] : [1_500, 60_000];
  const stage = await Stage.set(scope, context.postgres, 'slow');
  const { apiKey } = await stage.workspace(1);
  const api = await stage.herald('api');
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
          const lifeMs = await dribble(api.port, kind.head(apiKey), violations);
          livesMs.push(lifeMs);
          if (lifeMs > CLOSED_WITHIN_MS + LENIENCE_MS) violations.add(`${kind.name} was open for more than 10 s`);
        }
      }),
    ),
  );
  const beside = await others(caller, apiKey, ms, violations);
  await slow;
  const [was, is] = [percentile(before, 0.99), percentile(beside, 0.99)];
  if (is > Math.max(was * SLOWER_MOST, QUICK_MS)) {
    violations.add(`others' p99 went from ${was.toFixed(1)} to ${is.toFixed(1)} ms`);
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
function dribble(port: number, head: string, violations: Violations): Promise<number> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const socket = connect(port, '127.0.0.1');
    const timer = setInterval(() => {
      if (head !== '' && socket.writable) socket.write('x');
      if (performance.now() - startedAt > 2 * CLOSED_WITHIN_MS) socket.destroy();
    }, DRIBBLE_MS);
    socket.on('connect', () => socket.write(head));
    socket.on('data', (bytes: Buffer) => {
      if (bytes.toString('latin1').startsWith('HTTP/1.1 5')) violations.add('a slow client is answered 5xx');
    });
    socket.on('error', () => undefined); // reset by the server: closed as well
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearInterval(timer);
      resolve(performance.now() - startedAt);
    });
  });
}
