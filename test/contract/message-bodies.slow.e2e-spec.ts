import fc from 'fast-check';
import { FUZZ_SEED, runs } from '../support/runs.js';
import { arbitraryOf, type Schema } from '../support/schema-arbitrary.js';
import { BodiesStage, type Body, names, schemaOf } from './described-bodies.js';

/* POST /messages takes what its description describes, and names what it does not. */

let stage: BodiesStage;

beforeAll(async () => {
  stage = await BodiesStage.start();
});

afterAll(() => stage?.test.stop());

/** Paths of all values inside a body, the body's own fields first. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [here, ...pathsOf(inner, here)];
  });
}

function changed(value: unknown, path: (string | number)[], change: (holder: Body, key: string) => void): unknown {
  const copy = structuredClone(value);
  let holder = copy as Body;
  for (const step of path.slice(0, -1)) holder = holder[String(step)] as Body;
  change(holder, String(path.at(-1)));
  return copy;
}

const fieldOf = (path: (string | number)[]): string =>
  path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`;
    return field === '' ? step : `${field}.${step}`;
  }, '');

describe.each(names)('%s', (name) => {
  const bodies = arbitraryOf(schemaOf(name), schemaOf).map((body) => stage.placed(body as Body));

  it('made from the description is taken', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await stage.post(body);
        // The form of a made-up template is good; that the account has none of its name is another matter.
        if (response.body.error?.code === 'TEMPLATE_NOT_FOUND') return;
        if (response.status !== 202) throw new Error(JSON.stringify(response.body));
      }),
      { numRuns: runs(10), seed: FUZZ_SEED },
    );
  });

  it('of a wrong type somewhere is refused with 422, naming the place', async () => {
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.nat(),
        fc.constantFrom<unknown>(null, 17_000.5, [17], { odd: 1 }),
        async (body, at, wrong) => {
          const known = pathsOf(body).filter((path) => isDescribed(schemaOf(name), path));
          const path = known[at % known.length] ?? ['to'];
          const response = await stage.post(changed(body, path, (holder, key) => (holder[key] = wrong)));
          const field = fieldOf(path);
          // An object in the place of an object is invalid inside.
          const named = response.body.error.details?.some(
            (detail) => `${detail.field}.`.startsWith(`${field}.`) || detail.field.startsWith(`${field}[`),
          );
          if (response.status !== 422 || named !== true) throw new Error(`${field}: ${JSON.stringify(response.body)}`);
        },
      ),
      { numRuns: runs(10), seed: FUZZ_SEED },
    );
  });
});

/** Whether the description says what is at a path; places that it leaves open take anything. */
function isDescribed(schema: Schema, path: (string | number)[]): boolean {
  if (path.length === 0) return !isOpen(schema);
  const alternatives = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
  const [step, ...rest] = path;
  const own =
    typeof step === 'number' ? schema.items : (schema.properties as Record<string, unknown> | undefined)?.[step ?? ''];
  if (own !== undefined) return isDescribed(own as Schema, rest);
  return alternatives?.some((alternative) => isDescribed(alternative, path)) ?? false;
}

/** Anything, or any object. */
function isOpen(schema: Schema): boolean {
  if (schema.type === 'object') return schema.additionalProperties === true && schema.required === undefined;
  return (
    schema.type === undefined && schema.const === undefined && schema.oneOf === undefined && schema.anyOf === undefined
  );
}
