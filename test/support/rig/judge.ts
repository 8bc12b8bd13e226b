/** A message as the database has it at the end. */
export interface JudgedMessage {
  id: string;
  status: string;
  attempts: { id: string; status: string }[];
}

export interface Evidence {
  /** Ids that a caller got with a 202. */
  acknowledged: readonly string[];
  messages: readonly JudgedMessage[];
  /** Attempt ids of everything that the platform took, one entry each time. */
  taken: readonly (string | null)[];
}

export interface Judgement {
  acknowledged: number;
  /** Acknowledged and not there, or said to be sent and never seen by the platform, or failed without a reason. */
  lost: number;
  /** Taken more than once, taken without an attempt, or tried again although an earlier attempt may have been taken. */
  duplicated: number;
  /** Ended in `outcome_unknown`: it is not known whether it was sent, and it was not sent again. */
  unknown: number;
  /** Of these, how many the platform did take. */
  unknownButTaken: number;
  /** Still queued or in processing. */
  unfinished: number;
  /** The first few violations, in words. */
  violations: string[];
}

const SENT = new Set(['accepted', 'sent', 'delivered', 'read']);
const UNFINISHED = new Set(['queued', 'processing']);
/** Attempts after which another one may follow: the platform definitely has not taken the message. */
const DEFINITELY_NOT_TAKEN = new Set(['deferred', 'rejected']);
const VIOLATIONS_TOLD = 5;

/** Compares what callers were answered, what the database says, and what the platform took. */
export function judge({ acknowledged, messages, taken }: Evidence): Judgement {
  const judgement: Judgement = {
    acknowledged: acknowledged.length,
    lost: 0,
    duplicated: 0,
    unknown: 0,
    unknownButTaken: 0,
    unfinished: 0,
    violations: [],
  };
  const violate = (kind: 'lost' | 'duplicated', what: string): void => {
    judgement[kind]++;
    if (judgement.violations.length < VIOLATIONS_TOLD) judgement.violations.push(what);
  };

  const known = new Set(messages.map((message) => message.id));
  for (const id of acknowledged) if (!known.has(id)) violate('lost', `${id} was acknowledged and is not there`);

  const messageOfAttempt = new Map(messages.flatMap(({ id, attempts }) => attempts.map((a) => [a.id, id] as const)));
  const takenTimes = new Map<string, number>();
  for (const attemptId of taken) {
    const id = attemptId === null ? undefined : messageOfAttempt.get(attemptId);
    if (id === undefined) violate('duplicated', `the platform took attempt ${attemptId}, which no message has`);
    else takenTimes.set(id, (takenTimes.get(id) ?? 0) + 1);
  }

  for (const { id, status, attempts } of messages) {
    const times = takenTimes.get(id) ?? 0;
    const blind = attempts.slice(0, -1).find((attempt) => !DEFINITELY_NOT_TAKEN.has(attempt.status));
    if (times > 1) violate('duplicated', `${id} was taken ${times} times`);
    else if (blind !== undefined)
      violate('duplicated', `${id} was tried again after an attempt that is ${blind.status}`);
    if (SENT.has(status) && times === 0) violate('lost', `${id} is ${status} and the platform never saw it`);
    else if (status === 'failed') violate('lost', `${id} failed`);
    if (UNFINISHED.has(status)) judgement.unfinished++;
    if (status === 'outcome_unknown') {
      judgement.unknown++;
      if (times > 0) judgement.unknownButTaken++;
    }
  }
  return judgement;
}
