/** A one-time code as the database has it at the end. */
export interface JudgedCode {
  id: string;
  recipient: string;
  status: string;
  attemptId: string;
  givenBack: boolean;
}

export interface CodeEvidence {
  /** Ids that a caller got with a 202. */
  acknowledged: readonly string[];
  codes: readonly JudgedCode[];
  /** Everything that the platform took: one entry each time. */
  taken: readonly { callback: string | null; to: string }[];
  /** Of the one package. */
  counts: { reserved: number; used: number };
  /** Whether the platform reports, for a number, that what it took has failed. */
  failsLater: (recipient: string) => boolean;
}

export interface CodeJudgement {
  lost: number;
  duplicated: number;
  unknown: number;
  givenBack: number;
  /** How many of each state. */
  states: Record<string, number>;
  violations: string[];
}

const ARRIVED = new Set(['sent', 'delivered', 'read']);
const FINAL = new Set([...ARRIVED, 'verified', 'failed', 'expired', 'outcome_unknown']);
const VIOLATIONS_TOLD = 5;

/** Compares what callers were answered, what the database and its package say, and what the platform took. */
export function judgeCodes({ acknowledged, codes, taken, counts, failsLater }: CodeEvidence): CodeJudgement {
  const judgement: CodeJudgement = { lost: 0, duplicated: 0, unknown: 0, givenBack: 0, states: {}, violations: [] };
  const violate = (what: string): void => {
    if (judgement.violations.length < VIOLATIONS_TOLD) judgement.violations.push(what);
  };
  const lose = (what: string): void => {
    judgement.lost++;
    violate(what);
  };
  const known = new Set(codes.map(({ id }) => id));
  for (const id of acknowledged) if (!known.has(id)) lose(`${id} was acknowledged and is not there`);

  // Each code went to a number of its own, so that this count needs none of our ids.
  const byNumber = countBy(taken.map(({ to }) => to.replace('+', '')));
  const byAttempt = countBy(taken.map(({ callback }) => callback ?? 'none'));
  const attempts = new Set(codes.map(({ attemptId }) => attemptId));
  for (const attempt of byAttempt.keys()) {
    if (!attempts.has(attempt)) violate(`the platform took the attempt ${attempt}, which no code has`);
  }
  for (const { id, recipient, status, attemptId, givenBack } of codes) {
    judgement.states[status] = (judgement.states[status] ?? 0) + 1;
    const times = Math.max(byNumber.get(recipient) ?? 0, byAttempt.get(attemptId) ?? 0);
    if (times > 1) {
      judgement.duplicated++;
      violate(`${id} was taken ${times} times`);
    }
    if (!FINAL.has(status)) lose(`${id} is still ${status}`);
    if (ARRIVED.has(status) && times === 0) lose(`${id} is ${status} and the platform never saw it`);
    if (status === 'failed' && times > 0 && !failsLater(recipient))
      violate(`${id} is failed, but the platform took it`);
    if (status === 'outcome_unknown') {
      judgement.unknown++;
      if (times > 0) violate(`${id} is outcome_unknown although the platform reported its status`);
    }
    if (givenBack) judgement.givenBack++;
    if (givenBack !== (status === 'failed')) violate(`${id} is ${status} and was${givenBack ? '' : ' not'} given back`);
  }
  const arrived = codes.filter(({ status }) => ARRIVED.has(status)).length;
  if (counts.used !== arrived) violate(`the package says ${counts.used} used, and ${arrived} were sent`);
  if (counts.reserved !== judgement.unknown) {
    violate(`the package says ${counts.reserved} reserved, and ${judgement.unknown} are unknown`);
  }
  const expected = codes.length - judgement.givenBack;
  if (counts.used + counts.reserved !== expected) {
    violate(`the package counts ${counts.used + counts.reserved} sends of ${expected}`);
  }
  return judgement;
}

function countBy(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
