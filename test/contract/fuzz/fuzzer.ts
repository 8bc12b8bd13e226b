import fc from 'fast-check';
import { ADDRESS_MUTATIONS, HEADER_MUTATIONS } from './address-mutations.js';
import { BODY_MUTATIONS } from './body-mutations.js';
import type { Answer, Call, Caller } from './caller.js';
import type { Checks, Violation } from './checks.js';
import type { Operation } from './description.js';
import { FORM_MUTATIONS } from './form-mutations.js';
import { GUIDES, type Guide } from './guides.js';
import type { Ledger } from './ledger.js';
import type { Mutation } from './mutation.js';
import { encode, requestsOf, type Made, type Request } from './request.js';
import type { Stage } from './stage.js';

export const MUTATIONS: readonly Mutation[] = [
  ...BODY_MUTATIONS,
  ...FORM_MUTATIONS,
  ...ADDRESS_MUTATIONS,
  ...HEADER_MUTATIONS,
];

interface Judged {
  call: Call;
  answer: Answer;
  violations: Violation[];
}

export interface FuzzPlan {
  seed: number;
  /** Positive requests of an operation. */
  positive: number;
  /** Requests of an operation for each way to bend it. */
  negative: number;
}

/** Makes requests of the description, sends them and judges what comes; what fails is made as small as it gets. */
export class Fuzzer {
  constructor(
    readonly stage: Stage,
    readonly checks: Checks,
    readonly caller: Caller,
    readonly ledger: Ledger,
    private readonly plan: FuzzPlan,
  ) {}

  /** All work, as pieces that may run beside each other. */
  pieces(): (() => Promise<void>)[] {
    return this.checks.description.operations.flatMap((operation) => [
      () => this.positive(operation),
      ...MUTATIONS.filter((mutation) => mutation.applies(operation)).map(
        (mutation) => () => this.negative(operation, mutation),
      ),
    ]);
  }

  /** Sends, counts and keeps what is wrong; `judge` adds checks to those that every answer must pass. */
  async send(
    operation: Operation,
    kind: string,
    call: Call,
    judge: (answer: Answer) => Violation[],
    unrouted = false,
  ): Promise<Violation[]> {
    const answer = await this.caller.send(call);
    this.ledger.count(operation.id, kind, answer);
    const { checks } = this;
    const always = unrouted ? checks.ofAnything(call, answer) : checks.ofOperation(operation, call, answer);
    const violations = [...always, ...judge(answer)];
    this.last.set(`${operation.id} ${kind}`, { call, answer, violations });
    return violations;
  }

  async requestOf(operation: Operation, made: Made, fresh: boolean): Promise<Request> {
    const placed = await guideOf(operation).place(made, this.stage, fresh);
    const query = Object.entries(placed.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]);
    const given = Object.entries(placed.headers ?? {});
    const headers = Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
    const { params = {}, body, key } = placed;
    const ownKey = operation.scope.startsWith('otp:') ? this.stage.own.otp.key : this.stage.own.key;
    return { operation, params, query, headers, body, key: key ?? ownKey };
  }

  /** Requests that the description allows, for other tests to start from. */
  made(operation: Operation): fc.Arbitrary<Made> {
    return requestsOf(operation, this.checks.description, guideOf(operation).bodies);
  }

  /** Sends requests that the description allows. */
  async positive(operation: Operation): Promise<void> {
    const { states = [], share = 1 } = guideOf(operation);
    await this.search(operation, 'positive', this.plan.positive * share, this.made(operation), async (made) => {
      const request = await this.requestOf(operation, made, true);
      const odd = this.invalidBody(operation, request.body);
      if (odd !== null) throw new Error(`what was made is not as described: ${odd}: ${JSON.stringify(request.body)}`);
      return this.send(operation, 'positive', encode(request), (answer) => this.checks.ofAcceptance(states, answer));
    });
  }

  private async negative(operation: Operation, mutation: Mutation): Promise<void> {
    const kind = `negative.${mutation.kind}`;
    const cases = fc.tuple(this.made(operation), fc.record({ place: fc.nat(9_999), variant: fc.nat(9_999) }));
    await this.search(operation, kind, this.plan.negative * (mutation.share ?? 1), cases, async ([made, choice]) => {
      const request = await this.requestOf(operation, made, mutation.mayPass ?? false);
      const bent = mutation.bend(request, choice, this.checks.schemas);
      if (bent === null) return [];
      const { call, refusal, unrouted = false } = bent;
      const judge = (answer: Answer): Violation[] => (refusal === null ? [] : this.checks.ofRefusal(refusal, answer));
      return this.send(operation, kind, call, judge, unrouted);
    });
  }

  private invalidBody(operation: Operation, body: unknown): string | null {
    if (operation.body === null || (body === undefined && !operation.body.required)) return null;
    const { file, ...form } = (body ?? {}) as Record<string, unknown>;
    const isForm = operation.body.type !== 'application/json';
    return this.checks.schemas.request(operation.body.schema)(
      isForm ? JSON.parse(JSON.stringify({ ...form, file: typeof file })) : body,
    );
  }

  private readonly last = new Map<string, Judged>();

  /** Runs a property; of a failure the smallest request that still fails is kept. */
  private async search<T>(
    operation: Operation,
    kind: string,
    numRuns: number,
    cases: fc.Arbitrary<T>,
    run: (value: T) => Promise<Violation[]>,
  ): Promise<void> {
    const where = `${operation.id} ${kind}`;
    let smallest: Judged | undefined;
    const property = fc.asyncProperty(cases, async (value) => {
      const violations = await run(value);
      if (violations.length > 0) smallest = this.last.get(where);
      return violations.length === 0;
    });
    const seed = this.plan.seed + hashOf(where);
    const { failed, errorInstance } = await fc.check(property, { numRuns, seed });
    if (!failed) return;
    if (smallest === undefined) this.ledger.stumble(where, errorInstance);
    else this.ledger.find(where, smallest.call, smallest.answer, smallest.violations);
  }
}

export function guideOf(operation: Operation): Guide {
  const guide = GUIDES[operation.id];
  if (guide === undefined)
    throw new Error(`add a guide for the operation ${operation.id}: test/contract/fuzz/guides.ts`);
  return guide;
}

/** A seed of its own for each search, whatever order they run in. */
function hashOf(text: string): number {
  let hash = 0;
  for (const char of text) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0;
  return hash;
}

/** Runs pieces of work, so many at a time. */
export async function inParallel(pieces: readonly (() => Promise<void>)[], atATime: number): Promise<void> {
  const waiting = [...pieces];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
