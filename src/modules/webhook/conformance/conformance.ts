import type { ConformanceReport, ConformanceResult, Post, ProbeAnswer } from './conformance.types.js';
import { probesOf, type CheckName, type Probe, type ProbeContext } from './probes.js';

/** Limit of a whole run: a longer API call would meet the time-outs of clients and proxies. */
export const RUN_MS = 25_000;
/** After this many deliveries in a row without an answer the run ends, since the rest would have the same result. */
const SILENT_IN_A_ROW = 2;
/** Kinds of event tested at the same time; they are independent. */
const AT_ONCE = 4;

/**
 * Makes the deliveries of a run: one test event, then each kind, then the rest one after the other, because the second
 * of a pair must follow the first.
 *
 * @param signal ends the run early, like its time limit; probes that were not tried are `not_run`.
 */
export async function runConformance(
  context: ProbeContext,
  post: Post,
  signal?: AbortSignal,
): Promise<ConformanceReport> {
  const startedAt = performance.now();
  const limit = AbortSignal.timeout(RUN_MS);
  const ends = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const probes = probesOf(context);
  const results: ConformanceResult[] = probes.map(notRun);
  let silent = 0;
  const run = async (index: number): Promise<void> => {
    const probe = probes[index];
    if (probe === undefined || ends.aborted || silent >= SILENT_IN_A_ROW) return;
    const { headers, body } = probe.make();
    const answer = await post(headers, body, ends);
    // Interrupted by the end of the run, so it says nothing about the receiver.
    if (ends.aborted && 'error' in answer) return;
    silent = 'error' in answer && probe.expected === 'success' ? silent + 1 : 0;
    results[index] = judged(probe, answer);
  };

  const kinds = probes.filter(({ check }) => check === 'kind').length;
  await run(0);
  // A receiver that cannot be reached at all gets no further deliveries.
  if (results[0]?.error !== null) silent = SILENT_IN_A_ROW;
  let next = 1;
  const worker = async (): Promise<void> => {
    while (next < kinds) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (let index = kinds; index < probes.length; index++) await run(index);

  return {
    passed: results.every(({ outcome }) => outcome === 'passed'),
    complete: results.every(({ outcome }) => outcome !== 'not_run'),
    duration_ms: Math.round(performance.now() - startedAt),
    results,
  };
}

function notRun({ check, eventType, title, expected }: Probe): ConformanceResult {
  return {
    check,
    event_type: eventType,
    title,
    expected,
    outcome: 'not_run',
    http_status: null,
    error: null,
    duration_ms: null,
    problem: null,
    fix: null,
  };
}

function judged(probe: Probe, answer: ProbeAnswer): ConformanceResult {
  const fault = faultOf(probe, answer);
  return {
    ...notRun(probe),
    outcome: fault === null ? 'passed' : 'failed',
    http_status: 'status' in answer ? answer.status : null,
    error: 'error' in answer ? answer.error : null,
    duration_ms: Math.round(answer.durationMs),
    problem: fault?.problem ?? null,
    fix: fault?.fix ?? null,
  };
}

interface Fault {
  problem: string;
  fix: string;
}

/** How to fix the receiver, by failed check. */
const FIXES: Readonly<Record<CheckName, string>> = {
  kind: 'Answer 2xx to every kind, also to those that your program has no use for.',
  repeat: 'Remember webhook-id, and answer 2xx to one that is known: any event may come twice.',
  disorder:
    'Answer 2xx to an earlier change too, and keep the state with the highest data.sequence: events may overtake each other.',
  rotated_secret:
    'Compare with each signature in webhook-signature, separated by blanks: for 24 hours after a rotation there are several.',
  later_version: 'Pass over signatures in webhook-signature whose version is not v1, and compare with the others.',
  any_text: 'Verify the bytes of the body as they came, before they are decoded or parsed.',
  large: 'Raise the limit for bodies, of your program and of a proxy before it, to 4 MiB.',
  unknown_kind: 'Answer 2xx to a type that your program does not know, and do nothing: later versions have more kinds.',
  unknown_field: 'Ignore fields that your program does not know: later versions have more.',
  unknown_content: 'Answer 2xx to a message whose type your program does not know: WhatsApp adds types.',
  wrong_secret:
    'Verify the signature of each delivery with the secret of the webhook, and answer 401 where it is not right.',
  changed_body:
    'Compute the signature over webhook-id, webhook-timestamp and the bytes of the body, not over a part of them.',
  no_signature: 'Answer 401 to a request without webhook-id, webhook-timestamp and webhook-signature.',
  old_timestamp:
    'Refuse a webhook-timestamp that is more than five minutes off: who recorded a delivery could send it again.',
  future_timestamp: 'Refuse a webhook-timestamp that is more than five minutes off, ahead too.',
};

const SIGNATURE_REFUSED = new Set([400, 401, 403]);

/** Null where the receiver passed. */
function faultOf({ check, expected }: Probe, answer: ProbeAnswer): Fault | null {
  if ('error' in answer) return expected === 'refusal' ? faultOfSilence(answer.error) : unanswered(answer.error);
  const { status } = answer;
  const isSuccess = status >= 200 && status < 300;
  if (expected === 'refusal') {
    if (!isSuccess) return null;
    return { problem: `It was answered ${status}, as if Herald had sent it.`, fix: FIXES[check] };
  }
  if (isSuccess) return null;
  const problem = `It was answered ${status}; Herald would deliver it again and again.`;
  if (status === 410) return { problem: 'It was answered 410, which disables the webhook.', fix: FIXES[check] };
  if (status >= 300 && status < 400)
    return {
      problem: `It was answered ${status}; redirects are not followed.`,
      fix: 'Give the final address to PUT /webhook.',
    };
  if (status === 413) return { problem, fix: FIXES.large };
  if (check === 'kind' && SIGNATURE_REFUSED.has(status))
    return {
      problem,
      fix: 'Use the secret of this webhook, and verify the bytes of the body as they came: parsed and written again they are others. Check the clock of the receiver too.',
    };
  if (check === 'kind' && (status === 404 || status === 405))
    return { problem, fix: 'Check the path of the address, and that it takes POST.' };
  return { problem, fix: FIXES[check] };
}

/** A receiver may close the connection of a forged request, but must not keep it waiting. */
function faultOfSilence(error: string): Fault | null {
  return error === 'timeout' ? unanswered(error) : null;
}

function unanswered(error: string): Fault {
  if (error === 'timeout')
    return {
      problem: 'No answer came within ten seconds.',
      fix: 'Store the event, answer 2xx, and do the work afterwards.',
    };
  return {
    problem: `No answer came: ${error}.`,
    fix: 'See the table of errors in docs/webhooks.md; PUT /webhook sets another address.',
  };
}
