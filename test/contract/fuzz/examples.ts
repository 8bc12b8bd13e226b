import type { Schema } from '../../support/schema-arbitrary.js';
import { violation, type Violation } from './checks.js';
import type { Description, Operation } from './description.js';
import { guideOf, type Fuzzer } from './fuzzer.js';
import { encode } from './request.js';

/** The examples of a body: those with names, else the one that its properties' own examples make. */
export function exampleBodies({ body }: Operation, description: Description): [name: string, value: unknown][] {
  if (body === null) return [];
  const named = Object.entries(body.examples);
  if (named.length > 0) return named;
  const schema = typeof body.schema.$ref === 'string' ? description.resolve(body.schema.$ref) : body.schema;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const given = properties.flatMap(([name, property]) => {
    const example = property.example ?? (property.examples as unknown[] | undefined)?.[0] ?? property.default;
    return example === undefined ? [] : [[name, example] as const];
  });
  const missing = ((schema.required ?? []) as string[]).filter(
    (name) => !given.some(([known]) => known === name) && name !== 'file',
  );
  return missing.length > 0 ? [] : [['made of its properties', Object.fromEntries(given)]];
}

/** What people copy first must work: examples of requests are accepted, those of answers are what is described. */
export async function sendExamples(fuzzer: Fuzzer, operation: Operation): Promise<void> {
  const { checks, ledger } = fuzzer;
  for (const [name, body] of exampleBodies(operation, checks.description)) {
    const request = await fuzzer.requestOf(operation, { pick: 1, query: {}, body }, true);
    const call = encode(request);
    const answer = await fuzzer.caller.send(call);
    ledger.count(operation.id, 'example', answer);
    const wrong =
      operation.body?.type === 'application/json' ? checks.schemas.request(operation.body.schema)(body) : null;
    const { states = [] } = guideOf(operation);
    const violations: Violation[] = [
      ...(wrong === null ? [] : [violation('example_conformance', wrong)]),
      ...checks.ofOperation(operation, call, answer),
      ...checks.ofAcceptance(states, answer),
    ];
    ledger.find(`${operation.id} example ${name}`, call, answer, violations);
  }
  for (const [status, { content }] of Object.entries(operation.answers)) {
    for (const { schema, examples } of Object.values(content)) {
      for (const [name, value] of Object.entries(examples)) {
        const wrong = checks.schemas.answer(schema)(value);
        if (wrong !== null)
          ledger.stumble(`${operation.id} example of ${status} ${name}`, `${wrong}: ${JSON.stringify(value)}`);
      }
    }
  }
  for (const { name, schema, example } of operation.parameters) {
    const wrong = example === undefined ? null : checks.schemas.request(schema)(example);
    if (wrong !== null) ledger.stumble(`${operation.id} example of ${name}`, wrong);
  }
}
